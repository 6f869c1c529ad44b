"""OpenCode's plugin file: a whole file of ours. Text in, text out; no disk.

Its last line holds a digest of the rest, so that a file of an earlier version is told from one that a person edited.
"""

import json
from importlib import resources

from git_coop import files
from git_coop.errors import Refused

OURS, EDITED, FOREIGN = "ours", "edited", "foreign"
SHARED = "git-coop"  # the program in a file that others read too: found on the PATH, silent where it is not
_PLACE = "@GIT_COOP@"
_LAST = "// digest "
_START = 'const program = "'


def render(program: str) -> str:
    """The plugin that starts ``program``."""
    source = resources.files("git_coop.clients").joinpath("opencode_plugin.js").read_text("utf-8")
    body = source.replace(_PLACE, json.dumps(program, ensure_ascii=False)[1:-1])
    return f"{body}{_LAST}{_digest(body)}\n"


def _digest(body: str) -> str:
    return files.sha256(body.encode("utf-8", "surrogatepass"))[:16]


def judge(text: str) -> str:
    """``ours`` to the letter, of whatever version; ``edited``; or ``foreign``."""
    body, mark, last = text.rpartition(_LAST)
    if mark and last == f"{_digest(body)}\n":
        return OURS
    return EDITED if _START in text and "drain" in text and "git coop" in text else FOREIGN


def program(text: str) -> str:
    """What the plugin starts; empty where it cannot be told."""
    start = text.find(_START)
    if start < 0:
        return ""
    start += len(_START) - 1
    try:
        return str(json.JSONDecoder().raw_decode(text, start)[0])
    except ValueError:
        return ""


def merge(text: "str | None", wanted: str) -> str:
    """The file's new text. Raises ``Refused`` where another one, or an edited one, stands there."""
    new = render(wanted)
    if text is None or judge(text) == OURS:
        return new
    raise Refused("another plugin, or an edited one of ours, stands there", hint="move it away first")


def strip(text: str) -> "str | None":
    """``None``, no file, where the text is ours; else the text."""
    return None if judge(text) == OURS else text

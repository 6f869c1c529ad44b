"""The command that a hook runs: how it is written, and whether one that is found is ours.

A client trusts a hook by its command (Codex by a hash of it), so the string holds no version and never changes
with one.
"""

import os
import re
import shlex

from git_coop.errors import Fatal
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "git-coop"
OURS, EDITED, FOREIGN = "ours", "edited", "foreign"

_GUARD = "command -v git-coop >/dev/null 2>&1 && "
_BEFORE = re.compile(r"\s*command\s+-v\s+git-coop\s*>\s*/dev/null\s+2>\s*&1\s*&&")
_BEHIND = re.compile(r"(?:\s2>\s*/dev/null)?(?:\s*\|\|\s*(?:true|:|echo\s+'\{\}'))?\s*\Z")
_MENTION = re.compile(r"(?:^|[\s/'\"\\(;&|])git[- ]coop['\"]?\s+drain(?![\w-])")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\Z")


class Command(Record):
    """A command that runs the drain: ``program`` is the path or the word that starts it."""

    program: str
    client: str
    words: "tuple[str, ...]" = ()  # what a person put behind the client


def personal(program: str, client: str) -> str:
    """The command for a file of one person's own: an absolute path, for editors give hooks no shell's PATH."""
    command = f"{shlex.quote(program)} drain --client {client}"
    # Gemini takes any status of 2 and more as a block, a program that is gone (127) included.
    return f"{command} 2>/dev/null || echo '{{}}'" if client == "gemini" else command


def shared(client: str) -> str:
    """The command for a file that others read too: whoever has no ``git-coop`` sees nothing of it."""
    answer = "echo '{}'" if client == "gemini" else "true"
    return f"{_GUARD}git coop drain --client {client} || {answer}"


def read(command: str) -> "Command | None":
    """The parts of a command that is ours: ``git-coop`` or ``git coop`` with ``drain --client``, and nothing else.

    The guard and the endings that we write are no part of it. ``None`` for any other command, one that does more
    than that included.
    """
    guard = _BEFORE.match(command)
    bare = _BEHIND.sub("", command[guard.end() if guard else 0 :])
    lexer = shlex.shlex(bare, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # a quotation that is not closed
        return None
    if "\n" in bare.strip() or any(set(word) <= set("();<>|&") for word in words):
        return None
    return _parts(words)


def _parts(words: "Sequence[str]") -> "Command | None":
    if not words:
        return None
    name = words[0].replace("\\", "/").rpartition("/")[2]
    if name in (NAME, f"{NAME}.exe"):
        rest = words[1:]
    elif name == "git" and words[1:2] == ["coop"]:
        rest = words[2:]
    else:
        return None
    if rest[:1] != ["drain"]:
        return None
    if rest[1:2] == ["--client"] and len(rest) > 2:
        return Command(words[0], rest[2], tuple(rest[3:]))
    if len(rest) > 1 and rest[1].startswith("--client="):
        return Command(words[0], rest[1].partition("=")[2], tuple(rest[2:]))
    return None


def judge(command: str) -> str:
    """``ours``; ``edited``: it runs the drain, but a person made it more or less than ours; ``foreign``: any other."""
    if read(command):
        return OURS
    return EDITED if _MENTION.search(command) else FOREIGN


def serves(old: str, new: str) -> bool:
    """Whether the command ``old``, which is ours, does what ``new`` does, so that installing leaves it as it is.

    A program that is gone, or another client's name, does not.
    """
    was, wanted = read(old), read(new)
    if was is None or wanted is None or was.client != wanted.client:
        return False
    if os.path.isabs(wanted.program) != os.path.isabs(was.program):
        return False
    return was.program == wanted.program or os.path.realpath(was.program) == os.path.realpath(wanted.program)


def find_program(called: str, interpreter: str, cwd: str, path: str) -> str:
    """The absolute path of the installed ``git-coop``, past any shim.

    ``called`` is how this process was started (``sys.argv[0]``): a shim (pyenv's are shell scripts in a folder
    ``shims``) starts the real script under its own name. Run as a module, the script beside the ``interpreter``
    is taken, else the first on ``path``. Raises ``Fatal`` where there is none.
    """
    folders = [os.path.dirname(interpreter), *path.split(os.pathsep)]
    for candidate in (called, *(os.path.join(folder, NAME) for folder in folders if folder)):
        if os.path.basename(candidate) == NAME:
            absolute = os.path.normpath(os.path.join(cwd, candidate))
            if is_program(absolute) and os.path.basename(os.path.dirname(absolute)) != "shims":
                return _lasting(absolute)
    raise Fatal(f"cannot find the installed program '{NAME}'", hint="install the package and run its own git-coop")


def is_program(path: str) -> bool:
    """Whether a file is there that may be executed."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _lasting(path: str) -> str:
    """Where ``path`` leads, unless that place is named after a version and the path is not: it would die with it."""
    real = os.path.realpath(path)
    new = set(real.split(os.sep)) - set(path.split(os.sep))
    return path if os.path.basename(real) != NAME or any(_VERSION.match(part) for part in new) else real

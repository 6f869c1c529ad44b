"""The anchor that a user configured: the clone whose mail a session outside any repository shares."""

import os

from git_coop import discover, files
from git_coop.errors import StoreFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFIG_BOUND = 1 << 20  # bytes


def configured(env: "Mapping[str, str]") -> "bytes | None":
    """``coop.anchor``, from the user's own configuration only: git has to be asked, and only out here."""
    if not _may_be_configured(env):
        return None
    from git_coop import config

    clean = discover.without_local(env)
    return config.load(None, clean).anchor(clean)


def _may_be_configured(env: "Mapping[str, str]") -> bool:
    """Whether a file that git reads for the user (git-config(1), FILES) may name an anchor.

    A session outside any repository would else start a git process at each of its turns to learn that there is none.
    """
    for path in _user_files(env):
        try:
            text = files.read_cut(os.fsencode(path), _CONFIG_BOUND).data.lower()
        except files.Gone:
            continue
        except StoreFault:
            return True  # a symbolic link, say: git follows it
        if b"anchor" in text or b"include" in text or len(text) == _CONFIG_BOUND:
            return True
    return False


def _user_files(env: "Mapping[str, str]") -> "list[str]":
    system = "" if env.get("GIT_CONFIG_NOSYSTEM") else env.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    home = env.get("HOME", "")
    folder = env.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    own = [f"{folder}/git/config" if folder else "", f"{home}/.gitconfig" if home else ""]
    found = [system, env["GIT_CONFIG_GLOBAL"]] if "GIT_CONFIG_GLOBAL" in env else [system, *own]
    return [path for path in found if path]

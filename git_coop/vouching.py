"""Whose word counts for a place of somebody else's: what git's configuration says, asked only where that is met."""

import os

from git_coop import git
from git_coop.errors import GitFailed, Untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.discover import Worktree

_VOUCHING = ("system", "global", "command")  # a repository cannot vouch for itself
_TIES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CONFIG")


def demand(root: bytes, place: bytes, owner: int, env: "Mapping[str, str]") -> None:
    """Raise ``Untrusted`` about ``place``, which ``owner`` has, unless somebody vouches for the worktree's ``root``."""
    if not vouched(root, env):
        raise _untrusted(root, place, owner)


def _untrusted(root: bytes, place: bytes, owner: int) -> Untrusted:
    import pwd
    import shlex

    try:
        who = f"{pwd.getpwuid(owner).pw_name} (uid {owner})"
    except (KeyError, OverflowError):
        who = f"uid {owner}"
    return Untrusted(
        f"detected dubious ownership: '{os.fsdecode(place)}' belongs to {who}, not to you",
        hint=f"if you trust it: git config --global --add safe.directory {shlex.quote(os.fsdecode(root))}",
    )


def vouched(root: bytes, env: "Mapping[str, str]") -> bool:
    """Whether ``safe.directory`` names ``root``: exactly, as ``dir/*`` above it, or as ``*``; an empty value resets.

    git is asked from outside any repository, as it asks itself before it trusts one. Where git cannot be asked,
    nobody vouches.
    """
    outside = {name: value for name, value in env.items() if name not in _TIES}
    safe = False
    try:
        for entry in git.config(outside, b"/"):
            if entry.key == "safe.directory" and entry.scope in _VOUCHING:
                safe = bool(entry.value) and (safe or _names(entry.value or "", root, outside))
    except GitFailed:
        return False
    return safe


def _names(value: str, root: bytes, env: "Mapping[str, str]") -> bool:
    if value == "*":
        return True
    path = git.expand(value, env)
    if path is None or not path.startswith(b"/"):
        return False
    if path.endswith(b"/*"):
        above = os.path.realpath(path[:-2] or b"/")
        return root.startswith(above if above == b"/" else above + b"/")
    return root in (path, os.path.realpath(path))


def admits_others(worktree: "Worktree", env: "Mapping[str, str]") -> bool:
    """Whether ``core.sharedRepository`` lets other users write into this repository, and so into the store.

    Call it after ``place.check_trust`` only: the setting is the repository's own. Starts one git process.
    """
    value = git.config_value("core.sharedRepository", worktree.git_dir, env) or "umask"
    return _shared(value.lower())


def _shared(value: str) -> bool:
    """A value of ``core.sharedRepository`` as git reads it: a word, a boolean, 1 or 2, or an octal mode."""
    if value in ("group", "all", "world", "everybody", "true", "yes", "on", "1", "2"):
        return True
    try:
        return bool(int(value, 8) & 0o022)
    except ValueError:
        return False

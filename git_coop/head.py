"""Which branch is checked out, read without pygit2 and without a process where the answer is certain.

For a message's header, which is a claim to its reader anyway: where git keeps its references elsewhere (the reftable
format leaves ``ref: refs/heads/.invalid`` in ``HEAD``, gitrepository-layout(5)), git is asked.
"""

import os

from git_coop import files
from git_coop.errors import GitFailed, StoreFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.discover import Worktree

_BOUND = 4096
_ELSEWHERE = b"refs/heads/.invalid"


def branch(worktree: "Worktree", env: "Mapping[str, str]") -> "str | None":
    """The short name of the branch; ``None`` where the head is detached or cannot be read."""
    name = _named(os.path.join(worktree.git_dir, b"HEAD"))
    if name == _ELSEWHERE:
        return _asked(worktree, env)
    return os.fsdecode(name.removeprefix(b"refs/heads/")) or None


def _named(path: bytes) -> bytes:
    """The reference that ``HEAD`` names; empty for a commit. An old git may have made it a symbolic link."""
    try:
        return os.readlink(path)
    except OSError:
        pass
    try:
        text = (files.read_small(path, _BOUND) or b"").strip()
    except StoreFault:
        return b""
    return text[4:].strip() if text.startswith(b"ref:") else b""


def _asked(worktree: "Worktree", env: "Mapping[str, str]") -> "str | None":
    from git_coop import git

    try:
        return git.head(worktree, env).branch
    except GitFailed:
        return None

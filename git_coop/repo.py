"""Repositories through pygit2: the worktree around a path, and what is checked out in it.

pygit2 finds the git directory. It knows no common directory, and opening a repository fails where libgit2 does not
know its format (reftable, SHA-256) or its owner, so the worktree is worked out from the found directory as
``discover`` does, and nothing is opened for it. pygit2 is loaded by the functions that use it.
"""

import os

from git_coop import discover, git
from git_coop.discover import Worktree
from git_coop.errors import GitFailed
from git_coop.git import Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find(start: bytes, env: "Mapping[str, str]") -> Worktree:
    """The worktree around ``start``: the answers and the errors of ``discover.find``."""
    return discover.resolve(start, env, seek)


def seek(place: bytes, env: "Mapping[str, str]") -> "tuple[bytes, bytes | None]":
    """What ``discover.walk`` gives, by pygit2's search. Where there is nothing, the walk says why.

    pygit2 tells nothing apart: not there, not to be read, a broken link. And on Python 3.11 its search (1.21) loses a
    reference to ``None`` each time it finds nothing, which some fifty times later ends the process in an abort.
    """
    walked = discover.walk(place, env)
    import pygit2

    ceiling = discover.ceiling_of(place, env)
    above = b"" if ceiling < 0 else place[:ceiling] or b"/"
    try:
        found = pygit2.discover_repository(os.fsdecode(place), discover.across_file_systems(env), os.fsdecode(above))
    except (pygit2.GitError, KeyError, ValueError, OverflowError):
        found = None
    if found is None:
        return walked
    git_dir = os.path.realpath(os.fsencode(found))
    return git_dir, _holder(place, git_dir)


def _holder(place: bytes, git_dir: bytes) -> "bytes | None":
    """The nearest directory from ``place`` up whose ``.git`` leads to ``git_dir``; ``None`` inside it."""
    here = place
    while here != git_dir:
        if discover.opened(os.path.join(here, b".git")) == git_dir:
            return here
        if here == b"/":
            raise discover.AskGit
        here = os.path.dirname(here)
    return None


def describe(worktree: Worktree, env: "Mapping[str, str]") -> Head:
    """The branch and the commit checked out in ``worktree``, for a record.

    Where libgit2 cannot open the repository git is asked; where git cannot either, the ``HEAD`` file is read.
    """
    return _opened(worktree) or _asked(worktree, env) or _head_file(worktree)


def _opened(worktree: Worktree) -> "Head | None":
    import pygit2

    try:
        repository = pygit2.Repository(os.fsdecode(worktree.git_dir))
        head = repository.lookup_reference("HEAD")
        commit = None if repository.head_is_unborn else str(repository.head.target)
    except (pygit2.GitError, KeyError, ValueError):
        return None
    target = head.raw_target
    return Head(_short(target) if isinstance(target, bytes) else None, commit)


def _asked(worktree: Worktree, env: "Mapping[str, str]") -> "Head | None":
    try:
        return git.head(worktree, env)
    except GitFailed:
        return None


def _head_file(worktree: Worktree) -> Head:
    """The last resort reads no references: a branch without its commit, or a detached commit."""
    try:
        with open(os.path.join(worktree.git_dir, b"HEAD"), "rb") as file:
            text = file.read(1 << 12).strip()
    except OSError:
        return Head(None, None)
    if not text.startswith(b"ref:"):
        return Head(None, os.fsdecode(text) if len(text) in (40, 64) else None)
    name = text[4:].strip()
    return Head(None if name == b"refs/heads/.invalid" else _short(name), None)  # the stand-in of reftable


def _short(name: bytes) -> str:
    return os.fsdecode(name.removeprefix(b"refs/heads/"))

"""Whose repository it is: what git checks before it reads one, and the store beside it.

A repository of somebody else can put text before an agent. git refuses such a place unless ``safe.directory`` in
the system's, the user's or the command's own configuration names it (git-config(1)); so do we, with the common
directory and the store as well. The usual answer costs a few ``lstat`` and no process.
"""

import os

from git_coop.errors import GitFailed, Untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.discover import Worktree

_VOUCHING = ("system", "global", "command")  # a repository cannot vouch for itself
_TIES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CONFIG")


def check(worktree: "Worktree", env: "Mapping[str, str]", uid: "int | None" = None) -> None:
    """Raise ``Untrusted`` unless the place belongs to the caller or a trusted configuration names its root.

    ``uid`` is the effective user (default: this process's). As with git, root also accepts the user of
    ``SUDO_UID``. Never changes a configuration.
    """
    callers = _callers(env, os.geteuid() if uid is None else uid)
    for place in _places(worktree):
        owner = owner_of(place)
        if owner is not None and owner not in callers:
            if vouched(worktree.root, env):
                return
            raise _untrusted(worktree.root, place, owner)


def _places(worktree: "Worktree") -> "tuple[bytes, ...]":
    """What must be the caller's. With ``GIT_DIR`` there may be no ``.git``; before the first write, no store."""
    own = (worktree.root, os.path.join(worktree.root, b".git"), worktree.git_dir)
    shared = () if worktree.common_dir == worktree.git_dir else (worktree.common_dir,)
    return (*own, *shared, worktree.coop)


def owner_of(place: bytes) -> "int | None":
    """The user id that owns ``place`` itself, never what a symlink there points to; ``None`` where nothing is."""
    try:
        return os.lstat(place).st_uid
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Untrusted(f"cannot tell who owns '{os.fsdecode(place)}': {error.strerror}") from error


def _callers(env: "Mapping[str, str]", uid: int) -> "tuple[int, ...]":
    sudo = env.get("SUDO_UID", "")
    return (0, int(sudo)) if uid == 0 and sudo.isascii() and sudo.isdigit() else (uid,)


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
    from git_coop import git

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
    from git_coop import git

    if value == "*":
        return True
    path = git.expand(value, env)
    if path is None or not path.startswith(b"/"):
        return False
    if path.endswith(b"/*"):
        above = os.path.realpath(path[:-2] or b"/")
        return root.startswith(above if above == b"/" else above + b"/")
    return root in (path, os.path.realpath(path))


class Owners:
    """Whose files in a clone's store are admitted: the caller's, and others' only where the repository is shared.

    It is asked about a user id after ``check``, so that the owner of the store was trusted by then.
    """

    def __init__(self, worktree: "Worktree", env: "Mapping[str, str]") -> None:
        self.worktree, self.env = worktree, env
        self.own = _callers(env, os.geteuid())
        self.shared: bool | None = None

    def __call__(self, owner: int) -> bool:
        if owner in self.own:
            return True
        if owner_of(self.worktree.coop) == owner:
            return True
        if self.shared is None:
            self.shared = self._is_shared()
        return self.shared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Owners) and self.worktree == other.worktree

    def __hash__(self) -> int:
        return hash(self.worktree)

    def _is_shared(self) -> bool:
        try:
            return admits_others(self.worktree, self.env)
        except GitFailed:
            return False


def admits_others(worktree: "Worktree", env: "Mapping[str, str]") -> bool:
    """Whether ``core.sharedRepository`` lets other users write into this repository, and so into the store.

    Call it after ``check`` only: the setting is the repository's own. Starts one git process.
    """
    from git_coop import git

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

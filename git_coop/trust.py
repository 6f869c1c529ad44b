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


def check(worktree: "Worktree", env: "Mapping[str, str]", uid: "int | None" = None) -> None:
    """Raise ``Untrusted`` unless the place belongs to the caller or a trusted configuration names its root.

    ``uid`` is the effective user (default: this process's). As with git, root also accepts the user of
    ``SUDO_UID``. Never changes a configuration.
    """
    callers = _callers(env, os.geteuid() if uid is None else uid)
    for place in _places(worktree):
        owner = owner_of(place)
        if owner is not None and owner not in callers:
            from git_coop import vouching

            vouching.demand(worktree.root, place, owner, env)
            return


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
        from git_coop import vouching

        try:
            return vouching.admits_others(self.worktree, self.env)
        except GitFailed:
            return False

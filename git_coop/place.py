"""Where a command stands: whose store, whose box in it, and whether it may be trusted.

Usually a worktree, and the store of its clone. A session in a directory that is in no repository (a container of
clones, say) may name an anchor: then the anchor's clone has the store, and the box is the session's own directory's.

A repository of somebody else can put text before an agent. git refuses such a place unless ``safe.directory`` in
the system's, the user's or the command's own configuration names it (git-config(1)); so do we, with the common
directory and the store as well. The usual answer costs a few ``lstat`` and no process.
"""

import os

from git_coop import discover, layout
from git_coop.errors import Fatal, GitFailed, StoreFault, Untrusted
from git_coop.layout import Box, Opened
from git_coop.record import Record
from git_coop.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from git_coop.discover import Worktree

    Finder = Callable[[bytes, Mapping[str, str]], Worktree]


class Place(Record):
    """``root`` is the real path whose box is meant; ``clone`` is a worktree of the clone that has the store."""

    root: bytes
    clone: "Worktree"
    outside: bool = False  # root is in no repository, and the clone is the anchor's
    admits: "Callable[[int], bool] | None" = None  # whose files in the store are admitted

    def store(self) -> "Store | None":
        """The clone's store, or ``None`` where there is none yet."""
        store = layout.open_store(self.clone.coop)
        return None if store is None else self.guarded(store)

    def guarded(self, store: Store) -> Store:
        """The store, which from now on leaves alone what belongs to users that the clone does not admit."""
        return Store(store.root, store.dir_mode, self.admits)

    def look(self, store: Store) -> Box:
        """The box, without changing anything. ``StoreFault`` where one of its folders is a stranger's."""
        return _own(self._look(store))

    def _look(self, store: Store) -> Box:
        if self.outside:
            return Box(store, layout.key(self.root))
        box = layout.settled(store, self.clone)
        if box is not None:
            return box
        from git_coop import moves  # hardly ever: most worktrees stay where they are

        return moves.locate(store, self.clone)

    def settled(self, store: Store) -> "Box | None":
        """The box, where it is ready to be written as it stands, and nothing is to be made, moved or minted."""
        box = None if self.outside else layout.settled(store, self.clone)
        if box is None:
            return None
        _own(box)
        return box if layout.is_whole(box) else None

    def open(self, store: Store, fresh: str) -> Opened:
        """The box, ready to be written; ``fresh`` is a new id for a worktree that has none. Faults as in ``look``."""
        if self.outside:
            _own(Box(store, layout.key(self.root)))
            from git_coop import making

            return Opened(making.open_outside(store, self.root))
        box = self.settled(store)
        if box is not None:
            return Opened(box)
        _own(Box(store, layout.key(self.root)))
        from git_coop import moves

        return moves.open_box(store, self.clone, fresh)


def _own(box: Box) -> Box:
    """The box, whose folders hold what is put before an agent. Raises ``StoreFault`` where one is a stranger's."""
    for path in (box.mail, box.inbox, box.letters):
        owner = owner_of(path)
        why = "" if owner is None else box.store.stranger(owner)
        if why:
            raise StoreFault(f"cannot use '{os.fsdecode(path)}': {why}", path=path)
    return box


def find(start: bytes, env: "Mapping[str, str]", anchor: "str | None", seek: "Finder" = discover.find) -> Place:
    """The place of a session in ``start``. ``anchor`` is the option; a session inside a repository ignores it.

    Raises ``NotARepository`` outside any repository without an anchor, ``Fatal`` for an anchor that is of no use and
    for an empty ``start``, a current directory that is gone; ``Untrusted`` for a clone of somebody else's.
    """
    if not start:
        raise Fatal("cannot read the current directory: it is gone")
    try:
        worktree = seek(start, env)
    except discover.NotARepository:
        from git_coop import anchors

        named = os.fsencode(anchor or env.get("GIT_COOP_ANCHOR") or "") or anchors.configured(env)
        if not named:
            raise
        return _anchored(start, env, named, seek)
    check_trust(worktree, env)
    return Place(worktree.root, worktree, admits=Owners(worktree, env))


def _anchored(start: bytes, env: "Mapping[str, str]", anchor: bytes, seek: "Finder") -> Place:
    name = os.fsdecode(anchor)
    if not os.path.isabs(anchor):
        raise Fatal(f"the anchor '{name}' is not an absolute path")
    try:
        clone = seek(anchor, discover.without_local(env))
    except discover.NotARepository:
        raise Fatal(f"the anchor '{name}' is in no repository") from None
    except discover.CannotLook as error:
        raise Fatal(f"the anchor '{name}' is of no use: {error.sentence}") from None
    check_trust(clone, env)
    return Place(discover.directory(start), clone, True, Owners(clone, discover.without_local(env)))


# trust


def check_trust(worktree: "Worktree", env: "Mapping[str, str]", uid: "int | None" = None) -> None:
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

    It is asked about a user id after ``check_trust``, so that the owner of the store was trusted by then.
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

"""The ledger: the bare repository ``coop/ledger.git``, written through pygit2 under one lock.

Its one branch holds one tree::

    ledger                                      "1\\n": what this is, and its format
    replicas/<replica>/name                     host and place, for people
    replicas/<replica>/boxes/<key>              the path of a box's worktree: its bytes and one newline
    replicas/<replica>/letters/<key>/<x>/<y>/<id>.toml
    replicas/<replica>/todos/<key>/<x>/<y>/<id>.toml
    replicas/<replica>/requests/<x>/<y>/<id>.toml
    replicas/<replica>/adopted/<replica>/<id>   that store's letter was adopted by this one

Every store writes its own subtree alone. ``<x>/<y>`` are the last two characters of the id. Git processes write packs
here and nothing under a name of their own; every reference is written by this process, under the lock, so that a
``.lock`` beside a reference is what a kill left. Whatever is read may have been pushed by anybody: objects are measured
before they are loaded, and one that is missing or malformed is ``Unsound``.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from git_coop import clock, files
from git_coop.errors import CoopError, StoreFault
from git_coop.ledger_files import Held, exists, place, replace
from git_coop.record import Record
from git_coop.store import Store

if TYPE_CHECKING:
    import pygit2

BRANCH = "refs/heads/coop"  # what this store knows: its own records and those of all others
SEEN = "refs/coop/remote"  # the remote's branch when it was last seen
OWN = "refs/coop/own/"  # and the replica: how a bundle names whose it is
MARK, FORMAT = "ledger", b"1\n"
TREE, BLOB = 0o040000, 0o100644
TREE_LIMIT = 64 << 20  # bytes of one tree object
_CONFIG = b"""\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\thooksPath = /dev/null
"""


class Unsound(CoopError):
    """An object of the ledger that is missing, malformed, too large, or of another kind than its place says."""


class Child(Record):
    """An entry of a tree as it stands there; the name may be any bytes."""

    name: bytes
    mode: int
    id: str


def look(store: Store) -> "Ledger | None":
    """The ledger to read, without the lock; ``None`` where there is none."""
    return Ledger(place(store)) if exists(store) else None


@contextmanager
def opened(store: Store) -> "Iterator[Ledger]":
    """The ledger under its lock, made where it is missing."""
    with Held(store) as root:
        _make(root)
        with Ledger(root) as book:
            yield book


def _make(root: bytes) -> None:
    """Make the repository, or finish one whose making was cut short: ``config`` is written last."""
    if files.exists(root + b"/config") and files.read_small(root + b"/config") == _CONFIG:
        return
    import pygit2

    with guarded(root):
        pygit2.init_repository(os.fsdecode(root), bare=True, initial_head="coop")
    replace(root + b"/config", _CONFIG)


@contextmanager
def guarded(root: bytes) -> Iterator[None]:
    """Turn what libgit2 raises while the ledger is written into a fault that says the way out."""
    import pygit2

    try:
        yield
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise StoreFault(
            f"cannot write '{os.fsdecode(root)}': {str(error).strip()[:300].lower()}",
            path=root,
            hint="where the ledger itself is damaged, remove it: the next sync makes it again",
        ) from error


@contextmanager
def _reading(what: str) -> Iterator[None]:
    import pygit2

    try:
        yield
    except (pygit2.GitError, KeyError, ValueError, TypeError, OSError) as error:
        raise Unsound(f"{what} cannot be read: {str(error).strip()[:200]}") from error


class Ledger:
    """Trees, blobs and commits of the ledger by their hex ids."""

    def __init__(self, root: bytes) -> None:
        import pygit2

        self.root = root
        # Who may use the store was settled when it was found; libgit2 knows fewer of git's ways to say so.
        pygit2.settings.owner_validation = False
        with _reading("the ledger"):
            self.repo = pygit2.Repository(os.fsdecode(root))

    def close(self) -> None:
        """Let go of the repository's files."""
        self.repo.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # reading

    def tip(self, name: str = BRANCH) -> str:
        """The commit of a reference; empty where there is none."""
        try:
            with _reading(name):
                found = self.repo.references.get(name)
                return "" if found is None else str(found.target)
        except Unsound:
            return ""  # cut short by a crash: as if it had never been written

    def has(self, oid: str) -> bool:
        """Whether an object is here."""
        return bool(oid) and oid in self.repo

    def tree_of(self, commit: str) -> str:
        """The tree of a commit. Raises ``Unsound`` for anything else."""
        with _reading(f"commit {commit}"):
            found = self.repo[commit]
            if found.type_str != "commit":
                raise Unsound(f"{commit} is a {found.type_str}, not a commit")
            return str(found.tree_id)  # type: ignore[attr-defined]

    def parents(self, commit: str) -> list[str]:
        """The parents of a commit."""
        with _reading(f"commit {commit}"):
            return [str(parent) for parent in self.repo[commit].parent_ids]  # type: ignore[attr-defined]

    def descends(self, commit: str, ancestor: str) -> bool:
        """Whether a commit is another, or comes after it."""
        with _reading(f"commit {commit}"):
            return commit == ancestor or self.repo.descendant_of(commit, ancestor)

    def measure(self, oid: str) -> "tuple[str, int]":
        """An object's kind and size in bytes, without loading it."""
        with _reading(f"object {oid}"):
            kind, size = self.repo.odb.read_header(oid)
            return kind.name.lower(), size

    def children(self, tree: str) -> list[Child]:
        """The entries of a tree, whatever their names and modes."""
        kind, size = self.measure(tree)
        if kind != "tree":
            raise Unsound(f"{tree} is a {kind}, not a tree")
        if size > TREE_LIMIT:
            raise Unsound(f"tree {tree} has {size} bytes, more than {TREE_LIMIT}")
        with _reading(f"tree {tree}"):
            return [Child(_name(entry), int(entry.filemode), str(entry.id)) for entry in self._tree(tree)]

    def child(self, tree: str, name: str) -> "Child | None":
        """The entry of this name."""
        wanted = name.encode()
        return next((child for child in self.children(tree) if child.name == wanted), None)

    def subtree(self, tree: str, *names: str) -> str:
        """The tree at the end of these names; empty where there is none, or something else is there."""
        for name in names:
            found = self.child(tree, name) if tree else None
            tree = found.id if found is not None and found.mode == TREE else ""
        return tree

    def data(self, blob: str, limit: int) -> bytes:
        """The bytes of a blob of at most ``limit`` bytes."""
        kind, size = self.measure(blob)
        if kind != "blob":
            raise Unsound(f"it is a {kind}, not a file")
        if size > limit:
            raise Unsound(f"it has {size} bytes, more than {limit}")
        with _reading(f"blob {blob}"):
            return bytes(self.repo[blob].data)  # type: ignore[attr-defined]

    def read_file(self, name: bytes, limit: int) -> bytes:
        """A file of ours beside git's; empty where it is missing or larger."""
        try:
            return files.read(self.root + b"/" + name, limit)
        except StoreFault:
            return b""

    # writing: under the lock

    def write_file(self, name: bytes, data: bytes) -> None:
        """Replace a file of ours beside git's."""
        replace(self.root + b"/" + name, data)

    def blob(self, data: bytes) -> str:
        """Store bytes."""
        with guarded(self.root):
            return str(self.repo.create_blob(data))

    def edit(self, tree: str, changes: "Mapping[str, Child | None]") -> str:
        """A tree like ``tree`` (empty: like none) with entries put (by slashed path) or taken away; empty for none.

        Only the trees on the way to a change are read or written.
        """
        direct: dict[str, Child | None] = {}
        deeper: dict[str, dict[str, Child | None]] = {}
        for path, child in changes.items():
            name, slash, rest = path.partition("/")
            if slash:
                deeper.setdefault(name, {})[rest] = child
            else:
                direct[name] = child
        with guarded(self.root):
            builder = self.repo.TreeBuilder(self._tree(tree)) if tree else self.repo.TreeBuilder()
            for name, below in deeper.items():
                made = self.edit(self.subtree(tree, name), below)
                direct[name] = Child(name.encode(), TREE, made) if made else None
            for name, child in direct.items():
                if child is not None:
                    builder.insert(name, _oid(child.id), child.mode)
                elif builder.get(name) is not None:
                    builder.remove(name)
            return str(builder.write()) if len(builder) else ""

    def commit(self, tree: str, parents: Sequence[str], message: str, author: str, now: int) -> str:
        """A commit by ``author`` (an id), at ``now`` in nanoseconds; no reference is changed."""
        import pygit2

        with guarded(self.root):
            who = pygit2.Signature("git coop", f"{author}@localhost", max(now, 0) // clock.SECOND, 0)
            made = self.repo.create_commit(None, who, who, message, _oid(tree), [_oid(one) for one in parents])
            return str(made)

    def point(self, name: str, commit: str) -> None:
        """Set a reference."""
        with guarded(self.root):
            if self.tip(name) != commit:
                self.repo.references.create(name, _oid(commit), force=True)

    def _tree(self, oid: str) -> "pygit2.Tree":
        import pygit2

        found = self.repo[oid]
        if not isinstance(found, pygit2.Tree):
            raise ValueError(f"{oid} is no tree")
        return found


def blob_id(data: bytes) -> str:
    """The id that a blob of these bytes has."""
    import pygit2

    return str(pygit2.hash(data))


def _name(entry: "pygit2.Object") -> bytes:
    return entry.raw_name or b""


def _oid(text: str) -> "pygit2.Oid":
    import pygit2

    return pygit2.Oid(hex=text)

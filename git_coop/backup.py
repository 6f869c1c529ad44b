"""Backup and restore: the ledger as a git bundle that names its replica, so that a disk can die without a remote.

A restore writes records that are in no box of this store yet and changes none that are there, so that one that was cut
short, or run before, is run again.
The bundle may come from anybody: its records are bounded, its names are compared with the shapes of ids and keys, and
the paths of its boxes are looked up among this clone's worktrees and never written to.
"""

import os
import stat
from collections.abc import Iterable, Mapping

from git_coop import (
    adopted,
    carrier,
    files,
    holdings,
    layout,
    ledger,
    letter_glance,
    letterbox,
    making,
    moves,
    replica,
    requestbox,
    sync,
    todobox,
    union,
)
from git_coop.carrier import Carrier
from git_coop.errors import Fatal, NotFound, Refused, Usage
from git_coop.fleet import Reader
from git_coop.holdings import Holdings
from git_coop.layout import Box
from git_coop.ledger import BRANCH, OWN, Ledger, Unsound
from git_coop.ledger_walk import Found, Problems, check_mark, records
from git_coop.own import LIMIT
from git_coop.record import Record
from git_coop.store import Store
from git_coop.sync import Request


class Saved(Record):
    """A bundle that was written."""

    replica: str
    records: int
    bytes: int
    faults: tuple[str, ...]


def backup(store: Store, request: Request, held: Holdings, path: bytes) -> Saved:
    """Write the ledger with this store's records as they are now into the file at ``path``."""
    if not held.records:
        raise NotFound("nothing is stored in this clone yet")
    _forbid_others_file(path, request.env)
    with ledger.opened(store) as book:
        who = sync.settle(store, book, request)
        own = sync.write_own(book, who.id, held, request)
        commit = union.keep(book, who.id, own.tree, request.now)
        book.point(OWN + who.id, commit)
        carrier.bundle(Carrier(book.root, request.env), path, who.id)
        sync.note_carried(book, "bundled", held, request.now)
    return Saved(who.id, len(held.records), os.stat(path).st_size, own.faults)


def _forbid_others_file(path: bytes, env: Mapping[str, str]) -> None:
    """Refuse to replace anything but an earlier bundle: git replaces whatever has the name, a device node too."""
    if not os.path.lexists(path):
        return
    try:
        heads(path, env)
    except Fatal as error:
        raise Refused(
            f"'{os.fsdecode(path)}' is there and is no backup: {error.sentence}", hint="name a file that is not there"
        ) from None


class Homeless(Record):
    """A box of the bundle whose path is no worktree here, and how many records were restored for it."""

    key: str
    path: bytes
    records: int


class Restored(Record):
    """What a restore did: as whom (``merged``: as another store's), what it wrote, and which boxes have no place."""

    replica: str
    merged: bool
    written: int
    present: int
    homeless: tuple[Homeless, ...]
    notes: tuple[str, ...]


def mapping(pairs: Iterable[str], base: bytes) -> dict[bytes, bytes]:
    """``OLD=NEW`` pairs as paths, NEW made absolute from ``base`` and real. Raises ``Usage``."""
    found: dict[bytes, bytes] = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (equals and old.startswith("/") and new):
            raise Usage(f"'{pair}' is not OLD=NEW", hint="OLD is the absolute path that restore listed")
        found[os.fsencode(old).rstrip(b"/") or b"/"] = os.path.realpath(os.path.join(base, os.fsencode(new)))
    return found


def heads(path: bytes, env: Mapping[str, str]) -> tuple[str, str]:
    """The replica and the commit that a bundle names. Raises ``Fatal`` for a file that is no bundle of a ledger."""
    _demand_file(path)
    found = carrier.bundled(path, env)
    named = {name.removeprefix(OWN): oid for name, oid in found.items() if name.startswith(OWN)}
    if len(named) != 1 or not adopted.is_replica(next(iter(named))):
        raise Fatal(f"'{os.fsdecode(path)}' is a bundle of something else: it names no store of git coop")
    return next(iter(named.items()))


def _demand_file(path: bytes) -> None:
    """A bundle is a regular file: git would read a device or a pipe for as long as it gives anything."""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        raise Fatal(f"cannot read '{os.fsdecode(path)}': {(error.strerror or str(error)).lower()}") from None
    if not regular:
        raise Fatal(f"cannot read '{os.fsdecode(path)}': it is not a regular file")


def restore(
    store: Store, request: Request, path: bytes, places: Mapping[bytes, bytes], trees: Iterable[bytes], *, merge: bool
) -> Restored:
    """Read a bundle: become its replica, or with ``merge`` take its records as another store's.

    ``places`` maps old paths of boxes to new ones, ``trees`` are this clone's worktrees. Raises ``Refused`` where the
    store has letters and is another replica, where the replica lives on in another clone of this machine, and where a
    new place is no worktree here.
    """
    name, commit = heads(path, request.env)
    worktrees = frozenset(trees)
    _check_places(places, worktrees)
    mine = replica.read(store)
    if mine != name and not merge and any(letter_glance.known(shelf) for shelf in letterbox.shelves(store)):
        raise Refused(
            f"this store has letters, and is not {name}",
            hint="--merge takes the bundle's records as another store's",
        )
    with ledger.opened(store) as book:
        carrier.fetch(Carrier(book.root, request.env), os.fsdecode(path), OWN + name)
        if not merge:
            _forbid_two(store, book, name, commit)
        _take(book, commit, name if mine == name or not merge else mine, request.now)
        if merge and mine != name:
            return Restored(name, True, 0, 0, (), ())
        store.rewrite(replica.path_of(store), f"{name}\n".encode())
        book.write_file(sync.HOME, store.root + b"\n")
        done = _write(store, book, name, commit, places, worktrees)
        sync.note_carried(book, "bundled", holdings.survey(store), request.now)
        return done


def _check_places(places: Mapping[bytes, bytes], worktrees: frozenset[bytes]) -> None:
    for new in places.values():
        if new not in worktrees:
            raise Refused(
                f"'{os.fsdecode(new)}' is not the root of a worktree of this clone", hint="git worktree list names them"
            )


def _forbid_two(store: Store, book: Ledger, name: str, commit: str) -> None:
    """Refuse to become a store that another clone of this machine still is: two must not write under one name."""
    reader = Reader(book, commit)
    place = os.fsencode(reader.name(name).partition(": ")[2])
    paths = [path for path in (place, *reader.boxes(name).values()) if path.startswith(b"/")]
    other = os.fsdecode(replica.living(store, name, paths))
    if other:
        raise Refused(
            f"{name} is alive on this machine, in '{other}'",
            hint="--merge takes the bundle's records as another store's, which can be adopted\n"
            f"where that clone is not used any more, remove '{other}/replica'",
        )


def _take(book: Ledger, commit: str, mine: str, now: int) -> None:
    """Unite the bundle's tree with what the ledger has; no record of the store is touched."""
    try:
        tree = book.tree_of(commit)
        check_mark(book, tree)
        tip = book.tip()
        if tip and book.descends(tip, commit):
            return
        united = union.absorb(book, book.tree_of(tip), tree, mine) if tip else tree
    except Unsound as error:
        raise Fatal(f"the bundle holds no ledger: {error.sentence}") from error
    made = book.commit(united, [tip, commit], "Restore\n", mine or "restore", now) if tip else commit
    book.point(BRANCH, made)


def _write(
    store: Store,
    book: Ledger,
    name: str,
    commit: str,
    places: Mapping[bytes, bytes],
    worktrees: frozenset[bytes],
) -> Restored:
    reader, problems = Reader(book, commit), Problems()
    old = reader.boxes(name)
    homes = _homes(old, places, worktrees)
    for key, home in homes.items():
        if home is not None:
            _settle_box(store, key, home)
    every = sorted(
        records(book, reader.trees.get(name, ""), name, problems), key=lambda found: homes.get(found.key) is None
    )
    lying = _Lying(store, [(found, _key(found, homes)) for found in every])
    counts: dict[str, int] = {}
    written = 0
    for found in every:
        key = _key(found, homes)
        if not lying.has(found, key):
            _make_box(store, key, old.get(found.key, b""))
            if _restore_one(store, book, found, key, problems):
                written += 1
                lying.add(found, key)
        if found.key and homes.get(found.key) is None and lying.is_in(found, key):
            counts[key] = counts.get(key, 0) + 1
    homeless = tuple(Homeless(key, old.get(key, b""), count) for key, count in sorted(counts.items()))
    notes = (*reader.problems.lines(), *problems.lines())
    return Restored(name, False, written, len(every) - written, homeless, notes)


class _Lying:
    """Which boxes of a store have which records by now, and where a bundle puts them.

    A letter's id is its own in the whole store: where it lies in any box, its worktree's or another one's that got it
    through ``--map``, it is there. Todos have short ids, and two boxes of a bundle may both have one.
    """

    def __init__(self, store: Store, bundled: "Iterable[tuple[Found, str]]") -> None:
        self.keys: dict[tuple[str, str], set[str]] = {}
        self.meant: dict[str, set[str]] = {}
        for path in holdings.survey(store).records:
            kind, key, *_rest = path.split("/")
            self._put((kind, holdings.identifier_of(path)), "" if kind == "requests" else key)
        for found, key in bundled:
            if found.kind == "todos":
                self.meant.setdefault(found.id, set()).add(key)

    def _put(self, record: tuple[str, str], key: str) -> None:
        self.keys.setdefault(record, set()).add(key)

    def add(self, found: Found, key: str) -> None:
        """Note a record that was written."""
        self._put((found.kind, found.id), key)

    def is_in(self, found: Found, key: str) -> bool:
        """Whether the box with this key has the record."""
        return key in self.keys.get((found.kind, found.id), ())

    def has(self, found: Found, key: str) -> bool:
        """Whether the record that belongs into the box with this key need not be written."""
        others = self.keys.get((found.kind, found.id), set()) - self.meant.get(found.id, set())
        return self.is_in(found, key) or bool(others)


def _homes(
    old: Mapping[str, bytes], places: Mapping[bytes, bytes], worktrees: frozenset[bytes]
) -> dict[str, bytes | None]:
    """Where each box belongs now. Of two with one path, the one of another key had given up the address before."""
    paths = list(old.values())
    return {
        key: None if paths.count(path) > 1 and layout.key(path) != key else _home(path, places, worktrees)
        for key, path in old.items()
    }


def _home(path: bytes, places: Mapping[bytes, bytes], worktrees: frozenset[bytes]) -> bytes | None:
    """Where a box belongs now; ``None`` where its path is no worktree here."""
    for old in sorted(places, key=len, reverse=True):
        below = old.rstrip(b"/") + b"/"
        moved = places[old] if path == old else places[old] + b"/" + path[len(below) :]
        if (path == old or path.startswith(below)) and moved in worktrees:
            return moved
    return path if path in worktrees else None


def _key(found: Found, homes: Mapping[str, bytes | None]) -> str:
    home = homes.get(found.key)
    return found.key if home is None else layout.key(home)


def _make_box(store: Store, key: str, path: bytes) -> None:
    """A box without a worktree says where it was, before anything lies in it."""
    if key and path and not files.exists(Box(store, key).path_file):
        making.place_box(store, key, path)


def _restore_one(store: Store, book: Ledger, found: Found, key: str, problems: Problems) -> bool:
    """Write one record where none has its name; whether it was written."""
    box = Box(store, key)
    path = {
        "letters": layout.letter_path(box, found.id),
        "todos": todobox.path_of(box, found.id),
        "requests": requestbox.path_of(store, found.id),
    }[found.kind]
    try:
        data = book.data(found.blob, LIMIT)
    except Unsound as error:
        problems.add(found.path, error.sentence)
        return False
    store.ensure_folder(os.path.dirname(path))
    return store.create(path, data)


def _settle_box(store: Store, key: str, home: bytes) -> None:
    """Make the box of a worktree; what an earlier restore left under the old key comes over to it."""
    new = making.place_box(store, layout.key(home), home)
    old = Box(store, key)
    if old.key != new.key and files.exists(old.mail):
        with making.lock_boxes(store):
            moves.adopt(old, new, "")

"""This store's own part of the ledger, made from what the store holds and from nothing else.

Beside the ledger lies an index: for each record the signature of the file and the blob it became, so that a later
sync looks at every file and reads only those that changed. It is a cache: bound to the tree it describes, and where
it is missing or of another form everything is read again.
"""

from collections.abc import Mapping

from git_coop import adopted, files, holdings, ids
from git_coop.errors import StoreFault
from git_coop.fields import Fields
from git_coop.holdings import Held, Holdings
from git_coop.ledger import BLOB, Child, Ledger, blob_id
from git_coop.ledger_walk import Problems, open_tree, records
from git_coop.record import Record
from git_coop.toml import loads

LIMIT = 64 << 20  # bytes of one record that travels
INDEX = b"coop-index"
_INDEX_LIMIT = 256 << 20
_SETTLED = 2_000_000_000  # nanoseconds: a file changed this recently may change again within one tick of its clock


class Known(Record):
    """A record as the ledger has it: the signature of the file it was read from (may be empty), and its blob."""

    signature: str
    blob: str


class Own(Record):
    """The tree of this store and how it differs from the one before; ``faults`` name what could not be read."""

    before: str  # the tree that it started from
    tree: str
    sent: tuple[str, ...]  # paths that are new or changed since
    kept: tuple[str, ...]  # paths whose file is gone from the store
    faults: tuple[str, ...]
    index: bytes


def parse_index(data: bytes, tree: str) -> "dict[str, Known] | None":
    """The index that describes ``tree``; ``None`` where it describes another or was cut short."""
    lines = data.decode("ascii", "replace").split("\n")
    if len(lines) < 3 or lines[0] != f"1 {tree}" or lines[-2:] != [f"end {len(lines) - 3}", ""]:
        return None
    known = {}
    for line in lines[1:-2]:
        signature, _space, rest = line.partition(" ")
        blob, _space, path = rest.partition(" ")
        known[path] = Known("" if signature == "-" else signature, blob)
    return known


def encode_index(tree: str, known: Mapping[str, Known]) -> bytes:
    """The index as it is stored."""
    lines = [f"{one.signature or '-'} {one.blob} {path}\n" for path, one in known.items()]
    return f"1 {tree}\n{''.join(lines)}end {len(lines)}\n".encode()


def known_paths(book: Ledger, tree: str) -> dict[str, Known]:
    """What the ledger has of this store, from the index or else from the tree itself."""
    if not tree:
        return {}
    found = parse_index(book.read_file(INDEX, _INDEX_LIMIT), tree)
    return walk_paths(book, tree) if found is None else found


def newer(book: Ledger, before: str, tree: str) -> tuple[str, ...]:
    """The paths of records that are new or changed in a replica's tree."""
    old = walk_paths(book, before) if before else {}
    return tuple(path for path, one in walk_paths(book, tree).items() if path not in old or old[path].blob != one.blob)


def walk_paths(book: Ledger, tree: str) -> dict[str, Known]:
    """The records in a replica's tree by path. Only what has the shape of a record counts."""
    return {found.path: Known("", found.blob) for found in records(book, tree, "", Problems())}


def build(book: Ledger, before: str, held: Holdings, name: str, now: int) -> Own:
    """Write the tree of this store, starting from its tree ``before`` (empty: none)."""
    old = known_paths(book, before)
    new, faults, changes = _read(book, old, held, now)
    changes.update(_gone(old, new))
    changes.update(_boxes(book, before, held, new))
    changes["name"] = Child(b"name", BLOB, book.blob(name.encode("utf-8", "replace")))
    kept = tuple(path for path in old if path in new and path not in held.records)
    sent = tuple(path for path in new if path not in old or old[path].blob != new[path].blob)
    tree = book.edit(before, changes)
    return Own(before, tree, sent, kept, (*held.faults, *faults), encode_index(tree, new))


def _read(
    book: Ledger, old: dict[str, Known], held: Holdings, now: int
) -> "tuple[dict[str, Known], list[str], dict[str, Child | None]]":
    new: dict[str, Known] = {}
    faults: list[str] = []
    changes: dict[str, Child | None] = {}
    for path, one in held.records.items():
        before = old.get(path)
        if before is not None and before.signature == one.signature:
            new[path] = before
            continue
        try:
            data = files.read(one.file, LIMIT)
        except files.Gone:
            continue
        except StoreFault as error:
            faults.append(error.sentence)
            if before is not None:
                new[path] = before
            continue
        blob = book.blob(data)
        new[path] = Known(one.signature if _is_settled(one, now) else "", blob)
        if before is None or before.blob != blob:
            changes[path] = Child(b"", BLOB, blob)
            changes.update(_adoption(book, path, data))
    _keep(old, new)
    return new, faults, changes


def is_known(one: Held, known: Known | None) -> bool:
    """Whether a file is what the ledger has of it; it is read only where its signature does not say so."""
    if known is None or known.signature == one.signature:
        return known is not None
    try:
        return blob_id(files.read(one.file, LIMIT)) == known.blob
    except StoreFault:
        return False


def _is_settled(one: Held, now: int) -> bool:
    return abs(now - one.changed) > _SETTLED


def _keep(old: dict[str, Known], new: dict[str, Known]) -> None:
    """Letters and todos are never deleted: one that is nowhere in the store any more stays in the ledger.

    One that moved with its box has another path and the same id, and leaves its old path.
    """
    here = {(path.partition("/")[0], holdings.identifier_of(path)) for path in new}
    for path, one in old.items():
        kind = path.partition("/")[0]
        if path not in new and kind != "requests" and (kind, holdings.identifier_of(path)) not in here:
            new[path] = one


def _gone(old: dict[str, Known], new: dict[str, Known]) -> "dict[str, Child | None]":
    return {path: None for path in old if path not in new}


def _boxes(book: Ledger, before: str, held: Holdings, new: Mapping[str, Known]) -> "dict[str, Child | None]":
    """The paths of the boxes, without those that hold nothing any more."""
    used = {path.split("/")[1] for path in new}
    there = open_tree(book, book.subtree(before, "boxes"), "", Problems()) if before else []
    empty = {child.name.decode("ascii", "replace") for child in there} - used
    changes: dict[str, Child | None] = {f"boxes/{key}": None for key in empty}
    for key, path in held.boxes.items():
        changes[f"boxes/{key}"] = Child(b"", BLOB, book.blob(path + b"\n"))
    return changes


def _adoption(book: Ledger, path: str, data: bytes) -> "dict[str, Child | None]":
    """What a letter says it was adopted from, as a path that the origin finds without reading any letter."""
    if b"adopted_from" not in data or not path.startswith("letters/"):
        return {}
    try:
        origin = Fields(loads(data, path=path.encode()), path.encode()).text("adopted_from") or ""
    except StoreFault:
        return {}
    replica, _slash, identifier = origin.partition("/")
    if not (adopted.is_store(replica) and ids.is_id(identifier)):
        return {}
    mine = holdings.identifier_of(path)
    return {f"adopted/{replica}/{identifier}": Child(b"", BLOB, book.blob(f"{mine}\n".encode()))}

"""Which letters of this store were adopted elsewhere: what the last sync found, for the notice and the list.

``coop/adopted`` holds one line each: the letter's id, a space, the replica that has a letter of its own with that
body; newest letters first. It is a cache of the ledger, written by sync alone: a record from a remote never changes
a letter of this store, and the drain opens no repository.
"""

from git_coop import files, ids
from git_coop.errors import StoreFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from git_coop.store import Store

LIMIT = 65_536  # bytes of the file; what does not fit is about the oldest letters
NAMED = 3  # replicas named in a line
STRAYS = ".strays"
_HEX = frozenset("0123456789abcdef")


def is_replica(name: str) -> bool:
    """Whether ``name`` has the shape of a replica's id: a slug of up to 32 characters, ``-``, eight hex digits."""
    slug, dash, digits = name.rpartition("-")
    plain = slug.replace("-", "")
    return (
        dash == "-"
        and len(digits) == 8
        and _HEX.issuperset(digits)
        and 0 < len(slug) <= 32
        and plain.isascii()
        and plain.isalnum()
        and plain == plain.lower()
    )


def is_store(name: str) -> bool:
    """Whether ``name`` is a replica's id, or such an id and ``.strays``: what others wrote under its name."""
    return is_replica(name.removesuffix(STRAYS))


def path_of(store: "Store") -> bytes:
    """Where the lines lie."""
    return store.root + b"/adopted"


def encode(pairs: "Iterable[tuple[str, str]]") -> bytes:
    """The file for pairs of a letter's id and a replica: newest letters first, whole lines up to the limit."""
    lines, room = [], LIMIT
    for identifier, replica in sorted(set(pairs), reverse=True):
        line = f"{identifier} {replica}\n".encode()
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return b"".join(lines)


def decode(data: bytes) -> "dict[str, tuple[str, ...]]":
    """Letter ids and who adopted them; lines of another form are passed over."""
    found: dict[str, tuple[str, ...]] = {}
    for line in data.decode("ascii", "replace").splitlines():
        identifier, _space, replica = line.partition(" ")
        if ids.is_id(identifier) and is_store(replica):
            found[identifier] = (*found.get(identifier, ()), replica)
    return {identifier: tuple(sorted(replicas)) for identifier, replicas in found.items()}


def everywhere(store: "Store") -> "dict[str, tuple[str, ...]]":
    """Every adopted letter of the store and who adopted it; empty where the file cannot be read."""
    try:
        return decode(files.read_cut(path_of(store), LIMIT).data)
    except StoreFault:
        return {}


def adopted_on(store: "Store", identifier: str) -> "tuple[str, ...]":
    """The replicas that adopted one letter."""
    return everywhere(store).get(identifier, ())


def said(replicas: "tuple[str, ...]") -> str:
    """``adopted on <replica>``, a few of several; empty where nobody did."""
    if not replicas:
        return ""
    more = len(replicas) - NAMED
    return "adopted on " + ", ".join(replicas[:NAMED]) + (f" and {more} more" if more > 0 else "")

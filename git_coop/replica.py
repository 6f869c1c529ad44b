"""This store's own id for sync, and how many of its letters are in no other place.

The file ``coop/replica`` holds ``<host name slug>-<8 hex>``, minted once. It is copied with a clone that is copied,
and two stores must not write under one name: the ledger remembers where its store lay, so that a copy on the same
machine is found out and takes a new id.
"""

import os
from collections.abc import Callable, Iterable
from itertools import islice

from git_coop import adopted, clock, discover, files, layout, letter_glance, letterbox
from git_coop.errors import CoopError, Fatal, StoreFault
from git_coop.record import Record
from git_coop.store import Store

_PLACES = ("pushed", "bundled")
_LOOKED_AT = 64  # paths of another store's that are looked for on this machine


class Identity(Record):
    """A replica's id, and where it is new because the store is a copy, the store that has the old one."""

    id: str
    copied_from: bytes = b""


def path_of(store: Store) -> bytes:
    """Where the id lies."""
    return store.root + b"/replica"


def read(store: Store) -> str:
    """The store's id; empty where none was minted. Raises ``Fatal`` where the file holds something else."""
    data = files.read_small(path_of(store), 256)
    if data is None:
        return ""
    name = data.decode("ascii", "replace").removesuffix("\n")
    if not adopted.is_replica(name):
        raise Fatal(
            f"'{os.fsdecode(path_of(store))}' names no replica",
            hint="remove it, and the next sync goes on as a new store",
        )
    return name


def mint(host: str, entropy: Callable[[int], bytes]) -> str:
    """A new id: the host's name for human eyes, and chance."""
    return f"{layout.slug(os.fsencode(host.split('.')[0]))}-{entropy(4).hex()}"


def settle(store: Store, home: bytes, host: str, entropy: Callable[[int], bytes]) -> Identity:
    """The store's id, minted where there is none or where this store is a copy of the one at ``home``.

    ``home`` is the store's root as the ledger remembers it, empty for a new ledger. Called under the ledger's lock.
    """
    mine = read(store)
    if mine and not _is_copy(store, home, mine):
        return Identity(mine)
    fresh = mint(host, entropy)
    store.rewrite(path_of(store), f"{fresh}\n".encode())
    return Identity(fresh, home if mine else b"")


def _is_copy(store: Store, home: bytes, mine: str) -> bool:
    if not home or home == store.root:
        return False
    try:
        if os.path.samefile(home, store.root):
            return False
        other = files.read_small(home + b"/replica", 256)
    except (OSError, StoreFault):
        return False  # the store was moved, or its old place cannot be seen
    return other is not None and other.strip() == mine.encode()


def living(store: Store, name: str, paths: Iterable[bytes]) -> bytes:
    """The root of another store on this machine that has this name, looked for at ``paths``; empty where none is.

    The paths may be anybody's words: what stands there is asked for nothing but its clone and that clone's replica.
    """
    for path in islice(paths, _LOOKED_AT):
        try:
            there = discover.find(path, {}).coop
        except CoopError:
            continue
        if _is_copy(store, there, name):
            return there
    return b""


class Exposure(Record):
    """What a dead disk would take. Times are nanoseconds, ``None``: never."""

    letters: int
    alone: int  # how many of them no push and no bundle of this store has carried
    pushed: int | None = None
    bundled: int | None = None


def note_path(store: Store) -> bytes:
    """Where sync and backup note what they carried: ``<pushed|bundled> <time> <letters>``, one line each."""
    return store.root + b"/ledger.git/coop-carried"


def noted(data: bytes) -> dict[str, tuple[int, int]]:
    """The note as place to (time, letters); lines of another form are passed over."""
    found = {}
    for line in data.decode("ascii", "replace").splitlines():
        words = line.split(" ")
        at = clock.parse_rfc3339(words[1]) if len(words) == 3 else None
        if at is not None and words[0] in _PLACES and words[2].isascii() and words[2].isdigit():
            found[words[0]] = (at, int(words[2][:12]))
    return found


def with_note(data: bytes, place: str, now: int, letters: int) -> bytes:
    """The note with one place's line set anew."""
    every = {**noted(data), place: (now, letters)}
    return "".join(f"{name} {clock.rfc3339(at)} {count}\n" for name, (at, count) in sorted(every.items())).encode()


def only_here(store: Store) -> Exposure:
    """How many letters the store has, and how many of them exist in this place only.

    Letters are never deleted, so that counting them is enough; what was changed since is not counted. Nothing is
    opened but folders and the note. Raises ``StoreFault`` where the letters cannot be listed.
    """
    letters = sum(len(letter_glance.known(shelf)) for shelf in letterbox.shelves(store))
    try:
        carried = noted(files.read_small(note_path(store)) or b"")
    except StoreFault:
        carried = {}
    most = max((count for _at, count in carried.values()), default=0)
    times = {place: carried[place][0] if place in carried else None for place in _PLACES}
    return Exposure(letters, max(letters - most, 0), times["pushed"], times["bundled"])


def warning(exposure: Exposure, remote: str | None, now: int) -> str:
    """One sentence for status and doctor where letters exist in one place only; empty where none does."""
    if not exposure.alone:
        return ""
    whole = exposure.alone == exposure.letters
    many = exposure.alone != 1
    which = f"{exposure.alone} letter{'s' if many else ''}" + ("" if whole else f" of {exposure.letters}")
    since = "" if exposure.pushed is None else f" (last sync {clock.age(exposure.pushed, now)} ago)"
    way = "run git coop sync" if remote else "set coop.remote and run git coop sync, or git coop backup FILE"
    return f"{which} exist{'' if many else 's'} in this place only{since}: {way}"

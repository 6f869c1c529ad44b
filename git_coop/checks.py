"""What a check of the doctor is: a named function from a case to findings, each with its remedy and perhaps its fix.

A check looks and changes nothing. A fix changes only what its finding names, under the locks and claims that every
other command takes, so that a kill in the middle of one leaves what a kill of any command leaves.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from git_coop import files, layout
from git_coop.layout import Box
from git_coop.place import Place
from git_coop.record import Record
from git_coop.store import Store

OK, FOUND, FIXED, NOTE, UNKNOWN = "ok", "found", "fixed", "note", "unknown"
NAMED = 5  # things of one kind that a finding names


class Finding(Record):
    """What a check says of one thing: ``what`` in our words, ``remedy`` for a person, ``fix`` for ``--fix``.

    ``fix`` gives the sentence of what it did, and raises ``CoopError`` where it could not.
    """

    name: str
    outcome: str
    what: str
    remedy: str = ""
    fix: "Callable[[], str] | None" = None


class Entry(Record):
    """A name in the store as it lies there: nothing followed, nothing opened."""

    path: bytes
    mode: int  # type and permission bits
    uid: int
    device: int

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


class Case(Record):
    """What is looked at: the place, its store (``None``: there is none), the world, and the store's whole tree."""

    place: Place
    store: "Store | None"
    env: "Mapping[str, str]"
    now: int
    dir_mode: int = 0o700  # what `core.sharedRepository` asks for
    tree: "tuple[Entry, ...]" = ()
    dark: "tuple[str, ...]" = ()  # why folders could not be listed

    def boxes(self) -> "list[Box]":
        return [] if self.store is None else layout.boxes(self.store)

    def shelves(self) -> "list[Box]":
        """Every box that has letters or todos, whether or not it has mail."""
        if self.store is None:
            return []
        above = [self.store.root + folder for folder in (b"/letters", b"/todos", b"/mail/box")]
        keys = {name for folder in above for name in files.names(folder) if layout.is_key(name)}
        return [Box(self.store, key.decode()) for key in sorted(keys)]

    def within(self, path: bytes) -> str:
        """A path of the store as a person reads it: from the store's root on."""
        root = b"" if self.store is None else self.store.root
        return os.fsdecode(path.removeprefix(root + b"/"))


Check = Callable[[Case], Iterable[Finding]]


def walk(store: Store) -> "tuple[tuple[Entry, ...], tuple[str, ...]]":
    """Every name below the store's root but those inside the ledger, and why some folders could not be listed."""
    found: list[Entry] = []
    dark: list[str] = []
    todo = [store.root]
    while todo:
        folder = todo.pop()
        try:
            for entry in _listed(folder):
                found.append(entry)
                if entry.is_folder and entry.path != store.root + b"/ledger.git":
                    todo.append(entry.path)
        except OSError as error:
            dark.append(files.fault("list", folder, error).sentence)
    return tuple(sorted(found, key=lambda entry: entry.path)), tuple(dark)


def _listed(folder: bytes) -> Iterator[Entry]:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield Entry(entry.path, status.st_mode, status.st_uid, status.st_dev)


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more."""
    shown = ", ".join(f"'{name}'" for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def many(count: int, one: str, more: str = "") -> str:
    """``1 letter``, ``2 letters``."""
    return f"{count} {one if count == 1 else more or one + 's'}"

"""What a store holds, as paths of its part of the ledger: every record's file and the boxes they belong to.

Nothing is opened here: a record is replaced by renaming, so its inode, size and times say whether it is the file
that was read before. The last two characters of an id are two folders above it, for one folder of ten thousand
names would have to be written anew for each new one.
"""

import os
import stat

from git_coop import files, layout, letter_glance, letterbox, requestbox, todobox
from git_coop.errors import StoreFault
from git_coop.layout import Box, is_key
from git_coop.record import Record
from git_coop.store import Store

KINDS = ("letters", "todos", "requests")


class Held(Record):
    """A record's file and its signature: what changes whenever the file does."""

    file: bytes
    signature: str
    changed: int  # nanoseconds: when the kernel last changed the file


class Holdings(Record):
    """Records by their path in the ledger, box paths by key, and what could not be looked at."""

    records: dict[str, Held]
    boxes: dict[str, bytes]
    faults: tuple[str, ...] = ()

    def count(self, kind: str) -> int:
        return sum(1 for path in self.records if path.startswith(kind + "/"))


def path_in_ledger(kind: str, key: str, identifier: str) -> str:
    """``letters/<key>/<x>/<y>/<id>.toml`` for an id that ends in ``xy``; requests are the clone's and have no key."""
    return "/".join([kind, *([key] if key else []), identifier[-2], identifier[-1], f"{identifier}.toml"])


def identifier_of(path: str) -> str:
    """The id at the end of a record's path."""
    return path.rpartition("/")[2].removesuffix(".toml")


def survey(store: Store) -> Holdings:
    """Everything of the store that the ledger carries. A box that cannot be listed is a ``StoreFault``."""
    records: dict[str, Held] = {}
    boxes: dict[str, bytes] = {}
    faults: list[str] = []
    for box in letterbox.shelves(store):
        found = {i: layout.letter_path(box, i) for i in letter_glance.known(box)}
        _add(store, records, faults, "letters", box.key, found)
    for box in _todo_boxes(store):
        _add(store, records, faults, "todos", box.key, {i: todobox.path_of(box, i) for i in todobox.known(box)})
    _add(store, records, faults, "requests", "", {i: requestbox.path_of(store, i) for i in requestbox.known(store)})
    for key in {path.split("/")[1] for path in records if not path.startswith("requests/")}:
        try:
            place = Box(store, key).path()
        except StoreFault as error:
            faults.append(error.sentence)
            continue
        if place:
            boxes[key] = place
    return Holdings(records, boxes, tuple(faults))


def _todo_boxes(store: Store) -> list[Box]:
    names = files.names(store.root + b"/todos")
    return [Box(store, name.decode()) for name in sorted(names) if is_key(name)]


def _add(
    store: Store, records: dict[str, Held], faults: list[str], kind: str, key: str, found: dict[str, bytes]
) -> None:
    for identifier, file in found.items():
        try:
            status = os.lstat(file)
        except FileNotFoundError:
            continue  # moved with its box: the next sync finds it there
        except OSError as error:
            faults.append(files.fault("look at", file, error).sentence)
            continue
        if not stat.S_ISREG(status.st_mode):
            faults.append(f"'{os.fsdecode(file)}' is {files.what_is(status.st_mode)}, not a record")
            continue
        if stranger := store.stranger(status.st_uid):
            faults.append(f"'{os.fsdecode(file)}' is left alone: {stranger}")
            continue
        signature = f"{status.st_ino}.{status.st_size}.{status.st_mtime_ns}.{status.st_ctime_ns}"
        records[path_in_ledger(kind, key, identifier)] = Held(file, signature, status.st_ctime_ns)

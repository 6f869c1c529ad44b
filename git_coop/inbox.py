"""What lies in a box: listed by name, opened one by one, each oddity named and none in the way of the rest."""

from git_coop import files, ids
from git_coop.claims import claim, remove, sync_folder
from git_coop.errors import Busy, StoreFault
from git_coop.layout import Box, message_path
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.message import Message

SUFFIX = ".eml"
NAME = ids.LENGTH + len(SUFFIX)


class Listing(Record):
    """The names in a folder of messages: ids oldest first, names of no such shape, and those ignored by rule.

    An id is checked in full when its message is opened; a list of ten thousand names is not.
    """

    ids: "tuple[str, ...]" = ()
    rejected: "tuple[str, ...]" = ()
    ignored: int = 0


class Found(Record):
    """A message as it was opened: what it says, the hash of its file, and the file's own time."""

    message: "Message"
    sha256: str
    mtime: int


class Odd(Record):
    """Something in the place of a message, and what is wrong with it in our words."""

    id: str
    reason: str


def listed(folder: bytes) -> Listing:
    """The messages in a folder. Raises ``StoreFault`` where it cannot be listed."""
    names = files.entries(folder)
    length, stamp, suffix = ids.LENGTH, ids.STAMP, SUFFIX  # looked up once: ten thousand names may lie here
    good = [name[:length] for name in names if name[length:] == suffix and name[stamp] == "-"]
    good.sort()
    if len(good) == len(names):
        return Listing(tuple(good))
    known = {name + SUFFIX for name in good}
    others = sorted(name for name in names if name not in known)
    rejected = tuple(name for name in others if not is_ignored(name))
    return Listing(tuple(good), rejected, len(others) - len(rejected))


def is_ignored(name: str) -> bool:
    """What editors and file systems leave behind: it is no message and no fault, and ``mail status`` counts it."""
    return name.startswith(".") or name.endswith(("~", ".swp"))


def look(box: Box, identifier: str, folder: "bytes | None" = None) -> "Found | Odd | None":
    """Open one message, by default of the inbox; ``None`` where it is gone."""
    if not ids.is_id(identifier):
        return Odd(identifier, "its name is no message id")
    from git_coop import message  # an empty box is looked into without it
    from git_coop.digest import sha256

    try:
        contents = files.read_cut(message_path(folder or box.inbox, identifier), message.FILE_LIMIT + 1)
    except files.Gone:
        return None
    except files.Unreadable as error:
        return Odd(identifier, error.reason)
    stranger = box.store.stranger(contents.owner)
    if stranger:
        return Odd(identifier, stranger)
    damage = message.damage(contents.data)
    if damage is not None:
        return Odd(identifier, f"it is no message: {damage}")
    return Found(message.parse(identifier, contents.data), sha256(contents.data), contents.mtime)


def filed_copy(box: Box, identifier: str) -> "bytes | None":
    """The path under which this message was filed already, if it was."""
    for folder in (box.seen, box.expired):
        path = message_path(folder, identifier)
        if files.exists(path):
            return path
    return None


def drop_filed(box: Box, identifier: str, filed: bytes) -> "Odd | None":
    """Take the inbox's name from a message that is filed under the same id, if it is the very same.

    A power cut can leave both names, and a restored backup can bring one back. What was filed counts. Another
    content under a used id is touched by nobody.
    """
    from git_coop.message import FILE_LIMIT

    path = message_path(box.inbox, identifier)
    try:
        with claim(path) as held:
            if stranger := box.store.stranger(held.status.st_uid):
                return Odd(identifier, stranger)
            same = held.read(FILE_LIMIT + 1) == files.read_cut(filed, FILE_LIMIT + 1).data
            if same:
                remove(path)
                sync_folder(box.inbox)
    except (files.Gone, Busy):
        return None
    return None if same else Odd(identifier, "another message was filed under this id; neither is touched")


def recover(box: Box) -> "tuple[list[str], list[str]]":
    """Return what is stranded in ``claiming/`` to the inbox; (ids returned, faults)."""
    returned, faults = [], []
    for name in files.entries(box.claiming):
        identifier = name.removesuffix(SUFFIX)
        if name == identifier or not ids.is_id(identifier):
            if not is_ignored(name):
                faults.append(f"'{name}' in claiming/ is no message")
            continue
        try:
            with claim(message_path(box.claiming, identifier)) as held:
                if stranger := box.store.stranger(held.status.st_uid):
                    faults.append(f"stranded message {identifier} is left alone: {stranger}")
                elif held.move(message_path(box.inbox, identifier)):
                    returned.append(identifier)
        except files.Gone:
            continue
        except (Busy, StoreFault) as error:
            faults.append(error.sentence)
    return returned, faults

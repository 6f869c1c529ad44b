"""What lies in a box: listed by name, opened one by one, each oddity named and none in the way of the rest."""

from git_coop import files, ids
from git_coop.errors import Busy, StoreFault
from git_coop.layout import Box, message_path
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from git_coop.message import Message

SUFFIX = ".eml"
NAME = ids.LENGTH + len(SUFFIX)
_MANY = 1000  # names that are put in order as a whole


class Ids:
    """The ids in the names of message files, oldest first; put in order only as far as they are asked for.

    Ten thousand may lie in a box, of which a drain looks at a few dozen.
    """

    def __init__(self, names: "Collection[str]" = (), out: "Collection[str]" = ()) -> None:
        self.names = names
        self.out = out  # those of the names that are left out
        self._first: "list[str] | None" = None
        self._last_of_first = ""  # the rest is what sorts after it; empty where there is none

    def __len__(self) -> int:
        return len(self.names) - len(self.out)

    def __iter__(self) -> "Iterator[str]":
        length, out = ids.LENGTH, self.out
        for name in self._oldest():
            if name not in out:
                yield name[:length]
        bound = self._last_of_first
        if bound:
            for name in sorted([name for name in self.names if name > bound]):
                if name not in out:
                    yield name[:length]

    def __contains__(self, identifier: object) -> bool:
        name = f"{identifier}{SUFFIX}"
        return name in self.names and name not in self.out

    def only(self, identifiers: "Collection[str]") -> "Ids":
        """Those of ``identifiers`` that are there."""
        if not identifiers:
            return Ids()
        return Ids({identifier + SUFFIX for identifier in identifiers}.intersection(self.names).difference(self.out))

    def without(self, identifiers: "Collection[str]") -> "Ids":
        """All but ``identifiers``."""
        out = self.only(identifiers).names
        return Ids(self.names, {*self.out, *out}) if out else self

    def _oldest(self) -> "list[str]":
        """The oldest in order, and a few hundred more than are left out: what sorts before a name from a sample."""
        if self._first is None:
            names, out = list(self.names), len(self.out)
            if len(names) > max(_MANY, 2 * out):
                sample = sorted(names[:: len(names) // 100])
                self._last_of_first = bound = sample[3 + out * len(sample) // len(names)]
                names = [name for name in names if name <= bound]
            names.sort()
            self._first = names
        return self._first


class Listing(Record):
    """The names in a folder of messages: the ids, names of no such shape, and how many are ignored by rule.

    An id is checked in full when its message is opened; a list of ten thousand names is not.
    """

    ids: Ids = Ids()
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
    if _are_plain(names):
        return Listing(Ids(names))
    good = [name for name in names if name[ids.LENGTH :] == SUFFIX and name[ids.STAMP] == "-"]
    others = sorted(set(names).difference(good))
    rejected = tuple(name for name in others if not is_ignored(name))
    return Listing(Ids(good), rejected, len(others) - len(rejected))


def _are_plain(names: "list[str]") -> bool:
    """Whether every name has the shape of a message's. All are looked at together: ten thousand may lie here."""
    whole, stride = "\0".join(names), NAME + 1  # no name holds a NUL
    if len(whole) != max(len(names) * stride - 1, 0):
        return False
    columns = [(whole[at::stride], mark) for at, mark in ((ids.STAMP, "-"), *enumerate(SUFFIX + "\0", ids.LENGTH))]
    return all(column.count(mark) == len(column) for column, mark in columns)


def is_ignored(name: str) -> bool:
    """What editors and file systems leave behind: it is no message and no fault, and ``mail status`` counts it."""
    return name.startswith(".") or name.endswith(("~", ".swp"))


def look(box: Box, identifier: str, folder: "bytes | None" = None) -> "Found | Odd | None":
    """Open one message, by default of the inbox; ``None`` where it is gone."""
    if not ids.is_id(identifier):
        return Odd(identifier, "its name is no message id")
    from git_coop import message  # an empty box is looked into without it
    from git_coop.files import sha256

    try:
        contents = box.store.look(message_path(folder or box.inbox, identifier), message.FILE_LIMIT + 1)
    except files.Gone:
        return None
    except files.Unreadable as error:
        return Odd(identifier, error.reason)
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
    from git_coop.claims import claim, remove, sync_folder
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
            if _returned(box, identifier):
                returned.append(identifier)
        except files.Gone:
            continue
        except (Busy, StoreFault) as error:
            faults.append(error.sentence)
    return returned, faults


def _returned(box: Box, identifier: str) -> bool:
    from git_coop.claims import claim  # hardly ever is anything stranded

    path = message_path(box.claiming, identifier)
    with claim(path) as held:
        if stranger := box.store.stranger(held.status.st_uid):
            raise StoreFault(f"stranded message {identifier} is left alone: {stranger}", path=path)
        return held.move(message_path(box.inbox, identifier))

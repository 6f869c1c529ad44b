"""Other stores' letters, as the ledger has them: untrusted, bounded, never executed, never written anywhere else.

Only what stands below a replica's own name counts for that replica. Nothing here changes a record of this store; the
one thing that another store can say about a letter of ours is that it adopted it.
"""

from collections import Counter
from collections.abc import Sequence

from git_coop import adopted, ids, letters
from git_coop.errors import Refused, StoreFault
from git_coop.layout import is_key
from git_coop.ledger import BLOB, BRANCH, Ledger, Unsound
from git_coop.ledger_walk import Found, Problems, folders, open_tree, records
from git_coop.letter_record import decode
from git_coop.letters import Letter
from git_coop.own import LIMIT
from git_coop.record import Record
from git_coop.text import safe_bytes, safe_line

BUDGET = 1 << 30  # bytes of records that one reading parses
_NAME = 300  # characters of a store's name, bytes of a box's path
_PATH = 4096


class Far(Record):
    """A letter of another store, in its effective state, and who adopted it."""

    replica: str
    letter: Letter
    adopted_on: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"{self.replica}/{self.letter.id}"


class Shelf(Record):
    """A store of the fleet: its letters, newest first, and the paths of its boxes."""

    replica: str
    name: str
    letters: tuple[Far, ...]
    boxes: dict[str, str]


class Fleet(Record):
    """Every other store that the ledger knows, by id, and what was passed over."""

    shelves: tuple[Shelf, ...] = ()
    problems: tuple[str, ...] = ()


class Reader:
    """One reading of a ledger: the trees of its replicas, what is wrong with them, and a bound on what is parsed."""

    def __init__(self, book: Ledger, commit: str = "") -> None:
        self.book = book
        self.problems = Problems()
        self.left = BUDGET
        self.trees = self._replicas(commit or book.tip())

    def _replicas(self, commit: str) -> dict[str, str]:
        if not commit:
            return {}
        try:
            top = self.book.subtree(self.book.tree_of(commit), "replicas")
        except Unsound as error:
            self.problems.add("the ledger", error.sentence)
            return {}
        return dict(folders(self.book, top, "replicas", self.problems, adopted.is_store))

    def found(self, replica: str, *, states: bool = True) -> list[Found]:
        """The letters of a replica, box by box, oldest first.

        Of its strays those that it has not got itself, and with ``states`` those that it has in another state.
        """
        every = records(self.book, self.trees[replica], replica, self.problems, "letters")
        owner = self.trees.get(replica.removesuffix(adopted.STRAYS), "") if replica.endswith(adopted.STRAYS) else ""
        known: dict[str, set[str]] = {}
        for one in records(self.book, owner, "", Problems(), "letters") if owner else ():
            known.setdefault(one.id, set()).add(one.blob)
        wanted = (one for one in every if one.id not in known or (states and one.blob not in known[one.id]))
        return sorted(wanted, key=lambda one: (one.key, one.id))

    def letter(self, replica: str, found: Found, newer: str | None) -> Letter | None:
        """The letter, or ``None`` where it cannot be read, which is a problem. ``newer``: the next one of its box."""
        where = f"{replica}/{found.id}"
        try:
            kind, size = self.book.measure(found.blob)
            if kind == "blob" and size > self.left:
                raise Unsound("too much was read already")
            data = self.book.data(found.blob, LIMIT)
            self.left -= len(data)
            letter = decode(data, where.encode(), found.id).replace(key=found.key)
        except (Unsound, StoreFault) as error:
            self.problems.add(where, error.sentence)
            return None
        return letters.effective(letter, newer)

    def adopters(self, origin: str) -> dict[str, tuple[str, ...]]:
        """Letters of one replica by id, and which others adopted them."""
        pairs: dict[str, tuple[str, ...]] = {}
        for replica, tree in sorted(self.trees.items()):
            if replica == origin:
                continue
            try:
                folder = self.book.subtree(tree, "adopted", origin)
            except Unsound as error:
                self.problems.add(f"{replica}/adopted", error.sentence)
                continue
            for child in open_tree(self.book, folder, f"{replica}/adopted", self.problems):
                identifier = child.name.decode("ascii", "replace")
                if child.mode == BLOB and ids.is_id(identifier):
                    pairs[identifier] = (*pairs.get(identifier, ()), replica)
        return pairs

    def name(self, replica: str) -> str:
        """What a replica says of itself, made safe; empty where it says nothing."""
        try:
            child = self.book.child(self.trees[replica], "name")
            data = self.book.data(child.id, _PATH) if child is not None and child.mode == BLOB else b""
        except (KeyError, Unsound):
            return ""
        return safe_line(safe_bytes(data).strip(), _NAME)

    def boxes(self, replica: str) -> dict[str, bytes]:
        """The paths of a replica's boxes by key, as it gives them: for display, and for a restore to ask about."""
        try:
            folder = self.book.subtree(self.trees[replica], "boxes")
        except (KeyError, Unsound):
            return {}
        found = {}
        for child in open_tree(self.book, folder, f"{replica}/boxes", self.problems):
            if child.mode != BLOB or not is_key(child.name):
                continue
            try:
                path = self.book.data(child.id, _PATH).removesuffix(b"\n")
            except Unsound as error:
                self.problems.add(f"{replica}/boxes/{child.name.decode()}", error.sentence)
                continue
            if path.startswith(b"/") and b"\0" not in path:
                found[child.name.decode()] = path
        return found


def survey(book: Ledger, own: str, *, closed: bool) -> Fleet:
    """Every other store's letters: the live ones, or all of them. One bad record hides no other."""
    reader = Reader(book)
    shelves = tuple(_shelf(reader, replica, closed) for replica in sorted(reader.trees) if replica != own)
    return Fleet(shelves, reader.problems.lines())


def _shelf(reader: Reader, replica: str, closed: bool) -> Shelf:
    adopters = reader.adopters(replica)
    far = [
        Far(replica, letter, adopters.get(letter.id, ()))
        for letter in _letters(reader, replica, closed)
        if closed or letter.live
    ]
    far.sort(key=lambda one: (one.letter.id, one.letter.key), reverse=True)
    boxes = {key: safe_line(safe_bytes(path), _PATH) for key, path in reader.boxes(replica).items()}
    return Shelf(replica, reader.name(replica), tuple(far), boxes)


def _letters(reader: Reader, replica: str, closed: bool) -> list[Letter]:
    """The letters of a replica; without ``closed`` only the newest of each box, for no other can be live."""
    found = reader.found(replica, states=closed)
    often = Counter(one.id for one in found)
    copies: dict[str, list[Letter]] = {}
    for place, one in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        newer = after.id if after is not None and after.key == one.key else None
        if closed or newer is None or often[one.id] > 1:
            letter = reader.letter(replica, one, newer)
            if letter is not None:
                copies.setdefault(letter.id, []).append(letter)
    return [latest(same) for same in copies.values()]


def latest(copies: Sequence[Letter]) -> Letter:
    """Of copies of one letter in several boxes of a store the one to which most happened."""
    return max(copies, key=lambda letter: (_last_event(letter), len(letter.events), not letter.live, letter.key))


def _last_event(letter: Letter) -> int:
    return max((happening.at for happening in letter.events), default=letter.created_at)


def find(book: Ledger, own: str, asked: str) -> Far:
    """The letter of another store that ``asked`` names: an id, or ``<replica>/<id>``.

    Raises ``NotFound``, and ``Refused`` where several are meant or where its record cannot be read.
    """
    reader = Reader(book)
    named, slash, rest = asked.rpartition("/")
    homes = [
        (replica, found)
        for replica in sorted(reader.trees)
        if replica != own and (not slash or replica == named)
        for found in reader.found(replica)
    ]
    identifier = ids.pick(rest, [found.id for _replica, found in homes], what="letter")
    fitting = [(replica, found) for replica, found in homes if found.id == identifier]
    stores = sorted({replica for replica, _found in fitting})
    if len(stores) > 1:
        them = ", ".join(f"{replica}/{identifier}" for replica in stores)
        raise Refused(f"letter '{asked}' is ambiguous", hint=f"it could be {them}")
    replica = stores[0]
    copies = [letter for _replica, one in fitting if (letter := _read(reader, replica, one, homes)) is not None]
    if not copies:
        raise Refused(f"letter {identifier} of {replica} cannot be read: {reader.problems.named[-1]}")
    return Far(replica, latest(copies), reader.adopters(replica).get(identifier, ()))


def _read(reader: Reader, replica: str, one: Found, homes: Sequence[tuple[str, Found]]) -> Letter | None:
    newer = [found.id for home, found in homes if (home, found.key) == (replica, one.key) and found.id > one.id]
    return reader.letter(replica, one, min(newer, default=None))


def current(book: Ledger) -> str:
    """The commit that the fleet is read from; empty where nothing was synced yet."""
    return book.tip(BRANCH)

"""The strict walk over a replica's tree, which anybody may have pushed.

Only entries whose kind, mode, name and depth are those of the layout count; every other is named as a problem and
passed over. No name from a tree ever becomes a path of a file system here: names are compared with the shapes of ids
and keys, and what has another shape is never used.
"""

from collections.abc import Callable, Iterator

from git_coop import holdings, ids, todos
from git_coop.errors import Fatal
from git_coop.layout import is_key
from git_coop.ledger import BLOB, FORMAT, MARK, TREE, Child, Ledger, Unsound
from git_coop.record import Record
from git_coop.text import quote_path

ENTRIES = 200_000  # entries of one tree that are looked at
NAMED = 50  # problems that are named; the rest are counted
_KINDS = {0o040000: "a folder", 0o120000: "a symbolic link", 0o160000: "a submodule", 0o100755: "an executable file"}


class Found(Record):
    """A record in a replica's tree: where it stands below it, whose it is, and its blob."""

    kind: str
    key: str  # empty for a request
    id: str
    blob: str

    @property
    def path(self) -> str:
        return holdings.path_in_ledger(self.kind, self.key, self.id)


class Problems:
    """What was passed over and why, the first ones by name."""

    def __init__(self) -> None:
        self.named: list[str] = []
        self.more = 0

    def add(self, where: str, why: str) -> None:
        if len(self.named) < NAMED:
            self.named.append(f"{where}: {why}")
        else:
            self.more += 1

    def lines(self) -> tuple[str, ...]:
        return (*self.named, *([f"and {self.more} more"] if self.more else []))


def open_tree(book: Ledger, tree: str, where: str, problems: Problems) -> list[Child]:
    """The entries of a tree; none where it cannot be read, which is a problem."""
    if not tree:
        return []
    try:
        children = book.children(tree)
    except Unsound as error:
        problems.add(where, error.sentence)
        return []
    if len(children) > ENTRIES:
        problems.add(where, f"it has {len(children)} entries; {ENTRIES} are looked at")
    return children[:ENTRIES]


def folders(
    book: Ledger, tree: str, where: str, problems: Problems, fits: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """The folders of a tree whose names fit, as (name, tree); the others are problems."""
    for child in open_tree(book, tree, where, problems):
        name = child.name.decode("ascii", "replace")
        if child.mode != TREE:
            problems.add(_at(where, child), f"it is {_KINDS.get(child.mode, 'a file')}, not a folder")
        elif not fits(name):
            problems.add(_at(where, child), "no folder of a ledger has this name")
        else:
            yield name, child.id


def records(book: Ledger, tree: str, where: str, problems: Problems, *kinds: str) -> Iterator[Found]:
    """The records of a replica's tree; ``kinds``: of these only."""
    for kind in kinds or holdings.KINDS:
        top = _top(book, tree, kind, where, problems)
        if kind == "requests":
            yield from _shards(book, top, kind, "", f"{where}/{kind}", problems)
            continue
        for key, box in folders(book, top, f"{where}/{kind}", problems, _is_key):
            yield from _shards(book, box, kind, key, f"{where}/{kind}/{key}", problems)


def _top(book: Ledger, tree: str, kind: str, where: str, problems: Problems) -> str:
    try:
        return book.subtree(tree, kind)
    except Unsound as error:
        problems.add(where, error.sentence)
        return ""


def _shards(book: Ledger, tree: str, kind: str, key: str, where: str, problems: Problems) -> Iterator[Found]:
    for first, middle in folders(book, tree, where, problems, _is_digit):
        for second, inner in folders(book, middle, f"{where}/{first}", problems, _is_digit):
            yield from _leaves(book, inner, kind, key, first + second, f"{where}/{first}/{second}", problems)


def _leaves(book: Ledger, tree: str, kind: str, key: str, end: str, where: str, problems: Problems) -> Iterator[Found]:
    for child in open_tree(book, tree, where, problems):
        name = child.name.decode("ascii", "replace")
        identifier = name.removesuffix(".toml")
        if child.mode != BLOB:
            problems.add(_at(where, child), f"it is {_KINDS.get(child.mode, 'no file')}, not a record")
        elif identifier == name or not identifier.endswith(end) or not is_record(kind, identifier):
            problems.add(_at(where, child), "no record has this name here")
        else:
            yield Found(kind, key, identifier, child.id)


def _is_digit(name: str) -> bool:
    return len(name) == 1 and name.isascii() and name.isalnum()


def is_record(kind: str, identifier: str) -> bool:
    """Whether an id has the shape that its kind has."""
    return todos.is_id(identifier) if kind == "todos" else ids.is_id(identifier)


def _is_key(name: str) -> bool:
    return is_key(name.encode())


def _at(where: str, child: Child) -> str:
    return f"{where}/{quote_path(child.name, 80)}"


def check_mark(book: Ledger, tree: str) -> None:
    """Demand that a tree is a ledger of this format. Raises ``Fatal``."""
    try:
        found = book.child(tree, MARK)
        data = book.data(found.id, 64) if found is not None and found.mode == BLOB else None
    except Unsound as error:
        raise Fatal(f"its branch 'coop' cannot be read: {error.sentence}") from error
    if data is None:
        raise Fatal("its branch 'coop' is not a ledger of git coop: nothing was taken and nothing was sent")
    if data != FORMAT:
        words = data[:16].decode("ascii", "replace").strip()
        raise Fatal(f"unknown ledger format '{words}'", hint="a newer git coop may know it")

"""Todos on the disk: one record a todo in the box's own folder, changed under one lock."""

from collections.abc import Callable

from git_coop import files, ids, todos
from git_coop.claims import lock
from git_coop.errors import StoreFault
from git_coop.layout import Box
from git_coop.locks import Lock
from git_coop.record import Record
from git_coop.todos import Todo
from git_coop.toml import LIMIT

LOCK_WAIT = 10.0  # seconds


class Shelf(Record):
    """The todos of a box, oldest first; ``broken`` says why each record that cannot be read could not be."""

    todos: tuple[Todo, ...] = ()
    broken: tuple[str, ...] = ()
    strangers: int = 0  # names that are no todos

    @property
    def open(self) -> tuple[Todo, ...]:
        return tuple(todo for todo in self.todos if todo.status == todos.OPEN)


class Change(Record):
    """A todo before and after; equal where there was nothing to change."""

    before: Todo
    after: Todo


def known(box: Box) -> list[str]:
    """The ids of the box's todos."""
    return sorted(name for name in map(_identifier, files.entries(box.todos)) if name)


def _identifier(name: str) -> str:
    return ids.of_record(name, todos.is_id)


def path_of(box: Box, identifier: str) -> bytes:
    """Where the record of a todo lies."""
    return box.todos + b"/" + identifier.encode() + b".toml"


def load(box: Box, identifier: str) -> Todo:
    """The todo. Raises ``Gone``, ``Unreadable`` or ``Damaged``, each naming the file."""
    path = path_of(box, identifier)
    return todos.decode(box.store.read(path, LIMIT), path, identifier)


def shelf(box: Box) -> Shelf:
    """Every todo of the box. One bad record hides no other."""
    found, broken = [], []
    names = files.entries(box.todos)
    for identifier in sorted(name for name in map(_identifier, names) if name):
        try:
            found.append(load(box, identifier))
        except files.Gone:
            continue
        except StoreFault as error:
            broken.append(error.sentence)
    strangers = sum(1 for name in names if not _identifier(name) and name != ".lock")
    found.sort(key=lambda todo: (todo.created_at, todo.id))
    return Shelf(tuple(found), tuple(broken), strangers)


def _locked(box: Box) -> Lock:
    box.store.ensure_folder(box.todos)
    return lock(box.store, box.todos + b"/.lock", wait=LOCK_WAIT)


def add(box: Box, text: str, now: int, entropy: Callable[[int], bytes], session: str | None) -> Todo:
    """Store a new todo. Raises ``Refused`` for a text that is none."""
    text = todos.checked(text)
    with _locked(box):
        taken = set(known(box))
        while True:
            todo = Todo(todos.mint(entropy, taken), text, now, session)
            if box.store.create(path_of(box, todo.id), todos.encode(todo)):
                return todo
            taken.add(todo.id)


def change(box: Box, asked: str, transition: Callable[[Todo], Todo]) -> Change:
    """Apply a transition to the todo that ``asked`` names; nothing is written where it changes nothing."""
    identifier = todos.pick(asked, known(box))
    with _locked(box):
        before = load(box, identifier)
        after = transition(before)
        if after != before:
            box.store.rewrite(path_of(box, identifier), todos.encode(after))
    return Change(before, after)

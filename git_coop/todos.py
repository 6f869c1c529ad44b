"""Todos: the list that letters refer to. Values, their two states, and their records; nothing here knows of disks."""

import re
from collections.abc import Callable, Collection, Mapping

from git_coop.errors import NotFound, Refused
from git_coop.fields import Fields
from git_coop.record import Record
from git_coop.toml import dumps, loads, moment

OPEN, DONE = "open", "done"
TEXT_LIMIT = 4096  # bytes
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH = 5
_NAMES = ("id", "status", "text", "session", "created_at", "done_at", "reopened_at")


class Todo(Record):
    """One thing to do. Times are nanoseconds since the epoch in UTC; ``session`` is the one that added it."""

    id: str
    text: str
    created_at: int
    session: str | None = None
    done_at: int | None = None  # absent again in a todo that was reopened
    reopened_at: int | None = None
    unknown: Mapping[str, object] = {}  # keys of a newer program, kept as they are

    @property
    def status(self) -> str:
        return OPEN if self.done_at is None else DONE


def is_id(name: str) -> bool:
    """Whether ``name`` is ``t-`` and five of ``[0-9a-z]``."""
    return len(name) == _LENGTH + 2 and name.startswith("t-") and set(name[2:]) <= set(_DIGITS)


def mint(entropy: Callable[[int], bytes], taken: Collection[str]) -> str:
    """An id that is not among ``taken``."""
    for _attempt in range(1000):
        number = int.from_bytes(entropy(8), "big")
        identifier = "t-" + "".join(_DIGITS[number // 36**place % 36] for place in reversed(range(_LENGTH)))
        if identifier not in taken:
            return identifier
    raise Refused("no free todo id was found", hint="try again")


def pick(asked: str, known: Collection[str]) -> str:
    """The id that ``asked`` names, with or without its ``t-``; ``NotFound`` where there is none."""
    found = asked if asked.startswith("t-") else f"t-{asked}"
    if found in known:
        return found
    raise NotFound(f"no todo '{asked}'", hint="git coop todo list --all shows every one")


def checked(text: str) -> str:
    """The text of a todo, trimmed: one line that is not blank. Raises ``Refused``."""
    text = text.strip()
    if not text:
        raise Refused("the todo is blank")
    if len(text.splitlines()) > 1 or "\0" in text:
        raise Refused("a todo is one line", hint="a letter holds more: git coop letter write")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Refused("the todo is not valid UTF-8") from None
    if size > TEXT_LIMIT:
        raise Refused(f"the todo has {size} bytes, over the limit of {TEXT_LIMIT}")
    return text


def done(todo: Todo, now: int) -> Todo:
    """The todo marked done; one that is done already stays as it is."""
    return todo if todo.status == DONE else todo.replace(done_at=now)


def reopened(todo: Todo, now: int) -> Todo:
    """The todo opened again; one that is open stays as it is."""
    return todo if todo.status == OPEN else todo.replace(done_at=None, reopened_at=now)


def mentions(text: str, identifier: str) -> bool:
    """Whether a text mentions this id as a whole word.

    A word is made of ASCII letters, digits and ``_``, so that ``t-ab1cd`` is not mentioned by ``t-ab1cde``, and is
    mentioned in a script that writes no spaces; what a ``-`` joins to its front is another word.
    """
    return re.search(rf"(?<![\w-]){re.escape(identifier)}(?!\w)", text, re.ASCII) is not None


def fields(todo: Todo, time: Callable[[int], object] = moment) -> dict[str, object]:
    """The record's fields in order, every one present; ``time`` gives the form of a time (TOML's, or JSON's text)."""
    values = {**todo.values(), "status": todo.status}
    for name in ("created_at", "done_at", "reopened_at"):
        at = values[name]
        values[name] = time(at) if isinstance(at, int) else None
    return {name: values[name] for name in _NAMES}


def encode(todo: Todo) -> bytes:
    """The record's bytes."""
    return dumps({**fields(todo), **todo.unknown})


def decode(data: bytes, path: bytes, identifier: str) -> Todo:
    """The todo in ``data``; the file's name gives its id. Raises ``Damaged`` naming ``path``."""
    record = Fields(loads(data, path=path), path)
    status = record.word("status", (OPEN, DONE))
    created, finished = record.time("created_at"), record.time("done_at")
    return Todo(
        id=identifier,
        text=record.need("text"),
        created_at=created or 0,
        session=record.text("session"),
        done_at=(finished or created or 0) if status == DONE else None,
        reopened_at=record.time("reopened_at"),
        unknown=record.others(_NAMES),
    )

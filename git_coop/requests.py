"""Requests: work for another worktree, with a beginning and an end. Values, transitions and records; no disk.

``open`` is the request whose brief waits for its result; ``closed`` the one that has it. Only the worktree that was
asked closes a request: the one with its identity, wherever that is now; where it is no more, the one with its address.
"""

from collections.abc import Callable, Mapping

from git_coop import clock, ids, letters
from git_coop.errors import Refused
from git_coop.fields import Fields
from git_coop.record import Record
from git_coop.toml import dumps, loads, moment

OPEN, CLOSED = "open", "closed"
STATES = (OPEN, CLOSED)
_NAMES = (
    *("id", "status", "subject", "from", "from_path", "from_worktree", "to", "to_path", "to_worktree"),
    *("opened_at", "opened_by", "brief_mail", "closed_at", "closed_by", "result_mail", "brief", "result"),
)
_TEXTS = ("from_worktree", "to_worktree", "opened_by", "brief_mail", "closed_by", "result_mail", "result")


class Side(Record):
    """A worktree as one side of a request: its key, its path for display, and its coop id where it has one.

    ``alive`` are the coop ids of the worktrees that the clone has now.
    """

    key: str
    path: str
    worktree: str | None = None
    alive: frozenset[str] = frozenset()


class Request(Record):
    """A request. Times are nanoseconds since the epoch in UTC; ``None`` means not happened, or not known."""

    id: str
    from_key: str
    from_path: str
    to_key: str
    to_path: str
    subject: str
    brief: str
    opened_at: int
    status: str = OPEN
    from_worktree: str | None = None  # the coop id of the worktree that asks, which survives its moving
    to_worktree: str | None = None
    opened_by: str | None = None  # sessions
    closed_by: str | None = None
    brief_mail: str | None = None  # the message that carried the brief
    result_mail: str | None = None
    result: str | None = None
    closed_at: int | None = None
    unknown: Mapping[str, object] = {}  # keys of a newer program, kept as they are


def opened(identifier: str, asker: Side, asked: Side, brief: str, now: int, session: str | None) -> Request:
    """A new request. Raises ``Refused`` where a worktree asks itself."""
    if asker.key == asked.key:
        raise Refused("a request is for another worktree", hint="for this one there are todos and letters")
    return Request(
        id=identifier,
        from_key=asker.key,
        from_path=asker.path,
        from_worktree=asker.worktree,
        to_key=asked.key,
        to_path=asked.path,
        to_worktree=asked.worktree,
        subject=letters.subject_of(brief, packet=True),
        brief=brief,
        opened_at=now,
        opened_by=session,
    )


def closed(request: Request, by: Side, result: str, now: int, session: str | None) -> Request:
    """The request with its result. Raises ``Refused`` where it is closed, or is another worktree's to close."""
    if request.status == CLOSED:
        at = "" if request.closed_at is None else f" at {clock.rfc3339(request.closed_at)}"
        raise Refused(
            f"request {request.id} is closed already{at}",
            hint=f"git coop request show {ids.tail(request.id)} prints its result",
        )
    if not is_recipient(request, by):
        raise Refused(
            f"request {request.id} is not this worktree's to close",
            hint=f"it is for '{request.to_path}', and only its recipient closes a request",
        )
    return request.replace(status=CLOSED, result=result, closed_at=now, closed_by=session)


def is_recipient(request: Request, side: Side) -> bool:
    """Whether this worktree was asked."""
    return _is(side, request.to_key, request.to_worktree)


def is_sender(request: Request, side: Side) -> bool:
    """Whether this worktree asks."""
    return _is(side, request.from_key, request.from_worktree)


def _is(side: Side, key: str, worktree: str | None) -> bool:
    """Whether a side is the worktree of this identity, or has taken the address of one that is no more."""
    if worktree is not None and worktree == side.worktree:
        return True
    return side.key == key and worktree not in side.alive


def brief_message(request: Request) -> str:
    """The body of the mail that carries the brief."""
    return (
        f"Request {request.id}: read the brief below, then send its result back with "
        f"`git coop request close {ids.tail(request.id)} --body -`.\n\n{request.brief}"
    )


def result_message(request: Request) -> str:
    """The body of the mail that carries the result."""
    return f"Request {request.id} is closed; its result is below.\n\n{request.result or ''}"


def fields(request: Request, time: Callable[[int], object] = moment) -> dict[str, object]:
    """The record's fields in order, every one present; ``time`` gives the form of a time (TOML's, or JSON's text)."""
    values = {**request.values(), "from": request.from_key, "to": request.to_key}
    for name in ("opened_at", "closed_at"):
        at = values[name]
        values[name] = time(at) if isinstance(at, int) else None
    return {name: values[name] for name in _NAMES}


def encode(request: Request) -> bytes:
    """The record's bytes."""
    return dumps({**fields(request), **request.unknown})


def decode(data: bytes, path: bytes, identifier: str) -> Request:
    """The request in ``data``; the file's name gives its id. Raises ``Damaged`` naming ``path``."""
    record = Fields(loads(data, path=path), path)
    opened_at = record.time("opened_at")
    return Request(
        id=identifier,
        from_key=record.need("from"),
        from_path=record.text("from_path") or "",
        to_key=record.need("to"),
        to_path=record.text("to_path") or "",
        subject=record.text("subject") or "",
        brief=record.need("brief"),
        opened_at=ids.time_of(identifier) if opened_at is None else opened_at,
        status=record.word("status", STATES),
        closed_at=record.time("closed_at"),
        unknown=record.others(_NAMES),
        **{name: record.text(name) for name in _TEXTS},
    )

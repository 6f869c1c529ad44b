"""A letter's record: TOML, readable with ``cat``; ``gitcoop-layout(5)`` defines it."""

from git_coop import ids
from git_coop.fields import Fields, damaged
from git_coop.layout import Box, letter_path
from git_coop.letters import STATES, Happening, Letter
from git_coop.toml import LIMIT, dumps, loads, moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TIMES = ("created_at", "read_at", "last_read_at", "started_at", "acked_at", "abandoned_at", "superseded_at")
_TEXTS = ("branch", "head", "session", "close_reason", "ack_body", "superseded_by", "adopted_from")
_FIELDS = (
    *("id", "from", "to", "path", "branch", "head", "session", "subject", "status"),
    *("created_at", "read_at", "last_read_at", "read_count", "started_at", "acked_at", "abandoned_at", "superseded_at"),
    *("close_reason", "ack_body", "supersedes", "superseded_by", "adopted_from", "body", "events"),
)


def fields(letter: Letter, time: "Callable[[int], object]" = moment) -> "dict[str, object]":
    """The record's fields in order, every one present; ``time`` gives the form of a time (TOML's, or JSON's text)."""
    values = {**letter.values(), "from": letter.key, "to": letter.key}
    for name in _TIMES:
        at = values[name]
        values[name] = time(at) if isinstance(at, int) else None
    values["supersedes"] = list(letter.supersedes)
    values["events"] = [_event(happening, time) for happening in letter.events]
    return {name: values[name] for name in _FIELDS}


def _event(happening: Happening, time: "Callable[[int], object]") -> "dict[str, object]":
    return {"event": happening.event, "at": time(happening.at), "session": happening.session, **happening.unknown}


def encode(letter: Letter) -> bytes:
    """The record's bytes. Keys of a newer program are kept behind our own."""
    record = fields(letter)
    if not letter.supersedes:
        del record["supersedes"]
    return dumps({**record, **letter.unknown})


def decode(data: bytes, path: bytes, identifier: str) -> Letter:
    """The letter in ``data``; the file's name gives its id. Raises ``Damaged`` naming ``path``."""
    found = Fields(loads(data, path=path), path)
    created = found.time("created_at")
    letter = Letter(
        id=identifier,
        key=found.text("to") or "",
        path=found.text("path") or "",
        body=found.need("body"),
        subject=found.text("subject") or "",
        created_at=ids.time_of(identifier) if created is None else created,
        status=found.word("status", STATES),
        read_count=_count(found, "read_count"),
        supersedes=_texts(found, "supersedes"),
        events=_events(found),
        unknown=found.others(_FIELDS),
    )
    times = {name: found.time(name) for name in _TIMES if name != "created_at"}
    return letter.replace(**times, **{name: found.text(name) for name in _TEXTS})


def _count(fields: Fields, name: str) -> int:
    value = fields.record.get(name, 0)
    if type(value) is int and value >= 0:  # a bool is none, nor is a time
        return value
    raise damaged(fields.path, f"'{name}' is not a count")


def _texts(fields: Fields, name: str) -> "tuple[str, ...]":
    value = fields.record.get(name, [])
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise damaged(fields.path, f"'{name}' is not a list of ids")


def _events(fields: Fields) -> "tuple[Happening, ...]":
    found = fields.record.get("events", [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise damaged(fields.path, "'events' is not a list of tables")
    return tuple(_happening(Fields(item, fields.path)) for item in found)


def _happening(fields: Fields) -> Happening:
    at = fields.time("at")
    if at is None:
        raise damaged(fields.path, "an event has no time")
    return Happening(fields.need("event"), at, fields.text("session"), fields.others(("event", "at", "session")))


def stored(box: Box, identifier: str) -> Letter:
    """The record as it lies there; the folder says whose it is.

    Raises ``Gone``, ``Unreadable`` or ``Damaged``, each naming the file.
    """
    path = letter_path(box, identifier)
    return decode(box.store.read(path, LIMIT), path, identifier).replace(key=box.key)

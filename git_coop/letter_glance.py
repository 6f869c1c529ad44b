"""The live letter at a glance: what a notice says of it, without its texts. Of a long one only the head is read.

A start pays for it in every session. So a record that is as we write it is read without a TOML parser.
"""

from git_coop import files, ids, plain_toml
from git_coop.layout import Box, letter_path
from git_coop.letters import STATES, Letter
from git_coop.plain_toml import Time
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.plain_toml import Table

GLANCED = 1 << 18  # bytes of a record that a glance reads as a whole: to parse 16 MiB takes seconds
HEAD = 1 << 16  # bytes of a longer one that it looks into
_LONG = (b"\nbody = ", b"\nack_body = ", b"\nclose_reason = ")  # behind all that a notice needs
_TEXTS = (
    *("id", "from", "to", "path", "branch", "head", "session", "subject", "status", "body"),
    *("close_reason", "ack_body", "superseded_by", "adopted_from"),
)
_TIMES = ("created_at", "read_at", "last_read_at", "started_at", "acked_at", "abandoned_at", "superseded_at")
_KINDS: "dict[str, type]" = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_TIMES, Time),
    "read_count": int,
    "supersedes": list,
}
_EVENT: "dict[str, type]" = {"event": str, "at": Time, "session": str}


class Glance(Record):
    """A letter without its texts and history. ``size`` is its body's in bytes; not ``exact``: the whole record's."""

    letter: Letter
    size: int
    exact: bool = True


def known(box: Box) -> "list[str]":
    """The ids of the box's letters, oldest first; other names are left out."""
    return sorted(name for name in map(ids.of_record, files.entries(box.letters)) if name)


def live(box: Box) -> "Glance | None":
    """The live letter, or ``None``; looked for again where the newest one gave way while it was read.

    Only the newest record can be live, so only that one is opened. Raises ``StoreFault`` where it cannot be read: an
    unreadable letter is not no letter.
    """
    everyone = known(box)
    while everyone:
        seen = glance(box, everyone[-1])
        if seen.letter.live:
            return seen
        listed, everyone = everyone, known(box)
        if listed == everyone:
            return None
    return None


def glance(box: Box, name: str) -> Glance:
    """The letter of this id. Raises ``Gone``, ``Unreadable`` or ``Damaged``, each naming the file."""
    contents = box.store.look(letter_path(box, name), GLANCED)
    if contents.size <= GLANCED:
        return _plain(contents.data, box, name) or _whole(box, name)
    head = _head(contents.data)
    seen = _plain(head, box, name) or _parsed(head, box, name)
    return _whole(box, name) if seen is None else seen.replace(size=contents.size, exact=False)


def _head(data: bytes) -> bytes:
    """What stands in a long record before its texts, as a record; nothing where that is not all in the head of it."""
    cut = min((at for key in _LONG if (at := data.find(key, 0, HEAD)) >= 0), default=-1)
    return data[: cut + 1] + b'body = ""\n' if cut >= 0 else b""


def _whole(box: Box, name: str) -> Glance:
    from git_coop import letter_record  # and with it a TOML parser

    return _of(letter_record.stored(box, name))


def _parsed(head: bytes, box: Box, name: str) -> "Glance | None":
    from git_coop import letter_record
    from git_coop.toml import Damaged

    try:
        return _of(letter_record.decode(head, letter_path(box, name), name).replace(key=box.key))
    except Damaged:
        return None  # a text that looks like the next key, say


def _of(letter: Letter) -> Glance:
    return Glance(letter.replace(body=""), len(letter.body.encode()))


def _plain(data: bytes, box: Box, name: str) -> "Glance | None":
    """The letter in a record that is as we write it; ``None`` where a TOML parser has to look."""
    own = plain_toml.loads(data) or {}
    events = own.pop("events", [])
    if not isinstance(events, list) or not all(map(_is_event, events)):
        return None
    if not _fits(own, _KINDS) or own.get("status") not in STATES or "body" not in own:
        return None
    if not all(isinstance(each, str) for each in own.get("supersedes", ())):
        return None
    known = {field: own[field] for field in ("branch", "head", "session") if field in own}
    path, subject, created = own.get("path", ""), own.get("subject", ""), own.get("created_at", ids.time_of(name))
    letter = Letter(name, box.key, path, "", subject, created, own["status"], **known)
    return Glance(letter, len(own["body"].encode()))


def _is_event(event: object) -> bool:
    return isinstance(event, dict) and "event" in event and "at" in event and _fits(event, _EVENT)


def _fits(fields: "Table", kinds: "dict[str, type]") -> bool:
    return all(type(value) is kinds.get(name, type(value)) for name, value in fields.items())

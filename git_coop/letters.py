"""Letters as values: what a letter is, its six states, and every change as a pure function.

A letter is a request from a worktree's session to its own next session. Nothing here knows of disks; the rule
that only the newest letter of a box can be live is ``effective``.
"""

from git_coop import ids
from git_coop.errors import Refused
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

UNREAD, READ, WORKING = "unread", "read", "working"
DONE, ABANDONED, SUPERSEDED = "done", "abandoned", "superseded"
LIVE = (UNREAD, READ, WORKING)
STATES = (*LIVE, DONE, ABANDONED, SUPERSEDED)

BODY_LIMIT = 16 << 20
SUBJECT_LIMIT = 120


class Happening(Record):
    """A line of a letter's history: ``write``, ``read``, ``start``, ``ack``, ``abandon`` or ``supersede``."""

    event: str
    at: int
    session: "str | None" = None
    unknown: "Mapping[str, object]" = {}


class Letter(Record):
    """A letter. Times are nanoseconds since the epoch in UTC; ``None`` means not happened, or not known."""

    id: str
    key: str  # both `from` and `to`: a letter goes to the box that wrote it
    path: str
    body: str
    subject: str
    created_at: int
    status: str = UNREAD
    branch: "str | None" = None
    head: "str | None" = None
    session: "str | None" = None
    read_at: "int | None" = None
    last_read_at: "int | None" = None
    read_count: int = 0
    started_at: "int | None" = None
    acked_at: "int | None" = None
    abandoned_at: "int | None" = None
    superseded_at: "int | None" = None
    close_reason: "str | None" = None
    ack_body: "str | None" = None
    supersedes: "tuple[str, ...]" = ()
    superseded_by: "str | None" = None
    adopted_from: "str | None" = None
    events: "tuple[Happening, ...]" = ()
    unknown: "Mapping[str, object]" = {}  # keys of a newer program, kept as they are

    @property
    def live(self) -> bool:
        return self.status in LIVE


def subject_of(body: str, *, packet: bool = False) -> str:
    """The ``first_line`` as a subject."""
    return first_line(body, packet=packet)[:SUBJECT_LIMIT]


def first_line(body: str, *, packet: bool = False) -> str:
    """The first line of a body that is not blank, its words joined; a byte order mark is no part of it.

    The headings of a ``packet`` say nothing of it and are passed over. So is a body whose own first line is a packet's.
    """
    blank = True
    for line in body.removeprefix("\ufeff").splitlines():
        words = line.split()
        if words and blank and words[0] == "#" and words[1:2] and words[1].lower().startswith("handoff:"):
            packet = True
        if words and not (packet and line.startswith("#")):
            return " ".join(words)
        blank = blank and not words
    return ""


def written(letter: Letter) -> Letter:
    """A new letter with its first happening."""
    return letter.replace(events=(Happening("write", letter.created_at, letter.session),))


def read(letter: Letter, now: int, session: "str | None") -> Letter:
    """One more reading. The first one turns ``unread`` into ``read``; a closed letter keeps its state."""
    first = letter.read_at is None
    return _happened(letter, "read", now, session).replace(
        status=READ if letter.status == UNREAD else letter.status,
        read_at=now if first else letter.read_at,
        last_read_at=now,
        read_count=letter.read_count + 1,
    )


def start(letter: Letter, now: int, session: "str | None") -> Letter:
    """``read`` becomes ``working``."""
    _demand(letter, "start", session, READ)
    return _happened(letter, "start", now, session).replace(status=WORKING, started_at=now)


def ack(letter: Letter, now: int, session: "str | None", body: "str | None") -> Letter:
    """``read`` or ``working`` becomes ``done``, with what came of it where a body says so."""
    _demand(letter, "ack", session, READ, WORKING)
    return _happened(letter, "ack", now, session).replace(status=DONE, acked_at=now, ack_body=body)


def abandon(letter: Letter, now: int, session: "str | None", reason: str) -> Letter:
    """Any live state becomes ``abandoned``, with the reason."""
    _demand(letter, "abandon", session, *LIVE)
    return _happened(letter, "abandon", now, session).replace(status=ABANDONED, abandoned_at=now, close_reason=reason)


def supersede(letter: Letter, by: str, session: "str | None") -> Letter:
    """A live letter gives way to the newer one with the id ``by``; read counts and start times stay.

    It happened when the newer one was written, whenever it is marked; ``session`` is that one's writer, if known.
    """
    return _gave_way(_happened(letter, "supersede", ids.time_of(by), session), by)


def _gave_way(letter: Letter, by: str) -> Letter:
    return letter.replace(status=SUPERSEDED, superseded_at=ids.time_of(by), superseded_by=by, close_reason=SUPERSEDED)


def effective(letter: Letter, next_newer: "str | None") -> Letter:
    """What a reader must take the letter for: only the newest of a box can be live.

    A newer letter's publication is the commit; the older one's own record may still be waiting for its mark.
    """
    if next_newer is None or not letter.live:
        return letter
    return _gave_way(letter, next_newer)


def _happened(letter: Letter, event: str, now: int, session: "str | None") -> Letter:
    return letter.replace(events=(*letter.events, Happening(event, now, session)))


_OWN = (
    "another session takes it up: give --session ID where this is one and its client does not say\n"
    "git coop letter abandon --reason TEXT withdraws it"
)


def _demand(letter: Letter, verb: str, session: "str | None", *states: str) -> None:
    if letter.status in states:
        return
    state, hint = letter.status, ""
    if letter.status == UNREAD and session is not None and session == letter.session:
        state, hint = f"{state}, for this session wrote it", _OWN  # its own reading does not count
    elif letter.status == UNREAD:
        hint = f"read it first: git coop letter read {ids.tail(letter.id)}"
    elif letter.status == SUPERSEDED and letter.superseded_by:
        hint = f"it was superseded by {letter.superseded_by}"
    elif not letter.live:
        hint = "a closed letter stays as it is; git coop letter write writes a new one"
    raise Refused(f"cannot {verb} letter {letter.id}: it is {state}", hint=hint)

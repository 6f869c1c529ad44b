"""Sending: one message to one box, durable before it is reported, and never more than the truth about it."""

from git_coop import drained, ids, message, sent
from git_coop.errors import CoopError, Refused, StoreFault, Usage
from git_coop.files import exists
from git_coop.layout import Box, message_path
from git_coop.letters import first_line
from git_coop.message import Draft
from git_coop.record import Record
from git_coop.sent import Sent
from git_coop.text import safe_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.drained import Last

KIND_LIMIT = 16
SUBJECT_LIMIT = 120
_ATTEMPTS = 8


class Letterhead(Record):
    """What a message says of its sender; all of it is a claim to the reader."""

    key: str
    path: bytes
    branch: "str | None" = None
    session: "str | None" = None


class Content(Record):
    """What is sent: the same for every recipient of one call."""

    body: str
    subject: "str | None" = None
    kind: "str | None" = None
    term: int = message.DEFAULT_TERM  # nanoseconds
    to_session: "str | None" = None
    in_reply_to: "str | None" = None


class Queued(Record):
    """A message in a box: never called sent or delivered, for nobody has seen it yet.

    ``drained`` is the last drain of that box that any event left; ``off``: delivery is held in its clone.
    """

    id: str
    box: Box
    path: bytes
    expires: int
    drained: "Last | None"
    off: bool


def checked(content: Content) -> Content:
    """The content, its labels in bounds; ``Usage`` for those that are not."""
    if content.kind is not None and not 0 < len(content.kind) <= KIND_LIMIT:
        raise Usage(f"a kind has 1 to {KIND_LIMIT} characters")
    if content.to_session == "":
        raise Usage("the session that is addressed has no name")
    for name, value in (("subject", content.subject), ("kind", content.kind), ("session", content.to_session)):
        if value is not None and len(value.splitlines()) > 1:
            raise Usage(f"a {name} is one line")
    return content


def queue(
    own: Box, there: Box, path: bytes, head: Letterhead, content: Content, stamp: "ids.Entropy", now: int, run: str = ""
) -> Queued:
    """Put one message into the box ``there``; it is durable when this returns. ``stamp`` gives random bytes.

    ``run`` is an id that joins the messages of one broadcast. The note in ``sent/`` is written first, and taken back
    where the message could not be queued. Raises ``Refused`` for a field that is too long, ``StoreFault`` where a
    step failed.
    """
    expires = now + content.term
    last, off = last_drain(there), exists(there.store.root + b"/OFF")
    for _attempt in range(_ATTEMPTS):
        name = ids.mint(now, stamp)
        if sent.holds(there, name):
            continue
        data = message.compose(_draft(name, there, head, content, now, expires))
        told = subject_of(content.body)
        note = Sent(name, there.key, path, there.store.root, expires, content.subject or "", run, told)
        if sent.record(own, note) and _publish(own, there, name, data):
            return Queued(name, there, path, expires, last, off)
    raise Refused("no free message id", hint="try again")


def last_drain(box: Box) -> "Last | None":
    """The last drain of a box; a record of it that cannot be read is none, and stands in no message's way."""
    try:
        return drained.latest(box)
    except StoreFault:
        return None


def _draft(name: str, there: Box, head: Letterhead, content: Content, now: int, expires: int) -> Draft:
    return Draft(
        name,
        now,
        expires,
        there.key,
        content.body,
        from_key=head.key,
        from_path=head.path,
        from_branch=head.branch,
        from_session=head.session,
        kind=content.kind,
        subject=content.subject,
        to_session=content.to_session,
        in_reply_to=content.in_reply_to,
    )


def _publish(own: Box, there: Box, name: str, data: bytes) -> bool:
    done = False
    try:
        there.store.ensure_folder(there.inbox)
        done = there.store.create(message_path(there.inbox, name), data)
    finally:
        if not done:
            _take_back(own, there, name)
    return done


def _take_back(own: Box, there: Box, name: str) -> None:
    """Forget the note, unless the message was published after all and only its flush failed."""
    try:
        if not exists(message_path(there.inbox, name)):
            sent.forget(own, name)
    except CoopError:
        pass  # a note about a message that is not there says so at the end of its term


def subject_of(body: str) -> str:
    """The first line that says what a body is about: what a list shows of a message without a subject."""
    return safe_line(first_line(body[:65_536]), SUBJECT_LIMIT)

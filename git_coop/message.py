"""A message: the value, its file, and when it expires.

A message file is header lines, an empty line and the body, UTF-8 with LF line ends, as RFC 5322 and MIME have
it, so that any mail reader opens it. ``compose`` writes one; ``parse`` reads whatever lies there and never
raises: a header that is missing, doubled, huge or malformed costs that field, not the message. Nothing read
from a file is proof of anything: its id is its file name, and every sender field is a claim.
"""

from git_coop import clock, header, ids
from git_coop.errors import Refused
from git_coop.record import Record

BODY_LIMIT = 1 << 20  # bytes of a body that is accepted for sending
HEAD_LIMIT = 1 << 16  # bytes that hold the whole header of any message of ours, and what ``peek`` is given
FILE_LIMIT = BODY_LIMIT + HEAD_LIMIT  # bytes of a file that is read; a longer one is no message
DEFAULT_TERM = 4_320 * clock.MINUTE
LONGEST_TERM = 30 * clock.DAY

_DOMAIN = "coop.invalid"  # a name that never resolves (RFC 6761, section 6.4): no reader can send to it
_BOM = b"\xef\xbb\xbf"
_WORDS = {
    "date": "date",
    "subject": "subject",
    "message-id": "message id",
    "in-reply-to": "in-reply-to",
    "coop-from-path": "sender path",
    "coop-from-branch": "sender branch",
    "coop-from-session": "sender session",
    "coop-kind": "kind",
    "coop-expires": "expiry",
    "coop-to-session": "addressee",
}


class Message(Record):
    """A message as read. Times are nanoseconds UTC; an absent or damaged field is ``None``.

    Text is as the sender wrote it, hostile until rendered; ``surrogateescape`` characters stand for bytes that
    are no UTF-8. ``problems`` names what is damaged, in our own words.
    """

    id: str
    date: int | None
    from_path: str | None  # header.value_bytes() gives the path's bytes
    from_branch: str | None
    from_session: str | None
    kind: str | None
    subject: str | None
    to_session: str | None
    to_session_damaged: bool  # addressed to one session, and nobody can tell which: it is shown to none
    in_reply_to: str | None  # an id in shape; whether such a message exists is not known
    expires: int | None
    body: str  # bytes that are no UTF-8 are U+FFFD; empty after ``peek``
    size: int  # bytes of the body in what was read
    problems: tuple[str, ...]


class Draft(Record):
    """A message to be written. Times are nanoseconds UTC, keys those of boxes; our own notices have no ``from_key``."""

    id: str
    date: int
    expires: int
    to_key: str
    body: str | bytes
    from_key: str | None = None
    from_path: bytes | None = None
    from_branch: str | None = None
    from_session: str | None = None
    kind: str | None = None
    subject: str | None = None
    to_session: str | None = None
    in_reply_to: str | None = None


def compose(draft: Draft) -> bytes:
    """The file of ``draft``. Raises ``Refused`` for a field over ``header.VALUE_LIMIT`` bytes."""
    path = None if draft.from_path is None else draft.from_path.decode("utf-8", "surrogateescape")
    lines = (
        ("Date", clock.rfc5322(draft.date)),
        ("From", _address(draft.from_key)),
        ("To", _address(draft.to_key)),
        ("Subject", draft.subject),
        ("Message-ID", _reference(draft.id)),
        ("In-Reply-To", None if draft.in_reply_to is None else _reference(draft.in_reply_to)),
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Transfer-Encoding", "8bit"),
        ("Coop-From-Path", path),
        ("Coop-From-Branch", draft.from_branch),
        ("Coop-From-Session", draft.from_session),
        ("Coop-Kind", draft.kind),
        ("Coop-Expires", clock.rfc3339(draft.expires)),
        ("Coop-To-Session", draft.to_session),
    )
    head = b"".join(_line(name, value) for name, value in lines if value is not None)
    body = draft.body if isinstance(draft.body, bytes) else draft.body.encode("utf-8", "replace")
    return head + b"\n" + body


def _line(name: str, value: str) -> bytes:
    if name in ("From", "To"):  # made of our own atoms, longer than a plain line: encoded, it would be no address
        return f"{name}: {value}\n".encode("ascii")
    size = len(header.value_bytes(value))
    if size > header.VALUE_LIMIT:
        word = _WORDS[name.lower()]
        raise Refused(f"the {word} is {size} bytes long, over the limit of {header.VALUE_LIMIT}")
    return header.field(name, value)


def _address(key: str | None) -> str:
    """An address for mail readers, which no program of ours reads: ``slug <slug@hash.coop.invalid>``."""
    if key is None:
        return f"git coop <git-coop@{_DOMAIN}>"
    slug, _, digits = key.rpartition("-")
    return f"{slug} <{slug}@{digits}.{_DOMAIN}>"


def _reference(identifier: str) -> str:
    return f"<{identifier}@{_DOMAIN}>"


def parse(identifier: str, data: bytes, *, whole: bool = True) -> Message:
    """The message in ``data``, whose id is ``identifier``. Total: see ``damage`` for what is no message at all.

    Without ``whole``, ``data`` is the beginning of a file: the body is not decoded, and a header whose end lies
    further on is read as far as its last whole line.
    """
    start = len(_BOM) if data.startswith(_BOM) else 0
    head = header.read(data, start)
    body_at = head.body_at if head.body_at >= 0 else len(data)
    text = head.fields.get
    date = clock.parse_rfc5322(text("date", ""))
    expires = clock.parse_rfc3339(text("coop-expires", ""))
    reply = _identifier(text("in-reply-to", ""))
    problems = _problems(head, identifier, {"date": date, "coop-expires": expires, "in-reply-to": reply})
    addressee = text("coop-to-session") or None
    return Message(
        id=identifier,
        date=date,
        from_path=text("coop-from-path"),
        from_branch=text("coop-from-branch"),
        from_session=text("coop-from-session"),
        kind=text("coop-kind"),
        subject=text("subject"),
        to_session=addressee,
        to_session_damaged="coop-to-session" in head.bad or (addressee is None and "coop-to-session" in head.fields),
        in_reply_to=reply,
        expires=expires,
        body=data[body_at:].decode("utf-8", "replace") if whole else "",
        size=len(data) - body_at,
        problems=(*problems, *(["starts with a byte order mark"] if start else [])),
    )


def peek(identifier: str, head: bytes) -> Message:
    """The message whose file begins with ``head`` (``HEAD_LIMIT`` bytes of it), without its body."""
    return parse(identifier, head, whole=False)


def _identifier(text: str) -> str | None:
    """The id in ``<id@coop.invalid>``, or ``None``."""
    end = f"@{_DOMAIN}>"
    inner = text[1 : -len(end)]
    return inner if text.startswith("<") and text.endswith(end) and ids.is_id(inner) else None


def _problems(head: header.Header, identifier: str, parsed: "dict[str, int | str | None]") -> "list[str]":
    """What is damaged in a header; ``parsed`` holds the values of the fields that have a form of their own."""
    found = []
    for name, word in _WORDS.items():
        if name in head.bad:
            found.append(f"{word} {head.bad[name]}")
        elif name not in head.fields:
            found += [f"{word} missing"] if name in ("date", "coop-expires") else []
        elif name in parsed and parsed[name] is None:
            found.append(f"{word} unreadable")
    if head.fields.get("coop-to-session") == "":
        found.append("addressee empty")
    if head.fields.get("message-id", _reference(identifier)) != _reference(identifier):
        found.append("message id of another message")
    found += ["lines that belong to no header field"] if head.strays else []
    found += [f"more than {header.LINE_LIMIT} header lines"] if head.more else []
    found += ["header without an end"] if head.body_at < 0 else []
    return found


def damage(data: bytes, *, whole: bool = True) -> str | None:
    """Why ``data`` is no message, in our own words; ``None`` where ``parse`` gives one.

    A NUL is in no message: a body that holds one is refused at the sender, and a file that a crash left without
    its blocks is full of them. Without ``whole``, ``data`` is the beginning of a file.
    """
    if not data.strip():
        return "nothing but blanks" if data else "empty"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    if (at := data.find(b"\0")) >= 0:
        return f"NUL byte at offset {at}"
    if len(data) > FILE_LIMIT:
        return f"over {FILE_LIMIT} bytes long"
    name, colon, _ = data.removeprefix(_BOM).partition(b"\n")[0].partition(b":")
    if not colon or not header.is_name(name):
        return "no header line at its start"
    if whole and header.end_of(data) < 0:
        return "header without an end"
    return None


def restamp(data: bytes, *, identifier: str, date: int, expires: int, to_key: str) -> bytes:
    """The message file ``data`` under another id, term and box; every other byte of it stays.

    ``data`` is a message: ``damage`` said so.
    """
    data = data.removeprefix(_BOM)
    body_at = header.read(data).body_at
    stamps = {
        "Date": clock.rfc5322(date),
        "To": _address(to_key),
        "Message-ID": _reference(identifier),
        "Coop-Expires": clock.rfc3339(expires),
    }
    replaced = {name.lower().encode("ascii") for name in stamps}
    kept: list[bytes] = []
    keep = True
    for line in data[:body_at].split(b"\n"):
        if line[:1] not in (b" ", b"\t"):
            keep = line.partition(b":")[0].rstrip(b" \t").lower() not in replaced
        kept += [line] if keep else []
    return b"".join(_line(name, value) for name, value in stamps.items()) + b"\n".join(kept) + data[body_at:]


def term(message: Message, default_term: int = DEFAULT_TERM) -> int:
    """How long the message was meant to wait, in nanoseconds: its expiry minus its date, at most 30 days.

    ``default_term`` where the two do not say.
    """
    if message.expires is None or message.date is None or message.expires <= message.date:
        return default_term
    return min(message.expires - message.date, LONGEST_TERM)


def expired(message: Message, *, mtime: int, now: int, default_term: int = DEFAULT_TERM) -> bool:
    """Whether the term of a message is over. ``mtime`` is its file's own time; all times in nanoseconds.

    Two clocks must agree: the stamp, clamped to 30 days after ``mtime``, has passed, and the file is at least as
    old as the term. So neither a stamp of 2099, nor a sender's date in the future, nor a clock that jumped between
    the two ends makes a message live for ever or expires a fresh one. Without a readable stamp the age alone counts.
    """
    old_enough = now - mtime >= term(message, default_term)
    if message.expires is None:
        return old_enough
    return old_enough and min(message.expires, mtime + LONGEST_TERM) <= now

"""Header lines of a message: written so that any mail reader decodes them, read so that no input raises.

A value that is short printable ASCII stands as it is. Every other one is written as encoded words (RFC 2047,
encoding B) on folded lines of at most 76 characters, in UTF-8. A value that holds bytes that are no UTF-8, as a
path may, is written whole under the charset name ``unknown-8bit`` (RFC 1428), which Python's ``email`` reads
as bytes of unknown meaning. Such bytes are ``surrogateescape`` characters in ``str``: a value read back has
the bytes of the value written.
"""

from git_coop.record import Record

WIDTH = 76  # characters of a line that holds encoded words (RFC 2047, section 2)
VALUE_LIMIT = 4_096  # bytes of a value as it is meant: the longest path a system call takes
FIELD_LIMIT = 8_192  # bytes of a field's lines: a value at the limit, encoded and folded, fits
LINE_LIMIT = 1_000  # lines of a header that are looked at

_WORD = 75  # characters of one encoded word (RFC 2047, section 2)
_CHARSETS = ("utf-8", "unknown-8bit")
_NAME = bytes(range(33, 127))  # what a field's name is made of; the colon ends it


class Header(Record):
    """What the lines before the first empty line say.

    ``fields`` holds the decoded value of every field that can be read, ``bad`` for every other one why it
    cannot; both by the name in lower case. ``body_at`` is the offset of the body, -1 where no empty line ends
    the header. ``strays`` says that lines were there which belong to no field, ``more`` that lines past
    ``LINE_LIMIT`` were not looked at.
    """

    fields: "dict[str, str]"
    bad: "dict[str, str]"
    body_at: int
    strays: bool
    more: bool


def value_bytes(value: str) -> bytes:
    """The bytes that ``value`` stands for; a lone surrogate that stands for no byte becomes U+FFFD."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        kept = ("\ufffd" if "\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" else c for c in value)
        return "".join(kept).encode("utf-8", "surrogateescape")


def field(name: str, value: str) -> bytes:
    """The lines of one field, each ended by LF. ``name`` is ours: printable ASCII without a colon."""
    room = WIDTH - len(name) - 2
    if _is_plain(value) and len(value) <= room:
        return f"{name}: {value}".rstrip(" ").encode("ascii") + b"\n"
    return f"{name}: ".encode("ascii") + b"\n ".join(_words(value_bytes(value), room)) + b"\n"


def _is_plain(value: str) -> bool:
    """Whether ``value`` may stand as it is: nothing in it that a reader strips, unfolds or decodes."""
    return value.isascii() and (not value or value.isprintable()) and value == value.strip(" ") and "=?" not in value


def _words(data: bytes, room: int) -> "list[bytes]":
    """``data`` as encoded words, the first of at most ``room`` characters; no character is split between two."""
    from binascii import b2a_base64

    charset = _CHARSETS[0] if _is_utf8(data) else _CHARSETS[1]
    words = []
    at = 0
    while at < len(data):
        end = at + (min(room, _WORD) - len(charset) - 7) // 4 * 3
        while charset == _CHARSETS[0] and end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        words.append(f"=?{charset}?B?".encode("ascii") + b2a_base64(data[at:end], newline=False) + b"?=")
        at, room = end, _WORD
    return words


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def decode(value: str) -> "str | None":
    """The text of an unfolded value; ``None`` where it is made of our encoded words and one is broken.

    Text that holds anything but encoded words of the two charsets that ``field`` writes is returned as it is.
    """
    if "=?" not in value:
        return value
    words = [word[2:-2].split("?") for word in value.split() if word.startswith("=?") and word.endswith("?=")]
    if not words or len(words) != len(value.split()):
        return value
    if any(len(word) != 3 or word[0].lower() not in _CHARSETS or word[1] not in "Bb" for word in words):
        return value
    return _join(words)


def _join(words: "list[list[str]]") -> "str | None":
    from binascii import Error, a2b_base64

    strict = all(word[0].lower() == _CHARSETS[0] for word in words)
    try:
        data = b"".join(a2b_base64(word[2], strict_mode=True) for word in words)
        return data.decode("utf-8", "strict" if strict else "surrogateescape")
    except (Error, ValueError):  # a character outside ASCII is a ValueError, and so is bad UTF-8
        return None


def read(data: bytes, start: int = 0) -> Header:
    """The header that begins at ``start``. The time it takes is linear in its length, whatever it holds."""
    lines, body_at, more = _lines(data, start)
    raw: dict[str, list[bytes]] = {}
    bad: dict[str, str] = {}
    strays: list[bytes] = []
    parts = strays  # where the lines that continue a field go
    for line in lines:
        if line[:1] not in (b" ", b"\t"):
            name, colon, line = line.partition(b":")
            if not colon or not is_name(name):
                parts = strays
            else:
                key = name.rstrip(b" \t").decode("ascii").lower()
                if key in raw:
                    bad[key] = "given twice"
                parts = raw.setdefault(key, [])
        parts.append(line)
    return Header(_values(raw, bad), bad, body_at, bool(strays), more)


def is_name(name: bytes) -> bool:
    """Whether ``name`` may stand before a colon: printable ASCII (RFC 5322, section 2.2), blanks at its end allowed."""
    name = name.rstrip(b" \t")
    return 0 < len(name) <= WIDTH and not name.translate(None, _NAME)


def _lines(data: bytes, start: int) -> "tuple[list[bytes], int, bool]":
    """The whole lines up to the empty one, without their ends; the body's offset or -1; whether lines were left."""
    end = data.find(b"\n\n", start)
    plain = data[start:end].split(b"\n") if end >= 0 else []
    if plain and plain[0] and len(plain) <= LINE_LIMIT and data.find(b"\r", start, end) < 0:
        return plain, end + 2, False  # nearly every message
    lines: list[bytes] = []
    at = start
    while (end := data.find(b"\n", at)) >= 0:
        line = data[at : end - 1] if data[at:end].endswith(b"\r") else data[at:end]
        at = end + 1
        if not line:
            return lines, at, False
        if len(lines) == LINE_LIMIT:
            return lines, end_of(data, end), True
        lines.append(line)
    return lines, -1, False


def end_of(data: bytes, start: int = 0) -> int:
    """The offset after the first empty line that follows a line at ``start``, or -1."""
    ends = [(at, at + len(empty)) for empty in (b"\n\n", b"\n\r\n") if (at := data.find(empty, start)) >= 0]
    return min(ends)[1] if ends else -1


def _values(raw: "dict[str, list[bytes]]", bad: "dict[str, str]") -> "dict[str, str]":
    """The decoded values of fields that can be read; the others are added to ``bad``."""
    fields: dict[str, str] = {}
    for name, parts in raw.items():
        if name in bad:
            continue
        if sum(map(len, parts)) > FIELD_LIMIT:
            bad[name] = "too long"
            continue
        text = _text(b"".join(parts))
        if text is None:
            bad[name] = "unreadable"
        else:
            fields[name] = text
    return fields


def _text(value: bytes) -> "str | None":
    """The text of a field's joined lines, or ``None``: it is no UTF-8, or it holds raw control characters."""
    try:
        text = value.strip(b" \t").decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text.isprintable() and any((c < " " and c != "\t") or c == "\x7f" for c in text):
        return None
    return decode(text)

"""A TOML record that is as plain as we write them, read without a TOML parser, whose import doubles Python's start.

What it takes, a TOML parser takes for the same; whatever is not plain is left to one.
"""

from git_coop import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Table = dict[str, Any]

_CONTROLS = bytes({*range(0x20), 0x7F} - {0x09, 0x0A})
_DIGITS = "0123456789"


class Time(int):
    """The nanoseconds of a time in UTC, as no number is one."""


def loads(data: bytes) -> "Table | None":
    """The record's fields by name; ``None`` where it is not plain.

    A value is a string, a whole number, a ``Time``, a list of strings, or a list of tables of these.
    """
    if len(data.translate(None, _CONTROLS)) != len(data):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    record: Table = {}
    tables: dict[str, list[Table]] = {}
    table, at = record, 0
    while at < len(text):
        line, at = _line(text, at)
        if line.startswith("[["):
            name, table = line[2:-2], {}
            if line[-2:] != "]]" or not is_bare(name) or name in record:
                return None
            tables.setdefault(name, []).append(table)
        elif line:
            key, _, raw = line.partition(" = ")
            value, at = _value(raw, text, at)
            if value is None or key in table or not is_bare(key):
                return None
            table[key] = value
    return {**record, **tables}


def _line(text: str, at: int) -> "tuple[str, int]":
    end = text.find("\n", at)
    return (text[at:], len(text)) if end < 0 else (text[at:end], end + 1)


def is_bare(key: str) -> bool:
    """Whether a key needs no quotes (TOML 1.0, "Keys")."""
    return key.isascii() and key.replace("-", "0").replace("_", "0").isalnum()


def _value(raw: str, text: str, at: int) -> "tuple[object, int]":
    """The value that begins with ``raw`` and may go on at ``at``, and where the next line begins."""
    if raw == "'''":
        return _literal(text, at)
    if raw == "[":
        return _list(text, at)
    if raw[:1] == '"':
        return _string(raw), at
    if raw[-1:] == "Z":
        return _time(raw), at
    return (int(raw) if _is_number(raw) else None), at


def _literal(text: str, at: int) -> "tuple[str | None, int]":
    """A multi-line literal string: nothing in it is an escape, and three quotes end it."""
    end = text.find("'''", at)
    if end < 0 or text[end + 3 : end + 4] not in ("", "\n"):
        return None, at
    return text[at:end], end + 4


def _list(text: str, at: int) -> "tuple[object, int]":
    found: list[str] = []
    while at < len(text):
        line, at = _line(text, at)
        if line == "]":
            return found, at
        item = _string(line[4:-1]) if line.startswith("    ") and line[-1:] == "," else None
        if item is None:
            break
        found.append(item)
    return None, at


def _string(raw: str) -> "str | None":
    """The text of a string on one line, whose only escapes are those of a quote and of a backslash."""
    if len(raw) < 2 or raw[0] != '"' or raw[-1] != '"':
        return None
    inner = raw[1:-1]
    if "\\" not in inner and '"' not in inner:
        return inner
    parts = [part.replace('\\"', "\0") for part in inner.split("\\\\")]  # no NUL was there: it is a control character
    whole = "\\".join(parts)
    return None if any("\\" in part or '"' in part for part in parts) else whole.replace("\0", '"')


def _time(raw: str) -> "Time | None":
    at = clock.parse_rfc3339(raw) if len(raw) in (20, 24) else None
    return None if at is None or at < 0 else Time(at)  # none of ours is before 1970


def _is_number(raw: str) -> bool:
    return 0 < len(raw) < 19 and not raw.strip(_DIGITS) and (raw == "0" or raw[0] != "0")

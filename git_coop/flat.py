"""Flat records: a subset of TOML, one ``key = value`` a line, written and read without a TOML parser.

Markers and receipts are such records. A value is a string, a whole number or a UTC time; any TOML reader reads
them, and the drain is spared the import of one, which costs as much as starting Python.
"""

_ESCAPED = {ord("\\"): "\\\\", ord('"'): '\\"', 127: "\\u007f"} | {code: f"\\u{code:04x}" for code in range(32)}


def dumps(record: "dict[str, str | int | None]", *, times: "tuple[str, ...]" = ()) -> bytes:
    """The record's bytes; ``None`` is left out. ``times`` names the keys whose text is an RFC 3339 time."""
    lines = []
    for key, value in record.items():
        if value is not None:
            bare = key in times or isinstance(value, int)
            lines.append(f"{key} = {value}\n" if bare else f'{key} = "{str(value).translate(_ESCAPED)}"\n')
    return "".join(lines).encode("utf-8", "replace")


def loads(data: bytes) -> "dict[str, str | int]":
    """The fields in ``data``: strings, whole numbers, and times as their text. Total: other lines are left out."""
    found: dict[str, str | int] = {}
    for line in data.decode("utf-8", "replace").split("\n"):
        key, equals, value = line.partition(" = ")
        if not equals or not value:
            continue
        if value[0] == '"' and value[-1] == '"' and len(value) > 1:
            found[key] = _unescaped(value[1:-1])
        elif value.isascii() and value.isdigit() and len(value) < 20:
            found[key] = int(value)
        else:
            found[key] = value
    return found


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    first, *rest = text.split("\\")
    parts = [first]
    literal = False  # whether the piece before was an escaped backslash, so that this one is plain text
    for piece in rest:
        if literal:
            parts.append(piece)
            literal = False
        elif piece == "":
            parts.append("\\")
            literal = True
        elif piece[0] == "u" and not piece[1:5].strip("0123456789abcdef") and len(piece) > 4:
            parts.append(chr(int(piece[1:5], 16)) + piece[5:])
        else:
            parts.append(piece)
    return "".join(parts)


def text(record: "dict[str, str | int]", key: str) -> str:
    """A string field; empty where it is absent or none."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def number(record: "dict[str, str | int]", key: str) -> int:
    """A whole-number field; 0 where it is absent or none."""
    value = record.get(key)
    return value if isinstance(value, int) else 0

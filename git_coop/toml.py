"""Records as TOML 1.0: written so that ``cat`` shows them, read so that every string comes back to the character.

A multi-line string is a literal one (``'''``) where its text allows that, for nothing in it is escaped and both sides
run at C speed; else a basic one (``\"\"\"``) in which every control character but tab and newline is an escape. So no
carriage return ever stands raw in a record: TOML lets a parser turn a raw CRLF into LF, and ``tomllib`` does.
Everything that is not long text is written by ``tomli_w``.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

from git_coop import clock, plain_toml
from git_coop.errors import StoreFault
from git_coop.plain_toml import Time, is_bare

LIMIT = (
    256 << 20
)  # bytes of one record: two texts of 16 MiB, in which every character became a six-byte escape, and more
_LONG = 1000  # characters from which a text of one line is written as a long one
_CONTROLS = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n")
_SHORT = {0x08: b"\\b", 0x0C: b"\\f", 0x0D: b"\\r"}


class Damaged(StoreFault):
    """A record that cannot be parsed; ``path`` names it."""


def dumps(record: Mapping[str, object]) -> bytes:
    """The record as UTF-8 TOML; ``None`` is left out, a list of mappings becomes ``[[key]]`` tables behind the rest.

    Values are strings, integers, booleans, times of ``moment``, lists of these and lists of mappings of these, and
    whatever else ``loads`` gives: keys of a newer program are written back as they were read. Raises
    ``UnicodeEncodeError`` for a string with a lone surrogate, which TOML cannot hold.
    """
    given = {key: value for key, value in record.items() if value is not None}
    tables = {key: value for key, value in given.items() if _is_flat(value) and is_bare(key)}
    nested = {key: value for key, value in given.items() if key not in tables and _has_tables(value)}
    plain = [_pair(key, value) for key, value in given.items() if key not in tables and key not in nested]
    return b"".join((*plain, _written(nested), *(_tables(key, value) for key, value in tables.items())))


def _has_tables(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_has_tables, value)))


def _is_flat(value: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    """Whether a value is a list of mappings that hold no further ones: what a record of ours may have."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(entry, Mapping) and not any(map(_has_tables, entry.values())) for entry in value)
    )


def _pair(key: str, value: object) -> bytes:
    if isinstance(value, Time) and is_bare(key):  # the library has no form for it
        return f"{key} = {_written_time(value)}\n".encode()
    if isinstance(value, str) and ("\n" in value or len(value) > _LONG) and is_bare(key):
        return key.encode() + b" = " + _long(value.encode()) + b"\n"
    return _written({key: value})


def _written_time(time: int) -> str:
    milliseconds = time % clock.SECOND // 1_000_000
    whole = clock.rfc3339(time)
    return f"{whole[:-1]}.{milliseconds:03d}Z" if milliseconds else whole


def _tables(key: str, value: Iterable[Mapping[str, object]]) -> bytes:
    return b"".join(b"\n[[" + key.encode() + b"]]\n" + dumps(entry) for entry in value)


def _written(record: Mapping[str, object]) -> bytes:
    import tomli_w  # only who writes pays for it

    return tomli_w.dumps({key: _for_library(value) for key, value in record.items()}).encode()


def _for_library(value: object) -> object:
    """A value as ``tomli_w`` takes it: at any depth a time is a datetime, and what is ``None`` is left out."""
    if isinstance(value, Time):
        return Moment.fromtimestamp(value // clock.SECOND, UTC).replace(microsecond=value % clock.SECOND // 1000)
    if isinstance(value, Mapping):
        return {key: _for_library(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_for_library(inner) for inner in value]
    return value


class Moment(datetime):
    """A datetime in UTC that is written as our own times are: ``tomli_w`` writes a datetime as ``str`` gives it."""

    def __str__(self) -> str:
        return _written_time(nanoseconds(self) or 0)


def _long(text: bytes) -> bytes:
    """A multi-line TOML string; the newline behind the opening quotes is not part of it."""
    controls = [byte for byte in _CONTROLS if byte in text]
    if not controls and b"'''" not in text and not text.endswith(b"'"):
        return b"'''\n" + text + b"'''"
    inner = text.rstrip(b'"')
    quotes = len(text) - len(inner)  # quotes before the closing ones are all escaped: no reader has to count them
    inner = inner.replace(b"\\", b"\\\\").replace(b'"""', b'""\\"')
    for byte in controls:
        inner = inner.replace(bytes((byte,)), _SHORT.get(byte) or b"\\u%04x" % byte)
    return b'"""\n' + inner + b'\\"' * quotes + b'"""'


def loads(data: bytes, *, path: bytes, limit: int = LIMIT) -> dict[str, object]:
    """The record in ``data``; ``path`` is for the error. Raises ``Damaged`` and nothing else."""
    if len(data) > limit:
        raise _damaged(path, f"it has more than {limit} bytes")
    plain = plain_toml.loads(data)
    if plain is not None:
        return plain
    import tomllib  # as dear as starting Python, and slow: only who has a record that is not plain pays for it

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        raise _damaged(path, f"it is not valid UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise _damaged(path, "it is nested too deeply") from None
    except (ValueError, ArithmeticError) as error:  # the second: a number or a date out of Python's range
        raise _damaged(path, str(error)[:200]) from None


def _damaged(path: bytes, why: str) -> Damaged:
    return Damaged(f"cannot parse '{os.fsdecode(path)}': {why[:1].lower()}{why[1:]}", path=path)


def moment(time: int) -> Time:
    """A time in nanoseconds for a record, cut to milliseconds as ids are; before 1970 is 1970."""
    return Time(max(time, 0) // 1_000_000 * 1_000_000)


def nanoseconds(value: object) -> int | None:
    """The time of a parsed TOML offset datetime; ``None`` for anything else, a local datetime included."""
    if isinstance(value, Time):
        return int(value)
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    return (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def display(path: bytes) -> str:
    """A path for a record: UTF-8, what is not UTF-8 replaced; the folder a record lies in says where it belongs."""
    return path.decode(errors="replace")

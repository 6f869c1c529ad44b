"""Times as nanoseconds since the epoch in UTC, and their written forms.

A time is an ``int``; the edge reads the clock and hands it in. Parsers are total: text that is not of the form
gives ``None``. ``datetime`` is not used, for the drain pays for every import.
"""

import time

SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)  # days of a year before each month
_LAST = 253_402_300_799 * SECOND  # the end of year 9999: later times have no four-digit year


def _civil(now: int) -> "tuple[time.struct_time, int]":
    now = min(max(now, 0), _LAST)
    return time.gmtime(now // SECOND), now % SECOND // 1_000_000


def rfc3339(now: int) -> str:
    """``2026-11-30T10:45:12Z`` (RFC 3339); a time out of its range is clamped."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", _civil(now)[0])


def id_stamp(now: int) -> str:
    """``20261130T104512123Z``: the sortable stamp that begins every id."""
    civil, milliseconds = _civil(now)
    return time.strftime("%Y%m%dT%H%M%S", civil) + f"{milliseconds:03d}Z"


def rfc5322(now: int) -> str:
    """``Mon, 30 Nov 2026 10:45:12 +0000``: the ``Date`` of a message (RFC 5322, section 3.3)."""
    civil = _civil(now)[0]
    day, month = _DAYS[civil.tm_wday], _MONTHS[civil.tm_mon - 1]
    return f"{day}, {civil.tm_mday:02d} {month} {civil.tm_year:04d} {time.strftime('%H:%M:%S', civil)} +0000"


def _join(year: int, month: int, day: int, hour: int, minute: int, second: int) -> "int | None":
    """The time of civil fields in UTC, or ``None`` where there is no such date."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not (1 <= month <= 12 and day >= 1 and hour < 24 and minute < 60 and second < 60):
        return None
    if day > _LENGTHS[month - 1] and not (leap and month == 2 and day == 29):
        return None
    past = year - 1
    days = past * 365 + past // 4 - past // 100 + past // 400 - 719_162 + _BEFORE[month - 1] + day - 1
    days += leap and month > 2
    return ((days * 24 + hour) * 60 + minute) * 60 * SECOND + second * SECOND


def _digits(text: str, *spans: "tuple[int, int]") -> "list[int] | None":
    parts = [text[first:last] for first, last in spans]
    whole = "".join(parts)
    return [int(part) for part in parts] if whole.isascii() and whole.isdigit() else None


def parse_rfc3339(text: str) -> "int | None":
    """The time of ``2026-11-30T10:45:12Z``, and of no other form; fractions of up to nine digits are read."""
    whole, dot, fraction = text[:19], text[19:20], text[20:-1]
    if len(text) < 20 or text[-1] != "Z" or (whole[4], whole[7], whole[10], whole[13], whole[16]) != tuple("--T::"):
        return None
    if dot == ".":
        if not (1 <= len(fraction) <= 9 and fraction.isascii() and fraction.isdigit()):
            return None
    elif len(text) != 20:
        return None
    fields = _digits(whole, (0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))
    base = _join(*fields) if fields else None
    return None if base is None else base + int((fraction or "0").ljust(9, "0"))


def parse_id_stamp(text: str) -> "int | None":
    """The time of ``20261130T104512123Z``, and of no other form."""
    digits = text[:8] + text[9:18]
    if len(text) != 19 or text[8] != "T" or text[18] != "Z" or not (digits.isascii() and digits.isdigit()):
        return None
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    base = _join(year, month, day, int(digits[8:10]), int(digits[10:12]), int(digits[12:14]))
    return None if base is None else base + int(digits[14:]) * 1_000_000


def parse_rfc5322(text: str) -> "int | None":
    """The time of the form that ``rfc5322`` writes, and of no other: a message of ours has no other."""
    words = text.split(" ")
    if (
        len(words) != 6
        or words[0] not in {f"{day}," for day in _DAYS}
        or words[5] != "+0000"
        or words[2] not in _MONTHS
    ):
        return None
    month = _MONTHS.index(words[2]) + 1
    stamp = f"{words[3]}-{month:02d}-{words[1]}T{words[4]}Z"
    return parse_rfc3339(stamp) if len(stamp) == 20 else None


def age(since: int, now: int) -> str:
    """``5 minutes``, ``1 day``: how long ago ``since`` was, rounded down; ``0 seconds`` for a time to come."""
    passed = max(now - since, 0)
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second")):
        count = passed // unit
        if count or unit == SECOND:
            return f"{count} {name}{'' if count == 1 else 's'}"
    raise AssertionError("seconds always answer")

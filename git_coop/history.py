"""Histories as ``git log`` shows them: which entries are wanted, and the lines that join them. Values only, no disk."""

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from git_coop import clock
from git_coop.errors import Usage
from git_coop.record import Record

T = TypeVar("T")

_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), clock.SECOND),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), clock.MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), clock.HOUR),
    **dict.fromkeys(("d", "day", "days"), clock.DAY),
    **dict.fromkeys(("w", "week", "weeks"), 7 * clock.DAY),
    **dict.fromkeys(("month", "months"), 30 * clock.DAY),
    **dict.fromkeys(("y", "year", "years"), 365 * clock.DAY),
}
_WORDS = {"now": 0, "today": 0, "yesterday": clock.DAY}
_AGO = re.compile(r"(\d{1,9})[ .]?([a-z]+)(?:[ .]ago)?")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?Z?)?", re.IGNORECASE)


class Wanted(Record):
    """Which entries of a history are shown. ``since`` is in nanoseconds; ``limit`` counts entries."""

    grep: "re.Pattern[str] | None" = None
    since: "int | None" = None
    limit: "int | None" = None

    @property
    def everything(self) -> bool:
        return self.grep is None and self.since is None and self.limit is None


def since(text: str, now: int) -> int:
    """The time that words for ``--since`` name: a date or a time in UTC, or how long ago.

    ``2026-11-30``, ``2026-11-30 10:45``, ``2026-11-30T10:45:12Z``, ``90m``, ``3 days``, ``2.weeks.ago``,
    ``yesterday``. Raises ``Usage`` for anything else: git takes every word for some time, and so hides a slip.
    """
    words = text.strip().lower()
    if words in _WORDS:
        return now - _WORDS[words]
    ago = _AGO.fullmatch(words)
    if ago is not None and ago[2] in _UNITS:
        return max(now - int(ago[1]) * _UNITS[ago[2]], 0)
    day = _DAY.fullmatch(words)
    found = None if day is None else clock.parse_rfc3339(f"{day[1]}T{day[2] or '00:00'}{day[3] or ':00'}Z")
    if found is None:
        raise Usage(f"'{text}' is no time", hint="such as 2026-11-30, '2026-11-30 10:45', '3 days ago' or 90m")
    return found


def pattern(text: str, *, ignore_case: bool = False) -> "re.Pattern[str]":
    """The expression of ``--grep``, in Python's syntax. Raises ``Usage`` where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python's syntax may mean one day
            return re.compile(text, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise Usage(f"'{text}' is no regular expression: {error}") from None


def wanted(
    now: int,
    *,
    grep: "str | None" = None,
    ignore_case: bool = False,
    newer_than: "str | None" = None,
    limit: "int | None" = None,
) -> Wanted:
    """The words of the command line as a filter. Raises ``Usage`` for those that are none."""
    return Wanted(
        None if grep is None else pattern(grep, ignore_case=ignore_case),
        None if newer_than is None else since(newer_than, now),
        limit,
    )


def chosen(
    entries: Iterable[T], want: Wanted, *, time: Callable[[T], int], text: Callable[[T], Iterable[str]]
) -> "list[T]":
    """The wanted entries in their order. ``text`` gives what ``--grep`` looks into; it is asked last, for it may cost.

    The limit counts what the other filters leave, from the front, as ``git log -n`` does.
    """
    found: list[T] = []
    for entry in entries:
        if want.limit is not None and len(found) >= want.limit:
            break
        if want.since is not None and time(entry) < want.since:
            continue
        if want.grep is None or any(want.grep.search(each) for each in text(entry)):
            found.append(entry)
    return found


class Node(Record):
    """An entry of a graph: ``parents`` are older entries; ``origins`` are words for what it comes from elsewhere."""

    id: str
    parents: "tuple[str, ...]" = ()
    origins: "tuple[str, ...]" = ()


class Strokes(Record):
    """What is drawn left of one entry.

    ``first`` stands beside its first line and ``rest`` beside each further one; ``under`` and ``last`` are whole lines,
    between the first line and the others, and below them all.
    """

    first: str
    under: "tuple[str, ...]"
    rest: str
    last: "tuple[str, ...]"


def graph(nodes: Sequence[Node]) -> "list[Strokes]":
    """The strokes of each entry, as ``git log --graph`` draws them: each entry is a ``*`` in a column of its own.

    Entries stand before their parents. A parent that is not among the entries draws no line.
    """
    below = {node.id: index for index, node in enumerate(nodes)}
    columns: list[str] = []  # the entry that each column leads down to
    drawn = []
    for index, node in enumerate(nodes):
        if node.id not in columns:
            columns.append(node.id)
        at = columns.index(node.id)
        parents = [each for each in dict.fromkeys(node.parents) if below.get(each, -1) > index]
        drawn.append(_strokes(columns, at, parents, node.origins))
        columns[at : at + 1] = [each for each in parents if each not in columns]
    return drawn


def _strokes(columns: "list[str]", at: int, parents: "list[str]", origins: "tuple[str, ...]") -> Strokes:
    """The strokes of the entry in column ``at``; ``parents`` are those that are among the entries."""
    fresh = [each for each in parents if each not in columns]
    own = "|" if parents else " "
    others = ["|"] * len(columns)
    left, right = others[:at], others[at + 1 :]
    under = []
    for origin in origins:
        under += [" ".join([*left, f"{own}\\", *right]), " ".join([*left, own, f"o {origin}"])]
    for more in range(1, len(fresh)):
        under.append(" ".join([*left, *["|"] * more]) + "\\" + " \\" * len(right))
    rest = " ".join([*left, own, *["|"] * (len(fresh) - 1), *right])
    joins = parents and not fresh  # its only way down is a column that is drawn already
    last = (" ".join(left) + "/" + " /" * len(right),) if joins else ()
    return Strokes(" ".join([*left, "*", *right]), tuple(under), rest, last)

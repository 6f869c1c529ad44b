"""Ids: ``<UTC time, milliseconds>-<8 hex>``, minted by us and used as file names.

They sort by time. The file name is authoritative: no id is ever read out of a body or a header.
"""

from git_coop import clock
from git_coop.errors import Fatal, NotFound, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Entropy = Callable[[int], bytes]

STAMP = 19
LENGTH = STAMP + 1 + 8
_HEX = frozenset("0123456789abcdef")


def mint(now: int, entropy: "Entropy", *, after: str = "") -> str:
    """A new id for the time ``now``; later than the id ``after`` whatever the clock says.

    ``after`` is the newest id already there, where the caller holds the lock that makes this meaningful. Raises
    ``Fatal`` where no time with four digits for its year is later: only a hand can have put such an id there.
    """
    newest = clock.parse_id_stamp(after[:STAMP]) if after else None
    stamp = clock.id_stamp(now)
    if newest is not None and stamp <= after[:STAMP]:
        stamp = clock.id_stamp(newest + 1_000_000)
        if stamp <= after[:STAMP]:
            raise Fatal(f"no id can follow {after}", hint="its record has a name from the end of time: move it away")
    return f"{stamp}-{entropy(4).hex()}"


def is_id(name: str) -> bool:
    """Whether ``name`` has the shape of an id, a real date included."""
    return (
        len(name) == LENGTH
        and name[STAMP] == "-"
        and _HEX.issuperset(name[STAMP + 1 :])
        and clock.parse_id_stamp(name[:STAMP]) is not None
    )


def of_record(name: str, shape: "Callable[[str], bool]" = is_id) -> str:
    """The id in the file name of a record, ``<id>.toml``; empty for another name. ``shape`` tells what an id is."""
    return name[:-5] if name.endswith(".toml") and shape(name[:-5]) else ""


_LISTS = {
    "letter": "git coop letter list --all --all-worktrees shows every one",
    "message": "git coop mail list --all shows every one",
    "request": "git coop request list --all --all-worktrees shows every one",
}


def time_of(identifier: str) -> int:
    """The time in an id, in nanoseconds; 0 for a name that is none."""
    return clock.parse_id_stamp(identifier[:STAMP]) or 0


def tail(identifier: str) -> str:
    """The eight hex digits of an id: what people type."""
    return identifier[STAMP + 1 :]


def matches(asked: str, identifier: str) -> bool:
    """Whether ``asked`` names this id: the whole, its tail, or a start of the tail of four or more."""
    if asked == identifier:
        return True
    return 4 <= len(asked) <= 8 and _HEX.issuperset(asked) and tail(identifier).startswith(asked)


def pick(asked: str, known: "Iterable[str]", *, what: str) -> str:
    """The one id among ``known`` that ``asked`` names; ``what`` is the noun of the errors.

    Raises ``NotFound`` where none is named and ``Refused`` with the candidates where several are.
    """
    found = sorted({identifier for identifier in known if matches(asked, identifier)})
    if len(found) == 1:
        return found[0]
    if found:
        raise Refused(f"{what} '{asked}' is ambiguous", hint="it could be " + ", ".join(found))
    short = 0 < len(asked) < 4 and _HEX.issuperset(asked)
    hint = "give four or more of its eight hex digits" if short else _LISTS.get(what, "")
    raise NotFound(f"no {what} '{asked}'", hint=hint)

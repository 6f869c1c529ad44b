"""Which messages a drain shows: opened oldest first, each oddity set aside, until an output is full.

The work is bounded by what can be shown. Where that bound is met before the output is full (a heap of files that
are no messages, or mail for other sessions), the next drain of the same session goes on where this one stopped.
"""

from git_coop import inbox, message, notices
from git_coop.errors import Busy, StoreFault
from git_coop.filing import Actor, expire
from git_coop.inbox import Found, Odd
from git_coop.layout import Box
from git_coop.record import Record
from git_coop.session import hashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPENED = 48  # files that one drain opens to look for what it may show


class Reader(Record):
    """Who looks: the session's hash (none: nobody's mail in particular), and whether expiry may be filed."""

    session: "str | None"
    actor: Actor
    may_file: bool


class Choice:
    """What was chosen, and what became of the rest that was looked at."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.odd: list[Odd] = []
        self.faults: list[str] = []
        self.elsewhere = 0  # addressed to other sessions
        self.settled = 0  # looked at and not to be counted as waiting: gone, odd, elsewhere, expired
        self.opened = 0
        self.cursor = ""  # the last id looked at where the bound was met
        self.noticed: list[str] = []  # notices of expiry that were made on the way


def choose(box: Box, fresh: "Sequence[str]", again: "Sequence[str]", limit: int, reader: Reader) -> Choice:
    """Up to ``limit`` messages: of those this session was never shown (``fresh``), then of the others (``again``).

    Where fresh mail would fill the output, the oldest of the others keeps one place, so that neither starves: it
    stands second, for what stands first always fits.
    """
    choice = Choice()
    kept = _take(box, iter(again), 1, reader, choice) if again else []
    first = _take(box, iter(fresh), limit - len(kept), reader, choice)
    rest = iter(again[again.index(kept[0].message.id) + 1 :]) if kept else iter(())
    more = _take(box, rest, limit - len(kept) - len(first), reader, choice)
    notices_now = _take(box, iter(list(choice.noticed)), limit - len(kept) - len(first) - len(more), reader, choice)
    choice.found = [*first[:1], *kept, *first[1:], *more, *notices_now]
    return choice


def _take(box: Box, names: "Iterator[str]", count: int, reader: Reader, choice: Choice) -> "list[Found]":
    taken: list[Found] = []
    while len(taken) < count:
        name = next(names, None)
        if name is None:
            break
        if choice.opened >= OPENED:
            choice.cursor = choice.cursor or name
            break
        choice.opened += 1
        found = _look(box, name, reader, choice)
        if found is None:
            choice.settled += 1
        else:
            taken.append(found)
    return taken


def _look(box: Box, name: str, reader: Reader, choice: Choice) -> "Found | None":
    """The message if it may be shown to this reader; else it is accounted for in ``choice``."""
    try:
        filed = inbox.filed_copy(box, name)
        found = inbox.look(box, name) if filed is None else inbox.drop_filed(box, name, filed)
    except StoreFault as error:
        choice.faults.append(error.sentence)
        return None
    if isinstance(found, Odd):
        choice.odd.append(found)
        return None
    if found is None:
        return None
    return found if _is_for(found, reader, choice) and not _expired(box, found, reader, choice) else None


def _is_for(found: Found, reader: Reader, choice: Choice) -> bool:
    if found.message.to_session_damaged:
        choice.odd.append(Odd(found.message.id, "it is addressed to one session, and nobody can tell which"))
        return False
    addressee = found.message.to_session
    if addressee is not None and (reader.session is None or hashed(addressee) != reader.session):
        choice.elsewhere += 1
        return False
    return True


def _expired(box: Box, found: Found, reader: Reader, choice: Choice) -> bool:
    """Whether the message's term is over; it is then filed as expired and told by mail, where it may be."""
    now = reader.actor.now
    if not message.expired(found.message, mtime=found.mtime, now=now):
        return False
    if reader.may_file:
        try:
            if not notices.is_notice(found.message):
                made = notices.for_recipient(box, found.message, found.mtime, now)
                choice.noticed += [made] if made else []
            expire(box, found.message.id, found.sha256, reader.actor)
        except Busy:
            return True  # another drain is filing it
        except StoreFault as error:
            choice.faults.append(error.sentence)
    return True

"""Which messages a drain shows: opened oldest first, each oddity set aside, until an output is full.

The work is bounded by what can be shown. Where that bound is met before the output is full (a heap of files that
are no messages, or mail for other sessions), the next drain goes on where this one stopped: the next of the same
session, or the first of a new one.
"""

from git_coop import ids, inbox, message
from git_coop.errors import Busy, StoreFault
from git_coop.inbox import Found, Odd
from git_coop.layout import Box, hashed, message_path
from git_coop.receipts import Actor
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from git_coop.message import Message

OPENED = 48  # files that one drain opens to look for what it may show
PEEKED = 256  # messages to other sessions whose header alone is read on the way
KEPT = 16  # of these, at most so many to find the one that was shown before


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
        self.looked: set[str] = set()
        self.cursor = ""  # where the next drain begins, if not at the oldest
        self.noticed: list[str] = []  # notices of expiry that were made on the way

    def fault(self, sentence: str) -> None:
        """Note a fault; one that comes with every message is one fault."""
        if sentence not in self.faults:
            self.faults.append(sentence)


def choose(
    box: Box, fresh: "Collection[str]", again: "Collection[str]", limit: int, reader: Reader, cursor: str = ""
) -> Choice:
    """Up to ``limit`` messages: of those this session was never shown (``fresh``), then of the others (``again``).

    Both are in order, oldest first; ``cursor`` is what the last choice left. Where fresh mail would fill the output,
    the oldest of the others keeps one place, so that neither starves: it stands second, for the first two always fit.
    """
    choice = Choice()
    kept = _take(box, again, 1, KEPT, reader, choice)
    rotated: Collection[str] = fresh
    if cursor:  # the last drain met its bound before this one: go on there, and come round to the oldest again
        rotated = [*(name for name in fresh if name >= cursor), *(name for name in fresh if name < cursor)]
    first = _take(box, rotated, limit - len(kept), OPENED, reader, choice)
    choice.cursor = _next(rotated, first, limit - len(kept), cursor, choice)
    more = _take(box, again, limit - len(kept) - len(first), OPENED, reader, choice)
    told = _take(box, choice.noticed, limit - len(kept) - len(first) - len(more), OPENED + limit, reader, choice)
    choice.found = [*first[:1], *kept, *first[1:], *more, *told]
    return choice


def _next(rotated: "Collection[str]", first: "list[Found]", wanted: int, cursor: str, choice: Choice) -> str:
    """Where the next drain begins: behind what this one met its bound at; as before where this one was filled."""
    if len(first) == wanted:
        return cursor
    return next((name for name in rotated if name not in choice.looked), "")


def _take(box: Box, names: "Iterable[str]", count: int, bound: int, reader: Reader, choice: Choice) -> "list[Found]":
    """Up to ``count`` messages of ``names`` that were not looked at yet, as long as ``bound`` allows to open more."""
    taken: list[Found] = []
    peeks = choice.elsewhere + PEEKED  # mail for others has a bound of its own
    for name in names:
        if len(taken) >= count or len(choice.looked) - choice.elsewhere >= bound or choice.elsewhere >= peeks:
            break
        if name in choice.looked:
            continue
        choice.looked.add(name)
        found = _look(box, name, reader, choice)
        if found is None:
            choice.settled += 1
        else:
            taken.append(found)
    return taken


def _look(box: Box, name: str, reader: Reader, choice: Choice) -> "Found | None":
    """The message if it may be shown to this reader; else it is accounted for in ``choice``."""
    if choice.elsewhere and _is_passed(box, name, reader, choice):
        return None
    found: Found | Odd | None
    try:
        filed = _filed_copy(box, name, choice)
        found = inbox.look(box, name) if filed is None else inbox.drop_filed(box, name, filed)
    except StoreFault as error:
        choice.fault(error.sentence)
        return None
    if isinstance(found, Odd):
        choice.odd.append(found)
        return None
    if found is None:
        return None
    if _expired(box, found, reader, choice):  # whoever looks: its addressee may never come back
        return None
    return found if _is_for(found, reader, choice) else None


def _is_passed(box: Box, name: str, reader: Reader, choice: Choice) -> bool:
    """Whether the header alone says that this message waits for another session: where one does, many may."""
    if not ids.is_id(name):
        return False
    try:
        head = box.store.look(message_path(box.inbox, name), message.HEAD_LIMIT)
    except StoreFault:
        return False  # looked at in full, it says for itself what is wrong with it
    if message.damage(head.data, whole=False) is not None:
        return False
    found = message.peek(name, head.data)
    term_is_over = message.expired(found, mtime=head.mtime, now=reader.actor.now)
    if found.to_session_damaged or term_is_over or not _is_elsewhere(found, reader):
        return False
    choice.elsewhere += 1
    return True


def _filed_copy(box: Box, name: str, choice: Choice) -> "bytes | None":
    """Where the message was filed already; where nobody can tell, it is shown, for twice is better than never."""
    try:
        return inbox.filed_copy(box, name)
    except StoreFault as error:
        choice.fault(error.sentence.replace(f"{name}.eml", "…"))
        return None


def _is_for(found: Found, reader: Reader, choice: Choice) -> bool:
    if found.message.to_session_damaged:
        choice.odd.append(Odd(found.message.id, "it is addressed to one session, and nobody can tell which"))
        return False
    if _is_elsewhere(found.message, reader):
        choice.elsewhere += 1
        return False
    return True


def _is_elsewhere(found: "Message", reader: Reader) -> bool:
    """Whether a message is addressed to another session than the reader's."""
    addressee = found.to_session
    return addressee is not None and (reader.session is None or hashed(addressee) != reader.session)


def _expired(box: Box, found: Found, reader: Reader, choice: Choice) -> bool:
    """Whether the message's term is over; it is then filed as expired and told by mail, where it may be."""
    if not message.expired(found.message, mtime=found.mtime, now=reader.actor.now):
        return False
    if reader.may_file:
        _file_expired(box, found, reader, choice)
    else:
        choice.fault(f"message {found.message.id} has expired and cannot be filed")
    return True


def _file_expired(box: Box, found: Found, reader: Reader, choice: Choice) -> None:
    from git_coop import filing, notices  # only what has expired is filed and told

    def tell() -> None:
        made = notices.for_recipient(box, found.message, found.mtime, reader.actor.now)
        choice.noticed += [made] if made else []

    nothing = notices.is_notice(found.message)
    try:
        filing.expire(box, found.message.id, found.sha256, reader.actor, (lambda: None) if nothing else tell)
    except Busy:
        pass  # another drain is filing it
    except StoreFault as error:
        choice.fault(error.sentence)

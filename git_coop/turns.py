"""Turns: which prompt a stop belongs to.

Only what was shown in a turn may be consumed at its end: a prompt that was interrupted is withdrawn from the
session with everything that hooks added to it. So each turn has a token of its own, minted by the prompt event
that opens it; a client's turn id only says which turn an event belongs to, for some clients' ids repeat.
"""

from git_coop import flat
from git_coop.errors import StoreFault
from git_coop.files import sha256
from git_coop.layout import Box, session_folder
from git_coop.locks import Lock, lock_folder
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from git_coop.event import Event

BEFORE = "0"  # the turn of a session that has had no prompt yet
LOCK_WAIT = 1.0  # seconds
LIVE_AT_MOST = 64  # messages that one turn remembers; one over that is shown again
_UNSEEN = "x"  # begins the token of a turn that is known by its stop alone


class Turn(Record):
    """What a session's turn file says.

    ``own`` and ``also`` are hashes of client turn ids: of the one that opened the turn, and of the latest one that
    continues it. ``said`` is the first line of our own latest text at a stop, by which the prompt that a client
    makes of it is known. ``live`` is a token and the ids of what was shown in that turn, so that its end looks at
    these markers alone, however many others there are.
    """

    token: str = BEFORE
    own: str = ""
    also: str = ""
    ended: int = 0  # 1: interrupted, what was live in it is shown again
    said: str = ""
    delivered: str = ""  # the turn in which a stop was last continued by us
    start: str = ""  # the token of the latest start
    lifted: int = 0  # 1: a prompt has come since the first start
    noticed: int = 0  # 1: a text with room for the letter notice is known to have arrived
    cursor: str = ""  # the first id not looked at where a drain's bound was reached
    live: str = ""


def name_of(turn: "str | None") -> str:
    """A client's turn id as it is stored: 16 hex digits of its hash; empty for none."""
    return sha256(turn.encode("utf-8", "surrogatepass"))[:16] if turn else ""


def started(state: Turn, token: str) -> Turn:
    """The state after a start event, whose markers carry ``token`` in place of a turn."""
    return state.replace(start=f"s{token}")


def opened(state: Turn, event: "Event", token: str) -> Turn:
    """The state after a prompt event, whose new turn would be called ``token``.

    A prompt whose text is our own stop text goes on with the turn that the stop was in, and a repeated event of a
    turn that has an id of its own (two hooks installed) opens none.
    """
    own = name_of(event.turn)
    state = state.replace(lifted=1) if state.start else state
    if state.said and state.said in event.prompt and not state.ended:
        return _continued(state, own)
    if own and event.turn_is_unique and own in (state.own, state.also) and not state.ended:
        return state
    return state.replace(token=token, own=own, also="", ended=0, said="")


def _continued(state: Turn, own: str) -> Turn:
    if state.delivered in ("", state.token):
        return state.replace(also=own)
    return state.replace(token=state.delivered, own=state.delivered.removeprefix(_UNSEEN), also=own)


def at_stop(state: Turn, event: "Event") -> str:
    """The turn that a stop event ends; empty for one in which nothing may be consumed.

    A turn id that no prompt came with is another turn, whose prompt was never seen. One that may come twice tells
    nothing then: it could be that of a turn long past.
    """
    own = name_of(event.turn)
    if own and own not in (state.own, state.also):
        if event.turn_is_unique and (state.own or state.token == BEFORE):
            return _UNSEEN + own
        if state.own:
            return ""
    return "" if state.ended else state.token


def interrupted(state: Turn, event: "Event") -> Turn:
    """The state after a stop that the client marks as interrupted."""
    elsewhere = event.turn_is_unique and at_stop(state, event) != state.token
    return state if elsewhere else state.replace(ended=1)


def live(state: Turn, turn: str) -> "tuple[str, ...]":
    """The ids of what was shown in ``turn``, in the order of showing, as far as the state knows."""
    token, *names = state.live.split(" ")
    return tuple(names) if turn and token == turn else ()


def with_live(state: Turn, turn: str, names: "Iterable[str]") -> Turn:
    """The state after ``names`` were shown in ``turn``."""
    known = list(dict.fromkeys((*live(state, turn), *names)))
    return state.replace(live=" ".join((turn, *known[-LIVE_AT_MOST:]))) if known else state


def read(box: Box, session: str) -> Turn:
    """The session's state; that of a new session where there is none or it cannot be read."""
    try:
        data = box.store.read(session_folder(box, session) + b"/turn")
    except StoreFault:
        data = b""
    record = flat.loads(data)
    known = {name: record[name] for name in Turn._fields if type(record.get(name)) is type(getattr(Turn, name))}
    return Turn().replace(**known)


def write(box: Box, session: str, state: Turn) -> None:
    """Store the state, under ``locked``; like a marker it is not flushed."""
    folder = session_folder(box, session)
    box.store.rewrite(folder + b"/turn", flat.dumps(_fields(state)), durable=False)


def _fields(state: Turn) -> "dict[str, str | int | None]":
    return {name: value for name, value in state.values().items() if isinstance(value, str | int)}


def locked(box: Box, session: str) -> Lock:
    """The right to change a session's state and markers: clients run the hooks of one session at the same time."""
    folder = session_folder(box, session)
    box.store.ensure_folder(folder)
    return lock_folder(folder, wait=LOCK_WAIT)

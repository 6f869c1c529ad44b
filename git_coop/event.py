"""What goes into a drain and what comes out of it.

A client's adapter turns a payload into an ``Event``; the drain answers with a ``Say``; the adapter turns that into
exactly one JSON object of the client's own shape.
"""

from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from git_coop.errors import CoopError

    Emit = Callable[["Say"], None]  # writes and flushes; raises OSError where the output did not get out

START, PROMPT, STOP = "start", "prompt", "stop"


class Event(Record):
    """What a hook call means. ``kind`` is ``start``, ``prompt``, ``stop``, or empty: nothing for the drain to do."""

    kind: str
    client: str = ""  # the client that is really there; empty in text mode
    name: str = ""  # the event's name in the client's own words, needed to answer in its shape
    session: "str | None" = None  # the client's session id, raw
    turn: "str | None" = None  # the client's own turn id, raw; None where it has none
    turn_is_unique: bool = True  # whether the client mints its turn ids, so that none comes twice
    directory: "str | None" = None  # where the session works, as the client says
    prompt: str = ""  # the text of a prompt event, to recognise our own stop text in it
    subagent: bool = False  # the caller is a subagent: show nothing, consume nothing
    interrupted: bool = False  # a stop that the client marks as interrupted
    continued: bool = False  # this stop follows one that was already continued by a hook
    arrives: bool = True  # text answered to this event reaches the model
    marked: bool = True  # text answered to a stop is marked by the client as a hook's


class Say(Record):
    """What the drain has to say: ``text`` to the session, ``human`` to the person where a client has a place for it."""

    text: str = ""
    human: str = ""


class Order(Record):
    """What a drain is asked to do. ``text`` is for a person or a script, else the answer is a client's.

    ``stop_shows`` tells whether mail may go to the session at a stop; it is asked only where mail waits there.
    """

    event: Event
    start: bytes
    env: "Mapping[str, str]"
    text: bool
    anchor: "str | None" = None
    prompt_carries: bool = True
    stop_shows: "Callable[[], bool]" = lambda: True


class Outcome(Record):
    """What a drain did: ids consumed, faults that a person should know (a store that cannot be used is ``fatal``)."""

    consumed: "tuple[str, ...]" = ()
    faults: "tuple[str, ...]" = ()
    notes: "tuple[str, ...]" = ()
    fatal: "CoopError | None" = None

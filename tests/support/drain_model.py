"""The drain's rules for one message, as small as they can be said. Nothing of the package is imported here.

A ``World`` is the message and what each session is known to have seen. ``act`` gives every state that one event goes
through, in order, each of them one that a kill can leave; the last is what the event does when nothing goes wrong.
"""

from collections.abc import Iterator
from typing import NamedTuple

Turn = tuple[str, object]
BEFORE: Turn = ("before", 0)


class Marker(NamedTuple):
    """That a session was shown a version of the message: at which event, in which turn."""

    event: str
    turn: Turn | None
    version: int


class Seat(NamedTuple):
    """What is known of one session."""

    turn: Turn = BEFORE
    own: str | None = None  # the client's ids of this turn
    also: str | None = None
    ended: bool = False  # interrupted
    continued: Turn | None = None  # the turn in which a stop last spoke
    said: bool = False  # and no prompt has opened a turn since
    marker: Marker | None = None
    live: Turn | None = None  # the turn whose list has the message


class Event(NamedTuple):
    """One event of one session. ``turn`` is the client's id, ``channel`` whether its stop carries text."""

    session: str
    kind: str
    turn: str | None = None
    unique: bool = True
    interrupted: bool = False
    continued: bool = False
    ours: bool = False  # the prompt is our own stop text
    channel: bool = True
    text: bool = False
    lost: bool = False  # the output does not get out


class World(NamedTuple):
    """The message, the sessions, and the receipts on the disk."""

    seats: dict[str, Seat] = {}  # never changed in place
    place: str = "inbox"
    version: int = 0
    receipts: frozenset[tuple[str, str]] = frozenset()
    off: bool = False
    over: bool = False  # its term has passed
    opened: int = 0  # turns so far

    def seat(self, session: str) -> Seat:
        return self.seats.get(session, Seat())

    def seated(self, session: str, **changes: object) -> "World":
        return self._replace(seats={**self.seats, session: self.seat(session)._replace(**changes)})  # type: ignore[arg-type]


class Step(NamedTuple):
    """A state on the way, and whether the message was shown by then."""

    world: World
    shown: bool = False


def act(world: World, event: Event) -> Iterator[Step]:
    """Every state of this event, in order; only the last has ``shown`` where the output got out."""
    yield Step(world)
    world, turn = _turn(world, event)
    yield Step(world)
    if not world.off and not event.interrupted:
        act_on = {"start": _start, "prompt": _prompt, "stop": _stop}[event.kind]
        yield from act_on(world, event, turn)


def _turn(world: World, event: Event) -> tuple[World, Turn | None]:
    seat = world.seat(event.session)
    if event.kind == "start":
        return world, None
    if event.kind == "prompt":
        return _opened(world, event, seat)
    turn = _ending(seat, event)
    if event.interrupted:
        hit = turn == seat.turn or not event.unique
        return (world.seated(event.session, ended=True) if hit else world), None
    return world, turn


def _opened(world: World, event: Event, seat: Seat) -> tuple[World, Turn | None]:
    if event.ours and seat.said and not seat.ended:
        turn = seat.continued or seat.turn
        own = seat.own if turn == seat.turn else str(turn[1])
        return world.seated(event.session, turn=turn, own=own, also=event.turn), turn
    if event.turn and event.unique and event.turn in (seat.own, seat.also) and not seat.ended:
        return world, seat.turn
    fresh = ("prompt", world.opened + 1)
    world = world._replace(opened=world.opened + 1)
    return world.seated(event.session, turn=fresh, own=event.turn, also=None, ended=False, said=False), fresh


def _ending(seat: Seat, event: Event) -> Turn | None:
    if event.turn and event.turn not in (seat.own, seat.also):
        if event.unique and (seat.own or seat.turn == BEFORE):
            return ("stop", event.turn)
        if seat.own:
            return None
    return None if seat.ended else seat.turn


def _start(world: World, event: Event, _turn: Turn | None) -> Iterator[Step]:
    if world.place != "inbox":
        return
    if world.over:
        yield from _expired(world, event)
    elif not event.lost:
        yield Step(world, shown=True)
        marker = world.seat(event.session).marker
        if marker is None or marker.event == "start":
            yield Step(world.seated(event.session, marker=Marker("start", None, world.version)), shown=True)


def _prompt(world: World, event: Event, turn: Turn | None) -> Iterator[Step]:
    if world.place == "inbox" and world.seat(event.session).live != turn:
        if world.over:
            yield from _expired(world, event)
        elif not event.lost:
            yield from _shown(world, event, turn)


def _stop(world: World, event: Event, turn: Turn | None) -> Iterator[Step]:
    if world.place != "inbox":
        return
    due = _is_due(world, event, turn)
    if due:
        yield from _consumed(world, event)
    elif event.text or (_may_speak(world, event, turn)):
        if world.over:
            yield from _expired(world, event)
        elif not event.lost:
            yield from _told(world, event, turn)


def _is_due(world: World, event: Event, turn: Turn | None) -> bool:
    seat = world.seat(event.session)
    marker = seat.marker
    if turn is None or marker is None or seat.live != turn:
        return False
    return marker.event != "start" and marker.turn == turn and marker.version == world.version


def _may_speak(world: World, event: Event, turn: Turn | None) -> bool:
    fresh = turn is not None and world.seat(event.session).continued != turn
    return event.channel and fresh and not event.continued


def _shown(world: World, event: Event, turn: Turn | None, **more: object) -> Iterator[Step]:
    yield Step(world, shown=True)
    if turn is None:
        return
    world = world.seated(event.session, marker=Marker(event.kind, turn, world.version))
    yield Step(world, shown=True)
    yield Step(world.seated(event.session, live=turn, **more), shown=True)


def _told(world: World, event: Event, turn: Turn | None) -> Iterator[Step]:
    """A stop that shows the message; in text mode it is filed with the same call."""
    last = Step(world)
    for last in _shown(world, event, turn, **({} if event.text else {"continued": turn, "said": True})):
        yield last
    if event.text:
        for step in _consumed(last.world, event):
            yield step._replace(shown=True)


def _consumed(world: World, event: Event) -> Iterator[Step]:
    world = world._replace(receipts=frozenset(each for each in world.receipts if each[0] == event.session))
    yield Step(world)
    world = world._replace(receipts=frozenset({(event.session, "consumed")}))
    yield Step(world)
    world = world._replace(place="seen")
    yield Step(world)
    yield Step(world.seated(event.session, marker=None))


def _expired(world: World, event: Event) -> Iterator[Step]:
    world = world._replace(receipts=frozenset(each for each in world.receipts if each[0] == event.session))
    yield Step(world)
    world = world._replace(receipts=frozenset({(event.session, "expired")}))
    yield Step(world)
    world = world._replace(place="expired")
    yield Step(world)
    yield Step(world.seated(event.session, marker=None))

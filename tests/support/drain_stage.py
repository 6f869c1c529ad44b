"""A real box beside the model of the drain: each event goes to both, and the disk must be as the model says."""

from typing import Any

from git_coop import clock
from git_coop.layout import hashed
from tests.support.drain_model import Event, World, act
from tests.support.drains import Drained, Killed, Room, killed_after

SESSIONS = ("a", "b")
TERM = clock.DAY


class Stage:
    """The real box beside the worlds that the model holds possible."""

    def __init__(self, room: Room, *, marked: bool = True) -> None:
        self.room = room
        self.marked = marked  # whether the client marks the text of a stop as a hook's
        self.name = ""
        self.versions: list[str] = []
        self.said = dict.fromkeys(SESSIONS, "")
        self.worlds: list[World] = []

    def send(self) -> None:
        """One message, and nothing else in the box."""
        self.name = self.room.send(term=TERM)
        self.versions = [self.room.digest(self.name)]
        self.worlds = [World()]

    def change(self) -> None:
        """The file of the message becomes another one, as no program of ours makes it."""
        if self.room.place(self.name) == "inbox":
            self.room.rewrite(self.name)
            self.versions.append(self.room.digest(self.name))
            again = [world._replace(version=world.version + 1, over=False) for world in self.worlds]
            self.worlds = again  # a file of now has not outlived its term

    def set(self, **changes: Any) -> None:
        self.worlds = [world._replace(**changes) for world in self.worlds]

    def seen(self) -> tuple[object, ...]:
        """What the disk says: where the message lies, every session's marker of it, the receipts."""
        marks = []
        for session in SESSIONS:
            marker = self.room.marker(session, self.name)
            marks.append(None if marker is None else (marker.event, self.versions.index(marker.sha256)))
        names = {hashed(session): session for session in SESSIONS}
        receipts = {(names[session], outcome) for session, outcome in self.room.receipts(self.name)}
        return self.room.place(self.name), marks, receipts

    def held(self, world: World) -> tuple[object, ...]:
        """What the model says, in the same form."""
        marks = [(mark.event, mark.version) if (mark := world.seat(each).marker) else None for each in SESSIONS]
        return world.place, marks, set(world.receipts)

    def real(self, event: Event) -> Drained:
        prompt = self.said[event.session] if event.ours else "go on"
        drained = self.room.drain(
            event.kind,
            event.session,
            event.turn,
            text=event.text,
            out="closed" if event.lost else "open",
            stop_shows=lambda: event.channel,
            turn_is_unique=event.unique,
            interrupted=event.interrupted,
            continued=event.continued,
            marked=self.marked,
            prompt=prompt,
        )
        if event.kind == "stop" and drained.text:
            self.said[event.session] = drained.text.partition("\n")[0]
        return drained

    def drain(self, event: Event) -> tuple[bool, object]:
        """One event on both sides; whether it showed the message, and what the disk says then."""
        shown, found = self.name in self.real(event).shown, self.seen()
        self.tidy()
        ends = [list(act(world, event))[-1] for world in self.worlds]
        fitting = [end.world for end in ends if (end.shown, self.held(end.world)) == (shown, found)]
        wanted = [(end.shown, *self.held(end.world)) for end in ends]
        assert fitting, f"{event}: shown {shown}, {found}; the model says {wanted}"
        self.worlds = fitting
        return shown, found

    def kill(self, event: Event, operation: int) -> bool:
        """The same, killed after one change of the store; whether the event came to its end before that."""
        try:
            with killed_after(operation):
                self.drain(event)
        except Killed:
            pass
        else:
            return True
        found = self.seen()
        steps = [step.world for world in self.worlds for step in act(world, event)]
        self.worlds = [world for number, world in enumerate(steps) if world not in steps[:number]]
        self.worlds = [world for world in self.worlds if self.held(world) == found]
        assert self.worlds, f"{event} killed after change {operation} leaves {found}, which the model has nowhere"
        return False

    def tidy(self) -> None:
        """Take away the notices of expiry: they are messages of their own."""
        for name in self.room.queued():
            if name != self.name:
                self.room.path(name).unlink()

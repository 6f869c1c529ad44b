"""The drain against a model of its rules: every short sequence of events, and long ones with kills on the way."""

import ast
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.conftest import SOAK
from tests.support import clones, drain_model
from tests.support.drain_model import Event
from tests.support.drain_stage import SESSIONS, TERM, Stage
from tests.support.drains import Room
from tests.support.world import Worlds


@pytest.fixture
def room(template: Path, edge: Worlds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A box in memory where there is such a place: thousands of drains are made in it, and no disk is the subject."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    monkeypatch.setattr(os, "fsync", lambda _number: None)
    with tempfile.TemporaryDirectory(dir=fast) as place:
        yield Room(edge, clones.copy_template(template, Path(place).resolve() / "main").root)


def test_the_model_knows_nothing_of_the_package() -> None:
    tree = ast.parse(Path(drain_model.__file__).read_text())
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    assert named == {"collections.abc", "typing"}


KINDS = ("start", "prompt", "stop")
Choices = list[tuple[str, dict[str, bool]]]


def walk(stage: Stage, choices: Choices, *, ids: bool, depth: int, more: dict[str, bool]) -> int:
    """Every sequence of up to ``depth`` events, the first one by ``a``; how many there were."""
    count = 0

    def go(left: int, turns: dict[str, int], sessions: tuple[str, ...]) -> None:
        nonlocal count
        saved, worlds = stage.room.saved(), stage.worlds
        for session, (kind, flags) in itertools.product(sessions, choices):
            stage.room.restore(saved)
            stage.worlds = worlds
            after = {**turns, session: turns[session] + (kind == "prompt")}
            turn = f"{session}{after[session]}" if ids and kind != "start" else None
            stage.drain(Event(session, kind, turn, **{**more, **flags}))
            count += 1
            if left > 1:
                go(left - 1, after, SESSIONS)

    stage.send()
    go(depth, dict.fromkeys(SESSIONS, 0), ("a",))
    return count


def test_every_sequence_of_a_client_with_turn_ids(room: Room) -> None:
    choices: Choices = [*((kind, {}) for kind in KINDS), ("stop", {"interrupted": True})]
    assert walk(Stage(room), choices, ids=True, depth=4, more={}) == 4 + 4 * 8 + 4 * 8**2 + 4 * 8**3


def test_every_sequence_of_a_client_without_turn_ids(room: Room) -> None:
    choices: Choices = [(kind, {}) for kind in KINDS]
    assert walk(Stage(room), choices, ids=False, depth=4, more={}) == 3 + 3 * 6 + 3 * 6**2 + 3 * 6**3


def test_every_sequence_of_a_client_whose_stop_is_mute(room: Room) -> None:
    choices: Choices = [*((kind, {}) for kind in KINDS), ("start", {"lost": True}), ("prompt", {"lost": True})]
    assert walk(Stage(room), choices, ids=True, depth=3, more={"channel": False}) == 5 + 5 * 10 + 5 * 100


# What can befall one session beside what the sequences above have: an event of that kind, with the turn that it names.
LETTERS: dict[str, Event | None] = {
    "start": Event("a", "start"),
    "next prompt": Event("a", "prompt", "next"),
    "prompt again": Event("a", "prompt", "same"),
    "our own text": Event("a", "prompt", "next", ours=True),
    "stop": Event("a", "stop", "same"),
    "stop of another turn": Event("a", "stop", "unknown"),
    "interrupted stop": Event("a", "stop", "same", interrupted=True),
    "continued stop": Event("a", "stop", "same", continued=True),
    "the file changes": None,
}


@pytest.mark.parametrize("unique", [True, False], ids=["minted ids", "hashed prompts"])
@pytest.mark.parametrize("first", ["next prompt", "stop of another turn"])
def test_every_sequence_of_whatever_befalls_one_session(room: Room, first: str, unique: bool) -> None:
    stage = Stage(room, marked=False)

    def go(left: int, turn: int, letters: Iterable[str]) -> None:
        saved, worlds, versions, said = room.saved(), stage.worlds, [*stage.versions], dict(stage.said)
        for letter in letters:
            room.restore(saved)
            stage.worlds, stage.versions, stage.said = worlds, [*versions], dict(said)
            event = LETTERS[letter]
            after = turn + (event is not None and event.turn == "next")
            if event is None:
                stage.change()
            elif not event.ours or stage.said["a"]:
                named = {"next": f"a{after}", "same": f"a{after}", "unknown": "a-9", None: None}[event.turn]
                stage.drain(event._replace(turn=named, unique=unique))
            if left > 1:
                go(left - 1, after, LETTERS)

    stage.send()
    go(4, 0, [first])


def test_every_sequence_in_text(room: Room) -> None:
    choices: Choices = [*((kind, {}) for kind in KINDS), ("stop", {"lost": True})]
    assert walk(Stage(room), choices, ids=False, depth=3, more={"text": True}) == 4 + 4 * 8 + 4 * 8**2


@pytest.mark.parametrize("before", [("prompt",), ("start", "prompt"), ("start",)], ids="-".join)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [False, True], ids=["client", "text"])
def test_a_kill_after_each_change_of_the_store(room: Room, before: tuple[str, ...], kind: str, text: bool) -> None:
    """Then the other session goes through a turn, and the message is filed once, by whoever was shown it."""
    stage = Stage(room)
    turn = None if text else "a1"
    for operation in itertools.count(1):
        room.restore({})
        stage.send()
        for each in before:
            stage.drain(Event("a", each, turn if each == "prompt" else None, text=text))
        done = stage.kill(Event("a", kind, turn, text=text), operation)
        was_filed = room.place(stage.name) == "seen"
        shown, _ = stage.drain(Event("b", "prompt", None if text else "b1", text=text))
        assert shown is not was_filed
        stage.drain(Event("b", "stop", None if text else "b1", text=text))
        assert room.place(stage.name) == "seen"
        if done:
            assert operation > 1  # there was something to kill in
            break


class Drains(RuleBasedStateMachine):
    """Two sessions, one message at a time, and what each session's process really has before it."""

    room: Room
    stage: Stage

    @initialize(marked=st.booleans(), unique=st.booleans(), ids=st.booleans())
    def begin(self, marked: bool, unique: bool, ids: bool) -> None:
        self.room.restore({})
        self.stage = Stage(self.room, marked=marked)
        self.unique = unique
        self.ids = ids
        self.count = 0
        self.turns: dict[str, str | None] = dict.fromkeys(SESSIONS)  # each session's turn that runs
        self.ran = dict.fromkeys(SESSIONS, False)  # whether its process has had a prompt
        self.known: dict[str, set[int]] = {each: set() for each in SESSIONS}  # versions before it
        self.fresh: dict[str, set[int]] = {each: set() for each in SESSIONS}  # those of the turn that runs
        self.stage.send()

    def note(self, event: Event, shown: bool) -> None:
        if shown:
            self.known[event.session].add(self.version)
            self.fresh[event.session].add(self.version)

    @property
    def version(self) -> int:
        return self.stage.worlds[0].version

    def happen(self, event: Event, kill: int) -> None:
        before = self.stage.room.place(self.stage.name)
        if kill:
            self.stage.kill(event, kill)
            if before == "inbox":
                self.gone(event.session, before, event)
            self.leave(event.session)
            return
        shown, _ = self.stage.drain(event)
        self.note(event, shown)
        self.gone(event.session, before, event)

    def gone(self, session: str, before: str, event: Event) -> None:
        """Nothing is filed as consumed that its session has not before it: the promise, whatever the rules are."""
        if before == "inbox" and self.stage.room.place(self.stage.name) == "seen":
            seen = self.version in self.known[session] or (event.text and event.kind == "stop")
            assert seen, f"{event} consumed what the session was never shown"

    def leave(self, session: str) -> None:
        """The process is gone; the next one may have its id."""
        self.known[session] = set()
        self.fresh[session] = set()
        self.turns[session] = None
        self.ran[session] = False

    sessions = st.sampled_from(SESSIONS)
    kills = st.one_of(st.just(0), st.just(0), st.just(0), st.integers(1, 30))
    seldom = st.sampled_from([False, False, False, False, True])

    @rule(session=sessions, lost=seldom, kill=kills)
    def start(self, session: str, lost: bool, kill: int) -> None:
        """A launch, a resume or a compaction: after a prompt too."""
        self.happen(Event(session, "start", lost=lost and not kill), kill)

    @rule(session=sessions, lost=seldom, kill=kills, same=seldom)
    def prompt(self, session: str, lost: bool, kill: int, same: bool) -> None:
        """A prompt; ``same`` repeats the text of the last one, and with it the id of a client that mints none."""
        self.count += not (same and not self.unique)
        self.turns[session] = f"{session}{self.count}" if self.ids else None
        self.ran[session] = True
        self.fresh[session] = set()
        event = Event(session, "prompt", self.turns[session], unique=self.unique, lost=lost and not kill)
        self.happen(event, kill)

    @rule(session=sessions, kill=kills, channel=st.sampled_from([True, True, False]), continued=seldom)
    def stop(self, session: str, kill: int, channel: bool, continued: bool) -> None:
        """A stop; of a session without a prompt only where the client's id tells that turn from all others."""
        turn = self.turns[session]
        if not self.ran[session]:
            if not (self.ids and self.unique):
                return
            self.count += 1
            turn = f"{session}{self.count}"
        event = Event(session, "stop", turn, unique=self.unique, channel=channel, continued=continued)
        self.happen(event, kill)

    @precondition(lambda self: not self.stage.marked)
    @rule(session=sessions)
    def our_text_comes_back(self, session: str) -> None:
        """A stop's text comes back as a prompt, at once, with a turn id of its own."""
        if not self.ran[session] or not all(world.seat(session).said for world in self.stage.worlds):
            return
        self.count += 1
        self.turns[session] = f"{session}{self.count}" if self.ids else None
        self.happen(Event(session, "prompt", self.turns[session], unique=self.unique, ours=True), 0)

    @rule(session=sessions)
    def escape(self, session: str) -> None:
        """The person interrupts: the prompt is withdrawn with what came with it. This client tells nobody."""
        if self.ran[session]:
            self.known[session] -= self.fresh[session]
            self.turns[session] = None
            self.ran[session] = False

    @rule(session=sessions)
    def interrupted(self, session: str) -> None:
        """The same in a client that fires its stop hook at once."""
        if self.ran[session]:
            turn = self.turns[session]
            self.happen(Event(session, "stop", turn, unique=self.unique, interrupted=True), 0)
            self.escape(session)

    @rule(session=sessions)
    def relaunch(self, session: str) -> None:
        self.leave(session)

    @rule(session=sessions, lost=seldom)
    def stop_in_text(self, session: str, lost: bool) -> None:
        if self.ran[session] and not self.ids:
            self.happen(Event(session, "stop", None, text=True, lost=lost), 0)

    @rule()
    def change(self) -> None:
        self.stage.change()

    @rule(off=seldom)
    def switch(self, off: bool) -> None:
        self.room.switch(off=off)
        self.stage.set(off=off)

    @rule()
    def pass_the_term(self) -> None:
        self.room.tick(TERM)
        self.stage.set(over=True)

    @precondition(lambda self: self.room.place(self.stage.name) != "inbox")
    @rule()
    def send(self) -> None:
        off = self.stage.worlds[0].off
        seats = self.stage.worlds[0].seats
        self.stage.send()
        bare = {name: seat._replace(marker=None, live=None) for name, seat in seats.items()}
        self.stage.set(off=off)
        self.stage.worlds = [world._replace(seats=bare) for world in self.stage.worlds]
        for session in SESSIONS:
            self.known[session] = set()
            self.fresh[session] = set()

    @invariant()
    def one_place_and_its_receipt(self) -> None:
        place = self.room.place(self.stage.name)
        outcomes = {outcome for _, outcome in self.room.receipts(self.stage.name)}
        wanted = {"seen": {"consumed"}, "expired": {"expired"}}
        assert place == "inbox" or outcomes == wanted[place]


def test_long_sequences_with_kills(room: Room) -> None:
    small = settings(max_examples=2000 if SOAK else 60, stateful_step_count=30)
    Drains.room = room
    run_state_machine_as_test(Drains, settings=small)

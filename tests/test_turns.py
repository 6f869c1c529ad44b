"""Which turn a stop ends: by the client's own id, else by the last prompt; and never one that nobody saw begin."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import turns
from git_coop.errors import Busy
from git_coop.event import PROMPT, START, STOP, Event
from git_coop.layout import hashed
from git_coop.turns import BEFORE, Turn, at_stop, interrupted, live, name_of, opened, started, with_live
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import Worlds


def prompt(turn: str | None = None, text: str = "", unique: bool = True) -> Event:
    return Event(PROMPT, session="s", turn=turn, turn_is_unique=unique, prompt=text)


def stop(turn: str | None = None, unique: bool = True) -> Event:
    return Event(STOP, session="s", turn=turn, turn_is_unique=unique)


def test_before_the_first_prompt() -> None:
    assert at_stop(Turn(), stop()) == BEFORE
    assert at_stop(Turn(), stop("p")) == "x" + name_of("p")
    assert at_stop(Turn(), stop("p", unique=False)) == BEFORE


def test_a_prompt_opens_a_turn_and_its_stop_ends_it() -> None:
    for turn in (None, "p"):
        state = opened(Turn(), prompt(turn), "t1")
        assert (state.token, at_stop(state, stop(turn))) == ("t1", "t1")
        assert opened(state, prompt(turn and "q"), "t2").token == "t2"


def test_a_repeated_prompt_of_a_minted_id_opens_none_and_of_a_hash_opens_another() -> None:
    state = opened(Turn(), prompt("p"), "t1")
    assert opened(state, prompt("p"), "t2") == state
    assert opened(state, prompt("p", unique=False), "t2").token == "t2"


def test_a_stop_of_a_turn_that_no_prompt_opened() -> None:
    state = opened(Turn(), prompt("p"), "t1")
    assert at_stop(state, stop("q")) == "x" + name_of("q")
    assert at_stop(state, stop("q", unique=False)) == ""
    assert at_stop(state, stop()) == "t1"  # a stop that names none is that of the last prompt
    assert at_stop(opened(Turn(), prompt(), "t1"), stop("q")) == "t1"  # and so is one where prompts name none


def test_an_interrupted_turn_ends_and_nothing_in_it_counts() -> None:
    state = interrupted(opened(Turn(), prompt("h", unique=False), "t1"), stop("h", unique=False))
    assert (state.ended, at_stop(state, stop("h", unique=False))) == (1, "")
    state = opened(state, prompt("h", unique=False), "t2")
    assert (state.ended, at_stop(state, stop("h", unique=False))) == (0, "t2")


def test_an_interrupt_of_another_minted_turn_ends_nothing() -> None:
    state = opened(Turn(), prompt("p"), "t1")
    assert interrupted(state, stop("q")) == state
    assert interrupted(state, stop("p")).ended == 1


def test_our_own_text_goes_on_with_the_turn() -> None:
    state = opened(Turn(), prompt("p"), "t1").replace(said="our first line", delivered="t1")
    after = opened(state, prompt("q", "x\nour first line\ny"), "t2")
    assert (after.token, at_stop(after, stop("p")), at_stop(after, stop("q"))) == ("t1", "t1", "t1")
    assert opened(state, prompt("q", "not it"), "t2").said == ""
    assert opened(state.replace(ended=1), prompt("q", "our first line"), "t2").token == "t2"


def test_our_own_text_goes_on_with_a_turn_that_only_its_stop_made_known() -> None:
    token = at_stop(Turn(), stop("p"))
    state = Turn(said="our first line", delivered=token)
    after = opened(state, prompt("q", "our first line"), "t1")
    assert (after.token, at_stop(after, stop("q")), at_stop(after, stop("p"))) == (token, token, token)


def test_a_prompt_after_a_start_is_remembered_once() -> None:
    assert opened(Turn(), prompt(), "t1").lifted == 0
    state = started(Turn(), "u")
    assert (state.start, state.lifted) == ("su", 0)
    assert opened(state, prompt(), "t1").lifted == 1


def test_the_list_of_a_turn() -> None:
    state = with_live(Turn(), "t1", ["a", "b"])
    assert live(state, "t1") == ("a", "b")
    assert live(state, "t2") == live(state, "") == live(Turn(), "") == live(Turn(), "t1") == ()
    assert live(with_live(state, "t1", ["b", "c"]), "t1") == ("a", "b", "c")
    assert live(with_live(state, "t2", ["d"]), "t1") == ()
    assert with_live(Turn(), "t1", []) == Turn()
    many = with_live(Turn(), "t1", [str(number) for number in range(99)])
    assert live(many, "t1") == tuple(str(number) for number in range(99 - turns.LIVE_AT_MOST, 99))


IDS = st.sampled_from([None, "p", "q", "r"])


@given(st.lists(st.tuples(st.sampled_from([PROMPT, STOP, "interrupted"]), IDS), max_size=8), st.booleans(), IDS)
def test_no_stop_ends_a_turn_that_is_over_or_was_interrupted(
    events: list[tuple[str, str | None]], unique: bool, last: str | None
) -> None:
    """Whatever came before, a stop's turn is the last one that was opened, one of its own, or none."""
    state, interrupted_now = Turn(), False
    for number, (kind, turn) in enumerate(events):
        if kind == PROMPT:
            before = state.token
            state = opened(state, prompt(turn, unique=unique), f"t{number}")
            interrupted_now = interrupted_now and state.token == before
        elif kind == "interrupted":
            state = interrupted(state, stop(turn, unique))
            interrupted_now = bool(state.ended)
    token = at_stop(state, stop(last, unique))
    assert token in ("", state.token, "x" + name_of(last))
    assert not (interrupted_now and token == state.token)


# On the disk.


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def test_a_state_is_read_as_it_was_written(room: Room) -> None:
    state = Turn("t", "o", "a", 1, 'said "so" \\ \n\x1b', "d", "s", 1, 1, "c", "t a b")
    with turns.locked(room.box, hashed("s")):
        turns.write(room.box, hashed("s"), state)
    assert turns.read(room.box, hashed("s")) == state
    assert turns.read(room.box, hashed("t")) == Turn()


@pytest.mark.parametrize("data", [b"", b"\0" * 99, b"token = 7\nended = 1", b'ended = "x"', b"x" * 99_999])
def test_a_damaged_state_is_that_of_a_new_session_as_far_as_it_is_damaged(room: Room, data: bytes) -> None:
    folder = Path(os.fsdecode(room.box.shown)) / hashed("s")
    folder.mkdir()
    (folder / "turn").write_bytes(data)
    state = turns.read(room.box, hashed("s"))
    assert state.replace(ended=0) == Turn()
    assert state.ended == (b"ended = 1" in data)


def test_a_state_that_is_lost_shows_mail_again(room: Room) -> None:
    name = room.send()
    room.drain(START, "s")
    room.drain(PROMPT, "s", "p")
    (Path(os.fsdecode(room.box.shown)) / hashed("s") / "turn").unlink()
    stopped = room.drain(STOP, "s", "p")
    assert (stopped.shown, room.place(name)) == ((name,), "inbox")


def test_a_lock_that_another_process_holds(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LOCK_WAIT", 0.0)
    with turns.locked(room.box, hashed("s")), pytest.raises(Busy):
        turns.locked(room.box, hashed("s"))

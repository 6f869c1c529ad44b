"""The six states of a letter and every transition between them, as pure functions."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import ids, letters
from git_coop.errors import Refused
from git_coop.letters import ABANDONED, DONE, READ, STATES, SUPERSEDED, UNREAD, WORKING, Happening, Letter

BORN = 1_796_035_512_123_000_000
NOW = BORN + 60_000_000_000
OLD = "20261130T104512123Z-00000001"
NEW = "20261130T104612123Z-00000002"

Transition = Callable[[Letter], Letter]
VERBS: dict[str, Transition] = {
    "read": lambda letter: letters.read(letter, NOW, "reader"),
    "start": lambda letter: letters.start(letter, NOW, "reader"),
    "ack": lambda letter: letters.ack(letter, NOW, "reader", "went well"),
    "abandon": lambda letter: letters.abandon(letter, NOW, "reader", "no longer wanted"),
}
# verb -> state -> the state after it; a state that is missing refuses the verb.
TABLE: dict[str, dict[str, str]] = {
    "read": {
        UNREAD: READ,
        READ: READ,
        WORKING: WORKING,
        DONE: DONE,
        ABANDONED: ABANDONED,
        SUPERSEDED: SUPERSEDED,
    },
    "start": {READ: WORKING},
    "ack": {READ: DONE, WORKING: DONE},
    "abandon": {UNREAD: ABANDONED, READ: ABANDONED, WORKING: ABANDONED},
}
CASES = [(verb, state) for verb in VERBS for state in STATES]


def fresh() -> Letter:
    return letters.written(
        Letter(id=OLD, key="main-0", path="/w/main", body="do it\n", subject="do it", created_at=BORN, session="writer")
    )


def in_state(state: str) -> Letter:
    """A letter that came to this state by the way there is."""
    ways: dict[str, Transition] = {
        UNREAD: lambda letter: letter,
        READ: lambda letter: letters.read(letter, NOW, "reader"),
        WORKING: lambda _: letters.start(in_state(READ), NOW, "reader"),
        DONE: lambda _: letters.ack(in_state(WORKING), NOW, "reader", None),
        ABANDONED: lambda letter: letters.abandon(letter, NOW, "reader", "why"),
        SUPERSEDED: lambda _: letters.supersede(in_state(READ), NEW, "next"),
    }
    letter = ways[state](fresh())
    assert letter.status == state
    return letter


@pytest.mark.parametrize(("verb", "state"), CASES)
def test_every_transition(verb: str, state: str) -> None:
    before = in_state(state)
    if state in TABLE[verb]:
        after = VERBS[verb](before)
        assert after.status == TABLE[verb][state]
        assert after.events == (*before.events, Happening(verb, NOW, "reader"))
    else:
        with pytest.raises(Refused) as caught:
            VERBS[verb](before)
        assert caught.value.sentence == f"cannot {verb} letter {OLD}: it is {state}"
        assert caught.value.status == 1
    assert before == in_state(state)  # a value: nothing changed it


def test_a_new_letter_is_unread_and_its_first_event_says_who_wrote_it() -> None:
    letter = fresh()
    assert (letter.status, letter.live, letter.read_count, letter.read_at) == (UNREAD, True, 0, None)
    assert letter.events == (Happening("write", BORN, "writer"),)


def test_the_refusals_say_the_way_out() -> None:
    hints = {}
    for state in (UNREAD, SUPERSEDED, DONE):
        with pytest.raises(Refused) as caught:
            letters.start(in_state(state), NOW, None)
        hints[state] = caught.value.hint
    assert hints == {
        UNREAD: "read it first: git coop letter read 00000001",
        SUPERSEDED: f"it was superseded by {NEW}",
        DONE: "a closed letter stays as it is; git coop letter write writes a new one",
    }


@pytest.mark.parametrize("verb", ["start", "ack"])
def test_the_session_that_wrote_a_letter_is_told_that_it_is_for_another(verb: str) -> None:
    change: Transition = {
        "start": lambda letter: letters.start(letter, NOW, "writer"),
        "ack": lambda letter: letters.ack(letter, NOW, "writer", None),
    }[verb]
    with pytest.raises(Refused) as caught:
        change(fresh())
    assert caught.value.sentence == f"cannot {verb} letter {OLD}: it is unread, for this session wrote it"
    assert caught.value.hint == (
        "another session takes it up: give --session ID where this is one and its client does not say\n"
        "git coop letter abandon --reason TEXT withdraws it"
    )
    assert change(in_state(READ)).status in (WORKING, DONE)


def test_only_the_first_reading_sets_the_time_it_was_read() -> None:
    once = letters.read(fresh(), NOW, "a")
    twice = letters.read(once, NOW + 5, "b")
    assert (once.read_at, once.last_read_at, once.read_count) == (NOW, NOW, 1)
    assert (twice.read_at, twice.last_read_at, twice.read_count, twice.status) == (NOW, NOW + 5, 2, READ)


def test_each_closing_keeps_what_it_is_for() -> None:
    done = letters.ack(in_state(READ), NOW, "reader", "went well")
    assert (done.acked_at, done.ack_body, done.close_reason) == (NOW, "went well", None)
    gone = letters.abandon(in_state(READ), NOW, "reader", "why")
    assert (gone.abandoned_at, gone.close_reason, gone.ack_body) == (NOW, "why", None)
    old = letters.supersede(in_state(WORKING), NEW, "next")
    assert (old.superseded_at, old.superseded_by, old.close_reason) == (ids.time_of(NEW), NEW, SUPERSEDED)
    assert (old.read_count, old.read_at, old.started_at) == (1, NOW, NOW)
    assert old.events[-1] == Happening("supersede", ids.time_of(NEW), "next")


@pytest.mark.parametrize("state", STATES)
def test_only_the_newest_letter_is_live(state: str) -> None:
    letter = in_state(state)
    assert letters.effective(letter, None) == letter
    older = letters.effective(letter, NEW)
    if state in letters.LIVE:
        assert (older.status, older.superseded_by, older.superseded_at) == (SUPERSEDED, NEW, ids.time_of(NEW))
        assert letters.supersede(letter, NEW, None).replace(events=older.events) == older  # as it will be marked
    else:
        assert older == letter


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        ("one\ntwo\n", "one"),
        ("\n \t\n  two   words \n", "two words"),
        ("\ufefffirst\n", "first"),
        ("\r\nlone\rnext", "lone"),
        ("x" * 200, "x" * 120),
        ("", ""),
        ("\n# Handoff: brief\n\n## Task\n\nFind it.\n", "Find it."),
        ("#  HANDOFF:brief\nFind it.\n", "Find it."),
        ("# Another heading\nFind it.\n", "# Another heading"),
    ],
)
def test_the_subject_is_the_first_line_that_is_not_blank(body: str, subject: str) -> None:
    assert letters.subject_of(body) == subject


@given(st.lists(st.sampled_from(sorted(VERBS)), max_size=12))
def test_no_way_leads_out_of_a_final_state(verbs: list[str]) -> None:
    letter = fresh()
    for verb in verbs:
        before = letter
        try:
            letter = VERBS[verb](letter)
        except Refused:
            assert letter == before
        if not before.live:
            assert letter.status == before.status
        assert letter.read_count == sum(event.event == "read" for event in letter.events)

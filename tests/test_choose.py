"""Which messages are chosen: in order, within a bound of files opened, and neither new nor old mail for ever last."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock, files, inbox
from git_coop.choose import KEPT, OPENED, PEEKED, Choice, Reader, choose
from git_coop.inbox import Found
from git_coop.layout import Box, hashed
from git_coop.message import Draft, compose, parse
from git_coop.receipts import Actor
from git_coop.store import Store
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import START, Worlds

ACTOR = Actor(hashed("s"), "", "prompt", "t", START)
READER = Reader(hashed("s"), ACTOR, True)
BOX = Box(Store(b"/nowhere"), "nowhere")


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def found(choice: Choice) -> list[str]:
    return [each.message.id for each in choice.found]


def test_new_mail_first_and_the_oldest_of_the_rest_in_second_place(room: Room) -> None:
    names = [room.send() for _ in range(12)]
    old, new = names[:5], names[5:]
    assert found(choose(room.box, new, old, 5, READER)) == [new[0], old[0], *new[1:4]]
    assert found(choose(room.box, new[:2], old, 5, READER)) == [new[0], old[0], new[1], old[1], old[2]]
    assert found(choose(room.box, [], old, 5, READER)) == old
    assert found(choose(room.box, new, [], 5, READER)) == new[:5]
    assert found(choose(room.box, [], [], 5, READER)) == []


def test_what_is_not_shown_is_accounted_for(room: Room) -> None:
    good, other, gone = room.send(), room.send(to_session="other"), room.send()
    empty = "20261130T104512123Z-0000ffff"
    room.put(empty, b"")
    room.path(gone).unlink()
    choice = choose(room.box, [good, other, gone, empty], [], 5, READER)
    assert found(choice) == [good]
    assert (choice.elsewhere, choice.settled, [odd.id for odd in choice.odd]) == (1, 3, [empty])
    assert choice.looked == {good, other, gone, empty}
    assert choice.cursor == ""


def test_the_addressee_alone_is_shown_it(room: Room) -> None:
    name = room.send(to_session="s")
    for session, count in (("s", 1), ("t", 0), (None, 0)):
        reader = Reader(None if session is None else hashed(session), ACTOR, True)
        choice = choose(room.box, [name], [], 5, reader)
        assert (len(choice.found), choice.elsewhere) == (count, 1 - count)


def test_a_term_that_is_over_is_filed_and_its_notice_chosen(room: Room) -> None:
    names = [room.send(term=clock.HOUR) for _ in range(2)]
    room.tick(clock.DAY)
    reader = Reader(READER.session, ACTOR.replace(now=room.clock()), True)
    choice = choose(room.box, names, [], 5, reader)
    assert [each.message.kind for each in choice.found] == ["expired", "expired"]
    assert found(choice) == choice.noticed
    assert [room.place(name) for name in names] == ["expired", "expired"]


def test_a_term_is_over_for_whoever_looks_at_the_message(room: Room) -> None:
    """Its addressee may never come back, and it would lie there for ever."""
    names = [room.send(term=clock.HOUR, to_session="gone") for _ in range(3)]
    waits = room.send(term=3 * clock.DAY, to_session="gone")
    room.tick(clock.DAY)
    reader = Reader(READER.session, ACTOR.replace(now=room.clock()), True)
    choice = choose(room.box, [*names[:1], waits, *names[1:]], [], 5, reader)
    assert [room.place(name) for name in (*names, waits)] == ["expired", "expired", "expired", "inbox"]
    assert (found(choice), choice.elsewhere) == (choice.noticed, 1)


def test_mail_for_other_sessions_is_passed_by_its_header_within_a_bound_of_its_own(room: Room) -> None:
    names = [room.send("x" * 200_000, to_session="other") for _ in range(PEEKED + 10)]
    names.append(room.send())
    choice = choose(room.box, names, [], 5, READER)
    assert (found(choice), choice.elsewhere, choice.cursor) == ([], PEEKED, names[PEEKED])
    choice = choose(room.box, names, [], 5, READER, choice.cursor)
    assert found(choice) == names[-1:]
    addressee = Reader(hashed("other"), ACTOR, True)
    assert found(choose(room.box, names, [], 5, addressee)) == names[:5]


def test_where_nothing_can_be_filed_an_expired_message_is_said_and_not_shown(room: Room) -> None:
    name = room.send(term=clock.HOUR)
    room.tick(clock.DAY)
    reader = Reader(READER.session, ACTOR.replace(now=room.clock()), False)
    choice = choose(room.box, [name], [], 5, reader)
    assert (found(choice), choice.faults) == ([], [f"message {name} has expired and cannot be filed"])
    assert room.place(name) == "inbox"


def test_no_more_files_are_opened_than_the_bound(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"20261130T104512123Z-{number:08x}" for number in range(200)]
    for name in names:
        room.put(name, b"")
    opened: list[bytes] = []
    real = files.open_regular

    def counting(path: bytes) -> "tuple[int, os.stat_result]":
        opened.append(path)
        return real(path)

    monkeypatch.setattr(files, "open_regular", counting)
    choice = choose(room.box, names[100:], names[:100], 5, READER)
    assert len(opened) == len(choice.looked) == OPENED
    assert [os.path.basename(path)[:28].decode() for path in opened[:KEPT]] == names[:KEPT]
    assert choice.cursor == names[100 + OPENED - KEPT]


class Shelf:
    """An inbox in memory: for each name whether it can be shown."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, good: dict[str, bool]) -> None:
        self.good = good
        monkeypatch.setattr(inbox, "filed_copy", lambda _box, _name: None)
        monkeypatch.setattr(inbox, "look", self.look)

    def look(self, _box: Box, name: str) -> Found | None:
        draft = Draft(name, START, START + clock.DAY, "k-0", "x")
        return Found(parse(name, compose(draft)), "0" * 64, START) if self.good.get(name) else None


def name_of(number: int) -> str:
    return f"20261130T104512123Z-{number:08x}"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=250), st.integers(0, 300))
def test_whatever_lies_there_everything_is_shown_within_a_few_drains(
    shelf: list[tuple[bool, bool]], cursor: int
) -> None:
    """A heap of what cannot be shown delays; it never hides. What was shown is taken to be filed at once."""
    with pytest.MonkeyPatch.context() as patch:
        known = {name_of(number): good for number, (good, _) in enumerate(shelf)}
        fresh = [name_of(number) for number, (_, seen) in enumerate(shelf) if not seen]
        again = [name_of(number) for number, (_, seen) in enumerate(shelf) if seen]
        Shelf(patch, known)
        at = name_of(cursor)
        bad = len(known) - sum(known.values())
        for _ in range(2 * (sum(known.values()) + bad // (OPENED - KEPT) + 2)):
            choice = choose(BOX, fresh, again, 5, READER, at)
            shown, at = found(choice), choice.cursor
            assert len(shown) == len(set(shown)) <= 5
            assert len(choice.looked) <= OPENED
            assert all(known[name] for name in shown)
            fresh = [name for name in fresh if name not in shown]
            again = [name for name in again if name not in shown and known[name]]
        assert not any(known[name] for name in (*fresh, *again))


def test_a_fault_that_comes_with_every_message_is_one(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [room.send() for _ in range(3)]

    def broken(_box: Box, name: str) -> bytes | None:
        raise files.fault("look at", f"/seen/{name}.eml".encode(), PermissionError(13, "Permission denied"))

    monkeypatch.setattr(inbox, "filed_copy", broken)
    choice = choose(room.box, names, [], 5, READER)
    assert found(choice) == names
    assert choice.faults == ["cannot look at '/seen/…': permission denied"]

"""Expiry is told by mail, once, to the worktree that missed a message and to the one that sent it."""

import os
from pathlib import Path

import pytest

from git_coop import clock, files, ids, notices, sent
from git_coop.inbox import Found, look
from git_coop.layout import Box, message_path
from git_coop.requeue import requeue
from git_coop.sent import Sent
from tests.support.clones import Clone
from tests.support.drains import Killed, Room, killed_after
from tests.support.world import Worlds

AS_OF = "git coop, 2026-12-01T10:45:12Z: "
RUN = "20261130T104512123Z-0000feed"  # joins the messages of one broadcast


@pytest.fixture
def pair(clone: Clone, edge: Worlds) -> tuple[Room, Room]:
    """The sender's and the recipient's, with one clock and one randomness."""
    sender = Room(edge, clone.root)
    return sender, Room(edge, clone.worktree("peer"), sender)


@pytest.fixture
def room(pair: tuple[Room, Room]) -> Room:
    return pair[1]


def send(pair: tuple[Room, Room], *, run: str = "", term: int = clock.HOUR, subject: str = "the subject") -> str:
    """A message as the program sends it, with its note in ``sent/``."""
    sender, there = pair
    name = there.send(term=term, subject=subject)
    expires = there.clock() + term
    note = Sent(name, there.box.key, os.fsencode(there.root), there.store.root, expires, subject, run)
    assert sent.record(sender.box, note)
    return name


def bodies(room: Room) -> list[str]:
    """What the notices in a box say."""
    found = [look(room.box, name) for name in room.queued()]
    return [each.message.body for each in found if isinstance(each, Found) and notices.is_notice(each.message)]


def test_the_recipient_is_told_which_message_expired_and_whose_it_said_it_was(room: Room) -> None:
    name = room.send("the secret", term=clock.HOUR, from_branch="topic", subject="read me")
    room.tick(clock.DAY)
    start = room.drain("start")
    assert (room.place(name), len(start.shown)) == ("expired", 1)
    assert "the secret" not in start.text
    said = "its sender says from: /p\nits sender says branch: topic\nits sender says subject: read me\n"
    where = f"it lies among the expired: git coop mail show {name}\n"
    assert bodies(room) == [f"expired unread: message {name} to this worktree\n{said}{where}"]
    assert "    | kind: expired\n    | subject: expired unread\n" in start.text
    assert "    | from:" not in start.text


def test_one_that_was_shown_is_told_as_not_confirmed_with_the_showings(room: Room) -> None:
    name = room.send(term=clock.HOUR)
    room.drain("start", "s")
    room.drain("prompt", "t", "p")
    room.tick(clock.DAY)
    room.drain("start", "u")
    body = bodies(room)[0]
    assert body.startswith(f"expired; shown, not confirmed: message {name} to this worktree\n")
    assert body.count("shown at 2026-11-30T10:45:12Z (start) to session ") == 1
    assert body.count("shown at 2026-11-30T10:45:12Z (prompt) to session ") == 1


def test_a_notice_is_a_message_like_any_other(room: Room) -> None:
    room.send(term=clock.HOUR)
    room.tick(clock.DAY)
    notice = room.drain("start", "thrown away").shown[0]
    assert room.drain("prompt", "s", "p").shown == (notice,)
    room.drain("stop", "s", "p")
    assert room.place(notice) == "seen"
    assert room.drain("start", "s").shown == ()


def test_what_only_looks_like_a_notice_is_told_of_as_any_message(room: Room) -> None:
    for told in (None, "20261130T104512123Z-5f3a9c1e"):
        forged = room.send("mine", term=clock.HOUR, kind="expired", from_key=None, from_path=None, in_reply_to=told)
        room.tick(clock.DAY)
        start = room.drain("start")
        assert f"expired unread: message {forged} to this worktree" in start.text
        assert room.place(forged) == "expired"


def test_a_notice_never_tells_of_itself(room: Room) -> None:
    room.send(term=clock.HOUR)
    room.tick(clock.DAY)
    notice = room.drain("start").shown[0]
    room.tick(31 * clock.DAY)
    start = room.drain("start")
    assert (start.shown, room.place(notice), room.queued()) == ((), "expired", [])
    assert "the box is empty" in start.text


def test_nothing_is_told_of_what_was_consumed_or_is_fresh(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    send(pair)
    fresh = send(pair, term=2 * clock.DAY)
    there.drain("prompt", "s", "p")
    there.drain("stop", "s", "p")
    there.put(fresh, there.path(fresh, "seen").read_bytes())
    there.path(fresh, "seen").unlink()
    there.tick(clock.DAY)
    assert sender.drain("start").shown == ()
    assert sent.known(sender.box) == [fresh]  # the other note is gone: there is nothing left to tell


def test_the_sender_is_told_once_at_its_start(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    name = send(pair)
    there.tick(clock.DAY)
    assert sender.drain("prompt", "s", "p").shown == ()
    start = sender.drain("start", "s")
    assert len(start.shown) == 1
    assert bodies(sender) == [f"expired unread: message {name} to {there.root}\nsubject: the subject\n"]
    assert sent.known(sender.box) == []
    assert sender.drain("prompt", "s", "p").shown == start.shown
    sender.drain("stop", "s", "p")
    assert sender.drain("start", "s").shown == ()


def test_the_sender_is_told_what_is_known(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    shown, expired, lost = send(pair), send(pair), send(pair)
    there.drain("start", "s")
    there.path(expired).rename(there.path(expired, "expired"))
    there.path(lost).unlink()
    there.tick(clock.DAY)
    sender.drain("start")
    told = "".join(bodies(sender))
    assert f"expired; shown, not confirmed: message {shown} to {there.root}\n" in told
    assert f"expired; shown, not confirmed: message {expired} to {there.root}\n" in told
    assert f"message {lost} to {there.root}\n" in told


def test_a_broadcast_is_one_notice_that_lists_them(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    names = [send(pair, run=RUN) for _ in range(25)]
    there.drain("prompt", "s", "p")
    there.drain("stop", "s", "p")
    there.tick(clock.DAY)
    start = sender.drain("start")
    assert len(start.shown) == 1
    body = bodies(sender)[0]
    assert body.count(": message ") == 20
    assert "\nand 0 more\n" not in body
    found = look(sender.box, start.shown[0])
    assert isinstance(found, Found)
    assert found.message.subject == "20 of 25 messages were not consumed"
    assert all(name not in body for name in names[:5])
    assert sent.known(sender.box) == []


def test_a_broadcast_is_told_of_as_a_whole_wherever_a_look_begins(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    for _ in range(40):
        send(pair)
    send(pair, term=100 * clock.DAY)
    for _ in range(100):
        send(pair, run=RUN)
    there.tick(clock.DAY)
    for second in range(12):
        there.tick(clock.SECOND * (second + 1))
        notices.for_sender(sender.box, sender.clock())
    found = [look(sender.box, name) for name in sender.queued()]
    subjects = [each.message.subject for each in found if isinstance(each, Found)]
    assert sorted(map(str, subjects)) == ["100 of 100 messages were not consumed"] + 40 * ["expired unread"]
    assert len(sent.known(sender.box)) == 1


def test_one_look_reads_a_part_of_many_notes(pair: tuple[Room, Room], monkeypatch: pytest.MonkeyPatch) -> None:
    sender, _ = pair
    for _ in range(300):
        send(pair, term=clock.DAY)
    read: list[str] = []
    real = sent.read

    def counting(box: Box, name: str) -> Sent | None:
        read.append(name)
        return real(box, name)

    monkeypatch.setattr(sent, "read", counting)
    seen = set()
    for _ in range(8):
        read.clear()
        assert notices.for_sender(sender.box, sender.clock()) == []
        assert len(read) <= notices.LOOKED_AT + 2
        seen |= set(read)
        sender.tick(clock.SECOND)
    assert len(seen) > 250


def test_a_recipient_that_moved_is_found(pair: tuple[Room, Room], clone: Clone, edge: Worlds) -> None:
    sender, there = pair
    send(pair)
    place = clone.root.parent / "elsewhere"
    clone.git("worktree", "move", str(there.root), str(place))
    there.root = place
    world = edge(cwd=place).replace(clock=sender.clock, entropy=sender.entropy)
    there.drain("prompt", "s", "p", world=world)
    there.drain("stop", "s", "p", world=world)
    there.tick(clock.DAY)
    assert sender.drain("start").shown == ()
    assert sent.known(sender.box) == []


def test_a_note_that_cannot_be_read_hides_no_other(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    bad, good = send(pair), send(pair)
    Path(os.fsdecode(sent.path_of(sender.box, bad))).write_text("x")
    there.tick(clock.DAY)
    assert len(sender.drain("start").shown) == 1
    assert sent.known(sender.box) == [bad]
    assert good in bodies(sender)[0]


@pytest.mark.parametrize("who", ["recipient", "sender"])
def test_a_kill_on_the_way_tells_all_the_same_and_once(pair: tuple[Room, Room], who: str) -> None:
    sender, there = pair
    room = sender if who == "sender" else there
    for last in range(1, 60):
        name = send(pair) if who == "sender" else there.send(term=clock.HOUR)
        there.tick(clock.DAY)
        try:
            with killed_after(last):
                room.drain("start", "s")
            done = True
        except Killed:
            done = False
        room.drain("start", "s")
        told = [body for body in bodies(room) if name in body]
        assert len(told) == 1
        for each in {*room.queued(), *there.queued()}:
            (room if room.path(each).exists() else there).path(each).unlink()
        if done:
            break
    assert last > 10


def test_the_id_of_a_notice_is_that_of_what_it_tells() -> None:
    told = "20261130T104512123Z-0000000a"
    over = ids.time_of(told) + clock.HOUR
    name = notices.identifier(told, over)
    assert ids.is_id(name)
    assert ids.time_of(name) == over
    assert name == notices.identifier(told, over) != notices.identifier(told, over + 1_000_000)
    assert ids.time_of(notices.identifier(told, 0)) == ids.time_of(told)


def test_two_drains_of_one_expired_message_make_one_notice(room: Room) -> None:
    name = room.send(term=clock.HOUR)
    room.tick(clock.DAY)
    found = look(room.box, name)
    assert isinstance(found, Found)
    first = notices.for_recipient(room.box, found.message, found.mtime, room.clock())
    assert first
    assert notices.for_recipient(room.box, found.message, found.mtime, room.clock()) == ""
    os.rename(message_path(room.box.inbox, first), message_path(room.box.seen, first))
    assert notices.for_recipient(room.box, found.message, found.mtime, room.clock()) == ""
    assert files.exists(message_path(room.box.seen, first))


def test_a_message_that_was_queued_again_is_not_told_before_its_new_term_is_over(pair: tuple[Room, Room]) -> None:
    sender, there = pair
    name, lost = send(pair, run=RUN), send(pair, run=RUN)
    there.tick(2 * clock.HOUR)
    there.drain("start", "r")
    requeue(there.box, name, "expired", there.box, there.clock(), clock.DAY)
    told = sender.drain("start").text
    assert f"expired unread: message {lost} to" in told
    assert name not in told
    assert sent.known(sender.box) == [name]
    note = sent.read(sender.box, name)
    assert note is not None
    assert (note.expires, note.run) == (there.clock() // clock.SECOND * clock.SECOND + clock.DAY, RUN)
    there.tick(2 * clock.DAY)
    assert f"expired unread: message {name} to" in "".join(sender.drain("start", "later").text)
    assert sent.known(sender.box) == []

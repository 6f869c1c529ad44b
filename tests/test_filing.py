"""Filing: once, with its receipt, only the very file that was shown, and never over another message."""

import os
from pathlib import Path

import pytest

from git_coop import filing, receipts
from git_coop.claims import claim
from git_coop.errors import Busy, StoreFault
from git_coop.layout import hashed
from git_coop.receipts import Actor, Marker
from tests.support.clones import Clone
from tests.support.drains import Killed, Room, killed_after
from tests.support.world import START, Worlds

S = hashed("s")
ACTOR = Actor(S, "claude", "stop", "t1", START)


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def marker(room: Room, name: str) -> Marker:
    return Marker("prompt", "t1", room.digest(name), START)


def test_a_message_is_filed_with_its_receipt(room: Room) -> None:
    name = room.send()
    receipts.mark(room.box, S, name, marker(room, name))
    data = room.path(name).read_bytes()
    assert filing.consume(room.box, name, marker(room, name), ACTOR) is True
    assert (room.place(name), room.path(name, "seen").read_bytes()) == ("seen", data)
    assert room.receipts(name) == {(S, "consumed")}
    assert room.marker("s", name) is None


def test_a_message_that_is_gone_or_is_another_file_is_left_alone(room: Room) -> None:
    name = room.send()
    shown = marker(room, name)
    room.rewrite(name)
    assert filing.consume(room.box, name, shown, ACTOR) is False
    assert (room.place(name), room.receipts(name)) == ("inbox", set())
    room.path(name).unlink()
    assert filing.consume(room.box, name, shown, ACTOR) is False
    assert (room.place(name), room.receipts(name)) == ("", set())


def test_a_message_that_another_process_holds(room: Room) -> None:
    name = room.send()
    with claim(os.fsencode(room.path(name))), pytest.raises(Busy):
        filing.consume(room.box, name, marker(room, name), ACTOR)
    assert (room.place(name), room.receipts(name)) == ("inbox", set())
    assert filing.consume(room.box, name, marker(room, name), ACTOR) is True


def test_never_over_another_message(room: Room) -> None:
    name = room.send()
    shown = marker(room, name)
    room.put(name, b"another", "seen")
    with pytest.raises(StoreFault, match="exists"):
        filing.consume(room.box, name, shown, ACTOR)
    assert (room.place(name), room.path(name, "seen").read_bytes()) == ("inbox+seen", b"another")


def test_both_names_of_one_file_become_one(room: Room) -> None:
    """A power cut in the rename can leave both (measured on btrfs)."""
    name = room.send()
    os.link(room.path(name), room.path(name, "seen"))
    assert filing.consume(room.box, name, marker(room, name), ACTOR) is True
    assert room.place(name) == "seen"


def test_a_folder_that_is_missing_is_made(room: Room) -> None:
    name = room.send()
    Path(os.fsdecode(room.box.seen)).rmdir()
    Path(os.fsdecode(room.box.receipts)).rmdir()
    assert filing.consume(room.box, name, marker(room, name), ACTOR) is True
    assert (room.place(name), room.receipts(name)) == ("seen", {(S, "consumed")})


def test_expiry_takes_the_same_claim_and_tells_under_it(room: Room) -> None:
    name, told = room.send(), []

    def tell() -> None:
        with pytest.raises(Busy):
            claim(os.fsencode(room.path(name)))
        told.append(room.place(name))

    assert filing.expire(room.box, name, room.digest(name), ACTOR, tell) is True
    assert (room.place(name), room.receipts(name), told) == ("expired", {(S, "expired")}, ["inbox"])
    assert filing.expire(room.box, name, "0" * 64, ACTOR, tell) is False
    assert told == ["inbox"]


@pytest.mark.parametrize("expired", [False, True])
def test_a_kill_leaves_the_message_queued_or_filed_with_its_receipt(room: Room, expired: bool) -> None:
    seen = set()
    for last in range(1, 60):
        name = room.send()
        digest, shown = room.digest(name), marker(room, name)
        try:
            with killed_after(last):
                if expired:
                    filing.expire(room.box, name, digest, ACTOR)
                else:
                    filing.consume(room.box, name, shown, ACTOR)
        except Killed:
            pass
        else:
            break
        place, records = room.place(name), {outcome for _, outcome in room.receipts(name)}
        seen.add((place, bool(records)))
        assert place in ("inbox", "expired" if expired else "seen")
        assert place == "inbox" or records == {"expired" if expired else "consumed"}
        assert (receipts.receipt_of(room.box, name) is not None) is (place != "inbox")
    assert last > 8
    assert seen == {("inbox", False), ("inbox", True), ("expired" if expired else "seen", True)}

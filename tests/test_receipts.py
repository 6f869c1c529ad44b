"""Markers and receipts: what they hold, which of them give way, and which of them count."""

import os
import tomllib
from pathlib import Path

import pytest

from git_coop import files, receipts
from git_coop.layout import NOBODY, hashed
from git_coop.receipts import CONSUMED, CUT, EXPIRED, Marker, Receipt
from git_coop.turns import BEFORE
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import START, Worlds

S = hashed("s")
ID = "20261130T104512123Z-0000000a"
SECOND = 1_796_035_512_000_000_000
MARKER = Marker("prompt", "t1", "ab" * 32, SECOND, "claude", CUT, 5000, 2000)


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def test_a_marker_is_read_as_it_was_written(room: Room) -> None:
    receipts.mark(room.box, S, ID, MARKER)
    assert receipts.read_marker(room.box, S, ID) == MARKER
    assert receipts.marked(room.box, S) == {ID}
    assert tomllib.loads(Path(os.fsdecode(receipts.marker_path(room.box, S, ID))).read_text())["event"] == "prompt"
    assert receipts.read_marker(room.box, S, ID.replace("a", "b")) is None
    assert receipts.marked(room.box, hashed("t")) == set()


def test_the_marker_of_a_start_gives_way_and_takes_no_live_one_s_place(room: Room) -> None:
    start = MARKER.replace(event="start", turn="s1")
    later = start.replace(turn="s2", at=SECOND + 10**9)
    for marker, stands in ((start, start), (later, later), (MARKER, MARKER), (start, MARKER)):
        receipts.mark(room.box, S, ID, marker)
        assert receipts.read_marker(room.box, S, ID) == stands
    stop = MARKER.replace(event="stop", turn="t2")
    receipts.mark(room.box, S, ID, stop)
    assert receipts.read_marker(room.box, S, ID) == stop


def test_what_authorises_the_end_of_a_turn() -> None:
    assert MARKER.live_in("t1")
    assert MARKER.replace(event="stop", turn=BEFORE).live_in(BEFORE)
    assert not MARKER.live_in("t2")
    assert not MARKER.live_in("")
    assert not MARKER.replace(turn="").live_in("")
    assert not MARKER.replace(event="start").live_in("t1")


@pytest.mark.parametrize("data", [b"", b"x", b'event = "prompt"\n', b"\0" * 40, b"a" * 70_000])
def test_a_marker_that_cannot_be_read_is_none(room: Room, data: bytes) -> None:
    receipts.mark(room.box, S, ID, MARKER)
    Path(os.fsdecode(receipts.marker_path(room.box, S, ID))).write_bytes(data)
    assert receipts.read_marker(room.box, S, ID) is None
    assert receipts.marked(room.box, S) == {ID}
    assert receipts.showings(room.box, ID) == []


def test_a_folder_in_the_place_of_a_marker_is_none(room: Room) -> None:
    os.makedirs(receipts.marker_path(room.box, S, ID))
    assert receipts.read_marker(room.box, S, ID) is None


def test_showings_name_every_session(room: Room) -> None:
    receipts.mark(room.box, S, ID, MARKER)
    receipts.mark(room.box, hashed("t"), ID, MARKER.replace(event="start"))
    assert sorted(receipts.showings(room.box, ID)) == sorted(
        [(S, MARKER), (hashed("t"), MARKER.replace(event="start"))], key=lambda each: each[0]
    )


def receipt(room: Room, session: str, outcome: str = CONSUMED, name: str = ID) -> Receipt:
    return Receipt(name, room.box.key, session, outcome, SECOND, "claude", "stop", "t1", SECOND, CUT, 5000, 2000)


def test_a_receipt_is_read_as_it_was_written_and_takes_over_the_marker(room: Room) -> None:
    name = room.send("x" * 5000)
    room.drain("prompt", "s", "p")
    marker = room.marker("s", name)
    room.tick(10**9)
    room.drain("stop", "s", "p")
    found = receipts.read_receipt(room.box, S, name)
    assert marker is not None
    assert found == Receipt(
        name,
        room.box.key,
        S,
        CONSUMED,
        SECOND + 10**9,
        "claude",
        "stop",
        marker.turn,
        SECOND,
        CUT,
        5000,
        marker.bytes_shown,
    )
    assert 1000 < marker.bytes_shown < 2000
    assert room.marker("s", name) is None
    assert START // 10**9 * 10**9 == SECOND


def test_a_receipt_counts_while_its_message_lies_where_its_outcome_says(room: Room) -> None:
    name = room.send()
    receipts.write_receipt(room.box, receipt(room, S, name=name))
    assert receipts.receipt_of(room.box, name) is None
    room.path(name).rename(room.path(name, "expired"))
    assert receipts.receipt_of(room.box, name) is None
    room.path(name, "expired").rename(room.path(name, "seen"))
    assert receipts.receipt_of(room.box, name) == receipt(room, S, name=name)


def test_one_receipt_a_message(room: Room) -> None:
    for session in (S, NOBODY, hashed("t")):
        receipts.write_receipt(room.box, receipt(room, session))
        assert room.receipts(ID) == {(session, CONSUMED)}
    receipts.write_receipt(room.box, receipt(room, hashed("t"), EXPIRED))
    assert room.receipts(ID) == {(hashed("t"), EXPIRED)}


def test_a_receipt_is_found_when_its_session_s_markers_are_swept(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    room.drain("stop", "s", "p")
    folder = Path(os.fsdecode(room.box.shown)) / S
    (folder / "turn").unlink()
    folder.rmdir()
    found = receipts.receipt_of(room.box, name)
    assert found is not None
    assert found.session == S


def test_nobody_s_receipt_is_found_without_a_folder(room: Room) -> None:
    name = room.send()
    room.drain("stop", None, text=True)
    for session in files.entries(room.box.shown):
        os.rmdir(os.path.join(os.fsdecode(room.box.shown), session))
    found = receipts.receipt_of(room.box, name)
    assert found is not None
    assert (found.session, found.shown) == (NOBODY, "whole")

"""The proof that hooks run: one line an event, whoever writes at the same time and whatever stands there."""

import fcntl
import os
from pathlib import Path

import pytest

from git_coop import clock, drained
from git_coop.drained import Last
from git_coop.errors import StoreFault
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import Worlds

NOW = clock.parse_rfc3339("2026-11-30T10:45:12Z") or 0
LATER = NOW + clock.MINUTE


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


@pytest.fixture
def file(room: Room) -> Path:
    return Path(os.fsdecode(room.box.drained))


def test_each_event_has_one_line_in_the_order_of_their_names(room: Room, file: Path) -> None:
    for event, client in (("stop", "claude"), ("prompt", ""), ("start", "claude")):
        drained.stamp(room.box, event, client, NOW)
    assert file.read_text() == (
        "prompt 2026-11-30T10:45:12Z -\nstart 2026-11-30T10:45:12Z claude\nstop 2026-11-30T10:45:12Z claude\n"
    )
    assert drained.latest(room.box) == Last(NOW, "-")


def test_a_line_that_stands_gets_its_new_time_in_place_and_without_a_lock(room: Room, file: Path) -> None:
    drained.stamp(room.box, "prompt", "claude", NOW)
    drained.stamp(room.box, "stop", "claude", NOW)
    before = file.stat().st_ino
    held = os.open(room.box.mail, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    drained.stamp(room.box, "stop", "claude", LATER)
    drained.stamp(room.box, "start", "claude", LATER)  # a new line, and another holds the lock: left out
    os.close(held)
    assert drained.read(room.box) == {"prompt": Last(NOW, "claude"), "stop": Last(LATER, "claude")}
    assert file.stat().st_ino == before


def test_another_client_gets_a_line_of_its_length_in_a_new_file(room: Room, file: Path) -> None:
    drained.stamp(room.box, "stop", "claude", NOW)
    before = file.stat().st_ino
    drained.stamp(room.box, "stop", "opencode", LATER)
    assert drained.read(room.box) == {"stop": Last(LATER, "opencode")}
    assert file.stat().st_ino != before


def test_a_line_that_moves_meanwhile_is_not_written_into(
    room: Room, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two others change the lengths of their lines between our look and our writing, and the file keeps its size."""
    for event, client in (("prompt", "opencode"), ("start", ""), ("stop", "")):
        drained.stamp(room.box, event, client, NOW)
    real = os.pwrite

    def pwrite(number: int, data: bytes, offset: int) -> int:
        monkeypatch.undo()
        drained.stamp(room.box, "prompt", "", LATER)
        drained.stamp(room.box, "stop", "opencode", LATER)
        return real(number, data, offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    drained.stamp(room.box, "start", "", LATER)
    assert drained.read(room.box) == {
        "prompt": Last(LATER, "-"),
        "start": Last(NOW, "-"),  # ours is the one that got lost
        "stop": Last(LATER, "opencode"),
    }


@pytest.mark.parametrize("junk", [b"", b"stop\n", b"\xff\xff\n", b"stop 2026-11-30T10:45:12Z", b"stop x claude\n" * 9])
def test_whatever_stands_there_the_stamp_is_read_again(room: Room, file: Path, junk: bytes) -> None:
    file.write_bytes(junk)
    drained.stamp(room.box, "stop", "claude", NOW)
    assert drained.read(room.box)["stop"] == Last(NOW, "claude")


def test_a_file_with_another_name_is_not_written_into(room: Room, file: Path, tmp_path: Path) -> None:
    drained.stamp(room.box, "stop", "claude", NOW)
    other = tmp_path / "other"
    other.hardlink_to(file)
    drained.stamp(room.box, "stop", "claude", LATER)
    assert other.read_text() == "stop 2026-11-30T10:45:12Z claude\n"
    assert drained.read(room.box) == {"stop": Last(LATER, "claude")}


def test_a_link_in_its_place_is_a_fault(room: Room, file: Path, tmp_path: Path) -> None:
    file.symlink_to(tmp_path / "other")
    with pytest.raises(StoreFault, match="it is a symbolic link"):
        drained.stamp(room.box, "stop", "claude", NOW)

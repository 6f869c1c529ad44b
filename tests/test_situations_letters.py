"""What may befall letters: records edited, removed, damaged or copied by hand, and bodies of every kind."""

import os
from errno import ENOSPC
from pathlib import Path

import pytest

from git_coop import clock
from git_coop.__main__ import main
from tests import invariants
from tests.faults.seam import Fail, installed
from tests.support.clones import Clone
from tests.support.post import Post
from tests.support.rows import row
from tests.support.world import START, Worlds


class Drawer:
    """The letters of the main worktree."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.post = Post(edge, clone)
        self.coop = clone.coop

    def write(self, body: str = "the state") -> str:
        """Write a letter; its id."""
        code, out, err = self.post("letter", "write", "--body", "-", stdin=body)
        assert code == 0, err
        return out.split()[1]

    def path(self, identifier: str) -> Path:
        return next(self.coop.glob(f"letters/*/{identifier}.toml"))

    def status(self, identifier: str) -> str:
        """What is stored."""
        return str((invariants.read(self.coop).letters[self.path(identifier).parent.name][identifier] or {})["status"])

    def shown(self, identifier: str) -> str:
        """What is told."""
        code, out, err = self.post("letter", "show", identifier)
        assert code == 0, err
        return next(line for line in out.splitlines() if line.startswith("State:")).split()[1]


@pytest.fixture
def drawer(edge: Worlds, clone: Clone) -> Drawer:
    return Drawer(edge, clone)


@row(26)
def test_a_disk_full_at_the_count_of_a_reading(drawer: Drawer) -> None:
    one = drawer.write()
    record = drawer.path(one).read_bytes()
    with installed(Fail(1, ENOSPC, lasting=True)):
        code, out, err = drawer.post("letter", "read")
    assert code == 0
    assert out.endswith("\n\nthe state")
    assert err.startswith("warning: the reading could not be recorded: cannot ")
    assert "no space left on device" in err
    assert drawer.path(one).read_bytes() == record


@row(42)
def test_the_clock_goes_back_while_letters_are_written(drawer: Drawer) -> None:
    first = drawer.write("before")
    drawer.post.clock.now = START - 20 * 365 * clock.DAY
    second = drawer.write("after")
    assert second > first
    assert (drawer.shown(first), drawer.shown(second)) == ("superseded", "unread")
    assert drawer.post("letter", "read")[1].endswith("\n\nafter")


@row(54)
@pytest.mark.parametrize(
    "body",
    [
        "x" * 14_000,
        "a\r\nb\rc\n",
        "\ufeffbom",
        "'''\"\"\"'''\\",
        '"""',
        "\t lead\n\n\ntrail  \n\n",
        "\u202e\u0000".replace("\0", "\x01"),
    ],
)
def test_a_body_round_trips_to_the_character(drawer: Drawer, body: str) -> None:
    drawer.write(body)
    assert drawer.post("letter", "read", "--raw")[1] == body


@row(54)
@pytest.mark.parametrize(
    ("body", "why"),
    [(b"", "empty"), (b" \n\t", "blank"), (b"a\0b", "NUL"), (b"a\xff", "UTF-8"), (b"x" * ((16 << 20) + 1), "16777216")],
    ids=["empty", "blank", "nul", "no utf-8", "over 16 MiB"],
)
def test_a_body_that_is_none_is_refused_before_anything_is_written(drawer: Drawer, body: bytes, why: str) -> None:
    live = drawer.write()
    before = invariants.tree(drawer.coop)
    code, out, err = drawer.post("letter", "write", "--body", "-", stdin=body)
    assert (code, out) == (1, "")
    assert why in err
    assert invariants.tree(drawer.coop) == before
    assert drawer.status(live) == "unread"


@row(55)
def test_two_letters_say_they_are_live(drawer: Drawer) -> None:
    first = drawer.write("first")
    record = drawer.path(first).read_bytes()
    second = drawer.write("second")
    drawer.path(first).write_bytes(record)
    assert (drawer.status(first), drawer.shown(first), drawer.shown(second)) == ("unread", "superseded", "unread")
    assert first in drawer.post("doctor")[1]
    drawer.post("doctor", "--fix")
    assert drawer.status(first) == "superseded"


@row(56)
def test_the_newest_letter_was_removed_by_hand(drawer: Drawer) -> None:
    first, second = drawer.write("first"), drawer.write("second")
    drawer.path(second).unlink()
    code, _out, err = drawer.post("letter", "read")
    assert code == 1
    assert f"{first} was superseded by {second}, whose record is gone" in err
    assert drawer.status(first) == "superseded"


@row(57)
@pytest.mark.parametrize("data", [b"", b"\xff", b'id = "', b"status = 3\n"], ids=["empty", "binary", "torn", "wrong"])
def test_the_newest_letter_cannot_be_read(drawer: Drawer, data: bytes) -> None:
    first, second = drawer.write("first"), drawer.write("second")
    drawer.path(second).write_bytes(data)
    for words in (("letter", "read"), ("letter", "start"), ("letter", "ack")):
        code, out, err = drawer.post(*words)
        assert (code, out) == (128, "")
        assert os.fspath(drawer.path(second)) in err
    code, out, err = drawer.post("letter", "list", "--all")
    assert code == 1
    assert first in out
    assert second in err
    third = drawer.write("third")
    assert drawer.shown(third) == "unread"
    assert drawer.path(second).read_bytes() == data


@row(58)
def test_two_letters_of_one_time(drawer: Drawer) -> None:
    first = drawer.write("first")
    copy = first[:-8] + "ffffffff"
    drawer.path(first).with_name(f"{copy}.toml").write_bytes(drawer.path(first).read_bytes())
    assert (drawer.shown(first), drawer.shown(copy)) == ("superseded", "unread")
    assert {first, copy} <= set(drawer.post("letter", "list", "--all")[1].split())


@row(59)
@pytest.mark.parametrize("verb", ["start", "ack"])
def test_a_change_of_a_letter_that_was_superseded_meanwhile(drawer: Drawer, verb: str) -> None:
    first = drawer.write("first")
    drawer.post("letter", "read")
    second = drawer.write("second")
    code, _out, err = drawer.post("letter", verb, first)
    assert code == 1
    assert f"it was superseded by {second}" in err
    assert (drawer.status(first), drawer.shown(second)) == ("superseded", "unread")


@row(63)
def test_what_a_newer_program_put_into_a_record_survives(drawer: Drawer) -> None:
    one = drawer.write()
    text = drawer.path(one).read_text()
    drawer.path(one).write_text('tomorrow = "kept"\n' + text)
    drawer.post("letter", "read")
    drawer.post("letter", "ack")
    assert drawer.status(one) == "done"
    assert 'tomorrow = "kept"' in drawer.path(one).read_text()


@row(65)
def test_standard_input_is_a_terminal(drawer: Drawer) -> None:
    code, out, err = drawer.post("letter", "write", "--body", "-", terminal=True, stdin=b"typed\n")
    assert (code, out) in [(0, out), (129, "")]
    assert out or err


@row(65)
def test_a_gigabyte_on_standard_input_is_read_to_its_bound(drawer: Drawer) -> None:
    world = drawer.post.world()
    read = 0

    class Endless:
        def read(self, size: int) -> bytes:
            nonlocal read
            read += size
            return b"x" * size

        def isatty(self) -> bool:
            return False

    assert main(["letter", "write", "--body", "-"], world.replace(stdin=Endless())) == 1
    assert read < 20 << 20
    assert not drawer.coop.exists()

"""Files in an inbox that are no messages: no hang, no crash, no memory; each is named once, the rest is delivered."""

import os
import random
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_coop import inbox
from git_coop.claims import claim
from git_coop.errors import StoreFault
from git_coop.inbox import Found, Odd
from git_coop.layout import message_path
from git_coop.message import FILE_LIMIT
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import Worlds

NAME = "20261130T104512123Z-0000ffff"


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def bound(path: Path) -> None:
    """A socket at a path that may be too long to be bound by its whole name."""
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def sparse(path: Path) -> None:
    path.write_bytes(b"Date: x\n\nx")
    os.truncate(path, 5 << 30)


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a directory": (lambda path: path.mkdir(), "it is a directory"),
    "a named pipe": (os.mkfifo, "it is a named pipe"),
    "a socket": (bound, "it is a socket"),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), "it is a symbolic link"),
    "a link outward": (lambda path: path.symlink_to("/etc/passwd"), "it is a symbolic link"),
    "a link to a message": (lambda path: path.symlink_to("../seen/x.eml"), "it is a symbolic link"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "it is a symbolic link"),
    "nothing in it": (lambda path: path.touch(), "it is no message: empty"),
    "blanks": (lambda path: path.write_text(" \n\t\n"), "it is no message: nothing but blanks"),
    "NULs": (lambda path: path.write_bytes(b"\0" * 4096), "it is no message: NUL byte at offset 0"),
    "half a message": (lambda path: path.write_text("Date: x\nFrom: y"), "it is no message: header without an end"),
    "another format": (lambda path: path.write_text('["id", 1]\n\n'), "it is no message: no header line at its start"),
    "UTF-16": (lambda path: path.write_text("Date: x\n\nx", encoding="utf-16"), "it is no message: UTF-16 text"),
    "too much": (
        lambda path: path.write_bytes(b"Date: x\n\n" + b"x" * FILE_LIMIT),
        f"it is no message: over {FILE_LIMIT} bytes long",
    ),
    "five sparse gigabytes": (sparse, "it is no message: NUL byte at offset 10"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_message_is_named_once_and_hides_nothing(room: Room, kind: str) -> None:
    before, after = room.send("before"), None
    make, reason = ODD[kind]
    path = room.path(NAME)
    make(path)
    after = room.send("after")
    status = path.lstat()
    start = room.drain("start")
    assert start.shown == (before, after)
    assert start.outcome is not None
    assert start.outcome.faults == (f"message {NAME}: {reason}",)
    assert start.text.count(NAME) == 1
    room.drain("prompt", "s", "p")
    room.drain("stop", "s", "p")
    assert room.queued() == [NAME]
    assert path.lstat().st_ino == status.st_ino  # left where it was


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
def test_a_device(room: Room) -> None:
    try:
        os.mknod(room.path(NAME), 0o20600, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("devices cannot be made here")
    assert isinstance(inbox.look(room.box, NAME), Odd)


def test_memory_stays_flat(room: Room) -> None:
    """Measured in a child: what five gigabytes and forty files of a mebibyte add to it."""
    name = room.send()
    sparse(room.path(NAME))
    for number in range(40):
        room.path(f"20261130T104512123Z-0001{number:04x}").write_bytes(b"\0" * (1 << 20))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            room.drain("start", None)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            shown = room.drain("start").shown
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            os.write(writer, f"{after - before} {shown == (name,)}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as stream:
        grown, right = stream.read().split(" ")
    os.waitpid(child, 0)
    assert right == "True"
    assert int(grown) < (8 << 10) * (1 if sys.platform == "linux" else 1024)  # kibibytes on Linux


NAMES = [
    "20261130T104512123Z-0000ffff.eml\n",
    "20261130T104512123Z-0000ffff.EML",
    "20261130T104512123Z-0000ffff",
    "20261130T104512123Z-0000FFFF.eml",
    "20261330T104512123Z-0000ffff.eml",
    "note.txt",
    "a\n\x1b[31mb",
    "\u202e.eml",
    os.fsdecode(b"\xff\xfe.eml"),
    "-rf",
    " ",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_that_is_none_is_said_and_never_opened(room: Room, name: str) -> None:
    sent = room.send()
    path = Path(os.fsdecode(room.box.inbox)) / name
    os.mkfifo(path)  # who opened it would wait
    start = room.drain("start")
    assert start.shown == (sent,)
    assert start.outcome is not None
    assert len(start.outcome.faults) == 1
    assert not any(not line.isprintable() for line in start.text.split("\n"))
    assert path.lstat()


@pytest.mark.parametrize("name", [".hidden", "x.eml~", ".x.swp", "x.swp", ".DS_Store"])
def test_what_editors_leave_is_counted_and_not_said(room: Room, name: str) -> None:
    (Path(os.fsdecode(room.box.inbox)) / name).write_text("x")
    listing = inbox.listed(room.box.inbox)
    assert (tuple(listing.ids), listing.rejected, listing.ignored) == ((), (), 1)
    assert "the box is empty" in room.drain("start").text


def test_a_listing_in_order(room: Room) -> None:
    names = [room.send() for _ in range(3)]
    (Path(os.fsdecode(room.box.inbox)) / "z").touch()
    (Path(os.fsdecode(room.box.inbox)) / "a").touch()
    listing = inbox.listed(room.box.inbox)
    assert (tuple(listing.ids), listing.rejected, listing.ignored) == (tuple(names), ("a", "z"), 0)
    nothing = inbox.listed(room.box.inbox + b"/nothing")
    assert (tuple(nothing.ids), nothing.rejected, nothing.ignored) == ((), (), 0)
    with pytest.raises(StoreFault):
        inbox.listed(message_path(room.box.inbox, names[0]))


def test_a_look_at_a_message(room: Room) -> None:
    name = room.send("hello")
    found = inbox.look(room.box, name)
    assert isinstance(found, Found)
    assert (found.message.body, found.sha256, found.mtime) == ("hello", room.digest(name), room.clock())
    assert inbox.look(room.box, name, room.box.seen) is None
    assert inbox.look(room.box, "x") == Odd("x", "its name is no message id")


# A message that is filed and still, or again, in the inbox.


def test_what_was_filed_counts_and_the_inbox_s_name_goes(room: Room) -> None:
    name = room.send()
    os.link(room.path(name), room.path(name, "seen"))
    start = room.drain("start")
    assert (start.shown, room.place(name)) == ((), "seen")
    assert "the box is empty" in start.text


@pytest.mark.parametrize("folder", ["seen", "expired"])
def test_a_copy_from_a_backup_goes_too(room: Room, folder: str) -> None:
    name = room.send()
    room.put(name, room.path(name).read_bytes(), folder)
    assert room.drain("prompt", "s", "p").shown == ()
    assert room.place(name) == folder


def test_another_message_under_a_used_id_is_touched_by_nobody(room: Room) -> None:
    name = room.send()
    room.put(name, b"Date: x\n\nanother", "seen")
    start = room.drain("start")
    assert start.shown == ()
    assert "another message was filed under this id; neither is touched" in start.text
    assert room.place(name) == "inbox+seen"


# What is stranded.


def test_what_is_stranded_returns(room: Room) -> None:
    name = room.send()
    room.path(name).rename(room.path(name, "claiming"))
    (Path(os.fsdecode(room.box.claiming)) / "odd").touch()
    (Path(os.fsdecode(room.box.claiming)) / ".hidden").touch()
    assert inbox.recover(room.box) == ([name], ["'odd' in claiming/ is no message"])
    assert room.place(name) == "inbox"


def test_what_another_process_claims_is_left_to_it(room: Room) -> None:
    name = room.send()
    room.path(name).rename(room.path(name, "claiming"))
    with claim(os.fsencode(room.path(name, "claiming"))):
        returned, faults = inbox.recover(room.box)
    assert (returned, len(faults), room.place(name)) == ([], 1, "claiming")
    assert inbox.recover(room.box) == ([name], [])


def test_a_stranded_message_that_is_in_the_inbox_as_well(room: Room) -> None:
    name = room.send()
    room.put(name, b"Date: x\n\nanother", "claiming")
    returned, faults = inbox.recover(room.box)
    assert (returned, len(faults), room.place(name)) == ([], 1, "inbox+claiming")
    assert room.drain("start").shown == (name,)


# names by the thousand


def identifier(number: int) -> str:
    """An id whose place among others is that of its number."""
    return f"20261130T{number // 10_000:06d}{number % 1000:03d}Z-{number:08x}"


@given(
    numbers=st.sets(st.integers(0, 10_000), max_size=40),
    spread=st.sampled_from([0, 1, 997, 5000]),
    marked=st.sets(st.integers(0, 10_000), max_size=40),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_ids_come_oldest_first_however_many_there_are(
    numbers: set[int], spread: int, marked: set[int], order: random.Random
) -> None:
    there = {identifier(number) for number in numbers | set(range(0, spread * 2, 2))}
    names = [name + inbox.SUFFIX for name in there]
    order.shuffle(names)
    known = {identifier(number) for number in marked}
    ids = inbox.Ids(names)
    assert len(ids) == len(there)
    assert list(ids) == sorted(there)
    assert list(ids) == sorted(there)  # and again, from what the first look kept
    assert list(ids.only(known)) == sorted(there & known)
    assert list(ids.without(known)) == sorted(there - known)
    assert [name in ids for name in sorted(known)] == [name in there for name in sorted(known)]


@pytest.mark.parametrize("odd", NAMES, ids=ascii)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_names_looked_at_together_are_judged_as_each_alone(odd: str, count: int) -> None:
    good = [identifier(number) + inbox.SUFFIX for number in range(count)]
    shape = odd[28:] == inbox.SUFFIX and odd[19] == "-"
    assert inbox._are_plain(good)
    for at in range(count + 1):
        assert inbox._are_plain([*good[:at], odd, *good[at:]]) is shape


@given(st.lists(st.text("-.emlx\n9", min_size=1, max_size=40) | st.just(identifier(7) + inbox.SUFFIX), max_size=4))
def test_no_row_of_names_passes_for_another(names: list[str]) -> None:
    alone = all(len(name) == inbox.NAME and name[28:] == inbox.SUFFIX and name[19] == "-" for name in names)
    assert inbox._are_plain(names) is alone

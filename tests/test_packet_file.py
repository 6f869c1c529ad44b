"""Packet files: exclusive, private, in the temporary directory; and a reader that trusts none."""

import os
import re
import socket
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from git_coop import files, packet_file
from git_coop.errors import CoopError, Fatal, NotFound, Refused

UID = os.getuid()


def counting() -> Callable[[int], bytes]:
    numbers = count(1)
    return lambda size: next(numbers).to_bytes(size, "big")


@given(st.binary(min_size=8, max_size=8))
@example(b"\0" * 8)
@example(b"\xff" * 8)
@example((int("abcdef", 36)).to_bytes(8, "big"))
def test_a_name_has_six_characters_and_a_digit(given_bytes: bytes) -> None:
    name = packet_file.mint(lambda size: given_bytes[:size])
    assert re.fullmatch(rb"handoff-(?=[a-z]*[0-9])[0-9a-z]{6}\.md", name)


def test_a_name_differs_where_the_randomness_does() -> None:
    entropy = counting()
    assert packet_file.mint(entropy) != packet_file.mint(entropy)


@pytest.mark.parametrize(
    ("env", "cwd", "expected"),
    [
        ({}, b"/here", b"/tmp"),
        ({"TMPDIR": ""}, b"/here", b"/tmp"),
        ({"TMPDIR": "/var/tmp/x"}, b"/here", b"/var/tmp/x"),
        ({"TMPDIR": "scratch"}, b"/here", b"/here/scratch"),
        ({"TMPDIR": "scratch"}, None, b"/scratch"),
    ],
)
def test_the_temporary_directory_is_the_users(env: dict[str, str], cwd: bytes | None, expected: bytes) -> None:
    assert packet_file.directory(env, cwd) == expected


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_a_packet_is_written_under_a_fresh_name_for_its_user_only(tmp_path: Path, mask: int) -> None:
    folder = os.fsencode(tmp_path)
    os.umask(mask)  # the room puts it back
    first = packet_file.write_fresh(folder, b"one\n", counting())
    second = packet_file.write_fresh(folder, b"two\n", counting())  # its first name is taken
    assert (first, second) == (folder + b"/handoff-000001.md", folder + b"/handoff-000002.md")
    assert [packet_file.read(path, uid=UID) for path in (first, second)] == [b"one\n", b"two\n"]
    assert [os.lstat(path).st_mode for path in (first, second)] == [0o100600, 0o100600]


def test_five_megabytes_go_there_and_back(tmp_path: Path) -> None:
    data = os.urandom(5 << 20)
    assert packet_file.read(packet_file.write_fresh(os.fsencode(tmp_path), data, counting()), uid=UID) == data


def test_a_directory_where_every_name_is_taken_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "handoff-000001.md").write_bytes(b"old")
    with pytest.raises(Fatal) as caught:
        packet_file.write_fresh(os.fsencode(tmp_path), b"new", lambda size: b"\1".rjust(size, b"\0"))
    assert caught.value.sentence == f"cannot write a packet to '{tmp_path}': every name tried is taken"
    assert (tmp_path / "handoff-000001.md").read_bytes() == b"old"


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_no_name_is_written_over(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "packet.md"
    make(path)
    with pytest.raises(Refused) as caught:
        packet_file.write_to(os.fsencode(path), b"new")
    assert (caught.value.sentence, caught.value.status) == (f"'{path}' exists", 1)
    assert os.listdir(tmp_path) == ["packet.md"]


def test_a_named_file_is_written_for_its_user_only(tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    packet_file.write_to(os.fsencode(path), b"new")
    assert (path.read_bytes(), path.stat().st_mode) == (b"new", 0o100600)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(Fatal) as caught:
        packet_file.write_fresh(os.fsencode(tmp_path / "gone"), b"x", counting())
    assert caught.value.sentence == f"cannot write '{tmp_path}/gone/handoff-000001.md': no such file or directory"
    assert caught.value.hint == "name a place with --file, or another temporary directory with TMPDIR"


@pytest.mark.parametrize("kind", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_no_half_a_packet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: BaseException
) -> None:
    def fail(number: int, data: bytes) -> None:
        os.write(number, data[:2])
        os.close(number)
        raise kind

    monkeypatch.setattr(packet_file, "_fill", fail)
    with pytest.raises((Fatal, KeyboardInterrupt)):
        packet_file.write_fresh(os.fsencode(tmp_path), b"four", counting())
    assert os.listdir(tmp_path) == []


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.md", tmp_path / "gone" / "gone.md"):
        with pytest.raises(NotFound, match=f"^'{path}' is not there$"):
            packet_file.read(os.fsencode(path), uid=UID)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(path.parent)  # the name of a socket has about a hundred bytes
            server.bind(path.name)
        finally:
            os.fchdir(here)
            os.close(here)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "it is a directory"),
        (lambda path: path.symlink_to("/etc/passwd"), "it is a symbolic link"),
        (os.mkfifo, "it is a named pipe"),
        (make_socket, "it is a socket"),
    ],
)
def test_only_a_regular_file_is_read(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    path = tmp_path / "packet.md"
    make(path)
    with pytest.raises(Refused) as caught:
        packet_file.read(os.fsencode(path), uid=UID)
    assert (caught.value.sentence, caught.value.status) == (f"cannot read '{path}': {reason}", 1)


def test_the_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"# Handoff: brief\n")
    assert packet_file.read(os.fsencode(path), uid=UID) == b"# Handoff: brief\n"
    with pytest.raises(Refused, match=f"^cannot read '{path}': it belongs to another user$"):
        packet_file.read(os.fsencode(path), uid=UID + 1)


def test_a_file_of_more_than_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"x" * 11)
    assert packet_file.read(os.fsencode(path), uid=UID, limit=11) == b"x" * 11
    with pytest.raises(Refused, match=f"^cannot read '{path}': it has more than 10 bytes$"):
        packet_file.read(os.fsencode(path), uid=UID, limit=10)


def test_a_read_that_fails_is_an_error_with_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"x")

    def fail(_number: int, _limit: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "read_open", fail)
    with pytest.raises(CoopError, match=f"^cannot read '{path}': input/output error$"):
        packet_file.read(os.fsencode(path), uid=UID)

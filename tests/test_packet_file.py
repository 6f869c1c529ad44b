"""Packet files: exclusive, private, in the temporary directory; and a reader that trusts none."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from git_coop import files, packet_file
from git_coop.errors import CoopError, Fatal, GitFailed, NotFound, Refused
from tests.support.world import World, Worlds


@given(st.binary(min_size=8, max_size=8))
@example(b"\0" * 8)
@example(b"\xff" * 8)
@example((int("abcdef", 36)).to_bytes(8, "big"))
def test_a_name_has_six_characters_and_a_digit(given_bytes: bytes) -> None:
    name = packet_file.mint(lambda size: given_bytes[:size])
    assert re.fullmatch(rb"handoff-(?=[a-z]*[0-9])[0-9a-z]{6}\.md", name)


def test_a_name_differs_where_the_randomness_does(edge: Worlds) -> None:
    world = edge()
    assert packet_file.mint(world.entropy) != packet_file.mint(world.entropy)


@pytest.mark.parametrize(
    ("given_folder", "cwd", "expected"),
    [
        (None, "/here", b"/tmp"),
        ("", "/here", b"/tmp"),
        ("/var/tmp/x", "/here", b"/var/tmp/x"),
        ("scratch", "/here", b"/here/scratch"),
        ("scratch", None, b"/scratch"),
    ],
)
def test_the_temporary_directory_is_the_users(
    edge: Worlds, given_folder: str | None, cwd: str | None, expected: bytes
) -> None:
    assert packet_file.folder(edge(cwd, {"TMPDIR": given_folder}, gone=cwd is None)) == expected


@pytest.fixture
def world(edge: Worlds, tmp_path: Path) -> World:
    return edge(tmp_path, {"TMPDIR": str(tmp_path)})


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_a_packet_is_written_under_a_fresh_name_for_its_user_only(
    edge: Worlds, world: World, tmp_path: Path, mask: int
) -> None:
    os.umask(mask)  # the room puts it back
    again = edge(tmp_path, {"TMPDIR": str(tmp_path)})  # draws the same names
    paths = [packet_file.write_fresh(b"one\n", world), packet_file.write_fresh(b"two\n", again)]
    assert paths == [os.fsencode(tmp_path / "handoff-000001.md"), os.fsencode(tmp_path / "handoff-000002.md")]
    assert [packet_file.read(os.fsdecode(path), world) for path in paths] == [b"one\n", b"two\n"]
    assert [os.lstat(path).st_mode for path in paths] == [0o100600, 0o100600]


def test_five_megabytes_go_there_and_back(world: World) -> None:
    data = os.urandom(5 << 20)
    assert packet_file.read(os.fsdecode(packet_file.write_fresh(data, world)), world) == data


def test_a_directory_where_every_name_is_taken_is_an_error(world: World, tmp_path: Path) -> None:
    (tmp_path / "handoff-000001.md").write_bytes(b"old")
    stuck = world.replace(entropy=lambda size: b"\1".rjust(size, b"\0"))
    with pytest.raises(Fatal) as caught:
        packet_file.write_fresh(b"new", stuck)
    assert caught.value.sentence == f"cannot write a packet to '{tmp_path}': every name tried is taken"
    assert (tmp_path / "handoff-000001.md").read_bytes() == b"old"


def link_to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, link_to_nowhere])
def test_no_name_is_written_over(world: World, tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "packet.md")
    with pytest.raises(Refused) as caught:
        packet_file.write_to("packet.md", b"new", world)
    assert (caught.value.sentence, caught.value.status) == ("cannot write the packet to 'packet.md': it exists", 1)
    assert os.listdir(tmp_path) == ["packet.md"]


def test_a_named_file_is_written_for_its_user_only(world: World, tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    assert packet_file.write_to("packet.md", b"new", world) == os.fsencode(path)
    assert (path.read_bytes(), path.stat().st_mode) == (b"new", 0o100600)


def test_a_missing_directory_is_named(edge: Worlds, tmp_path: Path) -> None:
    with pytest.raises(Fatal) as caught:
        packet_file.write_fresh(b"x", edge(tmp_path, {"TMPDIR": str(tmp_path / "gone")}))
    assert caught.value.sentence == f"cannot write '{tmp_path}/gone/handoff-000001.md': no such file or directory"
    assert caught.value.hint == "name a place with --file, or another temporary directory with TMPDIR"


@pytest.mark.parametrize("kind", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_no_half_a_packet(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: BaseException
) -> None:
    def fail(number: int, data: bytes) -> None:
        os.write(number, data[:2])
        os.close(number)
        raise kind

    monkeypatch.setattr(packet_file, "_fill", fail)
    with pytest.raises((Fatal, KeyboardInterrupt)):
        packet_file.write_fresh(b"four", world)
    assert os.listdir(tmp_path) == []


def test_a_missing_file_is_not_found(world: World, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.md", tmp_path / "gone" / "gone.md"):
        with pytest.raises(NotFound, match=f"^'{path}' is not there$"):
            packet_file.read(str(path), world)


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
        (link_to_nowhere, "it is a symbolic link"),
        (os.mkfifo, "it is a named pipe"),
        (make_socket, "it is a socket"),
    ],
)
def test_only_a_regular_file_is_read(world: World, tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    path = tmp_path / "packet.md"
    make(path)
    with pytest.raises(Refused) as caught:
        packet_file.read(str(path), world)
    assert (caught.value.sentence, caught.value.status) == (f"cannot read '{path}': {reason}", 1)


def test_the_file_of_another_user_is_refused(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"# Handoff: brief\n")
    assert packet_file.read("packet.md", world) == b"# Handoff: brief\n"
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Refused, match=f"^cannot read '{path}': it belongs to another user$"):
        packet_file.read("packet.md", world)


def test_a_file_of_more_than_the_limit_is_refused(world: World, tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"x" * 11)
    assert packet_file.read(str(path), world, limit=11) == b"x" * 11
    with pytest.raises(Refused, match=f"^cannot read '{path}': it has more than 10 bytes$"):
        packet_file.read(str(path), world, limit=10)


def test_a_read_that_fails_is_an_error_with_the_path(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "packet.md"
    path.write_bytes(b"x")

    def fail(_number: int, _limit: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "read_open", fail)
    with pytest.raises(CoopError, match=f"^cannot read '{path}': input/output error$"):
        packet_file.read(str(path), world)


def editor(tmp_path: Path, script: str) -> dict[str, str | None]:
    """An editor that is a shell script, ``$1`` being the file."""
    program = tmp_path / "bin" / "editor"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    return {"TMPDIR": str(tmp_path / "tmp"), "GIT_EDITOR": str(program)}


def test_the_editor_opens_on_the_template_and_its_text_comes_back(edge: Worlds, tmp_path: Path) -> None:
    world = edge(tmp_path, editor(tmp_path, 'cat "$1" - <<-END >"$1.new"; mv "$1.new" "$1"\nwürde\nEND'))
    assert packet_file.edited("template\n", world) == "template\nwürde\n"
    assert os.listdir(tmp_path / "tmp") == []


def test_a_text_that_is_no_utf8_is_kept(edge: Worlds, tmp_path: Path) -> None:
    world = edge(tmp_path, editor(tmp_path, 'printf "caf\\351" >"$1"'))
    with pytest.raises(Refused) as caught:
        packet_file.edited("template\n", world)
    kept = tmp_path / "tmp" / "handoff-000001.md"
    assert caught.value.sentence == "the edited text is not valid UTF-8 at byte offset 3"
    assert caught.value.hint == f"it is kept in '{kept}'"
    assert kept.read_bytes() == b"caf\xe9"


def test_an_editor_that_fails_loses_nothing(edge: Worlds, tmp_path: Path) -> None:
    world = edge(tmp_path, editor(tmp_path, 'echo mine >"$1"; exit 3'))
    with pytest.raises(GitFailed):
        packet_file.edited("template\n", world)
    assert (tmp_path / "tmp" / "handoff-000001.md").read_bytes() == b"mine\n"

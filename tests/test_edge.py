"""The world's streams: what waits and what does not, without a module for what can be told without."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from git_coop.edge import Descriptor, received
from git_coop.files import sha256
from tests.support.room import ROOT

_READY = """\
import sys
from git_coop.edge import Descriptor
print(Descriptor(0).ready(0.0), "select" in sys.modules)
"""


def ready(stdin: int) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", _READY], env=env, stdin=stdin, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_a_file_and_the_null_device_never_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with open(tmp_path / "file", "rb") as file:
        assert ready(file.fileno()) == "True False\n"
    assert ready(subprocess.DEVNULL) == "True False\n"


@pytest.mark.parametrize("end", ["open", "data", "closed"])
def test_a_pipe_is_asked(end: str) -> None:
    reader, writer = os.pipe()
    try:
        if end == "data":
            os.write(writer, b"x")
        if end == "closed":
            os.close(writer)
        assert ready(reader) == f"{end != 'open'} True\n"
    finally:
        os.close(reader)
        if end != "closed":
            os.close(writer)


def test_a_closed_descriptor_is_not_ready() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    os.close(reader)
    assert not Descriptor(reader).ready(0.0)


@pytest.mark.parametrize("data", [b"", b"a path", bytes(range(256)) * 100])
def test_the_digest_is_sha_256_without_openssl(data: bytes) -> None:
    assert sha256(data) == hashlib.sha256(data).hexdigest()
    code = "import sys; import git_coop.files; print('hashlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


# what comes in


class Script:
    """A stream that gives ``chunks``, each after its wait in seconds; ``b""`` is its end, none at all silence."""

    def __init__(self, *chunks: tuple[float, bytes], terminal: bool = False) -> None:
        self.chunks = list(chunks)
        self.terminal = terminal
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def isatty(self) -> bool:
        return self.terminal

    def write(self, data: bytes) -> None:
        raise AssertionError(data)

    def ready(self, seconds: float) -> bool:
        wait = self.chunks[0][0] if self.chunks else float("inf")
        self.time += min(wait, seconds)
        if wait > seconds:
            return False
        self.chunks[0] = (0.0, self.chunks[0][1])
        return True

    def read(self, size: int) -> bytes:
        (_, data), *rest = self.chunks
        self.chunks = [(0.0, data[size:]), *rest] if data[size:] else rest
        return data[:size]


END = (0.0, b"")


def test_a_payload_is_read_to_its_end() -> None:
    stream = Script((0.0, b'{"a"'), (1.9, b":1}"), END)
    assert received(stream, expected=True, now=stream.now) == b'{"a":1}'
    assert stream.time == 1.9


def test_a_pipe_that_stays_open_is_left_after_two_seconds_of_silence() -> None:
    stream = Script((0.0, b'{"a":1}'))
    assert received(stream, expected=True, now=stream.now) == b'{"a":1}'
    assert stream.time == 2.0


def test_nothing_on_an_open_pipe_costs_two_seconds_where_a_payload_is_expected_and_a_fifth_where_not() -> None:
    for expected, cost in ((True, 2.0), (False, 0.2)):
        stream = Script()
        assert received(stream, expected=expected, now=stream.now) is None
        assert stream.time == cost


def test_what_is_not_expected_must_be_there_at_once_and_may_then_take_its_time() -> None:
    late, slow = Script((0.3, b"{}"), END), Script((0.1, b"{"), (1.5, b"}"), END)
    assert received(late, expected=False, now=late.now) is None
    assert received(slow, expected=False, now=slow.now) == b"{}"


def test_an_empty_stream_and_a_terminal_hold_nothing() -> None:
    empty, terminal = Script(END), Script((0.0, b"{}"), END, terminal=True)
    assert received(empty, expected=True, now=empty.now) is None
    assert received(terminal, expected=True, now=terminal.now) is None
    assert terminal.chunks == [(0.0, b"{}"), END]


def test_a_stream_without_end_is_left_at_eight_mebibytes() -> None:
    stream = Script((0.0, b"{" * (9 * 1024 * 1024)), END)
    data = received(stream, expected=True, now=stream.now)
    assert data is not None
    assert len(data) == 8 * 1024 * 1024


def test_a_trickle_is_left_before_the_client_gives_up() -> None:
    stream = Script(*[(1.5, b"{")] * 1000)
    assert received(stream, expected=True, now=stream.now) == b"{{{{"
    assert stream.time == 6.0


def test_a_stream_that_fails_is_at_its_end() -> None:
    class Broken(Script):
        def read(self, size: int) -> bytes:
            if not self.chunks[0][1]:
                raise OSError(5, "Input/output error")
            return super().read(size)

    stream = Broken((0.0, b"{}"), (0.0, b""))
    assert received(stream, expected=True, now=stream.now) == b"{}"


def test_a_real_pipe_a_closed_one_and_a_terminal() -> None:
    reader, writer = os.pipe()
    os.write(writer, b'{"a":1}')
    os.close(writer)
    assert received(Descriptor(reader), expected=False) == b'{"a":1}'
    os.close(reader)
    assert received(Descriptor(reader), expected=False) is None
    main, side = os.openpty()
    assert received(Descriptor(side), expected=True) is None
    os.close(main)
    os.close(side)

"""The end of the process: at once, with its status, and with nothing left in a buffer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.room import ROOT

_LEAVE = """\
import atexit, sys
from git_coop.__main__ import leave
atexit.register(print, "taken apart", flush=True)
print("what a library printed")
leave(int(sys.argv[1]))
"""


def left(status: int, out: int) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-c", _LEAVE, str(status)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=env, stdout=out, stderr=subprocess.PIPE)


@pytest.mark.parametrize("status", [0, 1, 128, 129, 130])
def test_the_streams_are_flushed_and_nothing_else_runs(status: int) -> None:
    done = left(status, subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"what a library printed\n", b"")


def test_a_reader_that_left_is_141() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        done = left(0, closed.fileno())
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_device_is_128() -> None:
    with open("/dev/full", "wb") as full:
        done = left(0, full.fileno())
    assert (done.returncode, done.stderr) == (128, b"")

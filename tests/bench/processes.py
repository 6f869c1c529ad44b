"""Starting processes and taking their time."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

PIPE = 1 << 15  # bytes: what every pipe holds without a reader


class Sample(NamedTuple):
    """One run: nanoseconds of wall time, and of the processor in user and kernel mode together."""

    wall: int
    processor: int


class Call(NamedTuple):
    """A command as it is started. ``stdin`` is what a pipe holds; ``None`` is ``/dev/null``."""

    argv: list[str]
    cwd: Path
    stdin: bytes | None = None


class Failed(Exception):
    """A command that ended with another status than 0; its words are the message."""


def timed(call: Call, env: Mapping[str, str]) -> Sample:
    """Run to the end, its output to ``/dev/null``; ``Failed`` where the exit status is not 0.

    The directory is changed in this process: what starts is the command and nothing before it.
    """
    source = _source(call.stdin)
    os.chdir(call.cwd)
    try:
        begin = perf_counter_ns()
        child = os.posix_spawn(call.argv[0], call.argv, env, file_actions=_streams(source))
        _, status, usage = os.wait4(child, 0)
        wall = perf_counter_ns() - begin
    finally:
        os.close(source)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise Failed(f"{' '.join(call.argv)}: {_status(code)}")
    return Sample(wall, round((usage.ru_utime + usage.ru_stime) * 1e9))


def _streams(source: int) -> list[tuple[int, int, int] | tuple[int, int, str, int, int]]:
    null = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    return [(os.POSIX_SPAWN_DUP2, source, 0), null, (os.POSIX_SPAWN_DUP2, 1, 2)]


def _source(data: bytes | None) -> int:
    if data is None:
        return os.open(os.devnull, os.O_RDONLY)
    if len(data) > PIPE:
        raise ValueError(f"{len(data)} bytes do not fit a pipe without a reader")
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return reader


def _status(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def output(call: Call, env: Mapping[str, str]) -> str:
    """What a command prints; ``Failed`` with its words where its exit status is not 0."""
    done = subprocess.run(call.argv, cwd=call.cwd, env=env, input=call.stdin or b"", capture_output=True)
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.returncode != 0:
        raise Failed(said.rpartition("\n")[2] or _status(done.returncode))
    return done.stdout.decode(errors="replace")


# Run by a small interpreter of its own: a process inherits the peak of the one that it was forked from.
_PEAK = """\
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss if status == 0 else -1)
"""


def peak(call: Call, env: Mapping[str, str]) -> int:
    """The most memory that a command had at once, in bytes of the resident set."""
    small = [sys.executable, "-I", "-S", "-c", _PEAK, *call.argv]
    found = int(output(Call(small, call.cwd, call.stdin), env))
    if found < 0:
        raise Failed(f"{' '.join(call.argv)} failed")
    return found if sys.platform == "darwin" else found * 1024


def instructions(call: Call, env: Mapping[str, str], valgrind: str) -> int:
    """The instructions that a command executes outside the kernel, as valgrind counts them."""
    tool = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", *call.argv]
    steady = {**env, "PYTHONHASHSEED": "0"}
    done = subprocess.run(tool, cwd=call.cwd, env=steady, input=call.stdin or b"", capture_output=True)
    for line in reversed(done.stderr.decode(errors="replace").splitlines()):
        if "Collected :" in line:
            return int(line.split()[-1])
    raise Failed(f"valgrind gave no count (exit status {done.returncode})")

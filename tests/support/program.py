"""The real program, as a process."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from tests.support.room import LAUNCHER, ROOT

# Runs the launcher with a clock that stands still: the program reads it at one place, `git_coop.edge.real`.
_STOPPED = """\
import sys, time
now = int(sys.argv.pop(1))
time.time_ns = lambda: now
sys.argv[0] = sys.argv.pop(1)
with open(sys.argv[0], encoding="utf-8") as source:
    exec(compile(source.read(), sys.argv[0], "exec"), {"__name__": "__main__"})
"""


class Result(NamedTuple):
    """A finished run; ``out`` and ``err`` are the raw bytes as UTF-8, with what is not UTF-8 as surrogates."""

    code: int
    out: str
    err: str
    raw_out: bytes
    raw_err: bytes


class Program:
    """Runs ``git-coop`` from the checkout."""

    script = LAUNCHER

    def argv(self, *args: str | bytes, now: int | None = None) -> list[str | bytes]:
        """The command line of a run, with the clock stopped at ``now`` where it is given."""
        python: list[str | bytes] = [sys.executable, "-P"]
        stopped: list[str | bytes] = [] if now is None else ["-c", _STOPPED, str(now)]
        return [*python, *stopped, str(LAUNCHER), *args]

    def environment(self, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The room's environment with ``env`` over it; ``None`` takes a variable away."""
        changed = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        return {name: value for name, value in changed.items() if value is not None}

    def __call__(
        self,
        *args: str | bytes,
        cwd: Path | str | None = None,
        stdin: bytes | str = b"",
        env: Mapping[str, str | None] | None = None,
        check: int | None = None,
        now: int | None = None,
    ) -> Result:
        """Run to the end. With ``check``, another exit status fails the test with what was printed."""
        done = subprocess.run(
            self.argv(*args, now=now),
            cwd=cwd,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            env=self.environment(env),
            capture_output=True,
            timeout=60,
        )
        result = Result(done.returncode, _text(done.stdout), _text(done.stderr), done.stdout, done.stderr)
        assert check is None or result.code == check, f"{args}: exit {result.code}\n{result.out}{result.err}"
        return result

    def start(
        self,
        *args: str | bytes,
        cwd: Path | str | None = None,
        stdin: IO[bytes] | int = subprocess.DEVNULL,
        stdout: IO[bytes] | int = subprocess.PIPE,
        env: Mapping[str, str | None] | None = None,
        now: int | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Start without waiting: for races, for closed pipes, and for a terminal."""
        return subprocess.Popen(
            self.argv(*args, now=now),
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=self.environment(env),
        )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")

"""Worlds in memory: an edge whose streams, clock and randomness a test holds in its hand."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from git_coop import clock
from git_coop.edge import OUTPUT, Edge

START = 1_796_035_512_123_000_000
"""2026-11-30T10:45:12.123Z, the time in every world that names no other."""


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        """The time, in nanoseconds."""
        return self.now

    def tick(self, nanoseconds: int = clock.SECOND) -> int:
        """Move on, or back; the new time."""
        self.now += nanoseconds
        return self.now


class Counter:
    """Randomness that counts: the first draw is 1, then 2, as big-endian bytes of the size asked for."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        self.drawn += 1
        return (self.drawn % (1 << 8 * size)).to_bytes(size, "big")


class Source:
    """Standard input: ``data`` and then the end, or for ``None`` a pipe that stays open and silent."""

    def __init__(self, data: bytes | None = b"", *, terminal: bool = False) -> None:
        self.left = data
        self.terminal = terminal

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end. A read that would wait for ever fails the test."""
        assert self.left is not None, "a read that never returns: the pipe is open and silent"
        head, self.left = self.left[:size], self.left[size:]
        return head

    def write(self, data: bytes) -> None:
        """Nothing can be written here."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def isatty(self) -> bool:
        """Whether this is a terminal."""
        return self.terminal

    def ready(self, seconds: float) -> bool:
        """Whether a read returns: always, but for the silent pipe."""
        return self.left is not None


class Capture:
    """An output that remembers. With ``fault``, an errno, every write fails with it and leaves nothing."""

    def __init__(self, *, terminal: bool = False, fault: int | None = None) -> None:
        self.data = b""
        self.terminal = terminal
        self.fault = fault

    @property
    def text(self) -> str:
        """What was written, as UTF-8; anything else fails the test."""
        return self.data.decode("utf-8")

    def read(self, size: int) -> bytes:
        """Nothing can be read here."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def write(self, data: bytes) -> None:
        """Keep ``data``, or fail as told."""
        if self.fault is not None:
            raise OSError(self.fault, os.strerror(self.fault), OUTPUT)
        self.data += data

    def isatty(self) -> bool:
        """Whether this is a terminal."""
        return self.terminal

    def ready(self, seconds: float) -> bool:
        """Never: nothing comes from an output."""
        return False


class World(Edge):
    """An edge whose parts are known to be the ones above."""

    if TYPE_CHECKING:
        stdin: Source
        stdout: Capture
        stderr: Capture
        clock: Clock
        entropy: Counter


def fault_of(state: str) -> int | None:
    """The errno of an output that is ``open``, ``closed`` (a pipe without a reader) or ``full`` (a full device)."""
    return {"open": None, "closed": errno.EPIPE, "full": errno.ENOSPC}[state]


class Worlds:
    """Makes worlds; what is not given is the room's."""

    def __call__(
        self,
        cwd: Path | bytes | str | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes | str | None = b"",
        now: int = START,
        *,
        gone: bool = False,
        terminal: bool = False,
        out: str = "open",
        err: str = "open",
    ) -> World:
        """A world in ``cwd`` (by default the current directory; ``gone``: none) with ``env`` over the environment.

        ``stdin`` as for ``Source``; ``terminal`` makes all three streams terminals; ``out`` and ``err`` are
        ``open``, ``closed`` or ``full``.
        """
        changed = {**os.environ, **(env or {})}
        return World(
            {name: value for name, value in changed.items() if value is not None},
            None if gone else os.getcwdb() if cwd is None else os.fsencode(cwd),
            Source(stdin.encode() if isinstance(stdin, str) else stdin, terminal=terminal),
            Capture(terminal=terminal, fault=fault_of(out)),
            Capture(terminal=terminal, fault=fault_of(err)),
            Clock(now),
            Counter(),
        )

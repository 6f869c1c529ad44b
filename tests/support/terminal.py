"""A program in a terminal of its own: what is typed goes in, what it draws comes out. Nothing is timed."""

import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from types import TracebackType

PATIENCE = 20.0  # seconds without the expected output before the test fails


class Terminal:
    """A process whose standard streams are a terminal; leaving the ``with`` ends it."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, columns: int = 200
    ) -> None:
        self.seen = b""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:  # pragma: no cover
            try:
                os.chdir(cwd)
                os.execvpe(argv[0], list(argv), {**os.environ, "TERM": "xterm", **(env or {})})
            finally:
                os._exit(127)
        ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.descriptor)
        os.waitpid(self.pid, 0)

    def type(self, text: str | bytes) -> None:
        """Send keys."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self.descriptor, data) :]

    def until(self, mark: str) -> str:
        """What was drawn up to the mark, which is taken too."""
        wanted = mark.encode()
        while wanted not in self.seen:
            ready, _, _ = select.select([self.descriptor], [], [], PATIENCE)
            try:
                data = os.read(self.descriptor, 65536) if ready else b""
            except OSError:  # the other side is gone
                data = b""
            assert data, f"no {mark!r} in what was drawn: {self.seen!r}"
            self.seen += data
        drawn, _, self.seen = self.seen.partition(wanted)
        return drawn.decode("utf-8", "replace")

"""The world as the program meets it: environment, directory, streams, clock and randomness.

Everything below the edge takes what it needs from here by parameter, so that a test can give another world.
"""

import os
import stat
import time

from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    class Stream(Protocol):
        """A byte stream: writes are whole and immediate, and raise ``OSError`` where they fail."""

        def read(self, size: int) -> bytes: ...
        def write(self, data: bytes) -> None: ...
        def isatty(self) -> bool: ...
        def ready(self, seconds: float) -> bool: ...


# An explicit word first, then what each client sets in the shell that it gives to its agent.
SESSIONS = (
    "GIT_COOP_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
)


OUTPUT = "standard output"
LIMIT = 8 * 1024 * 1024  # bytes
SILENCE = 2.0  # seconds without a byte from a client that was to send a payload
GLANCE = 0.2  # seconds for the first byte where nothing says that there is a payload
DEADLINE = 6.0  # seconds for the whole of it: a trickle ends before a client's own time-out of 10
_CHUNK = 65536


class Descriptor:
    """A file descriptor as a stream, without Python's buffers: a write that returned is with the kernel."""

    def __init__(self, number: int, name: "str | None" = None) -> None:
        self.number = number
        self.name = name

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end."""
        return os.read(self.number, size)

    def write(self, data: bytes) -> None:
        """All of ``data``, in one call where the kernel takes it so; an ``OSError`` has our name for the stream."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.number, view) :]
        except OSError as error:
            error.filename = self.name
            raise

    def isatty(self) -> bool:
        """Whether a terminal is at the other end."""
        try:
            return os.isatty(self.number)
        except OSError:
            return False

    def ready(self, seconds: float) -> bool:
        """Whether a read would return within ``seconds``: bytes are there, or the end is."""
        if self._never_waits():
            return True
        import select  # only who reads a pipe pays for it

        try:
            return bool(select.select([self.number], [], [], seconds)[0])
        except (OSError, ValueError):
            return False

    def _never_waits(self) -> bool:
        """Whether this is a file or the null device, which answer every read at once."""
        try:
            found = os.fstat(self.number)
            null = stat.S_ISCHR(found.st_mode) and found.st_rdev == os.stat(os.devnull).st_rdev
            return null or stat.S_ISREG(found.st_mode)
        except OSError:
            return False


def received(stream: "Stream", *, expected: bool, now: "Callable[[], float]" = time.monotonic) -> "bytes | None":
    """What ``stream`` gives to its end or one of the bounds; ``None`` for a terminal and where nothing came.

    ``expected`` is whether the command line names a client. ``now`` is a clock in seconds.
    """
    if stream.isatty():
        return None
    chunks: list[bytes] = []
    size, end, patience = 0, now() + DEADLINE, SILENCE if expected else GLANCE
    while size < LIMIT and now() < end:
        chunk = _next(stream, min(_CHUNK, LIMIT - size), patience)
        if not chunk:
            break
        chunks.append(chunk)
        size, patience = size + len(chunk), SILENCE
    return b"".join(chunks) or None


def _next(stream: "Stream", size: int, patience: float) -> bytes:
    try:
        return stream.read(size) if stream.ready(patience) else b""
    except (OSError, ValueError):  # a closed or foreign descriptor
        return b""


class Edge(Record):
    """One run's world. ``cwd`` is the current directory, or ``None`` where it is gone; times are nanoseconds."""

    env: "Mapping[str, str]"
    cwd: "bytes | None"
    stdin: "Stream"
    stdout: "Stream"
    stderr: "Stream"
    clock: "Callable[[], int]"
    entropy: "Callable[[int], bytes]"

    def session(self, given: "str | None" = None) -> "str | None":
        """The calling session's id: the option, else the first variable that is set and not empty, else ``None``.

        It is text: bytes that are no UTF-8 are replaced, for a record can hold nothing else.
        """
        found = given or next((self.env[name] for name in SESSIONS if self.env.get(name)), None)
        return found and found.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def real() -> Edge:
    """The edge of this process.

    A standard stream that was closed is opened on the null device for reading: else the first file of the store that
    is opened would take its number, and an answer would be written into it. A write there fails, as it should.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    try:
        cwd: bytes | None = os.getcwdb()
    except OSError:
        cwd = None
    return Edge(os.environ, cwd, Descriptor(0), Descriptor(1, OUTPUT), Descriptor(2), time.time_ns, os.urandom)

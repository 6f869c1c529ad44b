"""The seam between the program and the system: a stand-in for ``os`` in each module that changes files.

``installed(act)`` puts it there. ``act`` is told of every call that changes something, before it happens, and may
let it pass, answer in its place, raise an ``OSError``, or end the process. Flushing to the disk is told and not
done: a kill takes nothing from the kernel, and what a power cut would take is judged by the order of the calls.
"""

import fcntl
import importlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EROFS
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

SEAMS = ("store", "claims", "staged", "locks", "packet_file", "settings_file", "ledger_files")
"""The modules of the package that change files, by name."""

LOOKING = ("files",)
"""The module that opens what anybody may have put there; its calls are told where somebody asks for them."""

STREAMING = ("packet_file", "ledger_files")  # those that fill a file by a stream of Python's

CHANGING = frozenset(
    (
        "write",
        "pwrite",
        "fsync",
        "link",
        "rename",
        "unlink",
        "mkdir",
        "rmdir",
        "chmod",
        "fchmod",
        "fchown",
        "setxattr",
        "utime",
    )
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SAY = "say"  # an output of the command itself
PID = 4242  # one name for staged files, whichever process stages them: equal states are equal trees


class Call(NamedTuple):
    """One call that is about to happen. ``kind`` is its name, ``create``, ``open``, ``close`` or ``say``."""

    number: int  # from 1
    kind: str
    args: tuple[Any, ...]

    @property
    def changes(self) -> bool:
        """Whether the call itself changes a file or gives out text: a kill just before it is a state of its own."""
        return self.kind not in ("open", "close", "fsync")

    def __str__(self) -> str:
        paths = (each for each in self.args if isinstance(each, bytes) and each.startswith(b"/"))
        names = [os.path.basename(os.fsdecode(each)) for each in paths]
        return f"call {self.number}, {self.kind} {' '.join(names)[:80]}".rstrip()


class Pass:
    """The answer of an ``act`` that lets a call happen."""


PASS = Pass()
Act = Callable[[Call], object]


class Seam:
    """Stands for ``os``: what it does not know it hands on."""

    def __init__(self, act: Act) -> None:
        self.act = act
        self.count = 0
        self.pid = PID

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING:
            return real

        def told(*args: Any, **named: Any) -> Any:
            answer = self.tell(name, args)
            if answer is not PASS or name == "fsync":
                return None if answer is PASS else answer
            return real(*args, **named)

        return told

    def tell(self, kind: str, args: tuple[Any, ...]) -> object:
        """Number the call and ask what is to become of it."""
        self.count += 1
        return self.act(Call(self.count, kind, args))

    def open(self, path: bytes, flags: int, mode: int = 0o777, **named: Any) -> int:
        self.tell("create" if flags & _WRITING else "open", (path, flags))
        return os.open(path, flags, mode, **named)

    def close(self, number: int) -> None:
        try:
            self.tell("close", (number,))
        finally:
            os.close(number)

    def getpid(self) -> int:
        return self.pid


class Streams:
    """Stands for ``open`` in a module that fills a file by a stream of its own."""

    def __init__(self, seam: Seam) -> None:
        self.seam = seam

    def __call__(self, *args: Any, **named: Any) -> Any:
        return Stream(open(*args, **named), self.seam)


class Stream:
    """A file object whose writes are told."""

    def __init__(self, real: Any, seam: Seam) -> None:
        self.real = real
        self.seam = seam

    def write(self, data: bytes) -> int:
        answer = self.seam.tell("write", (self.real.fileno(), data))
        count = self.real.write(data) if answer is PASS else answer
        assert isinstance(count, int)
        return count

    def flush(self) -> None:
        self.real.flush()

    def fileno(self) -> int:
        number = self.real.fileno()
        assert isinstance(number, int)
        return number

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self.seam.tell("close", (self.real.fileno(),))
        finally:
            self.real.close()


class Locks:
    """Stands for ``fcntl``."""

    def __init__(self, seam: Seam) -> None:
        self.seam = seam

    def __getattr__(self, name: str) -> Any:
        return getattr(fcntl, name)

    def flock(self, number: int, operation: int) -> None:
        self.seam.tell("flock", (number,))
        fcntl.flock(number, operation)


@contextmanager
def installed(act: Act, *, looking: bool = False) -> Iterator[Seam]:
    """The seam in place, at ``looking`` also where files are only read and locked.

    Names are put back at the end, whatever happened.
    """
    seam = Seam(act)
    undo: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for name in SEAMS + (LOOKING if looking else ()):
        place = importlib.import_module(f"git_coop.{name}").__dict__
        undo.append((place, {each: place[each] for each in ("os", "fcntl", "open") if each in place}))
        place["os"] = seam
        if name in STREAMING:
            place["open"] = Streams(seam)
        if looking and "fcntl" in place:
            place["fcntl"] = Locks(seam)
    try:
        yield seam
    finally:
        for place, kept in undo:
            place.pop("open", None)
            place.update(kept)


# What becomes of calls


class Count:
    """Let everything pass and keep the list."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __call__(self, call: Call) -> object:
        self.calls.append(call)
        return PASS


class Kill:
    """End the process with SIGKILL at call ``number``: before it, or (``torn``) with half of its bytes written."""

    def __init__(self, number: int, *, torn: bool = False) -> None:
        self.number = number
        self.torn = torn

    def __call__(self, call: Call) -> object:
        if call.number == self.number:
            if self.torn:
                number, data = call.args[0], call.args[-1]
                os.write(number, data[: len(data) // 2])
            die()
        return PASS


def die() -> NoReturn:
    """A real SIGKILL of this very process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


class Fail:
    """Fail call ``number`` with an errno; lastingly, then every later call that such a disk would refuse."""

    def __init__(self, number: int, errno: int, *, lasting: bool = False) -> None:
        self.number = number
        self.errno = errno
        self.lasting = lasting

    def __call__(self, call: Call) -> object:
        if call.number == self.number or (self.lasting and call.number > self.number and self._refuses(call)):
            raise OSError(self.errno, os.strerror(self.errno))
        return PASS

    def _refuses(self, call: Call) -> bool:
        """A full disk lets go of names; one that is read-only changes nothing at all. Output goes elsewhere."""
        if call.kind in (SAY, "open", "close"):
            return False
        return self.errno == EROFS or call.kind not in ("unlink", "rmdir", "chmod", "fchmod")


class Short:
    """Every write takes one byte of what it is given, as a write may."""

    def __call__(self, call: Call) -> object:
        if call.kind == "write":
            number, data = call.args
            return os.write(number, bytes(data)[: max(1, len(data) // 3)])
        return PASS


class Sink:
    """An output of a command: a file, so that what a killed process had said is known."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self.seam: Seam | None = None

    def write(self, data: bytes) -> None:
        if self.seam is not None and data:
            self.seam.tell(SAY, (self.number, data))
        os.write(self.number, data)

    def read(self, size: int) -> bytes:
        raise AssertionError("nothing is read from an output")

    def isatty(self) -> bool:
        return False

    def ready(self, seconds: float) -> bool:
        return False

    def take(self) -> bytes:
        """All that was said; the file is empty again."""
        data = os.pread(self.number, 1 << 24, 0)
        os.ftruncate(self.number, 0)
        return data


class Meanwhile:
    """At call ``number`` somebody else runs from beginning to end; then the call goes on."""

    def __init__(self, number: int, somebody: Callable[[], None]) -> None:
        self.number = number
        self.somebody = somebody

    def __call__(self, call: Call) -> object:
        if call.number == self.number:
            self.somebody()
        return PASS


class Impatient:
    """Stands for ``time`` where a lock is waited for: its holder stands still, and waiting is over at once."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        self.passed += 60.0
        return self.passed

    def sleep(self, _seconds: float) -> None:
        return

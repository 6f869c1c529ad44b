"""The kernel's locks on files: they die with their process, and no age or process number is ever judged.

A lock counts only while its name still names the locked file, and only where the file system keeps locks at all.
"""

import fcntl
import os
import time

from git_coop.errors import Busy, StoreFault
from git_coop.files import Gone, fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

HELD = (BlockingIOError, PermissionError)  # EAGAIN; some systems say EACCES


def lock_now(number: int, path: bytes) -> None:
    """Lock the open file without waiting; ``Busy`` where another process holds it."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, HELD):
            raise Busy(f"'{os.fsdecode(path)}' is held by another process") from None
        raise fault("lock", path, error) from None


def demand_working_locks(path: bytes, flags: int) -> None:
    """Refuse a file system that grants one lock twice: exclusion there would be a fiction."""
    try:
        number = os.open(path, flags & ~os.O_CREAT)
    except OSError:
        return  # it left its name since: whoever did that holds no lock of ours
    try:
        lock_now(number, path)
    except Busy:
        return
    finally:
        let_go(number)
    raise StoreFault(f"cannot lock '{os.fsdecode(path)}': this file system has no working locks", path=path)


class Lock:
    """The kernel's lock on an open file, held until it is closed; it dies with its process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def close(self) -> None:
        let_go(self.number)

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        self.close()


def lock_folder(path: bytes, *, wait: float) -> Lock:
    """Take the lock of a folder itself, for what changes often and is not worth a lock file."""
    return locked(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, 0, wait)


def locked(path: bytes, flags: int, mode: int, wait: float) -> Lock:
    """The lock of what ``open`` gives for ``path``, waiting up to ``wait`` seconds; ``Busy`` after that."""
    deadline = time.monotonic() + wait
    pause = 0.002
    while True:
        try:
            return _try_lock(path, flags, mode)
        except (Busy, Gone) as error:
            if time.monotonic() >= deadline:
                raise Busy(f"'{os.fsdecode(path)}' is locked by another process", hint="try again") from error
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _try_lock(path: bytes, flags: int, mode: int) -> Lock:
    try:
        number = os.open(path, flags, mode)
    except OSError as error:
        raise fault("lock", path, error) from None
    try:
        lock_now(number, path)
        if not names_same(number, path):  # removed by hand while it was held: lock the new one
            raise Gone(f"'{os.fsdecode(path)}' was replaced", path=path)
        demand_working_locks(path, flags)
        _share(number, mode)
    except BaseException:
        let_go(number)
        raise
    return Lock(number)


def _share(number: int, mode: int) -> None:
    """Give a lock file of ours the bits that the umask took away, where the repository is shared."""
    status = os.fstat(number)
    if mode & 0o077 and status.st_mode & mode != mode and status.st_uid == os.geteuid():
        os.fchmod(number, mode)


def names_same(number: int, path: bytes) -> bool:
    """Whether ``path`` names the open file itself."""
    try:
        named, held = os.lstat(path), os.fstat(number)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise fault("look at", path, error) from None
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def let_go(number: int) -> None:
    """Let go of a descriptor. A failure costs nothing: what has to last was flushed, and closed it is all the same."""
    try:
        os.close(number)
    except OSError:
        pass

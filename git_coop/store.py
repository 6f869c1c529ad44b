"""The only writer below ``<common-dir>/coop/``: stage, publish, replace, lock, claim, move.

A new file is staged in ``mail/tmp/``, flushed with fsync, and published under a name that did not exist; its
folder is flushed before success is reported. A power cut therefore leaves the whole file or none, and a kill
at any point leaves at most a stray in ``mail/tmp/``, which the next drain removes: the writer holds a lock on
what it stages, and the kernel drops that lock with the process.
"""

import fcntl
import os
import time
from errno import EACCES, EAGAIN, EEXIST, EINVAL, ENOTEMPTY, ENOTSUP, EPERM, EXDEV

from git_coop import files
from git_coop.errors import Busy, StoreFault
from git_coop.files import Gone, fault
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_HELD = (EAGAIN, EACCES)
SWEEP_AT_MOST = 64  # strays looked at by one drain: the work is bounded whatever a disk full of crashes left


class Store(Record):
    """One clone's store: ``root`` is ``<common-dir>/coop``, ``dir_mode`` the mode its folders have."""

    root: bytes
    dir_mode: int = 0o700

    @property
    def file_mode(self) -> int:
        """The mode of files: the folders' without the bits that only a folder needs."""
        return self.dir_mode & 0o666

    @property
    def tmp(self) -> bytes:
        return self.root + b"/mail/tmp"

    def ensure_folder(self, path: bytes) -> None:
        """Make ``path`` and what is missing above it, down from the store's root, each durable in its parent.

        Every component is looked at: one that is a symbolic link, or no folder, is a ``StoreFault``.
        """
        self._ensure(self.root)
        here = self.root
        for part in path[len(self.root) + 1 :].split(b"/"):
            here = here + b"/" + part if part else here
            self._ensure(here)

    def _ensure(self, path: bytes) -> None:
        if files.is_folder(path):
            return
        try:
            os.mkdir(path, self.dir_mode)
        except FileExistsError:  # another process was quicker; it may not have come to the flush yet
            files.is_folder(path)
        except OSError as error:
            raise fault("make folder", path, error) from None
        else:
            self._open_up(path)
        sync_folder(os.path.dirname(path))

    def _open_up(self, path: bytes) -> None:
        """Give a new folder the mode that the umask took away (a shared repository only)."""
        if self.dir_mode & 0o077:
            try:
                os.chmod(path, self.dir_mode)
            except OSError as error:
                raise fault("change the mode of", path, error) from None

    def create(self, path: bytes, data: bytes, *, durable: bool = True) -> bool:
        """Publish a new file. ``False``: the name is taken, and nothing was changed."""
        files.is_folder(os.path.dirname(path))
        with self._stage(data, durable=durable) as staged:
            if not staged.link(path):
                return False
        if durable:
            sync_folder(os.path.dirname(path))
        return True

    def rewrite(self, path: bytes, data: bytes, *, durable: bool = True) -> None:
        """Put a file in the place of whatever has this name. The caller holds the lock that makes this sound."""
        files.is_folder(os.path.dirname(path))
        with self._stage(data, durable=durable) as staged:
            staged.rename(path)
        if durable:
            sync_folder(os.path.dirname(path))

    def _stage(self, data: bytes, *, durable: bool) -> "Staged":
        self.ensure_folder(self.tmp)
        for attempt in range(1000):
            path = b"%s/%d-%d" % (self.tmp, os.getpid(), attempt)
            staged = Staged.open(path, self.file_mode)
            if staged is not None:
                staged.fill(data, durable=durable, mode=self.file_mode)
                return staged
        raise StoreFault(f"cannot stage a file in '{os.fsdecode(self.tmp)}': no free name", path=self.tmp)

    def sweep(self) -> int:
        """Remove what dead writers left in ``mail/tmp/``; how many files that were."""
        removed = 0
        for name in files.names(self.tmp)[:SWEEP_AT_MOST]:
            path = self.tmp + b"/" + name
            try:
                with claim(path):
                    remove(path)
                    removed += 1
            except (Busy, StoreFault):
                continue  # somebody is writing it, or it is none of our files: `doctor` names it
        return removed


class Staged:
    """A file in ``mail/tmp/`` that its writer holds locked until it is published or given up."""

    def __init__(self, number: int, path: bytes) -> None:
        self.number = number
        self.path = path
        self.here = True  # whether the staged name still stands

    @classmethod
    def open(cls, path: bytes, mode: int) -> "Self | None":
        """A new staged file, locked; ``None`` where the name is taken or a sweep was quicker than the lock."""
        try:
            number = os.open(path, _NEW, mode)
        except FileExistsError:
            return None
        except OSError as error:
            raise fault("write", path, error) from None
        try:
            if _own(number, path):
                return cls(number, path)
        except BaseException:
            _close(number)
            raise
        _close(number)
        return None

    def fill(self, data: bytes, *, durable: bool, mode: int) -> None:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self.number, view) :]
            if mode & 0o077:
                os.fchmod(self.number, mode)
            if durable:
                os.fsync(self.number)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise fault("write", self.path, error) from None
            raise

    def link(self, path: bytes) -> bool:
        """Publish under a name that does not exist; ``False`` where it does."""
        try:
            os.link(self.path, path, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in (EPERM, ENOTSUP):
                raise _cannot_publish(path, error) from None
            return self._rename_exclusively(path)
        return True

    def _rename_exclusively(self, path: bytes) -> bool:
        """Publish on a file system without hard links, by a rename that refuses to replace."""
        from git_coop.exclusive import rename_exclusively  # only such a file system pays for loading ctypes

        try:
            rename_exclusively(self.path, path)
        except FileExistsError:
            return False
        except OSError as error:
            raise _cannot_publish(path, error) from None
        self.here = False
        return True

    def rename(self, path: bytes) -> None:
        try:
            os.rename(self.path, path)
        except OSError as error:
            raise _cannot_publish(path, error) from None
        self.here = False

    def close(self) -> None:
        """Give up the staged name and the lock. What was published stays."""
        try:
            if self.here:
                os.unlink(self.path)
        except OSError:
            pass  # a stray is no loss: the next drain sweeps it
        finally:
            _close(self.number)

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        self.close()


def _own(number: int, path: bytes) -> bool:
    """Lock a new staged file; ``False`` where a sweep was quicker and took it for a stray."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        # no locks here: nobody can sweep the file either
    return _names_same(number, path)


def _cannot_publish(path: bytes, error: OSError) -> StoreFault:
    result = fault("write", path, error)
    if error.errno == EXDEV:
        result.hint = "the folders of the store must lie in one file system"
    return result


class Claim:
    """The exclusive right to move or remove one file, held through the kernel's lock on it."""

    def __init__(self, number: int, path: bytes, status: os.stat_result) -> None:
        self.number = number
        self.path = path
        self.status = status

    def read(self, limit: int) -> bytes:
        """The first ``limit`` bytes of the claimed file itself, whatever its name says by now."""
        try:
            return files.read_open(self.number, limit)
        except OSError as error:
            raise fault("read", self.path, error) from None

    def move(self, target: bytes) -> bool:
        """Rename to ``target``, never over another file, and make it durable.

        ``False``: the file had left its name, so the claim was lost to a program that takes no locks. A target
        that is this very file already (a power cut can leave both names) loses the old name only.
        """
        files.is_folder(os.path.dirname(target))
        if files.exists(target):
            if not _names_same(self.number, target):
                raise StoreFault(f"cannot move '{os.fsdecode(self.path)}': '{os.fsdecode(target)}' exists", path=target)
            remove(self.path)
        else:
            try:
                os.rename(self.path, target)
            except FileNotFoundError:
                return False
            except OSError as error:
                raise fault("move", self.path, error) from None
        sync_open(self.number, target)
        sync_folder(os.path.dirname(target))
        sync_folder(os.path.dirname(self.path))
        return True

    def close(self) -> None:
        _close(self.number)

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        self.close()


def claim(path: bytes) -> Claim:
    """Claim the file at ``path`` without waiting.

    Raises ``Gone`` where it left its name, ``Busy`` where another process holds it, ``StoreFault`` where it
    cannot be read or the file system has no working locks. Whoever holds the lock on the very file that
    ``path`` names is the only one that may rename it, so the check after the lock stays true.
    """
    number, status = files.open_regular(path)
    try:
        _lock_now(number, path)
        if not _names_same(number, path):
            raise Gone(f"'{os.fsdecode(path)}' was taken by another", path=path)
        _demand_working_locks(path, files.READ)
    except BaseException:
        _close(number)
        raise
    return Claim(number, path, status)


def _lock_now(number: int, path: bytes) -> None:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            raise Busy(f"'{os.fsdecode(path)}' is held by another process") from None
        raise fault("lock", path, error) from None


def _demand_working_locks(path: bytes, flags: int) -> None:
    """Refuse a file system that grants one lock twice: exclusion there would be a fiction."""
    try:
        number = os.open(path, flags & ~os.O_CREAT)
    except OSError:
        return  # it left its name since: whoever did that holds no lock of ours
    try:
        _lock_now(number, path)
    except Busy:
        return
    finally:
        _close(number)
    raise StoreFault(f"cannot lock '{os.fsdecode(path)}': this file system has no working locks", path=path)


class Lock:
    """A box's lock: one file that is never unlinked; the lock dies with its process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        _close(self.number)


def lock(store: Store, path: bytes, *, wait: float) -> Lock:
    """Take the lock file at ``path``, waiting up to ``wait`` seconds; ``Busy`` after that."""
    return _locked(path, _LOCK, store.file_mode, wait)


def lock_folder(path: bytes, *, wait: float) -> Lock:
    """Take the lock of a folder itself, for what changes often and is not worth a lock file."""
    return _locked(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, 0, wait)


def _locked(path: bytes, flags: int, mode: int, wait: float) -> Lock:
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
        _lock_now(number, path)
        if not _names_same(number, path):  # removed by hand while it was held: lock the new one
            raise Gone(f"'{os.fsdecode(path)}' was replaced", path=path)
        _demand_working_locks(path, flags)
        _share(number, mode)
    except BaseException:
        _close(number)
        raise
    return Lock(number)


def _share(number: int, mode: int) -> None:
    """Give a lock file of ours the bits that the umask took away, where the repository is shared."""
    status = os.fstat(number)
    if mode & 0o077 and status.st_mode & mode != mode and status.st_uid == os.geteuid():
        os.fchmod(number, mode)


def _names_same(number: int, path: bytes) -> bool:
    """Whether ``path`` names the open file itself."""
    try:
        named, held = os.lstat(path), os.fstat(number)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise fault("look at", path, error) from None
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def carry(source: bytes, target: bytes) -> bool:
    """Rename a file nobody else may want, never over another; ``False``: one of the two stood in the way.

    For what moves with its worktree. The caller holds the lock of the boxes and flushes both folders.
    """
    if files.exists(target):
        return False
    try:
        os.rename(source, target)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise fault("move", source, error) from None
    return True


def remove(path: bytes) -> bool:
    """Unlink a name; ``False`` where it was not there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise fault("remove", path, error) from None
    return True


def remove_folder(path: bytes) -> bool:
    """Remove a folder if it is empty; whether it is gone."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno in (ENOTEMPTY, EEXIST):
            return False
        raise fault("remove", path, error) from None
    return True


def _close(number: int) -> None:
    """Let go of a descriptor. A failure costs nothing: what has to last was flushed, and closed it is all the same."""
    try:
        os.close(number)
    except OSError:
        pass


def sync_open(number: int, path: bytes) -> None:
    """Flush an open file to the disk; a failure is reported and never tried again on the same descriptor."""
    try:
        os.fsync(number)
    except OSError as error:
        raise fault("flush", path, error) from None


def sync_folder(path: bytes) -> None:
    """Make the names in a folder durable, where the file system can."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise fault("flush", path, error) from None
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):  # some file systems have no such thing as a folder's flush
            raise fault("flush", path, error) from None
    finally:
        _close(number)


def set_mode(path: bytes, mode: int) -> None:
    """Give a file or folder its permission bits; no symbolic link is followed."""
    try:
        number = os.open(path, files.READ)
    except PermissionError:
        number = -1  # its owner may change the mode of what nobody can open
    except OSError as error:
        raise fault("change the mode of", path, error) from None
    try:
        if number >= 0:
            os.fchmod(number, mode)
        elif not os.path.islink(path):
            os.chmod(path, mode)
    except OSError as error:
        raise fault("change the mode of", path, error) from None
    finally:
        if number >= 0:
            _close(number)

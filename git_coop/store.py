"""The only writer below ``<common-dir>/coop/``: stage, publish, replace, lock, claim, move.

A new file is staged in ``mail/tmp/``, flushed with fsync, and published under a name that did not exist; its
folder is flushed before success is reported. A power cut therefore leaves the whole file or none, and a kill
at any point leaves at most a stray in ``mail/tmp/``, which the next drain removes: the writer holds a lock on
what it stages, and the kernel drops that lock with the process.
"""

import os
import stat

from git_coop import files
from git_coop.errors import Busy, StoreFault
from git_coop.files import Gone, fault
from git_coop.locks import Lock, demand_working_locks, let_go, lock_now, locked, names_same
from git_coop.record import Record
from git_coop.staged import Staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
SWEEP_AT_MOST = 64  # strays looked at by one drain: the work is bounded whatever a disk full of crashes left


class Store(Record):
    """One clone's store: ``root`` is ``<common-dir>/coop``, ``dir_mode`` the mode its folders have.

    ``admits`` tells whether what belongs to a user id may be shown or changed; without it, nobody was asked to tell.
    """

    root: bytes
    dir_mode: int = 0o700
    admits: "Callable[[int], bool] | None" = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and (self.root, self.dir_mode) == (other.root, other.dir_mode)

    def __hash__(self) -> int:
        return hash((self.root, self.dir_mode))

    def stranger(self, owner: int) -> str:
        """Why what belongs to this user id is left alone, in our words; empty where it is not."""
        return "" if self.admits is None or self.admits(owner) else f"it belongs to uid {owner}, not to you"

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
        """Put a file in the place of whatever has this name. The caller holds the lock that makes this sound.

        What need not be ``durable`` is written over in place where the size allows: file systems flush what is
        renamed over another file (ext4(5), ``auto_da_alloc``), which is most of what a hook would cost.
        """
        files.is_folder(os.path.dirname(path))
        if not durable and _write_over(path, data):
            return
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
            if not names_same(self.number, target):
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
        let_go(self.number)

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
        lock_now(number, path)
        if not names_same(number, path):
            raise Gone(f"'{os.fsdecode(path)}' was taken by another", path=path)
        demand_working_locks(path, files.READ)
    except BaseException:
        let_go(number)
        raise
    return Claim(number, path, status)


def lock(store: Store, path: bytes, *, wait: float) -> Lock:
    """Take the lock file at ``path``, waiting up to ``wait`` seconds; ``Busy`` after that."""
    return locked(path, _LOCK, store.file_mode, wait)


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


def _write_over(path: bytes, data: bytes) -> bool:
    """Write ``data`` into a file of its very size, in one call; ``False``: it is no such file, or was not written.

    Who reads it meanwhile may see a mixture, and who was killed leaves one at worst: a marker or a turn that does not
    match in full authorises nothing, so that a message is shown again.
    """
    try:
        number = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(number)
        fits = stat.S_ISREG(status.st_mode) and status.st_size == len(data) and status.st_nlink == 1
        return fits and os.pwrite(number, data, 0) == len(data)
    except OSError as error:
        raise fault("write", path, error) from None
    finally:
        os.close(number)


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
        from errno import EEXIST, ENOTEMPTY

        if error.errno in (ENOTEMPTY, EEXIST):
            return False
        raise fault("remove", path, error) from None
    return True


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
        from errno import EINVAL, ENOTSUP

        if error.errno not in (EINVAL, ENOTSUP):  # some file systems have no such thing as a folder's flush
            raise fault("flush", path, error) from None
    finally:
        let_go(number)


def set_mode(path: bytes, mode: int) -> None:
    """Give a file or folder its permission bits; no link is followed, and no file with another name is changed."""
    try:
        number = os.open(path, files.READ)
    except PermissionError:
        number = -1  # its owner may change the mode of what nobody can open
    except OSError as error:
        raise fault("change the mode of", path, error) from None
    try:
        if number >= 0:
            status = os.fstat(number)
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                raise StoreFault(f"cannot change the mode of '{os.fsdecode(path)}': it has another name", path=path)
            os.fchmod(number, mode)
        elif not os.path.islink(path):
            os.chmod(path, mode)
    except OSError as error:
        raise fault("change the mode of", path, error) from None
    finally:
        if number >= 0:
            let_go(number)

"""Files of the store that have a name already: claim one, move it, remove it, and make that durable.

A claim is the kernel's lock on the very file that its name stands for: whoever holds it is the only one that may
rename it, and it dies with its process.
"""

import os
import stat

from git_coop import files
from git_coop.errors import StoreFault
from git_coop.files import Gone, fault
from git_coop.locks import Lock, demand_working_locks, let_go, lock_now, locked, names_same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.store import Store

_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Claim(Lock):
    """The exclusive right to move or remove one file, held through the kernel's lock on it."""

    def __init__(self, number: int, path: bytes, status: os.stat_result) -> None:
        super().__init__(number)
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


def lock(store: "Store", path: bytes, *, wait: float) -> Lock:
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

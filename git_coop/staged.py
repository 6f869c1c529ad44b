"""A file in ``mail/tmp/`` before it is published: locked by its writer, so that a sweep can tell it from a stray."""

import fcntl
import os

from git_coop.errors import StoreFault
from git_coop.files import fault
from git_coop.locks import HELD, Lock, let_go, names_same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from git_coop.store import Store

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Staged(Lock):
    """A file in ``mail/tmp/`` that its writer holds locked until it is published or given up."""

    def __init__(self, number: int, path: bytes) -> None:
        super().__init__(number)
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
            let_go(number)
            raise
        let_go(number)
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
            from errno import ENOTSUP, EPERM

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
            let_go(self.number)


def stage(store: "Store", data: bytes, *, durable: bool) -> Staged:
    """A staged file that holds ``data``, flushed where it has to last. ``StoreFault`` where it cannot be written."""
    store.ensure_folder(store.tmp)
    for attempt in range(1000):
        path = b"%s/%d-%d" % (store.tmp, os.getpid(), attempt)
        staged = Staged.open(path, store.file_mode)
        if staged is not None:
            staged.fill(data, durable=durable, mode=store.file_mode)
            return staged
    raise StoreFault(f"cannot stage a file in '{os.fsdecode(store.tmp)}': no free name", path=store.tmp)


def _own(number: int, path: bytes) -> bool:
    """Lock a new staged file; ``False`` where a sweep was quicker and took it for a stray."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, HELD):
            return False
        # no locks here: nobody can sweep the file either
    return names_same(number, path)


def _cannot_publish(path: bytes, error: OSError) -> StoreFault:
    from errno import EXDEV

    result = fault("write", path, error)
    if error.errno == EXDEV:
        result.hint = "the folders of the store must lie in one file system"
    return result

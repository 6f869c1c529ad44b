"""The only writer below ``<common-dir>/coop/``: stage, publish, replace. ``claims`` moves and removes for it.

A new file is staged in ``mail/tmp/``, flushed with fsync, and published under a name that did not exist; its
folder is flushed before success is reported. A power cut therefore leaves the whole file or none, and a kill
at any point leaves at most a stray in ``mail/tmp/``, which the next drain removes: the writer holds a lock on
what it stages, and the kernel drops that lock with the process.
"""

import os
import stat

from git_coop import files
from git_coop.errors import Busy, StoreFault
from git_coop.files import fault
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_SMALL = 1 << 16  # bytes of a file that is amended
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

    def read(self, path: bytes, limit: int = 65_536) -> bytes:
        """A whole file of at most ``limit`` bytes. ``Gone``; ``Unreadable`` also where it is a stranger's."""
        return self._admitted(files.read_whole(path, limit), path).data

    def look(self, path: bytes, limit: int) -> files.Contents:
        """The first ``limit`` bytes of a file. ``Gone``; ``Unreadable`` also where it is a stranger's."""
        return self._admitted(files.read_cut(path, limit), path)

    def _admitted(self, contents: files.Contents, path: bytes) -> files.Contents:
        if stranger := self.stranger(contents.owner):
            raise files.Unreadable(stranger, path=path)
        return contents

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
        _flush_above(path)

    def _open_up(self, path: bytes) -> None:
        """Give a new folder the mode that the umask took away (a shared repository only)."""
        if self.dir_mode & 0o077:
            try:
                os.chmod(path, self.dir_mode)
            except OSError as error:
                raise fault("change the mode of", path, error) from None

    def create(self, path: bytes, data: bytes, *, durable: bool = True) -> bool:
        """Publish a new file. ``False``: the name is taken, and nothing was changed."""
        from git_coop.staged import stage

        files.is_folder(os.path.dirname(path))
        with stage(self, data, durable=durable) as staged:
            if not staged.link(path):
                return False
        if durable:
            _flush_above(path)
        return True

    def rewrite(self, path: bytes, data: bytes, *, durable: bool = True) -> None:
        """Put a file in the place of whatever has this name. The caller holds the lock that makes this sound.

        What need not be ``durable`` is written over in place where the size allows: file systems flush what is
        renamed over another file (ext4(5), ``auto_da_alloc``), which is most of what a hook would cost.
        """
        files.is_folder(os.path.dirname(path))
        if not durable and self.amend(path, lambda standing: (0, data) if len(standing) == len(data) else None):
            return
        from git_coop.staged import stage

        with stage(self, data, durable=durable) as staged:
            staged.rename(path)
        if durable:
            _flush_above(path)

    def amend(self, path: bytes, change: "Callable[[bytes], tuple[int, bytes] | None]") -> bool:
        """Write over a part of a small file in place, not durably; whether that was done.

        ``change`` is given what stands there, and says what is to stand at which offset, within it. Who reads the file
        meanwhile may see a mixture, and who was killed leaves one at worst: a marker or a turn that does not match in
        full authorises nothing, so that a message is shown again. A file with another name is left alone, and so is a
        stranger's: the caller puts one of its own in its place.
        """
        try:
            number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or self.stranger(status.st_uid):
                return False
            standing = os.read(number, _SMALL)
            found = change(standing) if status.st_size == len(standing) else None
            return found is not None and os.pwrite(number, found[1], found[0]) == len(found[1])
        except OSError as error:
            raise fault("write", path, error) from None
        finally:
            os.close(number)

    def sweep(self) -> int:
        """Remove what dead writers left in ``mail/tmp/``; how many files that were."""
        removed = 0
        strays = files.names(self.tmp)[:SWEEP_AT_MOST]
        if strays:
            from git_coop.claims import claim, remove
        for name in strays:
            path = self.tmp + b"/" + name
            try:
                with claim(path):
                    remove(path)
                    removed += 1
            except (Busy, StoreFault):
                continue  # somebody is writing it, or it is none of our files: `doctor` names it
        return removed


def _flush_above(path: bytes) -> None:
    from git_coop.claims import sync_folder  # most drains make nothing that has to last

    sync_folder(os.path.dirname(path))

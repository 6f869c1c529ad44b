"""Clients' settings files on the disk. The only module that writes them.

A file is read as bytes of UTF-8 and replaced as a whole: staged beside its target, flushed, and renamed over it only
while the target still holds what was read. Mode, owner and extended attributes stay; a symbolic link stays one and
what it leads to is replaced. A file without a write bit, and one with a second hard link, which a rename would
part, are refused. Writers of ours take turns by a lock on the folder, which dies with the process.

**Folders** that are made for a file carry the sticky bit, which says nothing about a folder whose files have one
owner. Removing the file removes the folders above it that carry it and are empty: one that was there, empty
or not, stays, and nothing has to be remembered elsewhere.
"""

import errno
import fcntl
import os
import stat

from git_coop.errors import Busy, Fatal
from git_coop.files import words
from git_coop.record import Record
from git_coop.settings_json import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Entropy = Callable[[int], bytes]

LIMIT = 64 << 20  # bytes of a settings file that is still read
_STAGE = b".git-coop-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Settings(Record):
    """A settings file as it was read: ``data`` is ``None`` where it is not there. Paths are bytes."""

    path: bytes  # as the client names it
    target: bytes  # what a symbolic link leads to; the same path where there is none
    data: "bytes | None"

    def text(self) -> "str | None":
        """The contents, byte order mark and line ends included. Raises ``Damaged`` where they are not UTF-8."""
        if self.data is None:
            return None
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = self.data[: error.start]
            column = error.start - before.rfind(b"\n")
            raise Damaged("not UTF-8", line=before.count(b"\n") + 1, column=column) from error


def _fatal(action: str, path: bytes, error: OSError) -> Fatal:
    return Fatal(f"cannot {action} '{os.fsdecode(path)}': {words(error)}")


def read(path: bytes) -> Settings:
    """The file at ``path``, through symbolic links; one that leads nowhere is a file that is not there.

    Raises ``Fatal`` where it cannot be read.
    """
    target = os.path.realpath(path)
    try:
        return Settings(path, target, _contents(target))
    except OSError as error:
        raise _fatal("read", path, error) from error


def _contents(target: bytes) -> "bytes | None":
    try:
        number = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if state.st_size > LIMIT:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        parts = []
        while part := os.read(number, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(number)


def write(settings: Settings, data: "bytes | None", entropy: "Entropy") -> None:
    """Make the file hold ``data``, or remove it for ``None``, provided that it still holds what was read.

    Raises ``Busy`` where it changed in the meantime, ``Fatal`` where it cannot be written; then it is as it was.
    """
    if data == settings.data:
        return
    made: list[bytes] = []
    try:
        made = _make_folders(os.path.dirname(settings.target))
        _write_locked(settings, data, entropy)
    except OSError as error:
        _remove_folders(reversed(made))
        raise _fatal("write", settings.path, error) from error
    except BaseException:
        _remove_folders(reversed(made))
        raise
    if data is None:
        _remove_folders(_made_above(settings.target))


def _write_locked(settings: Settings, data: "bytes | None", entropy: "Entropy") -> None:
    folder = os.open(os.path.dirname(settings.target), _FOLDER)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        _sweep(settings.target)
        state = _current(settings)
        if data is None:
            os.unlink(settings.target)
        else:
            _replace(settings, data, state, entropy)
        os.fsync(folder)
    finally:
        os.close(folder)


def _current(settings: Settings) -> "os.stat_result | None":
    """The file's state, ``None`` where it is not there. Raises where it may not or must not be written."""
    if _contents(settings.target) != settings.data:
        name = os.fsdecode(settings.path)
        raise Busy(f"'{name}' changed while it was being edited; nothing was written", hint="try again")
    if settings.data is None:
        return None
    state = os.stat(settings.target)
    if not state.st_mode & 0o222:
        raise OSError(errno.EACCES, "the file is read-only")
    if state.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has a second hard link, which replacing it would part")
    return state


def _replace(settings: Settings, data: bytes, state: "os.stat_result | None", entropy: "Entropy") -> None:
    target = settings.target
    folder, name = os.path.split(target)
    staged = os.path.join(folder, b"." + name + _STAGE + entropy(4).hex().encode())
    number = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if state is None else 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(number, view) :]
            if state is not None:
                _dress(number, target, state)
            os.fsync(number)
        finally:
            os.close(number)
        if _contents(target) != settings.data:
            raise Busy(f"'{os.fsdecode(settings.path)}' changed while it was being edited", hint="try again")
        os.rename(staged, target)
    except BaseException:
        os.unlink(staged)
        raise


def _dress(number: int, target: bytes, state: os.stat_result) -> None:
    """Give the staged file the owner, the mode and the attributes of the one that it replaces."""
    own = os.fstat(number)
    if own.st_uid != state.st_uid:
        os.fchown(number, state.st_uid, -1)  # fails unless privileged: an owner is never changed silently
    if own.st_gid != state.st_gid:
        try:
            os.fchown(number, -1, state.st_gid)
        except PermissionError:
            pass  # a group that the caller is not in; the folder's own group stands
    if hasattr(os, "listxattr"):
        for name in _attributes(target):
            try:
                os.setxattr(number, name, os.getxattr(target, name))
            except OSError:
                pass  # security labels are the system's to set
    os.fchmod(number, stat.S_IMODE(state.st_mode))


def _attributes(target: bytes) -> "list[str]":
    try:
        return os.listxattr(target)
    except OSError:
        return []


def _sweep(target: bytes) -> None:
    """Remove what a writer that was killed left staged; the lock says that no other one is at work."""
    folder, name = os.path.split(target)
    start = b"." + name + _STAGE
    for entry in os.listdir(folder):
        if entry.startswith(start) and len(entry) == len(start) + 8:
            os.unlink(os.path.join(folder, entry))


def _make_folders(folder: bytes) -> "list[bytes]":
    """Make ``folder`` and what is missing above it, with the sticky bit; the answer lists them, outermost first."""
    missing: list[bytes] = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made: list[bytes] = []
    for each in reversed(missing):
        try:
            os.mkdir(each)
        except FileExistsError:
            if not os.path.isdir(each):
                raise
            continue  # another installer made it
        os.chmod(each, stat.S_IMODE(os.stat(each).st_mode) & ~stat.S_IWOTH | stat.S_ISVTX)
        made.append(each)
    return made


def _made_above(path: bytes) -> "Iterator[bytes]":
    """The folders above ``path`` that were made for it, innermost first; one that all may write to is none."""
    folder = os.path.dirname(path)
    while os.stat(folder).st_mode & (stat.S_ISVTX | stat.S_IWOTH) == stat.S_ISVTX:
        yield folder
        folder = os.path.dirname(folder)


def _remove_folders(folders: "Iterator[bytes]") -> None:
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return  # something else lies in it

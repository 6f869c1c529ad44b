"""Reading files that anybody may have put there: no symlink followed, no device waited for, no size trusted.

Everything below ``<common-dir>/coop/`` is read through here. Paths are bytes.
"""

import os
import stat
import sys

from git_coop.errors import StoreFault
from git_coop.record import Record

try:  # Python's own: ``hashlib`` loads OpenSSL, a quarter of an interpreter's start, to hash some bytes of a path
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as _sha256  # type: ignore[import-not-found, unused-ignore]
    else:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from hashlib import sha256 as _sha256

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Gone(StoreFault):
    """The file is not there, or no longer."""


class Unreadable(StoreFault):
    """Something is there that is not a readable regular file; ``reason`` says what, in our words."""

    def __init__(self, reason: str, *, path: bytes, errno: "int | None" = None) -> None:
        super().__init__(f"cannot read '{os.fsdecode(path)}': {reason}", path=path, errno=errno)
        self.reason = reason


class Contents(Record):
    """What was read of a regular file: ``size`` is the file's own, ``data`` may be its start only."""

    data: bytes
    size: int
    mtime: int  # nanoseconds since the epoch
    owner: int  # user id


def sha256(data: bytes) -> str:
    """The SHA-256 of ``data`` as 64 lower-case hex digits: a file is known again by it, a path's name made of it."""
    digest: str = _sha256(data).hexdigest()
    return digest


def fault(action: str, path: bytes, error: OSError) -> StoreFault:
    """The fault for a failed system call: ``cannot <action> '<path>': <the system's words>``."""
    return StoreFault(f"cannot {action} '{os.fsdecode(path)}': {words(error)}", path=path, errno=error.errno)


def words(error: OSError) -> str:
    """The system's own words for an error, in lower case as git prints them after a colon."""
    return (error.strerror or str(error)).lower()


def what_is(mode: int) -> str:
    """Our word for a file type that is not a regular file."""
    for test, word in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISCHR, "a device"),
    ):
        if test(mode):
            return word
    return "not a regular file"


def joined(base: bytes, path: bytes) -> bytes:
    """``path`` seen from ``base``, without ``.`` and ``..`` where that is the same place, as messages show it.

    Behind a symbolic link ``..`` leads elsewhere than its spelling says (path_resolution(7)), and a slash at the end
    demands a directory: such a path stays as it is.
    """
    whole = os.path.join(base, path)
    if b"\0" in whole or whole.endswith(b"/"):
        return whole
    plain = os.path.normpath(whole)
    return plain if os.path.realpath(plain) == os.path.realpath(whole) else whole


def open_regular(path: bytes) -> "tuple[int, os.stat_result]":
    """A descriptor of the regular file at ``path``, and its status; ``Gone`` or ``Unreadable`` otherwise."""
    try:
        number = os.open(path, READ)
    except OSError as error:
        raise _refusal(path, error) from None
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"it is {what_is(status.st_mode)}", path=path)
    except BaseException:
        os.close(number)
        raise
    return number, status


def _refusal(path: bytes, error: OSError) -> StoreFault:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Gone(f"'{os.fsdecode(path)}' is not there", path=path, errno=error.errno)
    from errno import ELOOP  # numbers are looked up where one decides: no drain that goes well loads them

    if error.errno == ELOOP:
        return Unreadable("it is a symbolic link", path=path, errno=error.errno)
    try:  # a socket cannot be opened at all: say what it is rather than ENXIO's words
        mode = os.lstat(path).st_mode
    except OSError:
        mode = stat.S_IFREG
    reason = words(error) if stat.S_ISREG(mode) else f"it is {what_is(mode)}"
    return Unreadable(reason, path=path, errno=error.errno)


def read_open(number: int, limit: int) -> bytes:
    """Up to ``limit`` bytes from the start of an open file."""
    os.lseek(number, 0, os.SEEK_SET)
    parts, left = [], limit
    while left > 0 and (part := os.read(number, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_cut(path: bytes, limit: int) -> Contents:
    """The first ``limit`` bytes of a regular file, however large it is."""
    number, status = open_regular(path)
    try:
        data = read_open(number, limit)
    except OSError as error:
        raise Unreadable(words(error), path=path, errno=error.errno) from None
    finally:
        os.close(number)
    return Contents(data, status.st_size, status.st_mtime_ns, status.st_uid)


def read(path: bytes, limit: int) -> bytes:
    """A whole regular file of at most ``limit`` bytes; a larger one is ``Unreadable``."""
    return read_whole(path, limit).data


def read_whole(path: bytes, limit: int) -> Contents:
    """The same, with what the system knows of the file."""
    contents = read_cut(path, limit + 1)
    if len(contents.data) > limit:
        raise Unreadable(f"it is larger than {limit} bytes", path=path)
    return contents


def read_small(path: bytes, limit: int = 65_536) -> "bytes | None":
    """A small file's bytes, or ``None`` where there is none."""
    try:
        return read(path, limit)
    except Gone:
        return None


def entries(path: bytes) -> "list[str]":
    """The names in a folder as ``os.fsdecode`` gives them, in no order; empty where there is no folder.

    A folder that is a symbolic link, is no folder, or cannot be listed raises ``StoreFault``: an unreadable
    box must never look like an empty one.
    """
    try:
        number = os.open(path, READ | os.O_DIRECTORY)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            return []
        raise _not_a_folder(path, error) from None
    try:
        return os.listdir(number)
    except OSError as error:
        raise fault("list", path, error) from None
    finally:
        os.close(number)


def names(path: bytes) -> "list[bytes]":
    """``entries`` as bytes, to build paths of."""
    return [os.fsencode(name) for name in entries(path)]


def _not_a_folder(path: bytes, error: OSError) -> StoreFault:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return fault("list", path, error)
    if stat.S_ISDIR(mode):
        return fault("list", path, error)
    return StoreFault(
        f"cannot list '{os.fsdecode(path)}': it is {what_is(mode) if not stat.S_ISREG(mode) else 'a file'}", path=path
    )


def is_folder(path: bytes) -> bool:
    """Whether a real folder is there. ``False``: nothing is; anything else in its place is a ``StoreFault``."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise fault("look at", path, error) from None
    if stat.S_ISDIR(mode):
        return True
    kind = "a file" if stat.S_ISREG(mode) else what_is(mode)
    raise StoreFault(f"'{os.fsdecode(path)}' is {kind}, not a folder", path=path)


def is_real_folder(path: bytes) -> bool:
    """Whether a real folder is there, without a word about what is there instead."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def mode(path: bytes) -> int:
    """The permission bits of what has this name; ``StoreFault`` where that cannot be told."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError as error:
        raise fault("look at", path, error) from None


def exists(path: bytes) -> bool:
    """Whether any entry has this name; a broken symbolic link counts."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        if isinstance(error, NotADirectoryError):
            return False
        raise fault("look at", path, error) from None
    return True

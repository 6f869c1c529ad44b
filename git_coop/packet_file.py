"""Packet files: the only place that writes one, and the reader that trusts none.

A packet file is made to be read once, soon: it lies in the temporary directory, 0600, under a name that nobody can have
taken before (``O_EXCL``), and nothing is flushed to the disk for it. Paths are bytes.
"""

import os
from collections.abc import Callable, Mapping

from git_coop import files
from git_coop.errors import Fatal, NotFound, Refused

LIMIT = 16 << 20  # bytes of a packet that is read
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_NAME = 6  # characters, one of which at least is a digit: that is how the letters' guard knows such a name
_ATTEMPTS = 100


def directory(env: Mapping[str, str], cwd: bytes | None) -> bytes:
    """The temporary directory: ``TMPDIR``, else ``/tmp``; absolute, for the path is read in another directory."""
    return os.path.join(cwd or b"/", os.fsencode(env.get("TMPDIR") or "/tmp"))


def mint(entropy: Callable[[int], bytes]) -> bytes:
    """A name ``handoff-XXXXXX.md``."""
    number = int.from_bytes(entropy(8), "big")
    characters = bytearray()
    for _place in range(_NAME):
        number, digit = divmod(number, 36)
        characters.append(_DIGITS[digit])
    if characters.isalpha():
        characters[number % _NAME] = _DIGITS[number % 10]
    return b"handoff-" + bytes(characters[::-1]) + b".md"


def write_fresh(folder: bytes, data: bytes, entropy: Callable[[int], bytes]) -> bytes:
    """Write a packet under a fresh name in the folder; its path. Raises ``Fatal`` where it cannot be written."""
    for _attempt in range(_ATTEMPTS):
        path = os.path.join(folder, mint(entropy))
        if _create(path, data):
            return path
    raise Fatal(f"cannot write a packet to '{os.fsdecode(folder)}': every name tried is taken", hint=_ELSEWHERE)


def write_to(path: bytes, data: bytes) -> None:
    """Write a packet to this path; ``Refused`` where anything has the name, ``Fatal`` where it cannot be written."""
    if not _create(path, data):
        raise Refused(f"'{os.fsdecode(path)}' exists", hint="name a file that does not exist yet")


_ELSEWHERE = "name a place with --file, or another temporary directory with TMPDIR"


def _create(path: bytes, data: bytes) -> bool:
    """A new file with these bytes, whole or not at all; ``False`` where the name is taken."""
    try:
        number = os.open(path, _NEW, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        _fill(number, data)
    except BaseException as error:
        os.unlink(path)
        if isinstance(error, OSError):
            raise _cannot_write(path, error) from None
        raise
    return True


def _fill(number: int, data: bytes) -> None:
    """Write all and close: a close can fail too, where a disk is full behind the network."""
    with open(number, "wb", buffering=0) as stream:
        view = memoryview(data)
        while view:
            view = view[stream.write(view) :]


def _cannot_write(path: bytes, error: OSError) -> Fatal:
    return Fatal(f"cannot write '{os.fsdecode(path)}': {files.words(error)}", hint=_ELSEWHERE)


def read(path: bytes, *, uid: int, limit: int = LIMIT) -> bytes:
    """The bytes of a packet file of this user.

    ``NotFound`` where there is no file; ``Refused`` for a symbolic link, for anything that is no regular file, for the
    file of another user, for one that cannot be read or has more than ``limit`` bytes.
    """
    try:
        number, status = files.open_regular(path)
    except files.Gone as error:
        raise NotFound(error.sentence) from None
    except files.Unreadable as error:
        raise Refused(error.sentence) from None
    try:
        if status.st_uid != uid:
            raise Refused(f"cannot read '{os.fsdecode(path)}': it belongs to another user")
        data = files.read_open(number, limit + 1)
    except OSError as error:
        raise Refused(f"cannot read '{os.fsdecode(path)}': {files.words(error)}") from None
    finally:
        os.close(number)
    if len(data) > limit:
        raise Refused(f"cannot read '{os.fsdecode(path)}': it has more than {limit} bytes")
    return data

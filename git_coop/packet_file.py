"""Packet files: the only place that writes one, and the reader that trusts none.

A packet file is made to be read once, soon: it lies in the temporary directory, 0600, under a name that nobody can have
taken before (``O_EXCL``), and nothing is flushed to the disk for it. Paths are bytes.
"""

import os
from collections.abc import Callable

from git_coop import files, git
from git_coop.edge import Edge
from git_coop.errors import Fatal, NotFound, Refused

LIMIT = 16 << 20  # bytes of a packet that is read
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_NAME = 6  # characters, one of which at least is a digit: that is how the letters' guard knows such a name
_ATTEMPTS = 100


def folder(edge: Edge) -> bytes:
    """The temporary directory: ``TMPDIR``, else ``/tmp``; absolute, for the path is read in another directory."""
    return _absolute(edge.env.get("TMPDIR") or "/tmp", edge)


def _absolute(path: str, edge: Edge) -> bytes:
    return os.path.join(edge.cwd or b"/", os.fsencode(path))


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


def write_fresh(data: bytes, edge: Edge) -> bytes:
    """Write a packet to the temporary directory; its path. Raises ``Fatal`` where it cannot be written."""
    place = folder(edge)
    for _attempt in range(_ATTEMPTS):
        path = os.path.join(place, mint(edge.entropy))
        if _create(path, data):
            return path
    raise Fatal(f"cannot write a packet to '{os.fsdecode(place)}': every name tried is taken", hint=_ELSEWHERE)


def write_to(path: str, data: bytes, edge: Edge) -> bytes:
    """Write a packet to this path; the absolute one.

    ``Refused`` where anything has the name, ``Fatal`` where it cannot be written.
    """
    place = _absolute(path, edge)
    if not _create(place, data):
        hint = "--file names the output, a file that does not exist yet; -F names what is read"
        raise Refused(f"cannot write the packet to '{path}': it exists", hint=hint)
    return place


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


def read(path: str, edge: Edge, *, limit: int = LIMIT) -> bytes:
    """The bytes of a packet file of this user.

    ``NotFound`` where there is no file; ``Refused`` for a symbolic link, for anything that is no regular file, for the
    file of another user, for one that cannot be read or has more than ``limit`` bytes.
    """
    return _read(_absolute(path, edge), limit)


def _read(path: bytes, limit: int) -> bytes:
    try:
        number, status = files.open_regular(path)
    except files.Gone as error:
        raise NotFound(error.sentence) from None
    except files.Unreadable as error:
        raise Refused(error.sentence) from None
    try:
        if status.st_uid != os.geteuid():
            raise Refused(f"cannot read '{os.fsdecode(path)}': it belongs to another user")
        data = files.read_open(number, limit + 1)
    except OSError as error:
        raise Refused(f"cannot read '{os.fsdecode(path)}': {files.words(error)}") from None
    finally:
        os.close(number)
    if len(data) > limit:
        raise Refused(f"cannot read '{os.fsdecode(path)}': it has more than {limit} bytes")
    return data


def edited(template: str, edge: Edge) -> str:
    """What the person makes of the template in the editor that git names.

    The file lies in the temporary directory and goes when its text was read; a text that cannot be read stays there,
    and the error names it. Raises ``GitFailed`` where no editor can be had or it fails, ``Refused`` for no UTF-8.
    """
    path = write_fresh(template.encode(), edge)
    try:
        git.editor(edge.env, edge.cwd, path)
        text = _read(path, LIMIT).decode()
    except UnicodeDecodeError as error:
        kept = f"it is kept in '{os.fsdecode(path)}'"
        raise Refused(f"the edited text is not valid UTF-8 at byte offset {error.start}", hint=kept) from None
    os.unlink(path)
    return text

"""Where things lie in a store, the store's format, and whose box is whose. Reading creates nothing.

``gitcoop-layout(5)`` is the promise that this module keeps. The path of a worktree is its box's address. A worktree
also carries an id in its own git dir, which survives ``git worktree move`` and dies with the worktree; the box records
the ids of its owners, newest last, so that a moved worktree finds what was written for it under its old path.
"""

import os

from git_coop import files
from git_coop.errors import Fatal
from git_coop.files import sha256
from git_coop.record import Record
from git_coop.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from git_coop.discover import Worktree

SLUG = 32
IDENTITY = b"/coop-worktree"
NOBODY = "0" * 16  # stands for the hash of a session, where a drain was given none
FORMAT = b"1\n"
_FOLDERS = (b"mail", b"mail/tmp", b"mail/box", b"letters", b"todos", b"requests")
BOX_FOLDERS = (b"inbox", b"claiming", b"seen", b"expired", b"receipts", b"shown", b"sent")


class UnknownFormat(Fatal):
    """The store was written by a program with another idea of it; nothing is touched."""


def open_store(root: bytes, *, any_format: bool = False) -> "Store | None":
    """The store at ``root``, or ``None`` where there is none.

    Raises ``StoreFault`` where something else is in its place and ``UnknownFormat`` where its format is not
    ours, unless ``any_format`` (``doctor`` and ``hooks`` look at any store).
    """
    if not files.is_folder(root):
        return None
    store = Store(root, files.mode(root) & 0o2777)
    if not any_format:
        _check_format(store)
        for name in _FOLDERS:  # no component of a store may be a symbolic link
            files.is_folder(root + b"/" + name)
    return store


def _check_format(store: Store) -> None:
    found = files.read_small(store.root + b"/format")
    if found is not None and found != FORMAT:  # a store whose making was cut short has none yet
        known = FORMAT.decode().strip()
        what = found[:16].decode("ascii", "replace").strip()
        raise UnknownFormat(
            f"unknown store format '{what}' in '{os.fsdecode(store.root)}'",
            hint=f"this git-coop knows format {known}; a newer one may know this store",
        )


class Box(Record):
    """One worktree's folders in a store. Two boxes are the same box where store and key are."""

    store: Store
    key: str

    @property
    def mail(self) -> bytes:
        return self.store.root + b"/mail/box/" + self.key.encode()

    @property
    def inbox(self) -> bytes:
        return self.mail + b"/inbox"

    @property
    def claiming(self) -> bytes:
        return self.mail + b"/claiming"

    @property
    def seen(self) -> bytes:
        return self.mail + b"/seen"

    @property
    def expired(self) -> bytes:
        return self.mail + b"/expired"

    @property
    def receipts(self) -> bytes:
        return self.mail + b"/receipts"

    @property
    def shown(self) -> bytes:
        return self.mail + b"/shown"

    @property
    def sent(self) -> bytes:
        return self.mail + b"/sent"

    @property
    def owner(self) -> bytes:
        return self.mail + b"/owner"

    @property
    def path_file(self) -> bytes:
        return self.mail + b"/path"

    @property
    def drained(self) -> bytes:
        return self.mail + b"/drained"

    @property
    def letters(self) -> bytes:
        return self.store.root + b"/letters/" + self.key.encode()

    @property
    def todos(self) -> bytes:
        return self.store.root + b"/todos/" + self.key.encode()

    def path(self) -> bytes:
        """The worktree's path as the box records it; empty where the box does not say."""
        return (files.read_small(self.path_file) or b"").removesuffix(b"\n")


def message_path(folder: bytes, identifier: str) -> bytes:
    """The file of a message in a folder of a box."""
    return folder + b"/" + identifier.encode() + b".eml"


def letter_path(box: Box, identifier: str) -> bytes:
    """The record of one letter."""
    return box.letters + b"/" + identifier.encode() + b".toml"


def hashed(session: str) -> str:
    """The name of a session in the store: 16 hex digits of the SHA-256 of its id's bytes.

    A raw session id never becomes a file name: it may be ``../..`` or four thousand characters long.
    """
    return sha256(session.encode("utf-8", "surrogatepass"))[:16]


def session_folder(box: Box, session: str) -> bytes:
    """Where the markers and the turn of a session (its hash) lie."""
    return box.shown + b"/" + session.encode()


def boxes(store: Store) -> "list[Box]":
    """Every box of the store, by key. What has no key for a name or is no folder is none of ours and is left out."""
    above = store.root + b"/mail/box"
    found = [name for name in sorted(files.names(above)) if is_key(name)]
    return [Box(store, name.decode()) for name in found if files.is_real_folder(above + b"/" + name)]


def is_key(name: bytes) -> bool:
    """Whether a folder's name has the shape of a key: a slug, ``-``, 32 hex digits."""
    slug, dash, digits = name.rpartition(b"-")
    plain = slug.replace(b"-", b"")
    return (
        dash == b"-"
        and len(digits) == 32
        and not digits.strip(b"0123456789abcdef")
        and 0 < len(slug) <= 32
        and plain.isalnum()
        and plain == plain.lower()
    )


def key(root: bytes) -> str:
    """The name of the box of the worktree (or directory) whose real path is ``root``."""
    folded = normalised(root)
    return f"{slug(folded)}-{sha256(folded)[:32]}"


def slug(root: bytes) -> str:
    """The last component for human eyes: ASCII letters and digits lowered, runs of anything else one ``-``."""
    last = root.rstrip(b"/").rpartition(b"/")[2].lower().decode("ascii", "replace")
    kept = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in last)
    return "-".join(kept.split())[:SLUG].strip("-") or "box"


def normalised(root: bytes) -> bytes:
    """The bytes that are hashed: case folded and Unicode composed only where the file system really does so.

    Each component is probed, for mounts differ: where its name with the other case (or the other composition)
    is the same directory, the file system does not keep the two apart.
    """
    above, parts = b"", []
    for part in root.split(b"/")[1:]:
        parts.append(_normalised_part(above, part))
        above += b"/" + part
    return b"/" + b"/".join(parts)


def _normalised_part(above: bytes, part: bytes) -> bytes:
    text = os.fsdecode(part)
    other_case = os.fsencode(_each(text, str.swapcase))
    folds = other_case != part and same(above + b"/" + part, above + b"/" + other_case)
    if part.isascii():
        return part.lower() if folds else part
    from unicodedata import normalize  # only a name that is not ASCII pays for it

    composed = normalize("NFC", text)
    forms = {os.fsencode(form) for form in (composed, normalize("NFD", text))} - {part}
    if any(same(above + b"/" + part, above + b"/" + form) for form in forms):
        text = composed
    return os.fsencode(_each(text, str.casefold) if folds else text)


def _each(text: str, change: "Callable[[str], str]") -> str:
    """Every character changed alone, where one character comes of it: file systems fold so, and keep ``ß`` apart."""
    if text.isascii():
        return change(text)
    return "".join(new if len(new := change(old)) == 1 else old for old in text)


def same(one: bytes, other: bytes) -> bool:
    """Whether two paths name one file."""
    try:
        first, second = os.lstat(one), os.lstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


class Opened(Record):
    """A box that is ready to be written, and what was found on the way that a person should be told."""

    box: Box
    notes: "tuple[str, ...]" = ()


def identity_file(worktree: "Worktree") -> bytes:
    """Where a worktree keeps its coop id: in its own git dir, which moves and dies with it."""
    return worktree.git_dir + IDENTITY


def identity(worktree: "Worktree") -> str:
    """The worktree's coop id; empty where none was minted yet, or what stands there is none."""
    return id_in(worktree.git_dir)


def id_in(git_dir: bytes) -> str:
    """The coop id of the worktree with this git dir; empty for none."""
    from git_coop import ids

    line = _id_line(git_dir)
    return line if ids.is_id(line) else ""


def _id_line(git_dir: bytes) -> str:
    return (files.read_small(git_dir + IDENTITY, 256) or b"").decode("ascii", "replace").strip()


def owners(box: Box) -> "list[str]":
    """The coop ids of the worktrees that had this address, newest last."""
    return [word for word in (files.read_small(box.owner) or b"").decode("ascii", "replace").split("\n") if word]


def is_inherited(box: Box, identifier: str) -> bool:
    """Whether a letter or message was written for an earlier worktree at this path.

    A coop id begins with the time it was minted at, as every id does.
    """
    from git_coop import ids

    ours = owners(box)
    return len(ours) > 1 and identifier[: ids.STAMP] < ours[-1][: ids.STAMP]


def settled(store: Store, worktree: "Worktree") -> "Box | None":
    """The box at the worktree's address where it is the worktree's: nearly always. Else ``moves`` knows more.

    What the owner's line says is an id, so what equals it is one.
    """
    box = Box(store, key(worktree.root))
    files.is_folder(box.mail)
    mine = _id_line(worktree.git_dir)
    return box if mine and last_owner(box) == mine else None


def last_owner(box: Box) -> str:
    """The coop id of the worktree that has the address; empty for none."""
    return (owners(box) or [""])[-1]


def is_whole(box: Box) -> bool:
    """Whether every folder of the box is there, and its path."""
    folders = [box.mail, *(box.mail + b"/" + folder for folder in BOX_FOLDERS)]
    return all(files.is_folder(folder) for folder in folders) and files.exists(box.path_file)

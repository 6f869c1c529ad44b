"""Whose box: the key of a worktree and its identity.

The path is the address. A worktree also carries an id in its own git dir, which survives ``git worktree move``
and dies with the worktree; the box records the ids of its owners, newest last, so that a moved worktree finds
what was written for it under its old path.
"""

import os

from git_coop import files, ids
from git_coop.digest import sha256
from git_coop.layout import BOX_FOLDERS, Box
from git_coop.record import Record
from git_coop.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from git_coop.discover import Worktree
    from git_coop.locks import Lock

LOCK_WAIT = 10.0  # seconds; after that the command says busy
SLUG = 32
IDENTITY = b"/coop-worktree"


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
    line = (files.read_small(git_dir + IDENTITY, 256) or b"").decode("ascii", "replace").strip()
    return line if ids.is_id(line) else ""


def owners(box: Box) -> "list[str]":
    """The coop ids of the worktrees that had this address, newest last."""
    return [word for word in (files.read_small(box.owner) or b"").decode("ascii", "replace").split("\n") if word]


def is_inherited(box: Box, identifier: str) -> bool:
    """Whether a letter or message was written for an earlier worktree at this path.

    A coop id begins with the time it was minted at, as every id does.
    """
    ours = owners(box)
    return len(ours) > 1 and identifier[: ids.STAMP] < ours[-1][: ids.STAMP]


def settled(store: Store, worktree: "Worktree") -> "Box | None":
    """The box at the worktree's address where it is the worktree's: nearly always. Else ``moves`` knows more."""
    box = Box(store, key(worktree.root))
    files.is_folder(box.mail)
    mine = identity(worktree)
    return box if mine and last_owner(box) == mine else None


def last_owner(box: Box) -> str:
    """The coop id of the worktree that has the address; empty for none."""
    return (owners(box) or [""])[-1]


def open_outside(store: Store, directory: bytes) -> Box:
    """The box of a directory that is in no repository; it has an address and no identity."""
    box = Box(store, key(directory))
    if not is_whole(box):
        with lock_boxes(store):
            make_folders(box, directory)
    return box


def place_box(store: Store, name: str, directory: bytes) -> Box:
    """The box with this key, made where it is missing and said to be at ``directory``: for what is restored."""
    box = Box(store, name)
    if not is_whole(box):
        with lock_boxes(store):
            make_folders(box, directory)
    return box


def lock_boxes(store: Store) -> "Lock":
    """The lock under which boxes are made and owners change."""
    from git_coop.claims import lock

    store.ensure_folder(store.root + b"/mail/box")
    return lock(store, store.root + b"/mail/box/.lock", wait=LOCK_WAIT)


def is_whole(box: Box) -> bool:
    """Whether every folder of the box is there, and its path."""
    folders = [box.mail, *(box.mail + b"/" + folder for folder in BOX_FOLDERS)]
    return all(files.is_folder(folder) for folder in folders) and files.exists(box.path_file)


def make_folders(box: Box, root: bytes) -> None:
    """Make what is missing of a box at ``root``, under ``lock_boxes``."""
    for folder in BOX_FOLDERS:
        box.store.ensure_folder(box.mail + b"/" + folder)
    if not files.exists(box.path_file):
        box.store.create(box.path_file, root + b"\n")

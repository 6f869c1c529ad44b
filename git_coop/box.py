"""Whose box: the key of a worktree, its identity, and what happens when it moves.

The path is the address. A worktree also carries an id in its own git dir, which survives ``git worktree move``
and dies with the worktree; the box records the ids of its owners, newest last, so that a moved worktree finds
what was written for it under its old path.
"""

import os

from git_coop import discover, files
from git_coop.digest import sha256
from git_coop.errors import CoopError
from git_coop.layout import BOX_FOLDERS, Box, boxes
from git_coop.record import Record
from git_coop.store import Lock, Store, carry, lock, remove, remove_folder, sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.discover import Worktree

LOCK_WAIT = 10.0  # seconds; after that the command says busy
SLUG = 32


def key(root: bytes) -> str:
    """The name of the box of the worktree (or directory) whose real path is ``root``."""
    return f"{slug(root)}-{sha256(normalised(root))[:32]}"


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
    other_case = part.swapcase()
    folds = other_case != part and _same(above + b"/" + part, above + b"/" + other_case)
    if part.isascii():
        return part.lower() if folds else part
    from unicodedata import normalize  # only a name that is not ASCII pays for it

    text = os.fsdecode(part)
    composed = normalize("NFC", text)
    forms = {os.fsencode(form) for form in (composed, normalize("NFD", text))} - {part}
    if any(_same(above + b"/" + part, above + b"/" + form) for form in forms):
        text = composed
    return os.fsencode(text.lower() if folds else text)


def _same(one: bytes, other: bytes) -> bool:
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
    return worktree.git_dir + b"/coop-worktree"


def identity(worktree: "Worktree") -> str:
    """The worktree's coop id; empty where none was minted yet."""
    return _line(files.read_small(identity_file(worktree), 256))


def owners(box: Box) -> "list[str]":
    """The coop ids of the worktrees that had this address, newest last."""
    return [word for word in (files.read_small(box.owner) or b"").decode("ascii", "replace").split("\n") if word]


def _line(data: "bytes | None") -> str:
    return (data or b"").decode("ascii", "replace").strip()


def is_inherited(box: Box, identifier: str) -> bool:
    """Whether a letter or message was written for an earlier worktree at this path.

    A coop id begins with the time it was minted at, as every id does.
    """
    ours = owners(box)
    return len(ours) > 1 and identifier < ours[-1]


def locate(store: Store, worktree: "Worktree") -> Box:
    """The box to look at, without changing anything: a moved worktree's old one while it was not adopted yet."""
    own = Box(store, key(worktree.root))
    mine = identity(worktree)
    if mine and owners(own)[-1:] != [mine]:
        for other in boxes(store):
            if other != own and owners(other)[-1:] == [mine] and not _is_home(other, mine):
                return other
    return own


def open_box(store: Store, worktree: "Worktree", fresh: str) -> Opened:
    """The worktree's box, made where it is missing, with what a move left under an earlier path brought over.

    Used by sender and recipient alike. ``fresh`` is a new id, taken where the worktree needs one. The line in
    ``owner`` is written last, so that a kill on the way makes the next opening do the rest.
    """
    box = Box(store, key(worktree.root))
    mine = identity(worktree)
    if mine and owners(box)[-1:] == [mine]:
        return Opened(box)
    with lock_boxes(store):
        return _settle(box, worktree, fresh)


def open_outside(store: Store, directory: bytes) -> Box:
    """The box of a directory that is in no repository; it has an address and no identity."""
    box = Box(store, key(directory))
    if not files.exists(box.path_file):
        with lock_boxes(store):
            _make_folders(box, directory)
    return box


def lock_boxes(store: Store) -> Lock:
    """The lock under which boxes are made and owners change."""
    store.ensure_folder(store.root + b"/mail/box")
    return lock(store, store.root + b"/mail/box/.lock", wait=LOCK_WAIT)


def _settle(box: Box, worktree: "Worktree", fresh: str) -> Opened:
    _make_folders(box, worktree.root)
    mine = identity(worktree) or _give(box.store, worktree, fresh)
    if owners(box)[-1:] == [mine]:
        return Opened(box)
    notes = []
    for other in boxes(box.store):
        if other == box or owners(other)[-1:] != [mine]:
            continue
        if _is_home(other, mine):  # this clone or worktree was copied, id and all
            mine = _give(box.store, worktree, fresh)
            break
        notes.append(f"moved from {os.fsdecode(other.path())}")
        adopt(other, box, mine)
    lines = [line for line in owners(box) if line != mine] + [mine]
    box.store.rewrite(box.owner, "".join(f"{line}\n" for line in lines).encode())
    return Opened(box, tuple(notes))


def _make_folders(box: Box, root: bytes) -> None:
    for folder in BOX_FOLDERS:
        box.store.ensure_folder(box.mail + b"/" + folder)
    if not files.exists(box.path_file):
        box.store.create(box.path_file, root + b"\n")


def _give(store: Store, worktree: "Worktree", fresh: str) -> str:
    """A new id for the worktree, under the lock; an id that stands there was copied and is replaced."""
    store.rewrite(identity_file(worktree), f"{fresh}\n".encode())
    return fresh


def _is_home(box: Box, mine: str) -> bool:
    """Whether the box's path still is a worktree with this id."""
    path = box.path()
    if not path:
        return False
    try:
        there = discover.find(path, {})
    except CoopError:
        return False
    return there.root == path and identity(there) == mine


def adopt(old: Box, new: Box, mine: str) -> None:
    """Bring what lies in ``old`` over to ``new``, letters under both locks, then give up the old address."""
    for folder in sorted((old.letters, new.letters)):
        old.store.ensure_folder(folder)
    first, second = sorted((old.letters, new.letters))
    with lock(old.store, first + b"/.lock", wait=LOCK_WAIT), lock(old.store, second + b"/.lock", wait=LOCK_WAIT):
        _bring(new.store, old.letters, new.letters)
    _bring(new.store, old.todos, new.todos)
    for folder in BOX_FOLDERS:
        source, target = old.mail + b"/" + folder, new.mail + b"/" + folder
        if folder == b"shown":
            for session in files.names(source):
                _bring(new.store, source + b"/" + session, target + b"/" + session)
                remove_folder(source + b"/" + session)
        else:
            _bring(new.store, source, target)
    left = [line for line in owners(old) if line != mine]
    old.store.rewrite(old.owner, "".join(f"{line}\n" for line in left).encode())
    _clear(old)


def _bring(store: Store, source: bytes, target: bytes) -> None:
    """Move every file of a folder, never over another; the lock file stays."""
    names = [name for name in files.names(source) if name != b".lock"]
    if not names:
        return
    store.ensure_folder(target)
    for name in names:
        carry(source + b"/" + name, target + b"/" + name)
    sync_folder(target)
    sync_folder(source)


def _clear(old: Box) -> None:
    """Remove an emptied box; one that got mail in between stays, and is listed as an orphan."""
    for folder in BOX_FOLDERS:
        if not remove_folder(old.mail + b"/" + folder):
            return
    for name in (old.drained, old.path_file, old.owner):
        remove(name)
    remove_folder(old.mail)

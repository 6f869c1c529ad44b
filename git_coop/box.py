"""Whose box: the key of a worktree, its identity, and what happens when it moves.

The path is the address. A worktree also carries an id in its own git dir, which survives ``git worktree move``
and dies with the worktree; the box records the ids of its owners, newest last, so that a moved worktree finds
what was written for it under its old path.
"""

import os

from git_coop import discover, files, ids
from git_coop.digest import sha256
from git_coop.errors import CoopError, StoreFault
from git_coop.layout import BOX_FOLDERS, Box, boxes
from git_coop.locks import Lock
from git_coop.record import Record
from git_coop.store import Store, carry, lock, remove, remove_folder, sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from git_coop.discover import Worktree

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
    folds = other_case != part and _same(above + b"/" + part, above + b"/" + other_case)
    if part.isascii():
        return part.lower() if folds else part
    from unicodedata import normalize  # only a name that is not ASCII pays for it

    composed = normalize("NFC", text)
    forms = {os.fsencode(form) for form in (composed, normalize("NFD", text))} - {part}
    if any(_same(above + b"/" + part, above + b"/" + form) for form in forms):
        text = composed
    return os.fsencode(_each(text, str.casefold) if folds else text)


def _each(text: str, change: "Callable[[str], str]") -> str:
    """Every character changed alone, where one character comes of it: file systems fold so, and keep ``ß`` apart."""
    if text.isascii():
        return change(text)
    return "".join(new if len(new := change(old)) == 1 else old for old in text)


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
    return worktree.git_dir + IDENTITY


def identity(worktree: "Worktree") -> str:
    """The worktree's coop id; empty where none was minted yet, or what stands there is none."""
    return _id_in(worktree.git_dir)


def _id_in(git_dir: bytes) -> str:
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


def locate(store: Store, worktree: "Worktree") -> Box:
    """The box to look at, without changing anything: a moved worktree's old one while it was not adopted yet."""
    own = Box(store, key(worktree.root))
    files.is_folder(own.mail)
    mine, last = identity(worktree), _last_owner(own)
    if mine != last:
        for other in _boxes_of(mine, own):
            if _home(other, mine) is None:
                return other
        if last and _moved_on(worktree, last):
            return _parking(own, mine)  # what lies here waits for another worktree; this one has nothing yet
    return own


def _last_owner(box: Box) -> str:
    return (owners(box) or [""])[-1]


def _boxes_of(mine: str, own: Box) -> "Iterator[Box]":
    """The other boxes whose last owner is ``mine``. One that cannot be read hides no other."""
    for other in boxes(own.store) if mine else ():
        try:
            if other != own and _last_owner(other) == mine:
                yield other
        except StoreFault:
            continue


def open_box(store: Store, worktree: "Worktree", fresh: str) -> Opened:
    """The worktree's box, made where it is missing, with what a move left under an earlier path brought over.

    Used by sender and recipient alike. ``fresh`` is a new id, taken where the worktree needs one. The line in
    ``owner`` is written last, so that a kill on the way makes the next opening do the rest.
    """
    box = Box(store, key(worktree.root))
    mine = identity(worktree)
    if mine and _last_owner(box) == mine and _is_whole(box):
        return Opened(box)
    with lock_boxes(store):
        return _settle(box, worktree, fresh)


def open_outside(store: Store, directory: bytes) -> Box:
    """The box of a directory that is in no repository; it has an address and no identity."""
    box = Box(store, key(directory))
    if not _is_whole(box):
        with lock_boxes(store):
            _make_folders(box, directory)
    return box


def place_box(store: Store, name: str, directory: bytes) -> Box:
    """The box with this key, made where it is missing and said to be at ``directory``: for what is restored."""
    box = Box(store, name)
    if not _is_whole(box):
        with lock_boxes(store):
            _make_folders(box, directory)
    return box


def lock_boxes(store: Store) -> Lock:
    """The lock under which boxes are made and owners change."""
    store.ensure_folder(store.root + b"/mail/box")
    return lock(store, store.root + b"/mail/box/.lock", wait=LOCK_WAIT)


def _settle(box: Box, worktree: "Worktree", fresh: str) -> Opened:
    _make_folders(box, worktree.root)
    mine, last = identity(worktree), _last_owner(box)
    if last and last != mine and _moved_on(worktree, last):
        _park(box, last)
        _make_folders(box, worktree.root)
    mine = mine or _give(box.store, worktree, fresh)
    if _last_owner(box) == mine:
        return Opened(box)
    notes = []
    for other in list(_boxes_of(mine, box)):
        there = _home(other, mine)
        if there is None:
            former = other.path()  # none where an adoption was cut short at its very end
            notes += [f"moved from {os.fsdecode(former)}"] if former else []
            adopt(other, box, mine)
            _clear(_parking(other, mine))  # where a kill cut short the making of one
        elif not _is_one(there, worktree):  # this clone was copied, id and all
            mine = _give(box.store, worktree, fresh)
            break
    _write_owners(box, [line for line in owners(box) if line != mine] + [mine])
    return Opened(box, tuple(notes))


def _write_owners(box: Box, lines: "list[str]") -> None:
    box.store.rewrite(box.owner, "".join(f"{line}\n" for line in lines).encode())


def _is_whole(box: Box) -> bool:
    folders = [box.mail, *(box.mail + b"/" + folder for folder in BOX_FOLDERS)]
    return all(files.is_folder(folder) for folder in folders) and files.exists(box.path_file)


def _moved_on(worktree: "Worktree", identifier: str) -> bool:
    """Whether another worktree of the clone carries this id: it moved, and this one was made where it had been."""
    admin = worktree.common_dir + b"/worktrees"
    try:
        others = [worktree.common_dir, *(admin + b"/" + name for name in files.names(admin))]
        return any(_id_in(other) == identifier and _stands(other) for other in others if other != worktree.git_dir)
    except StoreFault:
        return False


def _stands(git_dir: bytes) -> bool:
    """Whether the worktree of a git dir is where that says it is (gitrepository-layout(5)); the main one always is."""
    link = (files.read_small(git_dir + b"/gitdir") or b"").rstrip(b"\r\n")
    return not link or os.path.exists(os.path.join(git_dir, link))


def _parking(box: Box, identifier: str) -> Box:
    """Where a box waits for the worktree with this id, when another one took its place."""
    return Box(box.store, f"{box.key[:-33]}-{sha256(identifier.encode())[:32]}")


def _park(box: Box, identifier: str) -> None:
    """Clear an address for another worktree. The one that moved on finds its box by its id, as after any move."""
    parked = _parking(box, identifier)
    _make_folders(parked, box.path())
    _write_owners(parked, owners(box))
    adopt(box, parked, identifier)


def _make_folders(box: Box, root: bytes) -> None:
    for folder in BOX_FOLDERS:
        box.store.ensure_folder(box.mail + b"/" + folder)
    if not files.exists(box.path_file):
        box.store.create(box.path_file, root + b"\n")


def _give(store: Store, worktree: "Worktree", fresh: str) -> str:
    """A new id for the worktree, under the lock; an id that stands there was copied and is replaced."""
    store.rewrite(identity_file(worktree), f"{fresh}\n".encode())
    return fresh


def _home(box: Box, mine: str) -> "Worktree | None":
    """The worktree at the box's path, where it still is one with this id."""
    path = box.path()
    try:
        there = discover.find(path, {}) if path else None
        return there if there is not None and there.root == path and identity(there) == mine else None
    except CoopError:
        return None


def _is_one(one: "Worktree", other: "Worktree") -> bool:
    """Whether two roots share one git dir: a bind mount, or a folder copied with its link. They share the id too."""
    return _same(identity_file(one), identity_file(other))


def adopt(old: Box, new: Box, mine: str) -> None:
    """Bring what lies in ``old`` over to ``new``, letters under both locks, then give up the old address."""
    if files.names(old.letters):
        _bring_letters(old, new)
    _bring(new.store, old.todos, new.todos)
    for folder in BOX_FOLDERS:
        source, target = old.mail + b"/" + folder, new.mail + b"/" + folder
        if folder == b"shown":
            for session in files.names(source):
                _bring(new.store, source + b"/" + session, target + b"/" + session)
                remove_folder(source + b"/" + session)
        else:
            _bring(new.store, source, target)
    if not _clear(old):
        _write_owners(old, [line for line in owners(old) if line != mine])


def _bring_letters(old: Box, new: Box) -> None:
    new.store.ensure_folder(new.letters)
    first, second = sorted((old.letters, new.letters))
    with lock(old.store, first + b"/.lock", wait=LOCK_WAIT), lock(old.store, second + b"/.lock", wait=LOCK_WAIT):
        _bring(new.store, old.letters, new.letters)


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


def _clear(old: Box) -> bool:
    """Remove an emptied box, its owner last: a kill on the way leaves it to the next opening, which does the rest.

    ``False``: it got mail in between, stays, and is listed as an orphan.
    """
    for folder in BOX_FOLDERS:
        if not remove_folder(old.mail + b"/" + folder):
            return False
    for name in (old.drained, old.path_file, old.owner):
        remove(name)
    remove_folder(old.mail)
    return True

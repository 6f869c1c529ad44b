"""What happens to a box when its worktree moves, is copied, or when another takes its place.

A worktree is known by the id in its own git dir. Its box is brought over from an earlier path when it is first opened
at the new one; the line in ``owner`` is written last, so that a kill on the way makes the next opening do the rest.
"""

import os
from errno import EACCES, ELOOP, ENOENT, ENOTDIR, ENXIO, EPERM

from git_coop import discover, files, layout, making
from git_coop.claims import carry, lock, remove, remove_folder, sync_folder
from git_coop.errors import CoopError, StoreFault
from git_coop.files import sha256
from git_coop.layout import BOX_FOLDERS, Box, Opened, id_in, identity, identity_file, last_owner, owners, same
from git_coop.layout import boxes as every_box
from git_coop.making import LOCK_WAIT, make_folders
from git_coop.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_coop.discover import Worktree


# Why a file cannot be read that never will be: it is a link, a socket, no file at all, or not for us to read.
_FOR_GOOD = (None, ELOOP, ENXIO, EACCES, EPERM)


def locate(store: Store, worktree: "Worktree") -> Box:
    """The box to look at, without changing anything: a moved worktree's old one while it was not adopted yet."""
    own = Box(store, layout.key(worktree.root))
    files.is_folder(own.mail)
    mine, last = identity(worktree), last_owner(own)
    if mine != last:
        for other in _boxes_of(mine, own):
            if _home(other, mine) is None:
                return other
        if last and _moved_on(worktree, last):
            return _parking(own, mine)  # what lies here waits for another worktree; this one has nothing yet
    return own


def open_box(store: Store, worktree: "Worktree", fresh: str) -> Opened:
    """The worktree's box, made where it is missing, with what a move left under an earlier path brought over.

    Used by sender and recipient alike. ``fresh`` is a new id, taken where the worktree needs one. The line in
    ``owner`` is written last, so that a kill on the way makes the next opening do the rest.
    """
    box = layout.settled(store, worktree)
    if box is not None and layout.is_whole(box):
        return Opened(box)
    with making.lock_boxes(store):
        return _settle(Box(store, layout.key(worktree.root)), worktree, fresh)


def _settle(box: Box, worktree: "Worktree", fresh: str) -> Opened:
    make_folders(box, worktree.root)
    mine, last = identity(worktree), last_owner(box)
    if last and last != mine and _moved_on(worktree, last):
        _park(box, last)
        make_folders(box, worktree.root)
    mine = mine or _give(box.store, worktree, fresh)
    if last_owner(box) == mine:
        return Opened(box)
    notes: list[str] = []
    unknown: list[Box] = []
    for other in list(_boxes_of(mine, box, unknown)):
        there = _home(other, mine)
        if there is None:
            former = other.path()  # none where an adoption was cut short at its very end
            notes += [f"moved from {os.fsdecode(former)}"] if former else []
            adopt(other, box, mine)
            _clear(_parking(other, mine))  # where a kill cut short the making of one
        elif not _is_one(there, worktree):  # this clone was copied, id and all
            mine = _give(box.store, worktree, fresh)
            break
    if not unknown:  # one of those may be the box of before: without the line, the next opening looks again
        _write_owners(box, [line for line in owners(box) if line != mine] + [mine])
    return Opened(box, tuple(notes))


def _write_owners(box: Box, lines: "list[str]") -> None:
    box.store.rewrite(box.owner, "".join(f"{line}\n" for line in lines).encode())


def _boxes_of(mine: str, own: Box, unknown: "list[Box] | None" = None) -> "Iterator[Box]":
    """The other boxes whose last owner is ``mine``. One that cannot be read hides no other.

    ``unknown`` gets those that could not be read just now, as opposed to those that nobody here ever can.
    """
    for other in every_box(own.store) if mine else ():
        try:
            if other != own and last_owner(other) == mine:
                yield other
        except StoreFault as error:
            if unknown is not None and error.errno not in _FOR_GOOD:
                unknown.append(other)


def _give(store: Store, worktree: "Worktree", fresh: str) -> str:
    """A new id for the worktree, under the lock; an id that stands there was copied and is replaced."""
    store.rewrite(identity_file(worktree), f"{fresh}\n".encode())
    return fresh


def alive(store: Store) -> frozenset[str]:
    """The coop ids of the worktrees that the store's clone has now; one whose folder is gone is none any more."""
    homes = _git_dirs(os.path.dirname(store.root))
    return frozenset(found for home in homes if _stands(home) and (found := _id_of(home)))


def _git_dirs(common_dir: bytes) -> "list[bytes]":
    above = common_dir + b"/worktrees"
    return [common_dir, *(above + b"/" + name for name in files.names(above))]


def _moved_on(worktree: "Worktree", identifier: str) -> bool:
    """Whether another worktree of the clone carries this id: it moved, and this one was made where it had been."""
    others = [other for other in _git_dirs(worktree.common_dir) if other != worktree.git_dir]
    return any(_carries(other, identifier) and _stands(other) for other in others)


def _carries(git_dir: bytes, identifier: str) -> bool:
    return _id_of(git_dir) == identifier


def _id_of(git_dir: bytes) -> str:
    """The id in a git dir; empty for none. Raises ``StoreFault`` where that cannot be seen just now."""
    try:
        return id_in(git_dir)
    except StoreFault as error:
        if error.errno in _FOR_GOOD:
            return ""
        raise


def _stands(git_dir: bytes) -> bool:
    """Whether the worktree of a git dir is where that says it is (gitrepository-layout(5)); the main one always is.

    What stands there must say the same: the admin folder of a clone that was copied names the worktree of another.
    """
    link = (files.read_small(git_dir + b"/gitdir") or b"").rstrip(b"\r\n")
    if not link:
        return True
    try:
        return discover.opened(os.path.join(git_dir, link)) == os.path.realpath(git_dir)
    except discover.CannotLook:
        return True  # nothing is known of it
    except CoopError:
        return False


def _parking(box: Box, identifier: str) -> Box:
    """Where a box waits for the worktree with this id, when another one took its place."""
    return Box(box.store, f"{box.key[:-33]}-{sha256(identifier.encode())[:32]}")


def _park(box: Box, identifier: str) -> None:
    """Clear an address for another worktree. The one that moved on finds its box by its id, as after any move."""
    parked = _parking(box, identifier)
    make_folders(parked, box.path())
    _write_owners(parked, owners(box))
    adopt(box, parked, identifier)


def _home(box: Box, mine: str) -> "Worktree | None":
    """The worktree at the box's path, where it still is one with this id. What cannot be seen just now is not gone."""
    path = box.path()
    try:
        there = discover.find(path, {}) if path else None
    except discover.CannotLook as error:
        if error.errno in (*_FOR_GOOD, ENOENT, ENOTDIR):
            return None
        raise
    except CoopError:
        return None
    return there if there is not None and there.root == path and identity(there) == mine else None


def _is_one(one: "Worktree", other: "Worktree") -> bool:
    """Whether two roots share one git dir: a bind mount, or a folder copied with its link. They share the id too."""
    return same(identity_file(one), identity_file(other))


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

"""Boxes whose worktree is gone: what still waits in them, and which of their letters somebody took over.

A letter is closed by the next session of its own worktree. Where that is gone nobody is left to do it, and the letter
stays as it is for ever; whoever goes on with it writes a letter of the own worktree's, whose ``adopted_from`` ends in
its id.
"""

import os
from collections.abc import Iterable

from git_coop import discover, files, ids, inbox, layout, letter_glance, letterbox, moves
from git_coop.errors import CoopError, StoreFault
from git_coop.layout import Box
from git_coop.letter_record import decode
from git_coop.place import Place
from git_coop.record import Record
from git_coop.store import Store
from git_coop.toml import LIMIT

LOOKED_AT = 64  # boxes whose directory is looked for at a glance


class Left(Record):
    """Boxes without a directory in which something waits: how many, the mail, and the live letters in them."""

    boxes: int = 0
    mail: int = 0
    letters: int = 0


def taken(store: Store) -> frozenset[str]:
    """The ids of letters that a letter of this store was adopted from. What cannot be read adopts nothing."""
    found = set()
    for box in letterbox.shelves(store):
        for identifier in letter_glance.known(box):
            path = layout.letter_path(box, identifier)
            try:
                data = files.read(path, LIMIT)
                origin = decode(data, path, identifier).adopted_from if b"adopted_from" in data else None
            except StoreFault:
                continue
            found.add((origin or "").rpartition("/")[2])
    return frozenset(name for name in found if ids.is_id(name))


def identities(paths: Iterable[bytes]) -> dict[str, bytes]:
    """The worktrees at these paths by their coop ids: what a move left under an old path still has an owner."""
    found = {}
    for path in paths:
        try:
            worktree = discover.find(path, {})
            found[layout.identity(worktree)] = worktree.root
        except CoopError:
            continue
    found.pop("", None)
    return found


def left(place: Place, store: Store) -> Left:
    """What waits for nobody, among the first boxes of the store.

    Without git's list of worktrees: a glance starts no process. Raises ``StoreFault`` for a box that cannot be listed.
    """
    own = place.look(store)
    gone = [box for box in layout.boxes(store)[:LOOKED_AT] if box != own and _is_nowhere(box)]
    live = {box.key: letter for box in gone if (letter := _live(box))}
    mail = {box.key: _waiting(box) for box in gone}
    if not live and not any(mail.values()):
        return Left()
    alive = moves.alive(store)
    adopted = taken(store) if live else frozenset()
    gone = [box for box in gone if not alive.intersection(layout.owners(box)[-1:])]
    letters = {box.key for box in gone if box.key in live and live[box.key] not in adopted}
    held = [box for box in gone if mail[box.key] or box.key in letters]
    return Left(len(held), sum(mail[box.key] for box in held), len(letters))


def _is_nowhere(box: Box) -> bool:
    path = box.path()
    return bool(path) and not os.path.isdir(path)


def _live(box: Box) -> str:
    """The id of the live letter; empty for none. One that cannot be read is not none."""
    try:
        found = letterbox.live(box)
    except StoreFault:
        return (letter_glance.known(box) or [""])[-1]
    return found.id if found is not None else ""


def _waiting(box: Box) -> int:
    return sum(len(inbox.listed(folder).ids) for folder in (box.inbox, box.claiming))

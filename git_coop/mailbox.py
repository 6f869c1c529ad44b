"""What lies in boxes, for those who look: counted by names, listed, found by id. Nothing here changes anything.

A count opens no message: the names in a folder say how many there are and how old the oldest is, and the names of
the markers how often something was shown. A list opens each message that it lists once, and reads the start of it.
"""

import os
from errno import ENOENT, ENOTDIR
from typing import TYPE_CHECKING, TypeVar

from git_coop import discover, drained, files, ids, inbox, layout, message, moves, receipts
from git_coop.errors import CoopError, NotFound, StoreFault
from git_coop.inbox import Listing
from git_coop.layout import Box, message_path
from git_coop.layout import boxes as all_boxes
from git_coop.letters import first_line
from git_coop.message import Message
from git_coop.receipts import Receipt
from git_coop.record import Record
from git_coop.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from git_coop.drained import Last

T = TypeVar("T")

INBOX, STRANDED, SEEN, EXPIRED = "inbox", "stranded", "seen", "expired"
STATES = (INBOX, STRANDED, SEEN, EXPIRED)
OPEN = (INBOX, STRANDED)  # what still waits for somebody
_CHUNK = 1 << 20
_START = 4096  # characters of a body that a list looks into


class Tally(Record):
    """A box by the names in it. A folder that cannot be listed has no count, and its fault is named.

    ``shown`` of the messages in the inbox were shown to a session and not consumed, ``showings`` times in all.
    ``earlier`` of those that wait were written for an earlier worktree at this path.
    """

    box: Box
    path: bytes
    counts: "dict[str, int | None]"
    shown: int = 0
    showings: int = 0
    earlier: int = 0
    oldest: "int | None" = None  # of what waits in the inbox
    drained: "dict[str, Last]" = {}
    gone: bool = False  # its path is no worktree (or directory) any more
    rejected: int = 0  # names that are no message's
    ignored: int = 0  # what editors and file systems leave behind
    faults: "tuple[str, ...]" = ()


class Entry(Record):
    """One thing in a folder of a box: a message, or why it is none. ``bytes`` is the size of its body."""

    id: str
    state: str
    box: Box
    message: "Message | None" = None
    reason: str = ""
    bytes: int = 0
    shown: int = 0  # sessions that were shown it
    earlier: bool = False
    start: str = ""  # the first line of its body, for a list of messages without subjects


def folder(box: Box, state: str) -> bytes:
    """Where the messages of a state lie."""
    return {INBOX: box.inbox, STRANDED: box.claiming, SEEN: box.seen, EXPIRED: box.expired}[state]


def showings(box: Box) -> "dict[str, int]":
    """How many sessions have a marker of each message, by the markers' names."""
    found: dict[str, int] = {}
    for session in files.names(box.shown):
        folder = box.shown + b"/" + session
        for name in files.entries(folder) if files.is_real_folder(folder) else ():
            found[name] = found.get(name, 0) + 1
    return found


def took_over(box: Box, receipt: Receipt) -> bool:
    """Whether a receipt is all that is left of a showing: its marker went when the message was filed."""
    return receipt.shown_at is not None and not files.exists(receipts.marker_path(box, receipt.session, receipt.id))


def _receipted(box: Box) -> "dict[str, int]":
    """1 for each message whose receipt took over the marker of a showing."""
    found: dict[str, int] = {}
    for name in files.entries(box.receipts):
        identifier, session = name[: ids.LENGTH], name[ids.LENGTH + 1 : -len(".toml")]
        receipt = receipts.read_receipt(box, session, identifier) if ids.is_id(identifier) else None
        if receipt is not None and took_over(box, receipt):
            found[identifier] = 1
    return found


def is_earlier(newest: str, identifier: str) -> bool:
    """Whether a message is older than the newest owner of its box, as ``newest_owner`` gave it."""
    return identifier[: ids.STAMP] < newest[: ids.STAMP]


def newest_owner(box: Box) -> str:
    """The id of the worktree that has the address now, where another had it before; empty where none had."""
    known = layout.owners(box)
    return known[-1] if len(known) > 1 else ""


def tally(box: Box, own: "Box | None", env: "Mapping[str, str]", here: bytes = b"") -> Tally:
    """Count a box. Total: what cannot be read is a fault in the answer.

    The caller's ``own`` box is never gone, and it is at ``here``, whatever it says while a move was not noted yet.
    """
    faults: list[str] = []
    listings = {state: _listed(box, state, faults) for state in STATES}
    waiting = listings[INBOX] or Listing()
    newest = _tried("", lambda: newest_owner(box), faults)
    nothing: dict[str, int] = {}
    marks = _tried(nothing, lambda: showings(box), faults)
    shown = [marks[name] for name in waiting.ids if name in marks]
    rejected = sum(len(found.rejected) for found in listings.values() if found is not None)
    ignored = sum(found.ignored for found in listings.values() if found is not None)
    return Tally(
        box,
        here if here and box == own else _tried(b"", box.path, faults),
        {state: None if found is None else len(found.ids) for state, found in listings.items()},
        shown=len(shown),
        showings=sum(shown),
        earlier=sum(is_earlier(newest, name) for name in waiting.ids),
        oldest=next((ids.time_of(name) for name in waiting.ids if ids.is_id(name)), None),
        drained=_tried({}, lambda: drained.read(box), faults),
        gone=box != own and _tried(False, lambda: is_gone(box, env), faults),
        rejected=rejected,
        ignored=ignored,
        faults=tuple(faults),
    )


def _listed(box: Box, state: str, faults: "list[str]") -> "Listing | None":
    try:
        return inbox.listed(folder(box, state))
    except StoreFault as error:
        faults.append(error.sentence)
        return None


def _tried(otherwise: T, look: "Callable[[], T]", faults: "list[str]") -> T:
    """What ``look`` gives, or ``otherwise`` and its fault among ``faults``."""
    try:
        return look()
    except StoreFault as error:
        faults.append(error.sentence)
        return otherwise


def waiting(store: Store) -> int:
    """How many messages wait in all inboxes of a clone; one that cannot be listed counts as empty here."""
    return sum(len((_listed(box, INBOX, []) or Listing()).ids) for box in all_boxes(store))


def is_gone(box: Box, env: "Mapping[str, str]") -> bool:
    """Whether nobody will drain a box: its path is no worktree of this clone any more, nor a directory outside any.

    A path that cannot be looked at is not gone: nothing is known of it. Nor is a worktree that moved: its next command
    brings the box over.
    """
    return _has_left(box, env) and not moves.alive(box.store).intersection(layout.owners(box)[-1:])


def _has_left(box: Box, env: "Mapping[str, str]") -> bool:
    """Whether the box's path is nobody's of this clone, or another's."""
    path = box.path()
    if not path:
        return False
    if layout.key(path) != box.key:  # its worktree moved on, and another took the address
        return True
    try:
        there = discover.find(path, discover.without_local(env))
    except discover.NotARepository:
        return bool(layout.owners(box)) or not os.path.isdir(path)
    except discover.CannotLook as error:
        return error.errno in (ENOENT, ENOTDIR)
    except (discover.NoWorktree, discover.BrokenLink):
        return True
    except CoopError:
        return False
    return there.root != path or there.coop != box.store.root


def entries(box: Box, states: "Iterable[str]") -> "list[Entry]":
    """What lies in these folders, oldest first, what is no message included; names that are ignored are left out.

    Total: a folder that cannot be listed is a fault in the box's ``tally``, and hides no other.
    """
    nothing: dict[str, int] = {}
    marks = _tried(nothing, lambda: showings(box), [])
    newest = _tried("", lambda: newest_owner(box), [])
    found: list[Entry] = []
    for state in states:
        told = _tried(nothing, lambda: _receipted(box), []) if state in (SEEN, EXPIRED) else nothing
        listing = _listed(box, state, []) or Listing()
        for name in listing.ids:
            shown = marks.get(name, 0) + told.get(name, 0)
            each = entry(box, state, name, shown=shown, earlier=is_earlier(newest, name))
            found += [] if each is None else [each]
        found += [Entry(name, state, box, reason="its name is no message name") for name in listing.rejected]
    return sorted(found, key=lambda each: (not ids.is_id(each.id), each.id))


def entry(box: Box, state: str, identifier: str, *, shown: int = 0, earlier: bool = False) -> "Entry | None":
    """One message by the start of its file; ``None`` where it has gone in the meantime."""
    if not ids.is_id(identifier):
        return Entry(identifier, state, box, reason="its name is no message id", shown=shown, earlier=earlier)
    try:
        contents = box.store.look(message_path(folder(box, state), identifier), message.HEAD_LIMIT)
    except files.Gone:
        return None
    except files.Unreadable as error:
        return Entry(identifier, state, box, reason=error.reason, shown=shown, earlier=earlier)
    damage = message.damage(contents.data, whole=contents.size <= len(contents.data))
    if contents.size > message.FILE_LIMIT:
        damage = f"over {message.FILE_LIMIT} bytes long"
    if damage is not None:
        return Entry(identifier, state, box, reason=f"it is no message: {damage}", shown=shown, earlier=earlier)
    parsed = message.peek(identifier, contents.data)
    body = contents.data[len(contents.data) - parsed.size :][: 4 * _START].decode("utf-8", "replace")
    size = contents.size - len(contents.data) + parsed.size
    return Entry(
        identifier, state, box, parsed, bytes=size, start=first_line(body[:_START]), shown=shown, earlier=earlier
    )


def find(box: Box, asked: str, states: "tuple[str, ...]" = STATES) -> "tuple[str, str]":
    """(id, state) of the message that ``asked`` names in a box. A whole id lists no folder.

    Raises ``NotFound``, and ``Refused`` with the candidates where several are named.
    """
    if ids.is_id(asked):
        for state in states:
            if files.exists(message_path(folder(box, state), asked)):
                return asked, state
    known = {name: state for state in reversed(states) for name in _names(box, state)} if not ids.is_id(asked) else {}
    identifier = ids.pick(asked, known, what="message")
    return identifier, known[identifier]


def _names(box: Box, state: str) -> "list[str]":
    return [name for name in inbox.listed(folder(box, state)).ids if ids.is_id(name)]


def read(box: Box, identifier: str, state: str) -> Message:
    """A whole message. Raises ``NotFound`` where it is gone or is none, with what it is."""
    found = inbox.look(box, identifier, folder(box, state))
    if found is None:
        raise NotFound(f"message {identifier} is gone: somebody moved it just now", hint="try again")
    if isinstance(found, inbox.Odd):
        raise NotFound(f"message {identifier} cannot be shown: {found.reason}")
    return found.message


def chunks(box: Box, identifier: str, state: str) -> "Iterator[bytes]":
    """The exact bytes of a message's file, however long it is. ``StoreFault`` where they cannot be read."""
    path = message_path(folder(box, state), identifier)
    number, status = files.open_regular(path)
    try:
        if stranger := box.store.stranger(status.st_uid):
            raise files.Unreadable(stranger, path=path)
        while part := os.read(number, _CHUNK):
            yield part
    except OSError as error:
        raise files.fault("read", path, error) from None
    finally:
        os.close(number)

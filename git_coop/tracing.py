"""What became of what a worktree sent: read from the notes in ``sent/``, the recipients' folders, markers, receipts."""

from git_coop import files, ids, inbox, layout, mailbox, message, notices, receipts, sent
from git_coop.errors import CoopError, NotFound
from git_coop.header import value_bytes
from git_coop.layout import Box, message_path
from git_coop.receipts import Marker, Receipt
from git_coop.record import Record
from git_coop.sent import Sent
from git_coop.store import Store

QUEUED, SHOWN, CONSUMED, EXPIRED, STRANDED = "queued", "shown", "consumed", "expired", "stranded"
MISSING = "missing"  # its box does not hold it
UNKNOWN = "unknown"  # its store cannot be looked into
_OUTCOMES = {mailbox.INBOX: QUEUED, mailbox.STRANDED: STRANDED, mailbox.SEEN: CONSUMED, mailbox.EXPIRED: EXPIRED}


class Fate(Record):
    """One message that was sent: where it is now, who was shown it, and what the drain there recorded."""

    sent: Sent
    state: str
    box: "Box | None" = None
    shown: int = 0  # sessions that were shown it
    showings: "tuple[tuple[str, Marker], ...]" = ()
    receipt: "Receipt | None" = None
    reason: str = ""  # why nothing is known


class Notes(Record):
    """The fates of everything that was sent and is still open, oldest first, and the notes that cannot be read."""

    fates: "tuple[Fate, ...]" = ()
    broken: "tuple[str, ...]" = ()


def everything(own: Box) -> Notes:
    """What was sent from a box. Each note is opened once, each recipient's box counted once."""
    marks: dict[Box, dict[str, int]] = {}
    fates, broken = [], []
    for name in sent.known(own):
        note = sent.read(own, name)
        if note is None:
            broken.append(name)
            continue
        fates.append(_placed(own, note, marks))
    return Notes(tuple(fates), tuple(broken))


def _placed(own: Box, note: Sent, marks: "dict[Box, dict[str, int]]") -> Fate:
    try:
        fate = fate_of(own, note)
        if fate.box is None or fate.state == MISSING:
            return fate
        if fate.box not in marks:
            marks[fate.box] = mailbox.showings(fate.box)
        count = marks[fate.box].get(note.id, 0) + len(_filed(fate.box, _receipt(fate)))
        return fate.replace(shown=count, state=SHOWN if count and fate.state == QUEUED else fate.state)
    except CoopError as error:
        return Fate(note, UNKNOWN, reason=error.sentence)


def _receipt(fate: Fate) -> "Receipt | None":
    """The receipt of a message that is no more in play."""
    over = fate.box is not None and fate.state in (CONSUMED, EXPIRED)
    return receipts.receipt_of(fate.box, fate.sent.id) if over and fate.box is not None else None


def _filed(box: Box, receipt: "Receipt | None") -> "list[tuple[str, Marker]]":
    """The showing that a receipt took over from its marker."""
    if receipt is None or receipt.shown_at is None or not mailbox.took_over(box, receipt):
        return []
    kept = (receipt.client, receipt.shown, receipt.bytes, receipt.bytes_shown)
    return [(receipt.session, Marker(receipt.event, receipt.turn, "", receipt.shown_at, *kept))]


def fate_of(own: Box, note: Sent) -> Fate:
    """Where a message lies, by names alone."""
    store = _store(own, note)
    if store is None:
        return Fate(note, UNKNOWN, reason="the store that it went to is not there")
    box = note.box(own.store)
    for folder, outcome in _OUTCOMES.items():
        if files.exists(message_path(mailbox.folder(box, folder), note.id)):
            return Fate(note, outcome, box)
    return Fate(note, MISSING, box)


def _store(own: Box, note: Sent) -> "Store | None":
    """The store of the recipient, its format looked at; ``None`` where it is gone."""
    return own.store if note.store == own.store.root else layout.open_store(note.store)


def trace(own: Box, asked: str) -> Fate:
    """All that is recorded of one message that was sent from a box.

    ``NotFound`` where no note of it is left, and no box of the clone holds it as one that came from here.
    """
    try:
        identifier = ids.pick(asked, sent.known(own), what="sent message")
    except NotFound as error:
        note = _lying(own, asked)
        if note is None:
            hint = "once its term is over, a message is known as long as a box of this clone holds it"
            raise NotFound(error.sentence, hint=error.hint or hint) from None
        return _traced(own, note)
    note = sent.read(own, identifier)
    if note is None:
        raise NotFound(f"the note on sent message {identifier} cannot be read")
    return _traced(own, note)


def _lying(own: Box, asked: str) -> "Sent | None":
    """What a note would say of a message that lies in a box of the clone, where its file says that it is from here."""
    found = {}
    for box in layout.boxes(own.store):
        for folder in (box.inbox, box.claiming, box.seen, box.expired):
            for identifier in _named(folder, asked):
                note = _from_here(own, box, folder, identifier)
                if note is not None:
                    found[identifier] = note
    return found[ids.pick(asked, found, what="sent message")] if found else None


def _named(folder: bytes, asked: str) -> "list[str]":
    """The messages in a folder that ``asked`` may mean; one that cannot be listed hides no other."""
    try:
        return [name for name in inbox.listed(folder).ids if ids.matches(asked, name) and ids.is_id(name)]
    except CoopError:
        return []


def _from_here(own: Box, box: Box, folder: bytes, identifier: str) -> "Sent | None":
    try:
        head = box.store.look(message_path(folder, identifier), message.HEAD_LIMIT)
        here, there = own.path(), box.path()
    except CoopError:
        return None
    found = message.peek(identifier, head.data)
    if not found.from_path or value_bytes(found.from_path) != here:
        return None
    over = notices.over_at(found, head.mtime)
    return Sent(identifier, box.key, there, own.store.root, over, found.subject or "")


def _traced(own: Box, note: Sent) -> Fate:
    identifier = note.id
    try:
        fate = fate_of(own, note)
        if fate.box is None:
            return fate
        receipt = _receipt(fate)
        found = receipts.showings(fate.box, identifier) + _filed(fate.box, receipt)
        shown = tuple(sorted(found, key=lambda each: (each[1].at, each[0])))
    except CoopError as error:
        return Fate(note, UNKNOWN, reason=error.sentence)
    state = SHOWN if shown and fate.state == QUEUED else fate.state
    return fate.replace(state=state, shown=len(shown), showings=shown, receipt=receipt)

"""Queueing again what is stranded or expired: the same message under the same id, with a new term.

It is in one place at every instant. Its file is first replaced, where it lies, by one with the new term: a kill after
that leaves it stranded or expired as it was. Then it is claimed and renamed into an inbox, as a drain renames: that is
the one commit point. So no kill doubles or loses it, and doing it again does the rest.
"""

import os

from git_coop import files, message, receipts
from git_coop.claims import claim
from git_coop.errors import Refused
from git_coop.layout import Box, message_path
from git_coop.mailbox import EXPIRED, INBOX, STATES, STRANDED, folder
from git_coop.record import Record

WAITING = (INBOX, STRANDED, EXPIRED)  # what can be queued again in another box
OVER = (STRANDED, EXPIRED)  # what can be in its own


class Requeued(Record):
    """A message back in an inbox, until ``expires``; ``shown`` sessions may have seen it before."""

    id: str
    box: Box
    expires: int
    shown: int
    to_session: bool  # narrowed to one session, which may be gone


def requeue(box: Box, identifier: str, state: str, there: Box, now: int, term: int) -> Requeued:
    """Move a message from ``box`` into the inbox of ``there``, a box of the same store; ``term`` in nanoseconds.

    Raises ``Refused`` where it is no message or where a message of its id lies elsewhere in one of the two boxes,
    ``Busy`` where a drain holds it, ``Gone`` where one took it, ``StoreFault`` where a step failed: the message is then
    where it was, perhaps with its new term.
    """
    if there.store != box.store:
        raise Refused("a message is queued again in its own clone only")
    path = message_path(folder(box, state), identifier)
    for other in {message_path(folder(home, each), identifier) for home in (box, there) for each in STATES} - {path}:
        if files.exists(other):
            raise Refused(f"cannot queue message {identifier} again: '{os.fsdecode(other)}' has its id")
    shown = len(receipts.showings(box, identifier))
    box.store.ensure_folder(there.inbox)
    found = _renew(box, path, identifier, there.key, now, now + term)
    with claim(path) as held:
        if not held.move(message_path(there.inbox, identifier)):
            raise files.Gone(f"message {identifier} was taken by another process", path=path)
    narrowed = found.to_session is not None or found.to_session_damaged
    return Requeued(identifier, there, now + term, shown, narrowed)


def _renew(box: Box, path: bytes, identifier: str, key: str, now: int, expires: int) -> message.Message:
    """Replace the file by one with a new term and, the file's own time being part of it, a new age."""
    with claim(path) as held:
        data = held.read(message.FILE_LIMIT + 1)
        damage = message.damage(data)
        if damage is not None:
            raise Refused(f"cannot queue message {identifier} again: it is no message: {damage}")
        renewed = message.restamp(data, identifier=identifier, date=now, expires=expires, to_key=key)
        box.store.rewrite(path, renewed)
    return message.parse(identifier, renewed)

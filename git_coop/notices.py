"""Telling what expired: a notice is an ordinary message from ``git coop`` in the teller's own inbox.

So it is shown, survives sessions that are thrown away, and is filed like any other. Its id is derived from what it
tells of, so that it is made once; it never tells of itself.
"""

import os

from git_coop import clock, files, ids, message, receipts, sent
from git_coop.digest import sha256
from git_coop.layout import Box, message_path
from git_coop.message import Draft, Message
from git_coop.sent import Sent

KIND = "expired"
LOOKED_AT = 64  # notes on sent mail looked at by one start
_NAMED = 20  # recipients of one broadcast that a notice names


def is_notice(found: Message) -> bool:
    """Whether a message is such a notice itself."""
    return found.kind == KIND and found.from_path is None


def identifier(told: str, over: int) -> str:
    """The id of the notice about the message (or broadcast) ``told`` whose term was over at ``over``."""
    stamp = clock.id_stamp(max(over, ids.time_of(told)))
    return f"{stamp}-{sha256(f'{KIND} {told} {over}'.encode())[:8]}"


def over_at(found: Message, mtime: int) -> int:
    """When the term of a message was over, the same whenever it is asked."""
    by_age = mtime + message.term(found)
    return by_age if found.expires is None else min(found.expires, mtime + message.LONGEST_TERM)


def for_recipient(box: Box, found: Message, mtime: int, now: int) -> str:
    """Tell the worktree that a message to it expired; the notice's id, empty where it stands already."""
    shown = receipts.showings(box, found.id)
    how = "expired; shown, not confirmed" if shown else "expired unread"
    lines = [f"{how}: message {found.id} to this worktree", *_said(found)]
    lines += [f"shown at {clock.rfc3339(marker.at)} ({marker.event}) to session {session}" for session, marker in shown]
    lines.append(f"it lies among the expired: git coop mail show {found.id}")
    return _make(box, found.id, over_at(found, mtime), how, lines, now)


def _said(found: Message) -> "list[str]":
    named = (("from", found.from_path), ("branch", found.from_branch), ("subject", found.subject))
    return [f"its sender says {name}: {value}" for name, value in named if value]


def for_sender(box: Box, now: int) -> "list[str]":
    """Tell this worktree which of its messages nobody consumed in their term; the ids of new notices."""
    names = sent.known(box)[:LOOKED_AT]
    over = [note for note in (sent.read(box, name) for name in names) if note is not None and note.expires <= now]
    runs: dict[str, list[Sent]] = {}
    for note in over:
        runs.setdefault(note.run or note.id, []).append(note)
    made = [_tell_run(box, run, notes, now) for run, notes in runs.items()]
    return [name for name in made if name]


def _tell_run(box: Box, run: str, notes: "list[Sent]", now: int) -> str:
    untold = [(note, how) for note in notes if (how := _unconsumed(box, note))]
    made = ""
    if untold:
        words = untold[0][1] if len(untold) == 1 else f"{len(untold)} of {len(notes)} messages were never consumed"
        lines = [f"{how}: message {note.id} to {os.fsdecode(note.path)}" for note, how in untold[:_NAMED]]
        lines += [f"and {len(untold) - _NAMED} more"] if len(untold) > _NAMED else []
        lines += [f"subject: {untold[0][0].subject}"] if untold[0][0].subject else []
        lines.append(f"more about one: git coop mail trace {untold[0][0].id}")
        made = _make(box, run, untold[0][0].expires, words, lines, now)
    for note in notes:
        sent.forget(box, note.id)
    return made


def _unconsumed(box: Box, note: Sent) -> str:
    """What became of a message whose term is over; empty where somebody consumed it."""
    there = note.box(box.store)
    if files.exists(message_path(there.seen, note.id)):
        return ""
    shown = bool(receipts.showings(there, note.id))
    if files.exists(message_path(there.expired, note.id)) or files.exists(message_path(there.inbox, note.id)):
        return "expired; shown, not confirmed" if shown else "expired unread"
    return "expired; its box does not hold it"


def _make(box: Box, told: str, over: int, subject: str, lines: "list[str]", now: int) -> str:
    name = identifier(told, over)
    if any(files.exists(message_path(folder, name)) for folder in (box.inbox, box.seen, box.expired)):
        return ""
    body = "\n".join(line.replace("\n", "?") for line in lines) + "\n"
    draft = Draft(name, now, now + message.LONGEST_TERM, box.key, body, kind=KIND, subject=subject, in_reply_to=None)
    return name if box.store.create(message_path(box.inbox, name), message.compose(draft)) else ""

"""Telling what expired: a notice is an ordinary message from ``git coop`` in the teller's own inbox.

So it is shown, survives sessions that are thrown away, and is filed like any other. Its id is derived from what it
tells of, so that it is made once; it never tells of itself.
"""

import os

from git_coop import clock, files, ids, message, receipts, sent
from git_coop.errors import StoreFault
from git_coop.files import sha256
from git_coop.layout import Box, message_path
from git_coop.message import Draft, Message
from git_coop.sent import Sent

KIND = "expired"
LOOKED_AT = 64  # notes on sent mail looked at by one start
_NAMED = 20  # recipients of one broadcast that a notice names


def is_notice(found: Message) -> bool:
    """Whether a message is such a notice itself, and not one that only looks like it: its id is what it tells of."""
    told = found.in_reply_to
    ours = found.kind == KIND and found.from_path is None and told is not None
    return ours and found.id == _named(found.id[: ids.STAMP], told or "")


def identifier(told: str, over: int) -> str:
    """The id of the notice about the message (or broadcast) ``told`` whose term was over at ``over``."""
    return _named(clock.id_stamp(max(over, ids.time_of(told))), told)


def _named(stamp: str, told: str) -> str:
    return f"{stamp}-{sha256(f'{KIND} {told} {stamp}'.encode())[:8]}"


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
    """Tell this worktree which of its messages nobody consumed in their term; the ids of new notices.

    One call looks at a part of the notes; where there are more, each call begins at another one. A broadcast is told
    of as a whole, so all of its notes are read, which stand together: they were sent together.
    """
    names = sent.known(box)
    at = _first(box, names, now)
    runs = _runs(box, [*names[at:], *names[:at]])
    over = {run: [note for note in notes if note.expires <= now] for run, notes in runs.items()}
    over = {run: [note for note in notes if not _renewed(box, note, now)] for run, notes in over.items()}
    made = [_tell_run(box, run, notes, now) for run, notes in over.items() if notes]
    return [name for name in made if name]


def _first(box: Box, names: "list[str]", now: int) -> int:
    """Where a look at more notes than one call reads begins: at another place each second, never within a broadcast."""
    at = now // clock.SECOND * LOOKED_AT % len(names) if len(names) > LOOKED_AT else 0
    while at and (note := sent.read(box, names[at])) and note.run:
        before = sent.read(box, names[at - 1])
        if before is None or before.run != note.run:
            break
        at -= 1
    return at


def _runs(box: Box, names: "list[str]") -> "dict[str, list[Sent]]":
    """The notes behind some of ``names`` by broadcast; a message that was sent alone is a run of its own."""
    runs: dict[str, list[Sent]] = {}
    run = ""
    for count, name in enumerate(names):
        note = sent.read(box, name)
        if note is None:
            continue
        if count >= LOOKED_AT and (not note.run or note.run != run):
            break
        run = note.run
        runs.setdefault(run or note.id, []).append(note)
    return runs


def _tell_run(box: Box, run: str, notes: "list[Sent]", now: int) -> str:
    untold = [(note, how) for note in notes if (how := _unconsumed(box, note))]
    made = ""
    if untold:
        words = untold[0][1] if len(notes) == 1 else f"{len(untold)} of {len(notes)} messages were not consumed"
        lines = [f"{how}: message {note.id} to {os.fsdecode(note.path)}" for note, how in untold[:_NAMED]]
        lines += [f"and {len(untold) - _NAMED} more"] if len(untold) > _NAMED else []
        lines += [f"subject: {untold[0][0].about}"] if untold[0][0].about else []
        made = _make(box, run, untold[0][0].expires, words, lines, now)
    for note in notes:
        sent.forget(box, note.id)
    return made


def _renewed(box: Box, note: Sent, now: int) -> bool:
    """Whether a message was queued again and has a term that is not over; its note then has that one, too."""
    path = message_path(note.box(box.store).inbox, note.id)
    try:
        head = files.read_cut(path, message.HEAD_LIMIT)
    except StoreFault:
        return False
    found = message.peek(note.id, head.data)
    if found.expires is None or found.expires <= max(note.expires, now):
        return False
    sent.renew(box, note, min(found.expires, head.mtime + message.LONGEST_TERM))
    return True


def _unconsumed(box: Box, note: Sent) -> str:
    """What became of a message whose term is over; empty where somebody consumed it."""
    there = note.box(box.store)
    if files.exists(message_path(there.seen, note.id)):
        return ""
    if not sent.holds(there, note.id):  # retention forgets a note before it removes what was consumed
        return "no box holds it any longer" if files.exists(sent.path_of(box, note.id)) else ""
    return "expired; shown, not confirmed" if receipts.showings(there, note.id) else "expired unread"


def _make(box: Box, told: str, over: int, subject: str, lines: "list[str]", now: int) -> str:
    name = identifier(told, over)
    if any(files.exists(message_path(folder, name)) for folder in (box.inbox, box.seen, box.expired)):
        return ""
    body = "\n".join(line.replace("\n", "?") for line in lines) + "\n"
    draft = Draft(name, now, now + message.LONGEST_TERM, box.key, body, kind=KIND, subject=subject, in_reply_to=told)
    return name if box.store.create(message_path(box.inbox, name), message.compose(draft)) else ""

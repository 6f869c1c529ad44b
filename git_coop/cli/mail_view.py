"""How mail is shown to a person: lists, one message, every box, what became of what was sent; and the JSON of each."""

import os

from git_coop import clock, history, ids, mailbox, notices, receipts
from git_coop.cli.app import App
from git_coop.cli.mail_queued import EVENTS, PATH
from git_coop.cli.mail_record import entry_record, fate_record, message_record, tally_record, trace_record
from git_coop.cli.mail_table import flow, is_wide, table
from git_coop.files import exists
from git_coop.history import Wanted
from git_coop.layout import NOBODY, Box, is_inherited
from git_coop.mailbox import STATES, Entry, Tally
from git_coop.message import Message
from git_coop.quote import PREFIX
from git_coop.render import BOUNDS, render_view
from git_coop.store import Store
from git_coop.text import fit, quote_path, safe_line
from git_coop.tracing import Fate, Notes

_EARLIER = "written for an earlier worktree at this path"
_VIEW = BOUNDS.replace(note=300, frame=4000)  # one message by itself: nothing of its frame is cut to make room


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _id(app: App, identifier: str) -> str:
    if not ids.is_id(identifier):
        return safe_line(identifier, ids.LENGTH)
    return identifier if is_wide(app) else ids.tail(identifier)


def _path(app: App, path: bytes, otherwise: str) -> str:
    text = quote_path(path, PATH) or otherwise
    return text if app.columns is None else fit(text, app.columns, keep_end=True)


# a list


def listing(app: App, own: Box | None, homes: list[Box], states: tuple[str, ...], want: Wanted, as_json: bool) -> int:
    """What is wanted of what lies in these boxes in these states; the exit status.

    A box that cannot be listed hides no other.
    """
    root = app.nearby.root
    found = [
        (mailbox.tally(home, own, app.edge.env, root), _wanted(mailbox.entries(home, states), want)) for home in homes
    ]
    if as_json:
        messages = [entry_record(entry) for _tally, rows in found for entry in rows]
        app.json({"messages": messages, "boxes": [tally_record(tally) for tally, _rows in found]})
    else:
        app.write(_listed(app, found).encode("utf-8", "replace"))
    faults = [fault for tally, _rows in found for fault in tally.faults]
    odd = sum(entry.message is None for _tally, rows in found for entry in rows)
    return _faulty(app, [*faults, *_odd(odd)])


def _wanted(rows: list[Entry], want: Wanted) -> list[Entry]:
    """The rows that are wanted, in their order; a count leaves the newest."""
    kept = history.chosen(reversed(rows), want, time=lambda each: ids.time_of(each.id), text=_searched)
    return kept[::-1]


def _searched(entry: Entry) -> list[str]:
    """What ``--grep`` looks into: what a row tells of a message."""
    if entry.message is None:
        return []
    told = (entry.message.subject, entry.start, entry.message.from_path, entry.message.kind)
    return [text for text in told if text]


def _odd(count: int) -> list[str]:
    if not count:
        return []
    return ["one of these is no message" if count == 1 else f"{count} of these are no messages"]


def _faulty(app: App, faults: list[str]) -> int:
    for fault in faults:
        app.note(f"error: {fault}")
    return 1 if faults else 0


def _listed(app: App, found: list[tuple[Tally, list[Entry]]]) -> str:
    lines = [] if found else ["nothing is stored in this clone yet"]
    for tally, rows in found:
        lines += [_path(app, tally.path, tally.box.key), *flow(app, [*_counts(tally), f"shown {tally.shown}"], "")]
        lines += table(app, [_row(app, entry) for entry in rows])
    return "".join(f"{line}\n" for line in [*lines, *_as_of(app)])


def _as_of(app: App) -> list[str]:
    return flow(app, [f"as of {clock.rfc3339(app.now)}"], "")


def _counts(tally: Tally) -> list[str]:
    return [f"{state} {'?' if tally.counts[state] is None else tally.counts[state]}" for state in STATES]


def _row(app: App, entry: Entry) -> tuple[str, ...]:
    age = clock.age(ids.time_of(entry.id), app.now) if ids.is_id(entry.id) else "-"
    if entry.message is None:
        return _id(app, entry.id), entry.state, age, "-", f"no message: {safe_line(entry.reason, 120)}"
    ours = "git coop" if notices.is_notice(entry.message) else "-"
    sender = safe_line(entry.message.from_path or ours, PATH, keep_end=True)
    subject = safe_line(entry.message.subject or entry.start, 120)
    return _id(app, entry.id), _state(app, entry), age, sender, subject


def _state(app: App, entry: Entry) -> str:
    words = [entry.state]
    if entry.shown and entry.state == mailbox.INBOX:
        words.append(f"shown {_count(entry.shown, 'time')}" if is_wide(app) else f"{entry.shown}x")
    if is_wide(app) and entry.message is not None:
        words += ["for one session"] if entry.message.to_session or entry.message.to_session_damaged else []
        words += ["for an earlier worktree"] if entry.earlier else []
    return ", ".join(words)


# one message


def whole(app: App, box: Box, message: Message, state: str, as_json: bool) -> None:
    """A message, framed as a drain frames it; its file's sender fields are claims."""
    if as_json:
        app.json({"message": message_record(message, state, box.key, message.size, body=True)})
        return
    notes = [_whereabouts(box, message.id, state), "a view: nothing is marked or filed"]
    notes += [_EARLIER] if is_inherited(box, message.id) else []
    app.write(render_view(message, now=app.now, notes=notes, bounds=_VIEW).encode("utf-8", "replace"))


def _whereabouts(box: Box, identifier: str, state: str) -> str:
    receipt = receipts.receipt_of(box, identifier) if state in (mailbox.SEEN, mailbox.EXPIRED) else None
    if receipt is None:
        return {mailbox.INBOX: "it waits in the inbox", mailbox.STRANDED: "it is stranded"}.get(state, state)
    who = "" if receipt.session == NOBODY else f" by session {safe_line(receipt.session, 16)}"
    return f"{safe_line(receipt.outcome, 16)} {clock.rfc3339(receipt.at)}{who}"


# every box


def no_store(app: App, as_json: bool) -> int:
    """The status of a clone where nothing was ever written."""
    if as_json:
        app.json({"store": None, "off": False, "boxes": []})
    else:
        app.out(f"store is new, no drain recorded; as of {clock.rfc3339(app.now)}")
    return 0


def status(app: App, store: Store, own: Box, tallies: list[Tally], as_json: bool) -> int:
    """Every box of the clone; the exit status."""
    off = exists(store.root + b"/OFF")
    if as_json:
        boxes = [{**tally_record(tally), "own": tally.box == own} for tally in tallies]
        where = os.fsdecode(store.root).encode("utf-8", "replace").decode()
        app.json({"store": where, "off": off, "boxes": boxes})
    else:
        lines = flow(app, ["delivery is OFF", "nothing is shown until git coop mail on"], "") if off else []
        for tally in tallies:
            lines += _box(app, tally, tally.box == own)
        lines += [] if tallies else ["no box yet"]
        app.write("".join(f"{line}\n" for line in [*lines, *_as_of(app)]).encode("utf-8", "replace"))
    return _faulty(app, [fault for tally in tallies for fault in tally.faults])


def _box(app: App, tally: Tally, own: bool) -> list[str]:
    oldest = "nothing waits" if tally.oldest is None else f"the oldest waits {clock.age(tally.oldest, app.now)}"
    drained = [f"{event} {_last(app, tally, event)}" for event in EVENTS]
    lines = [_path(app, tally.path, tally.box.key)]
    lines += flow(app, ["this worktree"]) if own else []
    lines += flow(app, [*_counts(tally), f"shown {tally.shown}"])
    lines += flow(app, [oldest])
    lines += flow(app, [f"last drained: {drained[0]}", *drained[1:]])
    for fact in _remarks(tally):
        lines += flow(app, [fact])
    return lines


def _last(app: App, tally: Tally, event: str) -> str:
    last = tally.drained.get(event)
    if last is None:
        return "never"
    by = "" if last.client in ("", "-") else f" by {safe_line(last.client, 16)}"
    return app.age(last.at) + by


def _remarks(tally: Tally) -> list[str]:
    facts = []
    if tally.gone:
        facts.append("its worktree is GONE: nobody drains it; git coop mail requeue ID --to PATH sends one on")
    if tally.shown:
        facts.append(f"{_count(tally.shown, 'message')} shown {_count(tally.showings, 'time')}, never consumed")
    if tally.earlier:
        facts.append(f"{_count(tally.earlier, 'message')} {_EARLIER}")
    if tally.rejected:
        facts.append(f"{_count(tally.rejected, 'name')} in it: no message names")
    if tally.ignored:
        facts.append(f"{_count(tally.ignored, 'file')} of editors and file systems ignored")
    return facts


# what was sent


def sent(app: App, notes: Notes, as_json: bool) -> int:
    """What was sent and is still open; the exit status."""
    broken = [f"the note on sent message {name} cannot be read" for name in notes.broken]
    faults = broken + [f"message {each.sent.id}: {each.reason}" for each in notes.fates if each.reason]
    if as_json:
        app.json({"messages": [fate_record(fate) for fate in notes.fates], "unreadable": list(notes.broken)})
    else:
        lines = table(app, [_sent_row(app, fate) for fate in notes.fates], "")
        app.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return _faulty(app, faults)


def _sent_row(app: App, fate: Fate) -> tuple[str, ...]:
    note = fate.sent
    state = fate.state
    if fate.state == "shown" and is_wide(app):
        state = f"shown {_count(fate.shown, 'time')}"
    age = clock.age(ids.time_of(note.id), app.now)
    return _id(app, note.id), state, age, quote_path(note.path, PATH), safe_line(note.about, 120)


_TOLD = {
    "queued": "queued: no session was shown it yet",
    "shown": "shown, not consumed: it still waits",
    "consumed": "consumed",
    "stranded": "stranded: the next drain there returns it to the inbox",
    "missing": "missing: its box does not hold it",
    "unknown": "unknown: its store cannot be looked into",
}


def traced(app: App, fate: Fate, as_json: bool) -> None:
    """All that is recorded of one message that was sent."""
    if as_json:
        app.json({"message": trace_record(fate)})
        return
    note = fate.sent
    over = "expired; shown, not confirmed" if fate.shown else "expired unread"
    lines = [f"message {note.id}, sent {app.age(ids.time_of(note.id))}: {_TOLD.get(fate.state, over)}"]
    lines += [f"expires {clock.rfc3339(note.expires)}"]
    lines += [f"shown {_showing(fate, at)}" for at in range(len(fate.showings))]
    lines += [_receipt(fate)] if fate.receipt is not None else []
    lines += [f"{PREFIX}to: {quote_path(note.path, PATH)}"]
    lines += [f"{PREFIX}subject: {safe_line(note.about, 120)}"] if note.about else []
    lines += [f"{PREFIX}reason: {safe_line(fate.reason)}"] if fate.reason else []
    app.out("\n".join([*lines, *_as_of(app)]))


def _showing(fate: Fate, at: int) -> str:
    session, marker = fate.showings[at]
    how = "whole" if marker.shown == receipts.WHOLE else f"{marker.bytes_shown} of {marker.bytes} bytes"
    by = f" by {safe_line(marker.client, 16)}" if marker.client else ""
    whom = "where no session was named" if session == NOBODY else f"to session {safe_line(session, 16)}"
    return f"{clock.rfc3339(marker.at)} ({safe_line(marker.event, 16)}) {whom}{by}, {how}"


def _receipt(fate: Fate) -> str:
    receipt = fate.receipt
    assert receipt is not None
    who = "without a session" if receipt.session == NOBODY else f"by session {safe_line(receipt.session, 16)}"
    client = f" of {safe_line(receipt.client, 16)}" if receipt.client else ""
    line = f"{safe_line(receipt.outcome, 16)} {clock.rfc3339(receipt.at)} {who}{client}"
    return line + (f" ({safe_line(receipt.event, 16)})" if receipt.event else "")

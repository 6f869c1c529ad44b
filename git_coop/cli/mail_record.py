"""Mail as JSON: the names that programs rely on. Times are strings, what is absent is null."""

from git_coop import clock, ids
from git_coop.cli.mail_queued import drains, json_text
from git_coop.mailbox import STATES, Entry, Tally
from git_coop.message import Message
from git_coop.receipts import Marker, Receipt
from git_coop.text import safe_line
from git_coop.tracing import Fate


def when(time: int | None) -> str | None:
    """A time, or null."""
    return None if time is None else clock.rfc3339(time)


def _said(value: str | None) -> str | None:
    return None if value is None else json_text(value)


def message_record(found: Message, state: str, box: str | None, size: int, *, body: bool = False) -> dict[str, object]:
    """A message; every field of its sender's is a claim. ``body``: with its body."""
    fields: dict[str, object] = {
        "id": found.id,
        "state": state,
        "box": box,
        "from": {
            "path": _said(found.from_path),
            "branch": _said(found.from_branch),
            "session": _said(found.from_session),
        },
        "to_session": _said(found.to_session),
        "subject": _said(found.subject),
        "kind": _said(found.kind),
        "sent": clock.rfc3339(ids.time_of(found.id)),
        "expires": when(found.expires),
        "in_reply_to": found.in_reply_to,
        "bytes": size,
        "problems": list(found.problems),
    }
    return {**fields, "body": json_text(found.body)} if body else fields


def entry_record(entry: Entry) -> dict[str, object]:
    """A row of a list: a message, or what lies in its place and why it is none."""
    if entry.message is None:
        name = entry.id if ids.is_id(entry.id) else None
        return {
            "id": name,
            "name": json_text(entry.id),
            "state": entry.state,
            "box": entry.box.key,
            "reason": safe_line(entry.reason),
        }
    fields = message_record(entry.message, entry.state, entry.box.key, entry.bytes)
    first = safe_line(entry.start) or None
    return {**fields, "first_line": first, "shown": entry.shown, "earlier_worktree": entry.earlier}


def tally_record(tally: Tally) -> dict[str, object]:
    """A box; a count that cannot be made is null, and its fault is in ``faults``."""
    return {
        "path": json_text(tally.path),
        "key": tally.box.key,
        **{state: tally.counts[state] for state in STATES},
        "shown": tally.shown,
        "showings": tally.showings,
        "earlier_worktree": tally.earlier,
        "oldest": when(tally.oldest),
        "drained": drains(tally.drained),
        "owner_gone": tally.gone,
        "rejected": tally.rejected,
        "ignored": tally.ignored,
        "faults": [safe_line(fault) for fault in tally.faults],
    }


def fate_record(fate: Fate) -> dict[str, object]:
    """What became of a message that was sent."""
    note = fate.sent
    return {
        "id": note.id,
        "state": fate.state,
        "box": note.key if fate.box is None else fate.box.key,
        "path": json_text(note.path),
        "store": json_text(note.store),
        "subject": note.subject or None,
        "first_line": note.first_line or None,
        "sent": clock.rfc3339(ids.time_of(note.id)),
        "expires": clock.rfc3339(note.expires),
        "run": note.run or None,
        "shown": fate.shown,
        "reason": safe_line(fate.reason) or None,
    }


def trace_record(fate: Fate) -> dict[str, object]:
    """The same with every showing and the receipt."""
    showings = [_showing(session, marker) for session, marker in fate.showings]
    receipt = None if fate.receipt is None else _receipt(fate.receipt)
    return {**fate_record(fate), "showings": showings, "receipt": receipt}


def _showing(session: str, marker: Marker) -> dict[str, object]:
    return {
        "session": session,
        "client": json_text(marker.client) or None,
        "event": json_text(marker.event),
        "at": clock.rfc3339(marker.at),
        "shown": json_text(marker.shown),
        "bytes": marker.bytes,
        "bytes_shown": marker.bytes_shown,
    }


def _receipt(receipt: Receipt) -> dict[str, object]:
    return {
        "outcome": json_text(receipt.outcome),
        "at": clock.rfc3339(receipt.at),
        "session": receipt.session,
        "client": json_text(receipt.client) or None,
        "event": json_text(receipt.event) or None,
        "shown_at": when(receipt.shown_at),
        "shown": json_text(receipt.shown) or None,
        "bytes": receipt.bytes,
        "bytes_shown": receipt.bytes_shown,
    }

"""How a glance is shown: rows with a label each for one worktree, a table for the clone, a line for a prompt."""

import os
from collections.abc import Sequence

from git_coop import clock, ids, overview
from git_coop.cli import colour
from git_coop.cli.app import App
from git_coop.cli.mail_queued import drains
from git_coop.cli.table import fold, grid, words
from git_coop.homeless import Left
from git_coop.letter_record import fields
from git_coop.letters import UNREAD
from git_coop.overview import Glance, Mail, Row
from git_coop.record import Record
from git_coop.store import Store
from git_coop.text import fit, quote_path, safe_line

LABEL = 10  # cells of the labels' column
NARROW = 60  # cells of a terminal below which a table keeps its main columns only
EVENTS = ("start", "prompt", "stop")
_SUBJECT = 120
_PATH = 200


class Facts(Record):
    """What concerns the whole clone: letters in one place only, and what waits in boxes without a directory."""

    alone: int = 0
    left: Left = Left()


class Line(Record):
    """A labelled line of the glance: pieces that may be folded, and a colour."""

    label: str
    pieces: "Sequence[str]"
    code: str = ""


def whole(app: App, store: Store | None, seen: Glance, facts: Facts, as_json: bool) -> None:
    """The glance at one worktree."""
    if as_json:
        app.json({**_clone(store, facts), **_record(seen)})
        return
    room = None if app.columns is None else max(app.columns - LABEL, 8)
    paint = colour.paint(app)
    lines = []
    for line in [*_lines(app, store, seen, room), *_notes(seen, facts, room)]:
        label = line.label
        for text in fold(line.pieces, room):
            lines.append(f"{label:{LABEL}}{paint(line.code, text) if line.code else text}".rstrip())
            label = ""
    app.out("\n".join(lines))


def _lines(app: App, store: Store | None, seen: Glance, room: int | None) -> list[Line]:
    off = store is not None and overview.is_off(store)
    lines = [
        Line("worktree", [_path(seen.path, room)]),
        *_letter(app, seen, room),
        Line("mail", _mail(app, seen.mail, room), colour.BOLD if seen.mail.waiting else ""),
        Line("todos", [f"{seen.todos or 'none'} open"]),
        Line("requests", _requests(seen)),
        Line("delivery", ["held", "'git coop mail on' resumes it"] if off else ["on"], colour.RED if off else ""),
        Line("hooks", _hooks(app, seen)),
        Line("store", ["none yet"] if store is None else [_path(store.root, room)]),
        Line("as of", [clock.rfc3339(app.now)]),
    ]
    return [Line(line.label, ["cannot be read"], colour.RED) if line.label in seen.dark else line for line in lines]


def _path(path: bytes, room: int | None) -> str:
    shown = quote_path(path)
    return shown if room is None else fit(shown, room, keep_end=True)


def _letter(app: App, seen: Glance, room: int | None) -> list[Line]:
    letter = seen.letter
    if letter is None:
        return [Line("letter", ["none"])]
    code = colour.YELLOW if letter.status == UNREAD else ""
    first = Line("letter", [letter.status, app.age(letter.created_at), ids.tail(letter.id)], code)
    subject = fit(letter.subject, _SUBJECT if room is None else room)
    return [first, Line("", [subject])] if subject else [first]


def _mail(app: App, mail: Mail, room: int | None) -> list[str]:
    if not mail.waiting:
        return ["none waiting"]
    pieces = [f"{mail.waiting} waiting", f"oldest {app.age(ids.time_of(mail.oldest))}"]
    for index, sender in enumerate(mail.senders):
        count = f" ({sender.count})" if sender.count > 1 else ""
        space = _PATH if room is None else max(room - len("from ") - len(count) - 1, 8)
        name = (
            fit(safe_line(sender.path, _PATH, keep_end=True), space, keep_end=True)
            if sender.path
            else "an unnamed sender"
        )
        pieces.append(f"{'' if index else 'from '}{name}{count}")
    return [*pieces, f"and {mail.unnamed} more not opened"] if mail.unnamed else pieces


def _requests(seen: Glance) -> list[str]:
    asked = [f"{seen.asked} asked of this worktree"] if seen.asked else []
    asking = [f"{seen.asking} asked of others"] if seen.asking else []
    return [*asked, *asking] or ["none open"]


def _hooks(app: App, seen: Glance) -> list[str]:
    if not seen.hooks:
        return _unseen(app, seen)
    pieces = []
    for event in EVENTS:
        last = seen.hooks.get(event)
        by = f" ({safe_line(last.client, 16)})" if last is not None and last.client != "-" else ""
        pieces.append(f"{event} never" if last is None else f"{event} {app.age(last.at)}{by}")
    return pieces


def _unseen(app: App, seen: Glance) -> list[str]:
    """What is told of hooks that never ran here: not that there are none, where a client's settings have them."""
    from git_coop import hook_clients, wiring  # no price for those whose hooks run

    world = wiring.World(app.edge.env, os.fsdecode(seen.path))
    clients = hook_clients.CLIENTS.values()
    wired = [client.name for client in clients if any(place.ours for place in wiring.places(client, world))]
    if wired:
        return [f"installed ({', '.join(wired)})", "not seen here yet: restart the session"]
    return ["never seen here", "'git coop hooks install' lists the clients"]


def _notes(seen: Glance, facts: Facts, room: int | None) -> list[Line]:
    mail = seen.mail
    said = []
    if seen.inherited:
        said.append(f"{' and '.join(seen.inherited)} written for an earlier worktree at this path")
    if mail.shown and "stop" not in seen.hooks:
        times = f"{mail.shown} time{'s' if mail.shown > 1 else ''}"
        said.append(f"mail was shown {times}, never consumed: no stop hook has run here")
    if mail.stranded:
        said.append(f"{mail.stranded} stranded in claiming/: the next drain returns what is there")
    if mail.rejected:
        said.append(f"{mail.rejected} names in the inbox are no messages")
    if facts.left.boxes:
        said.append(_left(facts.left))
    if facts.alone:
        said.append("letters exist in this place only (git coop backup, git coop sync)")
    return [
        Line("note" if not index else "", [text], colour.YELLOW)
        for note in said
        for index, text in enumerate(words(note, room))
    ]


def _left(left: Left) -> str:
    where = "1 box of a worktree that is gone" if left.boxes == 1 else f"{left.boxes} boxes of worktrees that are gone"
    held = [f"{left.mail} undelivered"] if left.mail else []
    held += [f"{left.letters} live letter{'s' if left.letters > 1 else ''}"] if left.letters else []
    return f"{where}, with {' and '.join(held)}: 'git coop doctor' has the way out"


def short(app: App, store: Store | None, seen: Glance, faulty: bool) -> None:
    """What waits, in one line; nothing where nothing does."""
    counts = (("mail", seen.mail.waiting), ("todos", seen.todos), ("requests", seen.asked))
    parts = [f"letter:{seen.letter.status}"] if seen.letter is not None else []
    parts += [f"{name}:{count}" for name, count in counts if count]
    parts += ["held"] if store is not None and overview.is_off(store) else []
    parts += ["unreadable"] if faulty else []
    if parts:
        app.out(" ".join(parts))


def rows(app: App, store: Store | None, found: Sequence[Row], as_json: bool) -> None:
    """The table of the clone."""
    if as_json:
        boxes = [{"current": row.current, "branch": row.branch, **_record(row.glance, row.gone)} for row in found]
        app.json({**_clone(store, None), "boxes": boxes})
        return
    app.out("\n".join(table(app, store, found)))


def table(app: App, store: Store | None, found: Sequence[Row]) -> list[str]:
    """The lines of the clone's table, each no wider than the terminal."""
    paint = colour.paint(app)
    narrow = app.columns is not None and app.columns < NARROW
    head = _columns(("", "letter", "mail", "todos", "asked", "drained", "worktree"), narrow)
    cells = grid([head, *(_columns(_cells(app, row), narrow) for row in found)], app.columns, right=(2, 3, 4))
    lines = [paint(colour.FAINT, "  ".join(cells[0]))]
    for row, line in zip(found, cells[1:], strict=True):
        code = colour.RED if row.gone else colour.BOLD if row.glance.undelivered or row.glance.letter else ""
        text = "  ".join(line)
        lines.append(paint(code, text) if code else text)
    if store is not None and overview.is_off(store):
        lines.append(paint(colour.RED, "delivery is held in this clone"))
    return [*lines, f"as of {clock.rfc3339(app.now)}"]


def _columns(cells: Sequence[str], narrow: bool) -> list[str]:
    return [*cells[:3], cells[-1]] if narrow else list(cells)


def _cells(app: App, row: Row) -> tuple[str, ...]:
    seen = row.glance
    letter = "unreadable" if seen.dark else "-" if seen.letter is None else seen.letter.status
    letter = "adopted" if row.adopted else letter
    last = seen.last
    path = quote_path(seen.path) or (seen.box.key if seen.box is not None else "")
    return (
        "*" if row.current else "!" if row.gone else "",
        letter,
        str(seen.undelivered or "-"),
        str(seen.todos or "-"),
        str(seen.asked or "-"),
        row.gone or ("never" if last is None else clock.age(last.at, app.now)),
        path,
    )


def _clone(store: Store | None, facts: Facts | None) -> dict[str, object]:
    record: dict[str, object] = {
        "store": None if store is None else os.fsdecode(store.root),
        "off": store is not None and overview.is_off(store),
    }
    return record if facts is None else {**record, "letters_alone": facts.alone, "boxes_gone": facts.left.boxes}


def _record(seen: Glance, gone: str = "") -> dict[str, object]:
    mail = seen.mail
    return {
        "path": os.fsdecode(seen.path),
        "key": None if seen.box is None else seen.box.key,
        "owner_gone": gone == "gone",
        "letter": None if seen.letter is None else fields(seen.letter, clock.rfc3339),
        "inherited": list(seen.inherited),
        "mail": {
            "waiting": mail.waiting,
            "oldest": clock.rfc3339(ids.time_of(mail.oldest)) if mail.oldest else None,
            "from": [{"path": sender.path or None, "messages": sender.count} for sender in mail.senders],
            "unopened": mail.unnamed,
            "shown": mail.shown,
            "stranded": mail.stranded,
            "rejected": mail.rejected,
            "ignored": mail.ignored,
        },
        "todos": {"open": seen.todos},
        "requests": {"asked": seen.asked, "asking": seen.asking},
        "drained": drains(seen.hooks),
        "unreadable": [safe_line(fault) for fault in seen.faults],
    }

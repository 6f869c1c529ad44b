"""How requests are shown: opened, closed, as rows, whole, and as JSON. Texts of another worktree are quoted."""

import os

from git_coop import clock, ids, requests
from git_coop.cli.app import App
from git_coop.cli.mail_queued import drains, drains_of, warn_of_silence
from git_coop.cli.mail_table import is_wide
from git_coop.mail import Queued
from git_coop.render import quoted
from git_coop.requestbox import Shelf
from git_coop.requests import Request, Side
from git_coop.text import fit, pad, quote_path, safe_line, width

_PATH = 200  # characters; the end is kept
_LEAST = 8  # cells that paths and subject get each on however narrow a terminal
_SHOWN = 120  # characters of a subject in a list that goes to no terminal


def record(one: Request) -> dict[str, object]:
    """A request for ``--json``: the record's fields, times as strings, absent as null."""
    return requests.fields(one, clock.rfc3339)


def opened(app: App, one: Request, queued: Queued | None, as_json: bool) -> None:
    """The answer to ``request open``."""
    _answer(app, one, queued, as_json, f"request {one.id} opened for {_path(one.to_path)}", "brief")


def closed(app: App, one: Request, queued: Queued | None, as_json: bool) -> None:
    """The answer to ``request close``."""
    _answer(app, one, queued, as_json, f"request {one.id} closed", "result")


def _answer(app: App, one: Request, queued: Queued | None, as_json: bool, line: str, what: str) -> None:
    last = None if queued is None else queued.drained
    off = queued is not None and queued.off
    if as_json:
        drained = drains({}) if queued is None else drains_of(queued.box)
        app.json({"request": record(one), "drained": drained, "off": off})
    elif queued is not None:
        where = quote_path(queued.path, _PATH)
        seen = "which was never drained" if last is None else f"last drained {app.age(last.at)}"
        app.out(f"{line}\nits {what} is queued as {queued.id} for {where}, {seen}")
    warn_of_silence(app, [queued] if queued is not None else [])
    if off:
        app.warn("delivery is off in this clone: nothing is shown until git coop mail on")


def _path(text: str) -> str:
    return quote_path(os.fsencode(text), _PATH)


def listing(app: App, shelf: Shelf, side: Side | None, *, closed: bool, as_json: bool) -> int:
    """The requests of one worktree, or of all where there is no ``side``; the exit status."""
    found = [one for one in shelf.requests if _wanted(one, side) and (closed or one.status == requests.OPEN)]
    if as_json:
        broken = [safe_line(why) for why in shelf.broken]
        app.json({"requests": [record(one) for one in found], "unreadable": broken})
    else:
        for one in found:
            app.out(_row(app, one, side))
    for why in shelf.broken:
        app.note(f"error: {why}")
    return 1 if shelf.broken else 0


def _wanted(one: Request, side: Side | None) -> bool:
    return side is None or requests.is_recipient(one, side) or requests.is_sender(one, side)


def _row(app: App, one: Request, side: Side | None) -> str:
    identifier = one.id if is_wide(app) else ids.tail(one.id)
    start = f"{identifier}  {pad(one.status, 6)}  {pad(clock.age(one.opened_at, app.now), 10)}  "
    if app.columns is None:
        return f"{start}{_ends(one, side, None)}  {fit(one.subject, _SHOWN)}"
    room = max(app.columns - width(start) - 2, 2 * _LEAST)
    ends = _ends(one, side, room - max(min(width(one.subject), room // 3), _LEAST))
    return f"{start}{ends}  {fit(one.subject, room - width(ends))}"


def _ends(one: Request, side: Side | None, room: int | None) -> str:
    """Who asks whom, in ``room`` cells: of a path that is too long the end is kept."""
    if side is None:
        each = None if room is None else (room - len(" to ")) // 2
        return f"{_cut(one.from_path, each)} to {_cut(one.to_path, each)}"
    word, path = ("from", one.from_path) if requests.is_recipient(one, side) else ("to", one.to_path)
    return f"{word} {_cut(path, None if room is None else room - len(word) - 1)}"


def _cut(path: str, room: int | None) -> str:
    return _path(path) if room is None else fit(_path(path), room, keep_end=True)


def whole(app: App, one: Request, as_json: bool) -> None:
    """A request: a few header lines, its brief, and its result where there is one."""
    if as_json:
        app.json({"request": record(one)})
        return
    lines = [f"request {one.id}", f"State:   {one.status}", f"From:    {_path(one.from_path)}"]
    lines += [f"To:      {_path(one.to_path)}", f"Opened:  {clock.rfc3339(one.opened_at)}, {app.age(one.opened_at)}"]
    if one.closed_at is not None:
        lines.append(f"Closed:  {clock.rfc3339(one.closed_at)}, {app.age(one.closed_at)}")
    mails = [name for name in (one.brief_mail, one.result_mail) if name and ids.is_id(name)]
    lines += [f"Mail:    {', '.join(mails)}"] if mails else []
    lines += [f"As of:   {clock.rfc3339(app.now)}", "", "Brief, quoted:", quoted(one.brief).rstrip("\n")]
    if one.result is not None:
        lines += ["", "Result, quoted:", quoted(one.result).rstrip("\n")]
    app.out("\n".join(lines))

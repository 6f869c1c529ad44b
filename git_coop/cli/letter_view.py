"""How letters are shown: whole, as a row, as a chain, for people and as JSON."""

import os
from collections.abc import Callable, Sequence

from git_coop import adopted, clock, history, ids, letter_glance, letterbox
from git_coop.cli.app import App
from git_coop.cli.mail_table import is_wide
from git_coop.errors import Refused, StoreFault
from git_coop.history import Wanted
from git_coop.layout import Box, is_inherited
from git_coop.letter_record import fields
from git_coop.letterbox import Broken, Sent, Shelf
from git_coop.letters import Letter, subject_of
from git_coop.place import Place
from git_coop.render import quoted
from git_coop.text import fit, pad, quote_path, safe_line, visible, width

Transition = Callable[[Letter], Letter]

_SUBJECT = 120
EARLIER = ", written for an earlier worktree at this path"


def record(letter: Letter) -> dict[str, object]:
    """A letter for ``--json``: the record's fields, times as strings, absent as null."""
    return fields(letter, clock.rfc3339)


def placed(box: Box, letter: Letter) -> dict[str, object]:
    """A letter of a box for ``--json``, with the replicas that adopted it as the last sync found them."""
    return {**record(letter), "adopted_on": list(adopted.adopted_on(box.store, letter.id))}


def wrote(app: App, sent: Sent, as_json: bool) -> None:
    """The answer to ``letter write``: the id, and what it superseded."""
    if as_json:
        app.json({"letter": record(sent.letter), "superseded": [record(old) for old in sent.superseded]})
        return
    app.out(f"letter {sent.letter.id} written to the next session in this worktree")
    for old in sent.superseded:
        never = ", which was never read" if old.read_count == 0 else ""
        app.out(f"superseded {old.id}{never}")
    for broken in sent.unsettled:
        app.warn(f"letter {broken.id} is superseded, its record could not be marked: {broken.why}")


def changed(app: App, letter: Letter, as_json: bool) -> None:
    """The answer to a change of state."""
    if as_json:
        app.json({"letter": record(letter)})
    else:
        app.out(f"letter {letter.id} is {letter.status}")


def whole(app: App, own: Box, letter: Letter, *, as_json: bool, raw: bool) -> None:
    """A letter: a few header lines, an empty line, the body exactly; ``raw`` leaves the head out.

    On a terminal control characters are made visible; an adopted letter, another store's, is quoted as mail is.
    """
    if as_json:
        app.json({"letter": placed(own, letter)})
    elif raw:
        app.write(letter.body.encode())
    else:
        lines = [*head(app, own, letter), "", ""]
        app.write(("\n".join(lines) + _body(app, letter)).encode("utf-8", "replace"))
    if letter.superseded_by and letter.superseded_by not in letter_glance.known(Box(own.store, letter.key)):
        app.warn(f"the record of {letter.superseded_by}, which superseded it, is gone")


def _body(app: App, letter: Letter) -> str:
    if letter.adopted_from:
        return quoted(letter.body)
    if not app.edge.stdout.isatty():
        return letter.body
    return visible(letter.body) + ("" if letter.body.endswith("\n") else "\n")


def head(app: App, own: Box, letter: Letter) -> list[str]:
    """The header lines of a letter, the last one saying when they were true."""
    lines = [f"letter {letter.id}", f"State:   {state(letter)}"]
    if letter.key != own.key:
        lines.append(f"From:    the worktree {quote_path(os.fsencode(letter.path))}, for its own next session")
    earlier = EARLIER if is_inherited(Box(own.store, letter.key), letter.id) else ""
    lines.append(f"Written: {clock.rfc3339(letter.created_at)}, {app.age(letter.created_at)}{earlier}")
    elsewhere = adopted.said(adopted.adopted_on(own.store, letter.id))
    if elsewhere:
        lines.append(f"Fleet:   {elsewhere}")
    if letter.branch or letter.head:
        lines.append(f"Branch:  {_branch(letter)}")
    lines.append(f"Subject: {safe_line(letter.subject, _SUBJECT)}")
    if letter.adopted_from:
        lines.append(f"Adopted: from {safe_line(letter.adopted_from, _SUBJECT)}; the lines with a bar are quoted")
    return [*lines, f"As of:   {clock.rfc3339(app.now)}"]


def _branch(letter: Letter) -> str:
    commit = f" at {safe_line(letter.head[:12])}" if letter.head else ""
    return safe_line(letter.branch or "(detached)", _SUBJECT) + commit


def state(letter: Letter) -> str:
    """A letter's state in a few words."""
    details = []
    if letter.read_count:
        details.append(f"read {letter.read_count} time{'s' if letter.read_count > 1 else ''}")
    if letter.superseded_by:
        details.append(f"by {safe_line(letter.superseded_by, ids.LENGTH)}")
    elif letter.close_reason or letter.ack_body:
        details.append(safe_line(subject_of(letter.close_reason or letter.ack_body or ""), _SUBJECT))
    return letter.status + (f" ({', '.join(details)})" if details else "")


def wanted(letters: Sequence[Letter], want: Wanted) -> list[Letter]:
    """Those of the letters that are wanted; they stand newest first. ``--grep`` looks into what a person wrote."""
    return history.chosen(letters, want, time=lambda letter: letter.created_at, text=_searched)


def _searched(letter: Letter) -> list[str]:
    texts = (letter.subject, letter.body, letter.ack_body, letter.close_reason)
    return [line for text in texts if text for line in text.splitlines()]


def listing(app: App, here: Place, want: Wanted, *, closed: bool, everywhere: bool, as_json: bool) -> None:
    """The letters of one worktree or of all, newest first; records that cannot be read are named.

    What is ``want``ed is chosen of each worktree's letters.
    """
    store = here.store()
    homes: list[Box] = []
    if store is not None:
        homes = letterbox.shelves(store) if everywhere else [here.look(store)]
    shelves, unlisted = [], []
    for home in homes:
        try:
            shelves.append((home, letterbox.shelf(home)))
        except StoreFault as error:  # one bad box hides no other
            unlisted.append(error)
    if as_json:
        app.json(_listing_record(shelves, closed, want))
    else:
        for home, shelf in shelves:
            _list_one(app, home, shelf, _chosen(shelf, closed, want), everywhere=everywhere)
        letters = [letter for _home, shelf in shelves for letter in shelf.letters]
        if letters and not closed and not any(letter.live for letter in letters):
            app.hint("--all shows the closed ones")
    name_broken(app, shelves, unlisted)


def _chosen(shelf: Shelf, closed: bool, want: Wanted) -> list[Letter]:
    return wanted([letter for letter in reversed(shelf.letters) if closed or letter.live], want)


def _listing_record(shelves: list[tuple[Box, Shelf]], closed: bool, want: Wanted) -> dict[str, object]:
    broken = [_broken_record(one) for _home, shelf in shelves for one in shelf.broken]
    return {
        "letters": [placed(home, letter) for home, shelf in shelves for letter in _chosen(shelf, closed, want)],
        "unreadable": broken,
    }


def _broken_record(broken: Broken) -> dict[str, object]:
    return {"id": broken.id, "reason": safe_line(broken.why)}


def _list_one(app: App, home: Box, shelf: Shelf, rows: list[Letter], *, everywhere: bool) -> None:
    if everywhere and (rows or shelf.broken):
        app.out(quote_path(app.path_of(home)) or home.key)
    elsewhere = adopted.everywhere(home.store) if rows else {}
    for letter in rows:
        earlier = is_inherited(home, letter.id)
        taken = adopted.said(elsewhere.get(letter.id, ()))
        notes = (EARLIER if earlier else "") + (f", {taken}" if taken else "")
        app.out(_row(app, letter, "  " if everywhere else "", notes))


def _row(app: App, letter: Letter, indent: str, end: str) -> str:
    identifier = letter.id if is_wide(app) else ids.tail(letter.id)
    start = f"{indent}{identifier}  {pad(letter.status, 10)}  {pad(clock.age(letter.created_at, app.now), 10)}  "
    room = _SUBJECT if app.columns is None else max(app.columns - width(start) - width(end), 8)
    return start + fit(safe_line(letter.subject, _SUBJECT), room) + end


def name_broken(app: App, shelves: list[tuple[Box, Shelf]], unlisted: Sequence[StoreFault] = ()) -> None:
    """Name the records that cannot be read, on standard error; ``Refused`` where there are any."""
    broken = [one for _home, shelf in shelves for one in shelf.broken]
    for one in broken:
        app.note(f"error: letter {one.id} is unreadable: {one.why}")
    for error in unlisted:
        app.note(f"error: {error.sentence}")
    for home, shelf in shelves:
        if shelf.strangers:
            app.note(f"note: {shelf.strangers} other files lie among the letters of {home.key}")
    if broken or unlisted:
        count = len(broken) + len(unlisted)
        raise Refused(
            f"{count} letter record{'s' if count > 1 else ''} cannot be read",
            hint="git coop doctor looks closer",
        )

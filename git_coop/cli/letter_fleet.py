"""Other machines' letters: listed, and shown in a frame."""

from git_coop import adopted, clock, fleet, ledger, replica
from git_coop.cli import letter_view
from git_coop.cli.app import App
from git_coop.errors import NotFound
from git_coop.fleet import Far, Shelf
from git_coop.history import Wanted
from git_coop.place import Place
from git_coop.render import quoted
from git_coop.store import Store
from git_coop.text import fit, pad, safe_line, width

_SUBJECT = 120


def record(far: Far) -> dict[str, object]:
    """Another store's letter for ``--json``: the record's fields, whose it is, and who adopted it."""
    return {"replica": far.replica, **letter_view.record(far.letter), "adopted_on": list(far.adopted_on)}


def listing(app: App, here: Place, want: Wanted, *, closed: bool, as_json: bool) -> None:
    """The letters of every other store, newest first; what was passed over is named and hides nothing.

    What is ``want``ed is chosen of each store's letters.
    """
    store = here.store()
    book = None if store is None else ledger.look(store)
    found = fleet.Fleet()
    if store is not None and book is not None:
        with book:
            found = fleet.survey(book, replica.read(store), closed=closed)
    rows = {shelf.replica: _chosen(shelf, want) for shelf in found.shelves}
    if as_json:
        stores = [{"replica": shelf.replica, "name": shelf.name or None} for shelf in found.shelves]
        every = [record(far) for shelf in found.shelves for far in rows[shelf.replica]]
        app.json({"letters": every, "stores": stores, "unreadable": [safe_line(why) for why in found.problems]})
    else:
        for shelf in found.shelves:
            _list_one(app, shelf, rows[shelf.replica])
    for why in found.problems:
        app.warn(f"passed over: {why}")
    if book is None:
        app.hint("no other store is known here: git coop sync fetches what others sent")


def _chosen(shelf: Shelf, want: Wanted) -> list[Far]:
    kept = {letter.id for letter in letter_view.wanted([far.letter for far in shelf.letters], want)}
    return [far for far in shelf.letters if far.letter.id in kept]


def _list_one(app: App, shelf: Shelf, rows: list[Far]) -> None:
    if not rows:
        return
    app.out(shelf.replica + (f" ({shelf.name})" if shelf.name else ""))
    for far in rows:
        app.out(_row(app, shelf, far))


def _row(app: App, shelf: Shelf, far: Far) -> str:
    letter = far.letter
    start = f"  {letter.id}  {pad(letter.status, 10)}  {pad(clock.age(letter.created_at, app.now), 10)}  "
    said = adopted.said(far.adopted_on)
    where = shelf.boxes.get(letter.key, letter.key)
    text = f"{safe_line(letter.subject, _SUBJECT)}  [{where}]" + (f", {said}" if said else "")
    return start + fit(text, 300 if app.columns is None else max(app.columns - width(start), 8))


def find(store: Store, asked: str) -> Far | None:
    """Another store's letter; ``None`` where none is meant. Raises ``Refused`` where several are."""
    book = ledger.look(store)
    if book is None:
        return None
    with book:
        try:
            return fleet.find(book, replica.read(store), asked)
        except NotFound:
            return None


def whole(app: App, far: Far, *, as_json: bool, raw: bool) -> None:
    """Another store's letter: header lines, an empty line, the body framed as mail is; ``raw``: the body alone."""
    letter = far.letter
    if as_json:
        app.json({"letter": record(far)})
        return
    if raw:
        app.write(letter.body.encode("utf-8", "replace"))
        return
    lines = [f"letter {letter.id}", f"Store:   {far.replica}; the lines with a bar are quoted from it"]
    lines.append(f"Path:    {safe_line(letter.path, _SUBJECT, keep_end=True)}")
    lines.append(f"State:   {letter_view.state(letter)}")
    if far.adopted_on:
        lines.append(f"Adopted: {adopted.said(far.adopted_on).removeprefix('adopted ')}")
    lines.append(f"Written: {clock.rfc3339(letter.created_at)}, {app.age(letter.created_at)}")
    lines.append(f"Subject: {safe_line(letter.subject, _SUBJECT)}")
    lines.append(f"As of:   {clock.rfc3339(app.now)}")
    app.write(("\n".join(lines) + "\n\n" + quoted(letter.body)).encode("utf-8", "replace"))

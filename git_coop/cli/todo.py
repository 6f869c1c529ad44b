"""``git coop todo``: the list that letters refer to."""

import click

from git_coop import clock, ids, letterbox, letters, todobox, todos
from git_coop.cli.app import App
from git_coop.cli.frame import Family, Verb
from git_coop.errors import CoopError, StoreFault
from git_coop.layout import Box
from git_coop.layout import boxes as every_box
from git_coop.letters import Letter
from git_coop.text import fit, pad, quote_path, safe_line, width
from git_coop.todobox import Change, Shelf
from git_coop.todos import Todo

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
SESSION = click.option("--session", metavar="<id>", help="The calling session, where its client does not say.")
_SHOWN = 200  # characters of a todo in a list that goes to no terminal


@click.group(cls=Family)
def todo() -> None:
    """What is to be done in this worktree."""


def record(one: Todo) -> dict[str, object]:
    """A todo for ``--json``: the record's fields, times as strings, absent as null."""
    return todos.fields(one, clock.rfc3339)


@todo.command(cls=Verb)
@click.argument("words", metavar="<text>...", nargs=-1, required=True)
@SESSION
@AS_JSON
@click.pass_obj
def add(app: App, words: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Add a todo: one line, whose words need no quotes."""
    text = todos.checked(" ".join(words))
    one = todobox.add(app.open_box(app.place), text, app.now, app.edge.entropy, app.session(session))
    if as_json:
        app.json({"todo": record(one)})
    else:
        app.out(f"todo {one.id} added")


@todo.command("list", cls=Verb)
@click.option("--all", "closed", is_flag=True, help="The done ones too.")
@click.option("--all-worktrees", "everywhere", is_flag=True, help="The todos of every worktree of the clone.")
@AS_JSON
@click.pass_obj
def list_(app: App, closed: bool, everywhere: bool, as_json: bool) -> int:
    """List the todos of this worktree, oldest first; exit 1 where a record cannot be read."""
    shelves = [(home, todobox.shelf(home)) for home in _homes(app, everywhere)]
    broken = [why for _home, shelf in shelves for why in shelf.broken]
    if as_json:
        found = [one for home, shelf in shelves for one in _records(app, home, _chosen(shelf, closed))]
        app.json({"todos": found, "unreadable": [safe_line(why) for why in broken]})
    else:
        for home, shelf in shelves:
            _list_one(app, home, shelf, closed=closed, everywhere=everywhere)
    for why in broken:
        app.note(f"error: {why}")
    return 1 if broken else 0


def _homes(app: App, everywhere: bool) -> list[Box]:
    store = app.nearby.store()
    if store is None:
        return []
    return every_box(store) if everywhere else [app.nearby.look(store)]


def _records(app: App, home: Box, rows: tuple[Todo, ...]) -> list[dict[str, object]]:
    """The todos of a box for ``--json``, each with the box's key and path; null where the path cannot be read."""
    from git_coop.cli.mail_queued import json_text

    try:
        path = json_text(app.path_of(home)) or None
    except StoreFault:
        path = None
    return [{"box": home.key, "path": path, **record(one)} for one in rows]


def _chosen(shelf: Shelf, closed: bool) -> tuple[Todo, ...]:
    return shelf.todos if closed else shelf.open


def _list_one(app: App, home: Box, shelf: Shelf, *, closed: bool, everywhere: bool) -> None:
    rows = _chosen(shelf, closed)
    if everywhere and rows:
        app.out(quote_path(app.path_of(home)) or home.key)
    for one in rows:
        age = pad(clock.age(one.created_at, app.now), 10)
        start = f"{'  ' if everywhere else ''}{one.id}  {pad(one.status, 4)}  {age}  "
        room = _SHOWN if app.columns is None else max(app.columns - width(start), 8)
        app.out(start + fit(one.text, room))


@todo.command(cls=Verb)
@click.argument("asked", metavar="<id>")
@AS_JSON
@click.pass_obj
def done(app: App, asked: str, as_json: bool) -> None:
    """Mark a todo done, and name the live letter that mentions it."""
    box = app.existing_box(app.place)
    change = todobox.change(box, asked, lambda one: todos.done(one, app.now))
    letter = _mentioning(app, box, change.after)
    _answer(app, change, "done", letter, as_json)
    if letter is not None:
        tail = ids.tail(letter.id)
        first = f"git coop letter read {tail}, then " if letter.status == letters.UNREAD else ""
        app.hint(f"when all that the letter asks for is done, acknowledge it: {first}git coop letter ack {tail}")


@todo.command(cls=Verb)
@click.argument("asked", metavar="<id>")
@AS_JSON
@click.pass_obj
def reopen(app: App, asked: str, as_json: bool) -> None:
    """Open a todo again that was done."""
    box = app.existing_box(app.place)
    change = todobox.change(box, asked, lambda one: todos.reopened(one, app.now))
    _answer(app, change, "open", None, as_json)


def _answer(app: App, change: Change, word: str, letter: Letter | None, as_json: bool) -> None:
    changed = change.after != change.before
    if as_json:
        mentioned = [] if letter is None else [letter.id]
        app.json({"todo": record(change.after), "changed": changed, "letters": mentioned})
        return
    app.out(f"todo {change.after.id} {f'is {word}' if changed else f'was {word} already'}")
    if letter is not None:
        app.out(f"letter {letter.id} mentions it")


def _mentioning(app: App, box: Box, one: Todo) -> Letter | None:
    """The live letter that mentions the todo; one that cannot be read costs only the mention."""
    try:
        letter = letterbox.live(box)
    except CoopError as error:
        app.warn(f"whether a letter mentions it is not known: {error.sentence}")
        return None
    return letter if letter is not None and todos.mentions(letter.body, one.id) else None

"""Letters that no session here is the next of, taken over: another store's, and those of worktrees that are gone."""

import os

import click

from git_coop import body, ids, layout, letterbox, letters, overview
from git_coop.cli import bodies, letter_fleet, letter_view, letter_write
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.errors import NotFound, Refused
from git_coop.layout import Box
from git_coop.letters import BODY_LIMIT, Letter
from git_coop.place import Place
from git_coop.record import Record
from git_coop.store import Store
from git_coop.text import quote_path, safe_line


class Source(Record):
    """A letter to take over; ``address`` ends in its id and begins with its store, or the path of its worktree."""

    letter: Letter
    address: str

    @property
    def home(self) -> str:
        return safe_line(self.address.rpartition("/")[0], 200, keep_end=True)


@click.command(cls=Verb)
@click.argument("asked", metavar="<id>")
@click.option("--session", metavar="<id>", help="The calling session, where its client does not say.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.pass_obj
def adopt(app: App, asked: str, session: str | None, as_json: bool) -> None:
    """Write a letter of another store, or of a worktree that is gone, as this worktree's own.

    The letter itself stays as it is. Another store is told at the next sync.
    """
    here = app.place
    store = here.store()
    source = None if store is None else _source(app, here, store, asked)
    if source is None:
        raise NotFound(
            f"no letter '{asked}' of another store or of a worktree that is gone",
            hint="git coop letter list --fleet and --all-worktrees show them",
        )
    text = bodies.guarded(body.from_bytes(source.letter.body.encode(), limit=BODY_LIMIT, what="letter")) or ""
    box = app.open_box(here)
    _once(box, source)
    line = letters.subject_of(source.letter.subject) or letters.subject_of(text)
    sent = letter_write.store(app, here, box, text, line, app.session(session), source.address)
    letter_view.wrote(app, sent, as_json)


def _source(app: App, here: Place, store: Store, asked: str) -> Source | None:
    """What the words name: a letter of this store whose worktree is gone, else one of another store."""
    try:
        mine = letterbox.anywhere(store, asked)
    except NotFound:
        mine = None
    if mine is not None and _is_homeless(app, here, store, mine.key):
        path = Box(store, mine.key).path().decode("utf-8", "replace") or mine.key
        return Source(mine, f"{path}/{mine.id}")
    far = letter_fleet.find(store, asked)
    if far is not None:
        return Source(far.letter, far.address)
    if mine is not None:
        raise _refusal(here, store, mine)
    return None


def _is_homeless(app: App, here: Place, store: Store, key: str) -> bool:
    """Whether no worktree of the clone, moved ones included, nor a directory has this box."""
    rows = [row for row in overview.clone(here, store, app.edge.env, []) if row.gone != "gone"]
    found = {row.glance.box.key for row in rows if row.glance.box is not None}
    return key not in found | {layout.key(row.glance.path) for row in rows if row.glance.path}


def _refusal(here: Place, store: Store, letter: Letter) -> Refused:
    if letter.key == here.look(store).key:
        return Refused(
            f"letter {letter.id} is this worktree's own", hint=f"git coop letter read {ids.tail(letter.id)} reads it"
        )
    path = quote_path(Box(store, letter.key).path() or os.fsencode(letter.path))
    return Refused(
        f"letter {letter.id} is for the next session in the worktree {path}",
        hint=f"git coop letter show {ids.tail(letter.id)} shows it",
    )


def _once(box: Box, source: Source) -> None:
    """Refuse what is adopted here already and still lives."""
    live = letterbox.live(box)
    if live is not None and live.adopted_from == source.address:
        raise Refused(
            f"letter {source.letter.id} of {source.home} was adopted here as {live.id}",
            hint=f"git coop letter read {ids.tail(live.id)} reads it",
        )

"""``git coop mail list``, ``show``, ``status``, ``trace`` and ``sent``: views. None of them changes a byte."""

import os
import shlex

import click

from git_coop import layout, mailbox, tracing
from git_coop.cli import filters, mail_view
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.cli.mail_words import AS_JSON, ASKED, BOX, box_of
from git_coop.errors import CoopError, NotFound, Usage
from git_coop.history import Wanted
from git_coop.layout import Box
from git_coop.mailbox import OPEN, STATES
from git_coop.text import quote_path


@click.command(cls=Verb)
@click.option("--state", metavar="<state>", help="Only this state: inbox, stranded, seen or expired.")
@click.option("--all", "closed", is_flag=True, help="What was seen and what expired too.")
@BOX
@click.option("--all-worktrees", "everywhere", is_flag=True, help="The boxes of every worktree of the clone.")
@AS_JSON
@click.pass_obj
@filters.searching("a subject, first line, sender's path or kind")
def list_(
    app: App, want: Wanted, state: str | None, closed: bool, box: str | None, everywhere: bool, as_json: bool
) -> int:
    """List what lies in this worktree's box, oldest first; exit 1 where something in it is no message."""
    if state is not None and state not in STATES:
        raise Usage(f"'{state}' is no state", hint=f"the states are {', '.join(STATES)}")
    if state is not None and closed:
        raise Usage("options '--state' and '--all' cannot be used together")
    if box is not None and everywhere:
        raise Usage("options '--box' and '--all-worktrees' cannot be used together")
    here = app.nearby
    store = here.store()
    own = None if store is None else here.look(store)
    homes = [own] if own is not None else []
    if box is not None:
        homes = [box_of(app, here, box)]
    elif store is not None and everywhere:
        homes = layout.boxes(store)
    states = (state,) if state is not None else STATES if closed else OPEN
    return mail_view.listing(app, own, homes, states, want, as_json)


@click.command(cls=Verb)
@ASKED
@click.option("--raw", is_flag=True, help="The message's file, byte for byte.")
@BOX
@AS_JSON
@click.pass_obj
def show(app: App, asked: str, raw: bool, box: str | None, as_json: bool) -> None:
    """Show one message and change nothing: a view never counts as a showing."""
    if raw and as_json:
        raise Usage("options '--raw' and '--json' cannot be used together")
    home = box_of(app, app.nearby, box)
    identifier, state = _found(home, asked)
    if raw:
        for chunk in mailbox.chunks(home, identifier, state):
            app.write(chunk)
        return
    mail_view.whole(app, home, mailbox.read(home, identifier, state), state, as_json)


def _found(home: Box, asked: str) -> tuple[str, str]:
    """The message that ``asked`` names; of one that was sent from here, the error says where it went."""
    try:
        return mailbox.find(home, asked)
    except NotFound as error:
        try:
            fate = tracing.trace(home, asked)
        except CoopError:
            raise error from None
        where = quote_path(fate.sent.path)
        plain = fate.box is not None and os.fsencode(where) == fate.sent.path  # else nobody can type it
        way = f"git coop mail show --box {shlex.quote(where)} {fate.sent.id}" if plain else ""
        told = f"it was sent from here to '{where}': git coop mail trace {fate.sent.id}"
        raise NotFound(error.sentence, hint=f"{told}\n{way}".rstrip()) from None


@click.command(cls=Verb)
@AS_JSON
@click.pass_obj
def status(app: App, as_json: bool) -> int:
    """Count what lies in every box of the clone, and say when it was last drained."""
    here = app.nearby
    store = here.store()
    if store is None:
        return mail_view.no_store(app, as_json)
    own = here.look(store)
    tallies = [mailbox.tally(box, own, app.edge.env, here.root) for box in layout.boxes(store)]
    return mail_view.status(app, store, own, tallies, as_json)


@click.command(cls=Verb)
@ASKED
@AS_JSON
@click.pass_obj
def trace(app: App, asked: str, as_json: bool) -> None:
    """Tell what became of a message that this worktree sent."""
    box = app.own_box(app.nearby)
    if box is None:
        raise NotFound("nothing was sent from here: nothing is stored in this clone yet")
    mail_view.traced(app, tracing.trace(box, asked), as_json)


@click.command(cls=Verb)
@AS_JSON
@click.pass_obj
def sent(app: App, as_json: bool) -> int:
    """List what was sent from here and what became of it, until its outcome was told by mail."""
    box = app.own_box(app.nearby)
    notes = tracing.Notes() if box is None else tracing.everything(box)
    return mail_view.sent(app, notes, as_json)

"""``git coop status``, which is also ``git coop`` alone: what waits here, or in every worktree of the clone."""

import click

from git_coop import homeless, overview, replica
from git_coop.cli import status_view
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.cli.status_view import Facts
from git_coop.errors import StoreFault, Usage
from git_coop.store import Store


@click.command(cls=Verb)
@click.option("--all-worktrees", "everywhere", is_flag=True, help="One row for each worktree of the clone.")
@click.option("--short", is_flag=True, help="One line for a prompt or a status bar; none where nothing waits.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.pass_obj
def status(app: App, everywhere: bool = False, short: bool = False, as_json: bool = False) -> int:
    """Show what waits in this worktree; exit 1 where something cannot be read."""
    if short and (everywhere or as_json):
        raise Usage("--short is one line of this worktree", hint="leave out --all-worktrees and --json")
    here = app.nearby
    store = here.store()
    faults: list[str] = []
    if everywhere:
        rows = overview.clone(here, store, app.edge.env, faults)
        status_view.rows(app, store, rows, as_json)
        return _told(app, [*faults, *(fault for row in rows for fault in row.glance.faults)])
    asks = [] if store is None else overview.asks(store, faults)
    box = None if store is None else here.look(store)
    seen = overview.glance(box, here.root, asks, opened=0 if short else overview.OPENED, whole=as_json)
    faults += seen.faults
    if short:
        status_view.short(app, store, seen, bool(faults))
    else:
        facts = _facts(app, store, faults)
        status_view.whole(app, store, seen, facts, as_json)
    return _told(app, faults)


def _facts(app: App, store: Store | None, faults: list[str]) -> Facts:
    if store is None:
        return Facts()
    try:
        return Facts(replica.only_here(store).alone, homeless.left(app.nearby, store))
    except StoreFault as error:
        faults.append(error.sentence)
        return Facts()


def _told(app: App, faults: list[str]) -> int:
    for fault in dict.fromkeys(faults):
        app.note(f"error: {fault}")
    if faults:
        app.hint("git coop doctor looks closer")
    return 1 if faults else 0

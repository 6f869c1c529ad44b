"""``git coop gc``: remove filed mail, receipts and traces that are older than ``coop.retention``."""

import click

from git_coop import config
from git_coop import gc as core
from git_coop.checks import many
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.clock import rfc3339

_WORDS = {
    core.CONSUMED: ("consumed message", "consumed messages"),
    core.EXPIRED: ("expired message", "expired messages"),
    core.RECEIPTS: ("receipt", "receipts"),
    core.SESSIONS: ("session's markers", "sessions' markers"),
    core.NOTES: ("note on sent mail", "notes on sent mail"),
}


@click.command(cls=Verb)
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.pass_obj
def gc(app: App, dry_run: bool, as_json: bool) -> int:
    """Remove filed mail and its receipts once they are older than coop.retention."""
    here = app.nearby
    days = config.load(here.root, app.edge.env).retention()
    store = here.store()
    swept = core.Swept(dict.fromkeys(core.KINDS, 0)) if store is None else core.sweep(store, app.now, days, dry=dry_run)
    if as_json:
        app.json(
            {"retention_days": days, "dry_run": dry_run, "removed": dict(swept.counts), "failed": list(swept.failed)}
        )
    else:
        app.out(_sentence(swept.counts, days, dry_run))
        app.out(f"as of {rfc3339(app.now)}")
    for sentence in swept.failed:
        app.note(f"error: {sentence}")
    return 1 if swept.failed else 0


def _sentence(counts: dict[str, int], days: int, dry_run: bool) -> str:
    if days == 0:
        return "coop.retention is 0: everything is kept"
    done = "would remove" if dry_run else "removed"
    parts = [many(counts[kind], *_WORDS[kind]) for kind in core.KINDS if counts[kind]]
    since = f"older than {many(days, 'day')}"
    return f"{done} {', '.join(parts)} {since}" if parts else f"nothing is {since}"

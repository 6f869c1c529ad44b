"""The words that several commands of ``git coop mail`` share: options, the box that is looked into, the term."""

import click

from git_coop.cli.app import App
from git_coop.errors import NotFound
from git_coop.layout import Box
from git_coop.place import Place

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
SESSION = click.option("--session", metavar="<id>", help="The calling session, where its client does not say.")
BOX = click.option("--box", metavar="<path>", help="Look in this worktree's box (a path, also a former one, or a key).")
ASKED = click.argument("asked", metavar="<id>")


def box_of(app: App, here: Place, given: str | None) -> Box:
    """The box to look into: this worktree's, or the one that ``--box`` names."""
    from git_coop import addresses

    store = here.store()
    if store is None:
        raise NotFound("nothing is stored in this clone yet")
    if given is None:
        return here.look(store)
    return addresses.box_at(store, here, given, app.directory, app.edge.env)


def term(app: App, ttl: str | None) -> int:
    """How long a message waits, in nanoseconds: the option, else ``coop.ttl``, else the default."""
    from git_coop.message import DEFAULT_TERM

    if ttl is not None:
        from git_coop.ttl import parse_ttl

        return parse_ttl(ttl)
    from git_coop import config

    return config.load(app.directory, app.edge.env).ttl() or DEFAULT_TERM

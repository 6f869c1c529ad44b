"""``git coop drain``: the same drain for words that the short dispatch leaves to the command line proper."""

import click

from git_coop import hook
from git_coop.cli.app import App
from git_coop.cli.frame import Verb


@click.command(cls=Verb)
@click.option("--event", metavar="<event>", help="start, prompt (the default) or stop.")
@click.option("--client", metavar="<name>", help="The client whose payload is on standard input.")
@click.option("--session", metavar="<id>", help="The session that is shown mail; its client says it otherwise.")
@click.option("--cwd", metavar="<dir>", help="Where the session works, in place of the payload's directory.")
@click.option("--anchor", metavar="<dir>", help="The repository to read for a session outside any.")
@click.pass_obj
def drain(
    app: App, event: str | None, client: str | None, session: str | None, cwd: str | None, anchor: str | None
) -> int:
    """Show what waits for this worktree, and file what was shown.

    Hooks of agent clients call this at a session's start, at each prompt and at each stop.
    """
    given = {"event": event, "client": client, "session": session, "cwd": cwd, "anchor": anchor}
    words = [f"--{name}={value}" for name, value in given.items() if value is not None]
    return hook.call(hook.parsed(words), app.edge)

"""``git coop hooks``: the drain in clients' settings: put in, taken out, looked at."""

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from git_coop import config, hook_clients, hook_command, hook_status, wiring
from git_coop.cli import hooks_view
from git_coop.cli.app import App
from git_coop.cli.frame import Family, Verb
from git_coop.errors import CoopError, Fatal, Usage
from git_coop.hook_clients import LOCAL, PROJECT, USER
from git_coop.wiring import SCOPES, World

Command = Callable[..., None]

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the change as a diff and write nothing.")
_SCOPES = {
    USER: "your own settings, for every worktree",
    PROJECT: "the worktree's settings, which others share",
    LOCAL: "your own settings for this worktree",
}


@click.group(cls=Family)
def hooks() -> None:
    """The hooks of agent clients that run the drain."""


def scope_options(verb: str, default: str) -> Callable[[Command], Command]:
    """``--user``, ``--project`` and ``--local``, as the one parameter ``chosen``; ``verb`` is what they are for.

    ``default`` says of ``--user`` what holds without any of them.
    """

    def wrap(command: Command) -> Command:
        for scope in reversed(SCOPES):
            text = f"{verb} {_SCOPES[scope]}{default if scope == USER else ''}."
            command = click.option(f"--{scope}", "chosen", flag_value=scope, multiple=True, help=text)(command)
        return command

    return wrap


def _one(chosen: Any) -> str | None:
    if len(set(chosen)) > 1:
        raise Usage("one of --user, --project and --local")
    return str(chosen[0]) if chosen else None


def _given(chosen: tuple[str, ...]) -> str:
    return f"--{chosen[0]}" if chosen else "--dry-run"


def _world(app: App) -> World:
    """Where settings are looked for. Outside of a worktree there is no root, and the user's settings alone."""
    try:
        root: str | None = os.fsdecode(app.nearby.root)
    except CoopError:
        root = None
    return World(app.edge.env, root)


def _program(app: App) -> str:
    cwd = os.fsdecode(app.edge.cwd or b"/")
    return hook_command.find_program(sys.argv[0], sys.executable, cwd, app.edge.env.get("PATH", os.defpath))


@hooks.command(cls=Verb)
@click.argument("name", metavar="[<client>]", required=False)
@scope_options("Write to", " (default)")
@DRY_RUN
@AS_JSON
@click.pass_obj
def install(app: App, name: str | None, chosen: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Put the hooks into a client's settings; without a client, list those that are here."""
    if name is None:
        if chosen or dry_run:
            raise Usage(f"option '{_given(chosen)}' needs a client", hint="git coop hooks install lists those here")
        hooks_view.clients(app, hook_status.status(_world(app)), as_json)
        return
    client = hook_clients.client(name)
    scope = wiring.scope_of(client, _one(chosen) or USER)
    world = _world(app)
    if scope != USER and world.root is None:
        _ = app.nearby  # raises why there is no worktree
    plan = wiring.install(client, scope, world, _program(app))
    if not dry_run:
        wiring.apply(plan, app.edge.entropy)
    hooks_view.installed(app, client, plan, dry_run=dry_run, as_json=as_json)


@hooks.command(cls=Verb)
@click.argument("name", metavar="<client>")
@scope_options("Only from", " (default: from all three)")
@DRY_RUN
@AS_JSON
@click.pass_obj
def uninstall(app: App, name: str, chosen: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Take the hooks out of a client's settings: of one scope, or of every one."""
    client = hook_clients.client(name)
    scope = _one(chosen)
    asked = SCOPES if scope is None else (wiring.scope_of(client, scope),)
    plans, errors = wiring.uninstall(client, _world(app), asked)
    done = []
    for plan in plans:
        try:
            if not dry_run:
                wiring.apply(plan, app.edge.entropy)
            done.append(plan)
        except CoopError as error:
            errors.append(error)
    hooks_view.uninstalled(app, client, done, errors, dry_run=dry_run, as_json=as_json)
    if errors:
        raise next((error for error in errors if isinstance(error, Fatal)), errors[0])


@hooks.command(cls=Verb, short_help="say where the hooks are, whether they run, and when last")
@AS_JSON
@click.pass_obj
def status(app: App, as_json: bool) -> None:
    """Where the hooks are installed, whether they can run, and when each ran last in this worktree."""
    delivery = config.AUTO
    try:
        delivery = config.load(app.edge.cwd, app.edge.env).stop_delivery()
    except CoopError as error:
        app.warn(error.sentence)
    seen, world = app.last_seen(), _world(app)
    found = hook_status.status(world, stop_delivery=delivery)
    hooks_view.status(app, found, seen, as_json, inside=world.root is not None)


@hooks.command(cls=Verb)
@click.argument("name", metavar="<client>")
@scope_options("For", " (default)")
@AS_JSON
@click.pass_obj
def show(app: App, name: str, chosen: tuple[str, ...], as_json: bool) -> None:
    """Print what installing writes into an empty file."""
    client = hook_clients.client(name)
    scope = wiring.scope_of(client, _one(chosen) or USER)
    program = "" if scope == PROJECT else _program(app)
    text = hook_clients.fragment(client, scope, program)
    if as_json:
        places = hook_clients.paths(client, scope, app.edge.env, _world(app).root)
        app.json({"client": name, "scope": scope, "path": next(iter(places), None), "text": text})
    else:
        app.write(text.encode("utf-8", "replace"))


@hooks.command(cls=Verb)
@AS_JSON
@click.pass_obj
def instructions(app: App, as_json: bool) -> None:
    """Print a text for an agents' instruction file: when to leave a letter, how to mail a peer."""
    if as_json:
        app.json({"text": hook_status.INSTRUCTIONS})
    else:
        app.write(hook_status.INSTRUCTIONS.encode())

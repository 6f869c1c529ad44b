"""``git coop sync``, ``backup`` and ``restore``: letters that outlive the machine."""

import os

import click

from git_coop import backup as bundles
from git_coop import config, files, git, holdings, remote
from git_coop import sync as core
from git_coop.backup import Restored
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.errors import NotFound
from git_coop.place import Place
from git_coop.store import Store
from git_coop.sync import Outcome, Plan, Request
from git_coop.text import quote_path, safe_line

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
_KINDS = (("letters", "letter"), ("todos", "todo"), ("requests", "request"))


@click.command(cls=Verb)
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and write nothing.")
@AS_JSON
@click.pass_obj
def sync(app: App, dry_run: bool, as_json: bool) -> None:
    """Send this clone's letters, todos and requests to coop.remote, and fetch those of others."""
    here = app.place
    request = _request(app, here, _remote(app, here))
    store = here.store()
    if dry_run:
        held = holdings.Holdings({}, {}) if store is None else holdings.survey(store)
        _say_plan(app, core.plan(store or Store(here.clone.coop), request, held), request, as_json)
        return
    store = app.new_store(here.clone)
    _say_outcome(app, core.run(store, request, holdings.survey(store)), request, as_json)


@click.command(cls=Verb)
@click.argument("file", metavar="<file>", type=click.Path())
@AS_JSON
@click.pass_obj
def backup(app: App, file: str, as_json: bool) -> None:
    """Write this clone's letters, todos and requests into a bundle, as git bundle does."""
    here = app.place
    store = here.store()
    if store is None:
        raise NotFound("nothing is stored in this clone yet")
    path = files.joined(app.directory, os.fsencode(file))
    saved = bundles.backup(store, _request(app, here, ""), holdings.survey(store), path)
    if as_json:
        app.json({"replica": saved.replica, "file": file, "records": saved.records, "bytes": saved.bytes})
    else:
        app.out(f"{_number(saved.records, 'record')} of {saved.replica} in {quote_path(path)}, {saved.bytes} bytes")
    _name_faults(app, saved.faults)


@click.command(cls=Verb)
@click.argument("file", metavar="<file>", type=click.Path())
@click.option("--merge", is_flag=True, help="Take the records as another store's, which can be adopted.")
@click.option("--map", "pairs", metavar="<old>=<new>", multiple=True, help="The worktree that a box belongs to now.")
@AS_JSON
@click.pass_obj
def restore(app: App, file: str, merge: bool, pairs: tuple[str, ...], as_json: bool) -> None:
    """Read a bundle into this clone's store, which goes on as the store that wrote it."""
    here = app.place
    places = bundles.mapping(pairs, app.directory)
    path = files.joined(app.directory, os.fsencode(file))
    bundles.heads(path, app.edge.env)  # a file that is none makes no store
    listed = git.worktrees(here.clone.common_dir, app.edge.env)
    trees = {here.clone.root, *(os.path.realpath(one.path) for one in listed if not one.bare)}
    store = app.new_store(here.clone)
    done = bundles.restore(store, _request(app, here, ""), path, places, trees, merge=merge)
    _say_restored(app, done, file, as_json)


def _remote(app: App, here: Place) -> str:
    """``coop.remote``, checked, and refused where it is a place of the project's."""
    value = config.load(here.clone.root, app.edge.env).remote()
    common = here.clone.common_dir
    base = os.path.dirname(common)
    url = remote.checked(value, base)
    project = remote.settings(git.config(app.edge.env, here.clone.root))
    remote.forbid_project(value or "", url, remote.with_legacy(project, common), common, base)
    return url


def _request(app: App, here: Place, url: str) -> Request:
    host = os.uname().nodename or "host"
    common = here.clone.common_dir
    name = f"{host}: {os.fsdecode(os.path.dirname(common) if common.endswith(b'/.git') else common)}"
    return Request(url, name, host, common, app.edge.env, app.now, app.edge.entropy)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _counts(paths: tuple[str, ...]) -> dict[str, int]:
    return {kind: sum(1 for path in paths if path.startswith(kind + "/")) for kind, _noun in _KINDS}


def _told(paths: tuple[str, ...]) -> str:
    counts = _counts(paths)
    return ", ".join(_number(counts[kind], noun) for kind, noun in _KINDS if counts[kind]) or "nothing new"


def _name_faults(app: App, faults: tuple[str, ...]) -> None:
    for fault in faults:
        app.warn(f"passed over: {fault}")


def _say_plan(app: App, plan: Plan, request: Request, as_json: bool) -> None:
    if as_json:
        record = {"replica": plan.replica or None, "remote": remote.shown(request.remote), "dry_run": True}
        app.json({**record, "sent": _counts(plan.sent), "news": plan.news, "faults": list(plan.faults)})
    else:
        app.out(f"would send {_told(plan.sent)} to {remote.shown(request.remote)}")
        app.out("other stores sent something" if plan.news else "other stores sent nothing new")
    _name_faults(app, plan.faults)


def _say_outcome(app: App, outcome: Outcome, request: Request, as_json: bool) -> None:
    if as_json:
        record = {"replica": outcome.replica, "remote": remote.shown(request.remote), "dry_run": False}
        sent = {"sent": _counts(outcome.sent), "pushed": outcome.pushed, "attempts": outcome.attempts}
        said = {"notes": [safe_line(note) for note in outcome.notes], "faults": list(outcome.faults)}
        app.json({**record, **sent, "changed": list(outcome.changed), **said})
    else:
        app.out(f"synced as {outcome.replica} with {remote.shown(request.remote)}: {_told(outcome.sent)} sent")
        for name in outcome.changed:
            app.out(f"new from {name}")
    for note in outcome.notes:
        app.note(f"note: {note}")
    _name_faults(app, outcome.faults)


def _say_restored(app: App, done: Restored, file: str, as_json: bool) -> None:
    homeless = [{"key": one.key, "path": quote_path(one.path) or None, "records": one.records} for one in done.homeless]
    if as_json:
        record = {"replica": done.replica, "merged": done.merged, "written": done.written, "present": done.present}
        app.json({**record, "homeless": homeless, "faults": list(done.notes)})
    elif done.merged:
        app.out(f"{done.replica} is known here as another store: git coop letter list --fleet")
    else:
        there = f", {done.present} were there" if done.present else ""
        app.out(f"restored {_number(done.written, 'record')} as {done.replica}{there}")
        for one in done.homeless:
            app.out(f"no worktree here: {quote_path(one.path) or one.key} ({_number(one.records, 'record')})")
    _name_faults(app, done.notes)
    if homeless and not as_json:
        app.hint(f"git coop restore {safe_line(file)} --map OLD=NEW gives such a path its worktree of today")

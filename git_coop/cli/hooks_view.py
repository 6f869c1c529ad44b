"""How hooks are shown: what was changed, what stands where, for people and as JSON."""

from collections.abc import Mapping, Sequence

from git_coop import clock, hook_command, wiring
from git_coop.cli.app import App
from git_coop.cli.table import words
from git_coop.errors import CoopError
from git_coop.hook_clients import Client
from git_coop.hook_status import Wiring, runs
from git_coop.settings_hooks import Found
from git_coop.text import safe_line, visible
from git_coop.wiring import Place, Plan

Seen = Mapping[str, tuple[int, str]]  # start, prompt, stop: when last, in nanoseconds, and by which client


def _edited(path: str, found: Sequence[Found]) -> list[dict[str, object]]:
    return [{"path": path, "event": each.event, "line": each.line, "command": each.command} for each in found]


def _plan(plan: Plan, dry_run: bool) -> dict[str, object]:
    record: dict[str, object] = {
        "client": plan.client,
        "scope": plan.scope,
        "path": plan.path,
        "changed": plan.changes,
        "edited": _edited(plan.path, plan.edited),
    }
    return {**record, "diff": wiring.diff(plan)} if dry_run else record


def _diff(app: App, plan: Plan) -> None:
    """The diff as it is, for patch(1); on a terminal what would act on it is made visible."""
    text = wiring.diff(plan)
    app.write((visible(text) if app.edge.stdout.isatty() else text).encode("utf-8", "replace"))


def _report_edited(app: App, plan: Plan) -> None:
    for each in plan.edited:
        app.warn(f"'{plan.path}', line {each.line}: an edited hook at {each.event} was left as it is: {each.command}")


def installed(app: App, client: Client, plan: Plan, *, dry_run: bool, as_json: bool) -> None:
    """The answer to ``hooks install``: the file, and the client's next step."""
    if as_json:
        app.json({**_plan(plan, dry_run), "command": plan.command, "dry_run": dry_run, "next": client.next_step})
        return
    if dry_run:
        _diff(app, plan)
    elif plan.changes:
        app.out(f"{client.title}: hooks written to {safe_line(plan.path)}")
        app.out(f"next: {client.next_step}")
    else:
        app.out(f"{client.title}: the hooks are in {safe_line(plan.path)} already; nothing was changed")
    _report_edited(app, plan)


def uninstalled(
    app: App, client: Client, plans: Sequence[Plan], errors: Sequence[CoopError], *, dry_run: bool, as_json: bool
) -> None:
    """The answer to ``hooks uninstall``: each file that was changed or removed."""
    if as_json:
        failed = [error.sentence for error in errors]
        app.json(
            {
                "client": client.name,
                "dry_run": dry_run,
                "files": [_plan(each, dry_run) for each in plans],
                "failed": failed,
            }
        )
        return
    changed = [plan for plan in plans if plan.changes]
    for plan in changed:
        if dry_run:
            _diff(app, plan)
        else:
            did = "removed" if plan.after is None else "hooks taken out of"
            app.out(f"{client.title}: {did} {safe_line(plan.path)}")
    if not changed and not errors:
        app.out(f"{client.title}: there are no hooks of git coop")
    for plan in plans:
        _report_edited(app, plan)


def clients(app: App, found: Sequence[Wiring], as_json: bool) -> None:
    """The clients that are here: ``hooks install`` without one."""
    here = [each for each in found if each.present]
    if as_json:
        rows = [{"client": each.client.name, "present": each.present, "installed": each.installed} for each in here]
        app.json({"clients": rows})
        return
    for each in here:
        state = "hooks are installed" if each.installed else f"git coop hooks install {each.client.name}"
        app.out(f"{each.client.title} ({safe_line(each.present)}): {state}")
    if not here:
        app.out("no client was found; there are " + ", ".join(each.client.name for each in found))


def status(app: App, found: Sequence[Wiring], seen: Seen, as_json: bool, *, inside: bool = True) -> None:
    """Every client's wiring, then when each event was last drained in this worktree, if this is ``inside`` one."""
    if as_json:
        app.json({"clients": [_wiring(each, app.edge.env) for each in found], "last_seen": _seen(seen)})
        return
    for each in found:
        _client(app, each)
    for event in ("start", "prompt", "stop") if inside else ():
        _line(app, f"last {event}: {_when(app, seen, event)}", "")
    if not inside:
        _line(app, "this is no worktree: nothing was seen here", "")
    app.out(f"as of {clock.rfc3339(app.now)}")


def _when(app: App, seen: Seen, event: str) -> str:
    if event not in seen:
        return "never in this worktree"
    then, by = seen[event]
    return app.age(then) + (" by hand" if by in ("", "-") else f" by {safe_line(by)}")


def _line(app: App, text: str, indent: str) -> None:
    """A line, broken at the terminal's width; what goes on stands further in."""
    room = None if app.columns is None else max(app.columns - len(indent) - 2, 16)
    first, *rest = words(text, room, cut=False)
    app.out("\n".join([indent + first, *(f"{indent}  {line}" for line in rest)]))


def _client(app: App, each: Wiring) -> None:
    state = "" if each.installed else ": not installed" if each.present else ": not installed, and not found here"
    ran = f"tried with {each.client.ran}" if each.client.ran else "only read about, never tried"
    _line(app, f"{each.client.name} ({ran}){state}", "")
    for place in each.places:
        if place.ours:
            events = ", ".join(dict.fromkeys(found.event for found in place.ours))
            _line(app, f"{place.scope}: {safe_line(place.path)}: {safe_line(events)}", "  ")
            for command in dict.fromkeys(found.command for found in place.ours):
                _line(app, f"runs {safe_line(command)}", "    ")
    for problem in each.problems:
        _line(app, f"problem: {safe_line(problem)}", "  ")


def _wiring(each: Wiring, env: Mapping[str, str]) -> dict[str, object]:
    return {
        "client": each.client.name,
        "ran": each.client.ran or None,
        "present": each.present or None,
        "installed": each.installed,
        "places": [_place(place, env) for place in each.places],
        "problems": list(each.problems),
    }


def _place(place: Place, env: Mapping[str, str]) -> dict[str, object]:
    kinds = place.client.kinds()
    return {
        "scope": place.scope,
        "path": place.path,
        "damage": place.damage or None,
        "hooks": [
            {"event": found.event, "kind": kinds.get(found.event), "command": found.command, "runs": _runs(found, env)}
            for found in place.ours
        ],
        "edited": _edited(place.path, place.edited),
    }


def _runs(found: Found, env: Mapping[str, str]) -> bool:
    command = hook_command.read(found.command)
    return command is not None and runs(command.program, env)


def _seen(seen: Seen) -> dict[str, object]:
    return {
        event: {"at": clock.rfc3339(seen[event][0]), "client": _client_of(seen[event])} if event in seen else None
        for event in ("start", "prompt", "stop")
    }


def _client_of(last: tuple[int, str]) -> str | None:
    return None if last[1] in ("", "-") else last[1]

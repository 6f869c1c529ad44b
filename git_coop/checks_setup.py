"""Checks of what surrounds the store: clients' hooks, the program that they start, and the settings."""

import os
import shutil
from collections.abc import Iterator

from git_coop import config, drained, hook_status
from git_coop.checks import FOUND, NOTE, OK, Case, Finding
from git_coop.config import Config
from git_coop.errors import CoopError
from git_coop.hook_status import Wiring
from git_coop.ttl import parse_ttl
from git_coop.wiring import World

_NAME = "git-coop"
_DEFAULTS = {
    "coop.anchor": "none",
    "coop.remote": "none",
    "coop.retention": f"{config.RETENTION_DAYS} days",
    "coop.stopdelivery": config.AUTO,
    "coop.ttl": "4320 minutes",
}


def program(case: Case) -> Iterator[Finding]:
    """Whether ``git coop`` is found where hooks and agents' shells look for it."""
    found = shutil.which(_NAME, path=case.env.get("PATH", os.defpath))
    if found is None:
        yield Finding(
            "program",
            FOUND,
            f"'{_NAME}' is not on the PATH, so that 'git coop' does not work there",
            "put the folder of the installed program on the PATH, or link it into one that is",
        )
    else:
        yield Finding("program", OK, found)


def hooks(case: Case) -> Iterator[Finding]:
    """Whether clients that are here run the drain, at every event, with a program that is there."""
    wired = _wirings(case)
    for wiring in wired:
        for problem in wiring.problems:
            yield Finding(
                "hooks", FOUND, f"{wiring.client.title}: {problem}", f"git coop hooks install {wiring.client.name}"
            )
    here = [wiring for wiring in wired if wiring.present]
    unread = any(place.damage for wiring in wired for place in wiring.places)  # it is named, and may have them
    if here and not unread and not any(wiring.installed for wiring in wired):
        names = ", ".join(wiring.client.name for wiring in here)
        yield Finding("hooks", FOUND, f"no client has the hooks; found here: {names}", "git coop hooks install CLIENT")


def _wirings(case: Case) -> "list[Wiring]":
    root = None if case.place.outside else os.fsdecode(case.place.root)
    try:
        word = _config(case).stop_delivery()
    except CoopError:
        word = config.AUTO  # the settings' own check names it
    return hook_status.status(World(case.env, root), stop_delivery=word)


def hooks_seen(case: Case) -> Iterator[Finding]:
    """Whether the drain was seen in this worktree at each event whose hook is installed."""
    box = None if case.store is None else case.place.look(case.store)
    lasts = {} if box is None else drained.read(box)
    if not any(wiring.installed for wiring in _wirings(case)):
        return
    never = [event for event in ("start", "prompt", "stop") if event not in lasts]
    if never:
        yield Finding(
            "hooks-seen",
            NOTE,
            f"never seen in this worktree: {', '.join(never)}",
            "run a session of the client here; Codex asks for trust in '/hooks' first",
        )


def _config(case: Case) -> Config:
    return config.load(case.place.root, case.env)


def settings(case: Case) -> Iterator[Finding]:
    """Every effective setting with its origin, values that cannot be used, and keys that nothing reads."""
    found = _config(case)
    for entry in found.unknown():
        yield Finding(
            "settings",
            FOUND,
            f"'{entry.key}' in {entry.origin} ({entry.scope}) is no setting of git coop",
            f"git config --{entry.scope} --unset {entry.key}" if entry.scope in ("local", "global", "system") else "",
        )
    yield from _bad(case, found)
    for key, default in _DEFAULTS.items():
        scopes = ("system", "global", "command") if key == "coop.anchor" else ()
        one = found.entry(key, scopes)
        value = f"'{one.value}', from {one.origin} ({one.scope})" if one is not None else f"{default} (default)"
        yield Finding("settings", NOTE, f"{config.KEYS[key]} is {value}")


def _bad(case: Case, found: Config) -> Iterator[Finding]:
    for look in (lambda: found.ttl(parse_ttl), found.stop_delivery, found.retention, lambda: found.anchor(case.env)):
        try:
            look()
        except CoopError as error:
            yield Finding("settings", FOUND, error.sentence, error.hint)
    own = found.entry("coop.anchor", ("local", "worktree"))
    if own is not None:
        yield Finding(
            "settings",
            FOUND,
            f"'coop.anchor' in {own.origin} is not read: an anchor is the person's word, not a repository's",
            "git config --global coop.anchor PATH",
        )

"""Installing the hooks of git coop into clients' settings, taking them out, and telling how they stand.

``install`` and ``uninstall`` give plans: a file, its text before and after. ``apply`` is what writes one. Nothing
else is kept: whatever uninstalling must know is told by the text itself.
"""

import difflib
import os

from git_coop import hook_clients, settings_file, settings_toml
from git_coop.errors import CoopError, Fatal, Refused, Usage
from git_coop.hook_clients import LOCAL, PROJECT, USER, Client
from git_coop.hook_command import OURS
from git_coop.record import Record
from git_coop.settings_file import Settings
from git_coop.settings_hooks import Found
from git_coop.settings_json import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Entropy = Callable[[int], bytes]

SCOPES = (USER, PROJECT, LOCAL)


class World(Record):
    """Where settings are looked for. ``root`` is the worktree's root, ``None`` outside of any."""

    env: "Mapping[str, str]"
    root: "str | None" = None


class Place(Record):
    """A settings file that was looked into. ``damage`` says why it could not be read, else it is empty."""

    client: Client
    scope: str
    path: str
    settings: "Settings | None" = None
    found: "tuple[Found, ...]" = ()
    damage: str = ""

    @property
    def ours(self) -> "tuple[Found, ...]":
        return tuple(each for each in self.found if each.verdict == OURS)

    @property
    def edited(self) -> "tuple[Found, ...]":
        return tuple(each for each in self.found if each.verdict != OURS)


class Plan(Record):
    """One file's change: ``after`` is ``None`` where the file goes. ``edited`` entries are left as they are."""

    client: str
    scope: str
    path: str
    settings: Settings
    before: "str | None"
    after: "str | None"
    command: str = ""
    edited: "tuple[Found, ...]" = ()

    @property
    def changes(self) -> bool:
        return self.before != self.after


def scope_of(client: Client, scope: str) -> str:
    """``scope`` where the client has it. Raises ``Usage`` naming those that it has."""
    if scope not in client.files:
        has = " and ".join(f"--{each}" for each in client.files)
        raise Usage(f"{client.title} has no settings of scope '{scope}'", hint=f"it has {has}")
    return scope


def places(client: Client, world: World, scopes: "tuple[str, ...]" = SCOPES) -> "Iterator[Place]":
    """Every file of the client's that could hold our hooks, looked into."""
    for scope in scopes:
        for path in hook_clients.paths(client, scope, world.env, world.root):
            yield _look(client, scope, path)


def distinct(looked: "Iterable[Place]") -> "Iterator[Place]":
    """The places without those that are another's file: a home that is a worktree, a link to the user's settings."""
    seen: set[bytes] = set()
    for place in looked:
        target = os.path.realpath(os.fsencode(place.path))
        if target not in seen:
            seen.add(target)
            yield place


def _look(client: Client, scope: str, path: str) -> Place:
    place = Place(client, scope, path)
    try:
        settings = settings_file.read(os.fsencode(path))
        place = place.replace(settings=settings)
        text = settings.text()
        return place if text is None else place.replace(found=hook_clients.find(client, path, text))
    except Damaged as error:
        return place.replace(damage=error.sentence)
    except CoopError as error:
        return place.replace(settings=None, damage=error.sentence)


def _text(place: Place) -> "tuple[Settings, str | None]":
    """What the file holds. Raises ``Refused`` for one that cannot be parsed, ``Fatal`` for one that cannot be read."""
    if place.settings is None:
        raise Fatal(place.damage)  # a file that can be read by now was not looked into
    if place.damage:
        raise damaged(place.path, place.damage)
    return place.settings, place.settings.text()


def damaged(path: str, why: str) -> Refused:
    """The error for a file that cannot be parsed."""
    return Refused(f"cannot parse '{path}': {why}", hint="the file was left as it is; mend it and run this again")


def install(client: Client, scope: str, world: World, program: str) -> Plan:
    """The change that puts the hooks into the client's settings of ``scope``.

    Raises ``Refused`` where another scope has them already, for a client may then run them twice, and where the
    file cannot be parsed; ``Usage`` where the client has no such scope; ``Fatal`` outside of a worktree.
    """
    scope_of(client, scope)
    looked = list(places(client, world))
    here = {os.path.realpath(place.path) for place in looked if place.scope == scope}
    for place in looked:
        if place.ours and os.path.realpath(place.path) not in here:
            raise Refused(
                f"{client.title} has these hooks in its {place.scope} settings already: '{place.path}'",
                hint=f"to move them, run 'git coop hooks uninstall {client.name}' first: in two places they run twice",
            )
    place = _choose([place for place in looked if place.scope == scope])
    settings, before = _text(place)
    run = hook_clients.command(client, scope, program)
    _encodable(run)
    try:
        after = hook_clients.merge(client, place.path, before, run)
    except Damaged as error:
        raise damaged(place.path, error.sentence) from error
    except Refused as error:
        raise Refused(f"cannot install into '{place.path}': {error.sentence}", hint=error.hint) from error
    return Plan(client.name, scope, place.path, settings, before, after, run, place.edited)


def _choose(looked: "list[Place]") -> Place:
    """The file to install into: the one that has ours, else ``config.toml`` where it has hooks, else the first."""
    if not looked:
        raise Fatal("not in a worktree", hint="run it in a worktree, or install with --user")
    for place in looked:
        if place.ours:
            return place
    for place in looked[1:]:
        text = place.settings.text() if place.settings is not None and not place.damage else None
        if text is not None and settings_toml.has_hooks(text):
            return place
    return looked[0]


def _encodable(run: str) -> None:
    try:
        run.encode()
    except UnicodeEncodeError as error:
        raise Refused("the program's path is not UTF-8, and settings files are", hint="install it elsewhere") from error


def uninstall(client: Client, world: World, scopes: "tuple[str, ...]" = SCOPES) -> "tuple[list[Plan], list[CoopError]]":
    """The changes that take our hooks out of every file of ``scopes``, and the errors of files that bar it.

    A plan without a change names a file whose edited entries stay.
    """
    plans: list[Plan] = []
    errors: list[CoopError] = []
    for place in distinct(places(client, world, scopes)):
        try:
            settings, before = _text(place)
            if before is None or not place.found:
                continue
            after = hook_clients.strip(client, place.path, before) if place.ours else before
            plans.append(Plan(client.name, place.scope, place.path, settings, before, after, edited=place.edited))
        except CoopError as error:
            errors.append(error)
    return plans, errors


def apply(plan: Plan, entropy: "Entropy") -> None:
    """Write the change. Raises ``Busy`` where the file changed meanwhile, ``Fatal`` where it cannot be written."""
    settings_file.write(plan.settings, None if plan.after is None else plan.after.encode(), entropy)


def diff(plan: Plan) -> str:
    """The change as a unified diff; empty where there is none."""
    old, new = plan.before or "", plan.after or ""
    names = [plan.path if text is not None else "/dev/null" for text in (plan.before, plan.after)]
    lines = difflib.unified_diff(_lines(old), _lines(new), names[0], names[1])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> "list[str]":
    """The lines with their ends; a carriage return belongs to its line, as for diff(1)."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])

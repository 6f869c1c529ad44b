"""Where mail may go: a worktree of this clone or another, every other worktree, or a directory outside any."""

import os

from git_coop import discover, files, layout, making, moves
from git_coop.errors import CoopError, Fatal, Refused, StoreFault, Usage
from git_coop.layout import Box
from git_coop.place import Place, check_trust
from git_coop.record import Record
from git_coop.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ALL = "all"  # every other worktree; a directory of that name is ./all
NAMED = 5  # worktrees named in a refusal


class Target(Record):
    """One address, resolved: the path that counts, and the worktree there (none: a directory outside any)."""

    path: bytes
    worktree: "discover.Worktree | None"
    own: bool  # in the sender's own clone


class Opened(Record):
    """A target's box, ready for a message, and what was found on the way."""

    box: Box
    notes: "tuple[str, ...]" = ()


def resolve(text: str, place: Place, cwd: bytes, env: "Mapping[str, str]", *, outside: bool) -> Target:
    """The target that a path names, seen from ``cwd``. ``Refused`` for what is no place of a session."""
    if not text:
        raise Usage("the recipient's path is empty")
    path = files.joined(cwd, os.fsencode(text))
    clean = discover.without_local(env)
    try:
        worktree = discover.find(path, clean)
    except discover.NotARepository:
        if outside and os.path.isdir(path):
            return Target(os.path.realpath(path), None, True)
        raise refused(f"'{text}' is in no repository", place, env, outside=not outside) from None
    except discover.CannotLook as error:
        raise refused(error.sentence, place, env) from None
    except (discover.NoWorktree, discover.BrokenLink) as error:
        raise refused(f"cannot send to '{text}': {error.sentence}", place, env) from None
    check_trust(worktree, clean)
    return Target(worktree.root, worktree, worktree.common_dir == place.clone.common_dir)


def refused(sentence: str, place: Place, env: "Mapping[str, str]", *, outside: bool = False) -> Refused:
    """A refusal that names the places that would do."""
    try:
        others = [os.fsdecode(path) for path in everyone(place, env)]
    except CoopError:
        others = []
    lines = [f"a worktree of this clone: {path}" for path in others[:NAMED]]
    lines += ["git worktree list shows them all"] if len(others) > NAMED else []
    lines += ["--outside sends to a directory whose session reads with an anchor"] if outside else []
    return Refused(sentence, hint="\n".join(lines))


def everyone(place: Place, env: "Mapping[str, str]") -> "list[bytes]":
    """The roots of every other worktree that git lists and that can be there, in git's order.

    git does not record where the main worktree of a ``--separate-git-dir`` clone is: its box does, if it has one.

    Raises ``Fatal`` where the list cannot be read, which is not to say that there is nobody.
    """
    from git_coop import git  # a process, for those who need the list

    try:
        listed = git.worktrees(place.clone.common_dir, env)
    except CoopError as error:
        raise Fatal(
            f"cannot read the list of worktrees: {error.sentence}", hint="this does not mean that there is nobody"
        ) from None
    roots = [os.path.realpath(entry.path) for entry in listed if not entry.bare and not entry.prunable]
    if not any(entry.bare for entry in listed) and not any(_is_main(root, place) for root in roots[:1]):
        roots += _unlisted(place, roots)
    return [root for root in roots if root != place.root]


def _is_main(root: bytes, place: Place) -> bool:
    try:
        return discover.opened(os.path.join(root, b".git")) == place.clone.common_dir
    except CoopError:
        return False


def _unlisted(place: Place, listed: "list[bytes]") -> "list[bytes]":
    """The worktrees of this clone that have a box and that git does not list."""
    store = place.store()
    paths = [] if store is None else [box.path() for box in layout.boxes(store)]
    return [path for path in paths if path and path not in listed and os.path.isdir(path) and _is_main(path, place)]


def open_target(target: Target, own: Store, make: "Callable[[discover.Worktree], Store]", fresh: str) -> Opened:
    """The box of a target, in its own clone's store; made where it is missing."""
    if target.worktree is None:
        return Opened(making.open_outside(own, target.path))
    store = own if target.own else make(target.worktree)
    opened = moves.open_box(store, target.worktree, fresh)
    return Opened(opened.box, opened.notes)


def peer(place: Place, env: "Mapping[str, str]", path: bytes) -> "bytes | None":
    """The path if it is a worktree of this clone that git lists; a sender's word for it is only a claim."""
    return path if path in everyone(place, env) or path == place.root else None


def box_at(store: Store, place: Place, text: str, cwd: bytes, env: "Mapping[str, str]") -> Box:
    """An existing box for ``--box``, to look at: by its key, or by the path of its worktree, also one that is gone.

    The path that a box records goes before what is there now: a directory that stands where a worktree was may
    belong to the worktree around it.
    """
    if layout.is_key(os.fsencode(text)) and files.exists(Box(store, text).mail):
        return Box(store, text)
    path = os.path.join(cwd, os.fsencode(text))
    spelt = {os.path.realpath(path), os.path.normpath(path)}
    for found in layout.boxes(store):
        if _recorded(found) in spelt:
            return found
    target = resolve(text, place, cwd, env, outside=True)
    if target.own:
        found = moves.locate(store, target.worktree) if target.worktree else Box(store, layout.key(target.path))
        if target.worktree or files.exists(found.mail):
            return found
    raise refused(f"no box for '{text}' in this clone", place, env)


def _recorded(box: Box) -> bytes:
    try:
        return box.path()
    except StoreFault:
        return b""  # it hides no other

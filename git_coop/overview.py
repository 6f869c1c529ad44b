"""A worktree at a glance, and the clone at one: what waits in a box, counted by names, few files opened.

The work is bounded by what a person reads: of a box with ten thousand messages the names are listed, and a handful of
files are opened to say who wrote. Nothing is changed. What cannot be read is a fault of the glance, never a zero.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from git_coop import (
    drained,
    files,
    flat,
    homeless,
    inbox,
    layout,
    letter_glance,
    letterbox,
    message,
    moves,
    notices,
    requestbox,
    todobox,
)
from git_coop.errors import StoreFault
from git_coop.layout import Box
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.drained import Last
    from git_coop.letters import Letter
    from git_coop.place import Place
    from git_coop.store import Store

T = TypeVar("T")

OPENED = 4  # messages opened to say from whom
SESSIONS = 256  # sessions whose markers are counted
_HEAD = 1 << 16  # bytes that hold what stands before a record's texts


class Sender(Record):
    """Who claims to have sent some of the messages that wait; ``path`` is as the sender wrote it, hostile text."""

    path: str
    count: int


class Mail(Record):
    """The mail that waits in a box. ``oldest`` is an id; ``shown`` counts showings of what still waits."""

    waiting: int = 0
    oldest: str = ""
    senders: "tuple[Sender, ...]" = ()
    unnamed: int = 0  # waiting, and not opened to see from whom
    shown: int = 0
    stranded: int = 0  # in claiming/
    rejected: int = 0  # names that are no messages
    ignored: int = 0  # what editors and file systems leave behind


class Ask(Record):
    """The two sides of an open request, each as (key, coop id or nothing)."""

    id: str
    asker: "tuple[str, str]"
    asked: "tuple[str, str]"


class Glance(Record):
    """What waits for one worktree. ``box`` is ``None`` where nothing was ever stored for it."""

    path: bytes
    box: "Box | None" = None
    letter: "Letter | None" = None
    inherited: "tuple[str, ...]" = ()  # what was written for an earlier worktree at this path: letter, mail
    mail: Mail = Mail()
    todos: int = 0
    asked: int = 0  # open requests to this worktree
    asking: int = 0  # open requests from it
    hooks: "Mapping[str, Last]" = {}
    faults: "tuple[str, ...]" = ()
    dark: "tuple[str, ...]" = ()  # the parts that could not be read: letter, mail, todos, hooks

    @property
    def last(self) -> "Last | None":
        """The latest drain of any event."""
        return max(self.hooks.values(), key=lambda last: last.at, default=None)

    @property
    def undelivered(self) -> int:
        return self.mail.waiting + self.mail.stranded


class Row(Record):
    """One line of the clone: a worktree or a box without one. ``gone`` says why nobody drains it.

    ``adopted``: its worktree is gone, and somebody took its letter over.
    """

    glance: Glance
    current: bool = False
    gone: str = ""
    branch: "str | None" = None
    adopted: bool = False


def glance(
    box: "Box | None", path: bytes, asks: "Sequence[Ask]", *, opened: int = OPENED, whole: bool = True
) -> Glance:
    """What waits in ``box``, the box of the worktree at ``path``; ``opened`` bounds the messages that are opened.

    Not ``whole``: the letter comes without its body.
    """
    if box is None:
        return Glance(path)
    faults: dict[str, list[str]] = {"letter": [], "mail": [], "todos": [], "hooks": [], "owner": []}
    letter = _part(faults["letter"], partial(letterbox.live if whole else _head, box), None)
    mail = _part(faults["mail"], partial(_mail, box, opened), Mail())
    owners: list[str] = _part(faults["owner"], partial(layout.owners, box), [])
    last = owners[-1] if owners else ""
    return Glance(
        path,
        box,
        letter,
        _inherited(owners, letter, mail),
        mail,
        _part(faults["todos"], partial(_open_todos, box, faults["todos"]), 0),
        sum(1 for ask in asks if _is(ask.asked, box.key, last)),
        sum(1 for ask in asks if _is(ask.asker, box.key, last)),
        _part(faults["hooks"], partial(drained.read, box), {}),
        tuple(sentence for sentences in faults.values() for sentence in sentences),
        tuple(part for part, sentences in faults.items() if sentences),
    )


def _head(box: Box) -> "Letter | None":
    seen = letter_glance.live(box)
    return None if seen is None else seen.letter


def _inherited(owners: "list[str]", letter: "Letter | None", mail: Mail) -> "tuple[str, ...]":
    """What in a box is older than its owner: the path is the address, and inherits."""
    if len(owners) < 2:
        return ()
    oldest = {"letter": letter.id if letter is not None else "", "mail": mail.oldest}
    return tuple(what for what, identifier in oldest.items() if identifier and identifier < owners[-1])


def _part(faults: "list[str]", look: "Callable[[], T]", nothing: T) -> T:
    try:
        return look()
    except StoreFault as error:
        faults.append(error.sentence)
        return nothing


def _is(side: "tuple[str, str]", key: str, worktree: str) -> bool:
    return side[0] == key or (side[1] != "" and side[1] == worktree)


def _mail(box: Box, opened: int) -> Mail:
    listing = inbox.listed(box.inbox)
    waiting = tuple(listing.ids)
    first = waiting[:opened]
    senders: dict[str, int] = {}
    for name in first:
        sender = _sender(box, name)
        senders[sender] = senders.get(sender, 0) + 1
    return Mail(
        len(waiting),
        waiting[0] if waiting else "",
        tuple(Sender(path, count) for path, count in senders.items()),
        len(waiting) - len(first),
        _shown(box, waiting) if opened and waiting else 0,
        len(inbox.listed(box.claiming).ids),
        len(listing.rejected),
        listing.ignored,
    )


def _sender(box: Box, name: str) -> str:
    """The path that a message claims to come from, ``git coop`` for a notice of ours, empty where it does not say."""
    try:
        head = box.store.look(layout.message_path(box.inbox, name), message.HEAD_LIMIT).data
    except StoreFault:
        return ""
    found = message.peek(name, head)
    return found.from_path or ("git coop" if notices.is_notice(found) else "")


def _shown(box: Box, waiting: "Sequence[str]") -> int:
    """How often sessions were shown what still waits, by the names of their markers."""
    names = set(waiting)
    sessions = files.names(box.shown)[:SESSIONS]
    return sum(len(names.intersection(files.entries(box.shown + b"/" + session))) for session in sessions)


def _open_todos(box: Box, faults: "list[str]") -> int:
    names = todobox.known(box)
    return sum(_part(faults, partial(_is_open, box, name), False) for name in names)


def _is_open(box: Box, name: str) -> bool:
    """Whether a todo is open: by the lines before its text where they say so plainly, else by its whole record."""
    try:
        word = flat.text(head_of(box.store, todobox.path_of(box, name), "text"), "status")
        return word == "open" if word in ("open", "done") else todobox.load(box, name).status == "open"
    except files.Gone:
        return False


def asks(store: "Store", faults: "list[str]") -> "list[Ask]":
    """The open requests of the clone; what cannot be read is added to ``faults``."""
    nobody: list[str] = []
    names = _part(faults, partial(requestbox.known, store), nobody)
    nowhere: frozenset[str] = frozenset()
    alive = _part(faults, partial(moves.alive, store), nowhere) if names else nowhere
    found = [_part(faults, partial(_ask, store, name), None) for name in names]
    return [Ask(ask.id, _settled(ask.asker, alive), _settled(ask.asked, alive)) for ask in found if ask is not None]


def _settled(side: "tuple[str, str]", alive: "frozenset[str]") -> "tuple[str, str]":
    """A side without its address where its worktree is alive: nobody at that address is it."""
    return ("", side[1]) if side[1] in alive else side


def _ask(store: "Store", name: str) -> "Ask | None":
    try:
        fields = head_of(store, requestbox.path_of(store, name), "brief")
        if flat.text(fields, "status") not in ("open", "closed"):
            fields = {key: str(value) for key, value in requestbox.load(store, name).values().items() if value}
            fields |= {"from": flat.text(fields, "from_key"), "to": flat.text(fields, "to_key")}
    except files.Gone:
        return None
    if flat.text(fields, "status") != "open":
        return None
    sides = [(flat.text(fields, side), flat.text(fields, f"{side}_worktree")) for side in ("from", "to")]
    return Ask(name, sides[0], sides[1])


def head_of(store: "Store", path: bytes, stop: str) -> "dict[str, str | int]":
    """The plain fields of a record that stand before the field ``stop``, without a TOML parser.

    Records are written with their states first and their texts last, so a state is read from the first lines.
    """
    data = store.look(path, _HEAD).data
    return flat.loads(data.partition(f"\n{stop} = ".encode())[0])


def is_off(store: "Store") -> bool:
    """Whether delivery is held in the whole clone."""
    return files.exists(store.root + b"/OFF")


def clone(place: "Place", store: "Store | None", env: "Mapping[str, str]", faults: "list[str]") -> "list[Row]":
    """Every worktree that git lists, in git's order, then every box that no worktree owns, by key.

    Raises ``GitFailed`` where the list of worktrees cannot be read.
    """
    from git_coop import git  # and with it what starts processes: a glance at one worktree needs none

    listed = [one for one in git.worktrees(place.clone.common_dir, env) if not one.bare]
    known = {} if store is None else {box.key: box for box in layout.boxes(store)}
    open_asks = [] if store is None else asks(store, faults)
    homes = {layout.key(os.path.realpath(one.path)): one for one in listed if not one.prunable}
    moved = {} if known.keys() <= homes.keys() else homeless.identities(one.path for one in homes.values())
    former = {moved[owner]: key for key, box in known.items() if (owner := _last_owner(box)) in moved}
    rows = []
    for key, one in homes.items():
        path = os.path.realpath(one.path)
        box = known.pop(key, None) or known.pop(former.get(path, ""), None)
        seen = glance(box, path, open_asks, opened=0)
        rows.append(Row(seen, path == place.root, branch=one.branch))
    for box in known.values():
        seen = glance(box, box.path(), open_asks, opened=0)
        rows.append(Row(seen, box.path() == place.root, _why_gone(box, moved)))
    return _with_adoptions(store, rows)


def _with_adoptions(store: "Store | None", rows: "list[Row]") -> "list[Row]":
    left = {row.glance.letter.id for row in orphans(rows) if row.glance.letter is not None}
    taken = left & homeless.taken(store) if store is not None and left else set()
    return [
        row.replace(adopted=True)
        if row.gone == "gone" and row.glance.letter is not None and row.glance.letter.id in taken
        else row
        for row in rows
    ]


def _last_owner(box: Box) -> str:
    try:
        return (layout.owners(box) or [""])[-1]
    except StoreFault:
        return ""


def _why_gone(box: Box, moved: "Mapping[str, bytes]") -> str:
    """Why no worktree drains a box that is at no listed worktree's path; empty where a directory's session may."""
    try:
        owner = layout.owners(box)[-1:]
    except StoreFault:
        return "unreadable"
    if owner and owner[0] in moved:
        return "moved"
    if not owner and os.path.isdir(box.path()):
        return ""  # a directory outside any repository, whose sessions read with an anchor
    return "gone"


def orphans(rows: "Sequence[Row]") -> "list[Row]":
    """The boxes whose worktree is gone."""
    return [row for row in rows if row.gone == "gone"]

"""Letters on the disk: one record a letter, one lock a box, and one commit point.

Publishing the one new file is what makes a letter live; the older ones are marked superseded after it, and a
kill in between changes nothing that a reader sees. Every change happens under the box's lock file, which is
never unlinked; readers take no lock, for a rename gives them the old record or the new one.
"""

from git_coop import files, ids, letters
from git_coop.errors import NotFound, Refused, StoreFault
from git_coop.layout import Box, is_key
from git_coop.letter_record import decode, encode
from git_coop.letters import Letter
from git_coop.record import Record
from git_coop.store import Lock, Store, lock
from git_coop.toml import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_WAIT = 10.0  # seconds


class Broken(Record):
    """A record that cannot be read: its id, and why."""

    id: str
    why: str


class Shelf(Record):
    """The letters of a box in their effective states, oldest first, and the records that cannot be read."""

    letters: "tuple[Letter, ...]" = ()
    broken: "tuple[Broken, ...]" = ()
    strangers: int = 0  # names that are no letters

    @property
    def live(self) -> "Letter | None":
        newest = self.letters[-1] if self.letters else None
        return newest if newest is not None and newest.live else None


def known(box: Box) -> "list[str]":
    """The ids of the box's letters, oldest first; other names are left out."""
    return sorted(name for name in map(_identifier, files.names(box.letters)) if name)


def _identifier(name: bytes) -> str:
    text = name.decode("ascii", "replace")
    return text[:-5] if text.endswith(".toml") and ids.is_id(text[:-5]) else ""


def path_of(box: Box, identifier: str) -> bytes:
    """The record of one letter."""
    return box.letters + b"/" + identifier.encode() + b".toml"


def stored(box: Box, identifier: str) -> Letter:
    """The record as it lies there; the folder says whose it is.

    Raises ``Gone``, ``Unreadable`` or ``Damaged``, each naming the file.
    """
    path = path_of(box, identifier)
    return decode(files.read(path, LIMIT), path, identifier).replace(key=box.key)


def load(box: Box, identifier: str, everyone: "list[str] | None" = None) -> Letter:
    """The letter in its effective state."""
    everyone = known(box) if everyone is None else everyone
    newer = [other for other in everyone if other > identifier]
    return letters.effective(stored(box, identifier), newer[0] if newer else None)


def shelf(box: Box) -> Shelf:
    """Every letter of the box. One bad record hides no other."""
    found, broken = [], []
    names = files.names(box.letters)
    everyone = sorted(name for name in map(_identifier, names) if name)
    newer: str | None = None
    for identifier in reversed(everyone):
        try:
            found.append(letters.effective(stored(box, identifier), newer))
        except files.Gone:
            continue
        except StoreFault as error:
            broken.append(Broken(identifier, error.sentence))
        newer = identifier
    strangers = sum(1 for name in names if not _identifier(name) and name != b".lock")
    return Shelf(tuple(reversed(found)), tuple(reversed(broken)), strangers)


def live(box: Box) -> "Letter | None":
    """The live letter, or ``None``. A newest record that cannot be read raises: it may be the live one."""
    everyone = known(box)
    newest = stored(box, everyone[-1]) if everyone else None
    return newest if newest is not None and newest.live else None


def demand(box: Box, asked: "str | None") -> Letter:
    """The letter that ``asked`` names, or the live one; ``NotFound`` where there is none."""
    if asked is not None:
        return load(box, ids.pick(asked, known(box), what="letter"))
    found = live(box)
    if found is None:
        raise NotFound("no live letter here", hint="git coop letter list --all shows the closed ones")
    return found


def shelves(store: Store) -> "list[Box]":
    """Every box that has letters, by key; it need not have any mail."""
    return [Box(store, name.decode()) for name in sorted(files.names(store.root + b"/letters")) if is_key(name)]


def anywhere(store: Store, asked: str) -> Letter:
    """The letter of any box of the clone that ``asked`` names."""
    homes = {identifier: box for box in shelves(store) for identifier in known(box)}
    identifier = ids.pick(asked, homes, what="letter")
    return load(homes[identifier], identifier)


def _locked(box: Box, wait: float = LOCK_WAIT) -> Lock:
    box.store.ensure_folder(box.letters)
    return lock(box.store, box.letters + b"/.lock", wait=wait)


class Sent(Record):
    """A letter that was written, and those it superseded as they were before."""

    letter: Letter
    superseded: "tuple[Letter, ...]"
    unsettled: "tuple[Broken, ...]" = ()  # older records that could not be marked; they are superseded all the same


def write(box: Box, draft: "Callable[[str], Letter]", now: int, entropy: "ids.Entropy") -> Sent:
    """Publish the letter that ``draft`` makes of a new id, then mark what it supersedes.

    ``draft`` is called under the lock with an id that is later than every id there.
    """
    with _locked(box):
        everyone = known(box)
        older = _unsettled(box, everyone)
        letter = draft(ids.mint(now, entropy, after=everyone[-1] if everyone else ""))
        live_before = tuple(old for old in older if letters.effective(old, _next(everyone, old.id)).live)
        letter = letter.replace(supersedes=tuple(old.id for old in live_before))
        if not box.store.create(path_of(box, letter.id), encode(letter)):
            raise Refused(f"letter {letter.id} exists", hint="try again")
        unsettled = _settle(box, older, [*everyone, letter.id], now, letter.session)
    return Sent(letter, live_before, unsettled)


def _next(everyone: "list[str]", identifier: str) -> "str | None":
    newer = [other for other in everyone if other > identifier]
    return newer[0] if newer else None


def _unsettled(box: Box, everyone: "list[str]") -> "list[Letter]":
    """The run of records at the new end that still say live, oldest first.

    Each finished change leaves none but the newest live, and marks are made oldest first, so the run is all
    that a kill can have left. A record that cannot be read does not end the run.
    """
    run: list[Letter] = []
    for identifier in reversed(everyone):
        try:
            letter = stored(box, identifier)
        except StoreFault:
            continue
        if not letter.live:
            break
        run.append(letter)
    return run[::-1]


def _settle(
    box: Box, older: "list[Letter]", everyone: "list[str]", now: int, session: "str | None"
) -> "tuple[Broken, ...]":
    """Mark what a newer letter superseded. A failure loses nothing: the state is derived, the next change marks it."""
    failed = []
    for letter in older:
        newer = _next(everyone, letter.id)
        if newer is None:
            continue
        try:
            marked = letters.supersede(letter, newer, now, session)
            box.store.rewrite(path_of(box, letter.id), encode(marked))
        except StoreFault as error:
            failed.append(Broken(letter.id, error.sentence))
    return tuple(failed)


def change(
    box: Box, identifier: str, transition: "Callable[[Letter], Letter]", now: int, session: "str | None"
) -> Letter:
    """Apply a pure transition to a letter's effective state under the lock; what it refuses changes nothing."""
    with _locked(box):
        everyone = known(box)
        _settle(box, _unsettled(box, everyone), everyone, now, session)
        letter = transition(load(box, identifier, everyone))
        box.store.rewrite(path_of(box, identifier), encode(letter))
    return letter

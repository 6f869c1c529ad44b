"""Letters on the disk: one record a letter, one lock a box, and one commit point.

Publishing the one new file is what makes a letter live; the older ones are marked superseded after it, and a
kill in between changes nothing that a reader sees. Every change happens under the box's lock file, which is
never unlinked; readers take no lock, for a rename gives them the old record or the new one.
"""

from git_coop import files, ids, letters
from git_coop.claims import lock
from git_coop.errors import NotFound, Refused, StoreFault
from git_coop.layout import Box, is_key, letter_path
from git_coop.letter_glance import known
from git_coop.letter_record import encode, stored
from git_coop.letters import Letter
from git_coop.locks import Lock
from git_coop.record import Record
from git_coop.store import Store

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


def load(box: Box, identifier: str) -> Letter:
    """The letter in its effective state."""
    return letters.effective(stored(box, identifier), _next(known(box), identifier))


def _next(everyone: "list[str]", identifier: str) -> "str | None":
    return next((other for other in everyone if other > identifier), None)


def shelf(box: Box) -> Shelf:
    """Every letter of the box. One bad record hides no other.

    Readers take no lock: where the newest one listed gave way while it was read, the folder is listed again.
    """
    names = files.entries(box.letters)
    while True:
        found = _shelf(box, names)
        listed, names = names, files.entries(box.letters)
        gave_way = found.letters and _is_missing(found.letters[-1].superseded_by, listed)
        if not gave_way or set(listed) == set(names):
            return found


def _is_missing(identifier: "str | None", names: "list[str]") -> bool:
    return identifier is not None and f"{identifier}.toml" not in names


def _shelf(box: Box, names: "list[str]") -> Shelf:
    found, broken = [], []
    everyone = sorted(name for name in map(ids.of_record, names) if name)
    newer: str | None = None
    for identifier in reversed(everyone):
        try:
            found.append(letters.effective(stored(box, identifier), newer))
        except files.Gone:
            continue
        except StoreFault as error:
            broken.append(Broken(identifier, error.sentence))
        newer = identifier
    strangers = sum(1 for name in names if not ids.of_record(name) and name != ".lock")
    return Shelf(tuple(reversed(found)), tuple(reversed(broken)), strangers)


def live(box: Box) -> "Letter | None":
    """The live letter, or ``None``. A newest record that cannot be read raises: it may be the live one."""
    newest, _everyone = _newest(box)
    return newest if newest is not None and newest.live else None


def _newest(box: Box) -> "tuple[Letter | None, list[str]]":
    """The newest letter, and the ids of all; looked for again where it gave way while it was read."""
    everyone = known(box)
    while everyone:
        newest = stored(box, everyone[-1])
        if newest.superseded_by is None or newest.superseded_by in everyone:
            return newest, everyone
        listed, everyone = everyone, known(box)
        if listed == everyone:  # the newer record was removed by hand
            return newest, everyone
    return None, []


def demand(box: Box, asked: "str | None") -> Letter:
    """The letter that ``asked`` names, or the live one; ``NotFound`` where there is none."""
    if asked is not None:
        return load(box, ids.pick(asked, known(box), what="letter"))
    newest, everyone = _newest(box)
    if newest is None:
        raise NotFound("no live letter here: none was ever written")
    if not newest.live:
        raise NotFound(f"no live letter here{_closed(newest, everyone)}", hint=_CLOSED)
    return newest


_CLOSED = "git coop letter list --all shows the closed ones"


def _closed(newest: Letter, everyone: "list[str]") -> str:
    """What became of the newest letter. A record that was removed by hand resurrects no other, and is missed."""
    if newest.superseded_by and newest.superseded_by not in everyone:
        return f": {newest.id} was superseded by {newest.superseded_by}, whose record is gone"
    return f": {newest.id} is {newest.status}"


def shelves(store: Store) -> "list[Box]":
    """Every box that has letters, by key; it need not have any mail."""
    return [Box(store, name.decode()) for name in sorted(files.names(store.root + b"/letters")) if is_key(name)]


def anywhere(store: Store, asked: str) -> Letter:
    """The letter of any box of the clone that ``asked`` names."""
    homes = {identifier: box for box in shelves(store) for identifier in known(box)}
    identifier = ids.pick(asked, homes, what="letter")
    return load(homes[identifier], identifier)


def _locked(box: Box) -> Lock:
    box.store.ensure_folder(box.letters)
    return lock(box.store, box.letters + b"/.lock", wait=LOCK_WAIT)


class Sent(Record):
    """A letter that was written, and those it superseded as they were before.

    ``unsettled`` are older records that could not be read or marked; they are superseded all the same.
    """

    letter: Letter
    superseded: "tuple[Letter, ...]"
    unsettled: "tuple[Broken, ...]" = ()


def write(box: Box, draft: "Callable[[str], Letter]", now: int, entropy: "ids.Entropy") -> Sent:
    """Publish the letter that ``draft`` makes of a new id, then mark what it supersedes.

    ``draft`` is called under the lock with an id that is later than every id there.
    """
    with _locked(box):
        everyone = known(box)
        run, broken = _unsettled(box, everyone)
        letter = draft(ids.mint(now, entropy, after=everyone[-1] if everyone else ""))
        newest = tuple(old for old in run if old.id == everyone[-1])  # of those that say live, the one that is
        letter = letter.replace(supersedes=tuple(old.id for old in (newest or broken)))
        if not box.store.create(letter_path(box, letter.id), encode(letter)):
            raise Refused(f"letter {letter.id} exists", hint="try again")
        _marks, failed = _settle(box, run, [*everyone, letter.id], letter)
    return Sent(letter, newest, broken + failed)


def _unsettled(box: Box, everyone: "list[str]") -> "tuple[list[Letter], tuple[Broken, ...]]":
    """The run of records at the new end that still say live, oldest first; and the newest one if it is unreadable.

    Each finished change leaves none but the newest live, and marks are made oldest first, so the run is all
    that a kill can have left. A record that cannot be read does not end the run.
    """
    run: list[Letter] = []
    broken: tuple[Broken, ...] = ()
    for identifier in reversed(everyone):
        try:
            letter = stored(box, identifier)
        except StoreFault as error:
            broken = broken or ((Broken(identifier, error.sentence),) if identifier == everyone[-1] else ())
            continue
        if not letter.live:
            break
        run.append(letter)
    return run[::-1], broken


def _settle(
    box: Box, run: "list[Letter]", everyone: "list[str]", newest: "Letter | None" = None
) -> "tuple[dict[str, Letter], tuple[Broken, ...]]":
    """Mark what a newer letter superseded: the marked ones by id, and what failed.

    A failure loses nothing: the state is derived, and the next change marks it.
    """
    writers = {letter.id: letter.session for letter in (*run, newest) if letter is not None}
    marked: dict[str, Letter] = {}
    failed = []
    for letter in run:
        newer = _next(everyone, letter.id)
        if newer is None:
            continue
        marked[letter.id] = letters.supersede(letter, newer, writers.get(newer))
        try:
            box.store.rewrite(letter_path(box, letter.id), encode(marked[letter.id]))
        except StoreFault as error:
            failed.append(Broken(letter.id, error.sentence))
    return marked, tuple(failed)


def change(box: Box, identifier: str, transition: "Callable[[Letter], Letter]") -> Letter:
    """Apply a pure transition to a letter's effective state under the lock; what it refuses changes nothing."""
    with _locked(box):
        everyone = known(box)
        run, _broken = _unsettled(box, everyone)
        here = {old.id: old for old in run}.get(identifier) or stored(box, identifier)  # read once: it may be large
        letter = transition(letters.effective(here, _next(everyone, identifier)))
        marked, _failed = _settle(box, run, everyone)
        if identifier in marked:
            letter = transition(marked[identifier])
        box.store.rewrite(letter_path(box, identifier), encode(letter))
    return letter

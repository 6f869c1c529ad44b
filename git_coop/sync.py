"""Sync: this store's records out, every other store's in, through one branch of one repository.

Each store writes its own subtree alone, so that a merge is a union and cannot conflict. The commit that is sent always
comes right after the one the remote has; where another was first, the remote is fetched again and the union made anew.
Nothing in the local store depends on the remote: its records are what they are before the first byte is sent.
"""

import os
import time
from collections.abc import Callable, Mapping

from git_coop import adopted, carrier, files, fleet, holdings, ledger, replica
from git_coop.carrier import Carrier
from git_coop.errors import Busy, Fatal, GitFailed
from git_coop.holdings import Holdings
from git_coop.ledger import BRANCH, SEEN, Ledger, Unsound
from git_coop.ledger_walk import check_mark
from git_coop.own import INDEX, Own, build, is_known, known_paths, newer
from git_coop.record import Record
from git_coop.remote import forbid_others, forbid_shared
from git_coop.store import Store
from git_coop.union import Union, replicas, unite

ATTEMPTS = 12  # pushes before others were first too often
HOME = b"coop-home"
_CROWDED = ("lock", "failed to update ref", "fetch first", "non-fast-forward", "stale info", "already exists")


class Request(Record):
    """What a sync is given: the checked remote, the place for people, and the world it runs in."""

    remote: str
    name: str
    host: str
    common_dir: bytes
    env: Mapping[str, str]
    now: int
    entropy: Callable[[int], bytes]


class Outcome(Record):
    """What a sync did. ``changed`` names the other stores of which something new came."""

    replica: str
    sent: tuple[str, ...]
    changed: tuple[str, ...]
    pushed: bool
    attempts: int
    notes: tuple[str, ...]
    faults: tuple[str, ...]


class Plan(Record):
    """What a sync would send, and whether the remote has something that is not here."""

    replica: str
    sent: tuple[str, ...]
    news: bool
    faults: tuple[str, ...]


def run(store: Store, request: Request, held: Holdings) -> Outcome:
    """Sync once. Raises ``Refused`` for a remote that may not be, ``GitFailed`` with git's words, ``Busy``."""
    with ledger.opened(store) as book:
        who = settle(store, book, request)
        notes = _copied(who)
        own = write_own(book, who.id, held, request)
        carry = Carrier(book.root, request.env)
        union, pushed, attempts = _exchange(book, carry, request, who.id, own.tree)
        _settle_up(store, book, who.id, held, request.now)
        problems = fleet.Reader(book).problems.lines()
        sent = own.sent if union.before == own.before else newer(book, union.before, own.tree)
    kept = _kept(len(own.kept))
    faults = (*own.faults, *problems)
    return Outcome(who.id, sent, union.changed, pushed, attempts, (*notes, *kept, *union.notes), faults)


def _kept(count: int) -> list[str]:
    if not count:
        return []
    many = f"{count} records that are gone from this store stay" if count > 1 else "1 record that is gone stays"
    return [f"{many} in the ledger"]


def _copied(who: replica.Identity) -> list[str]:
    return (
        [f"this clone is a copy of '{os.fsdecode(who.copied_from)}': it has the name {who.id} from now on"]
        if who.copied_from
        else []
    )


def settle(store: Store, book: Ledger, request: Request) -> replica.Identity:
    """Who this store is; the ledger remembers where it lies."""
    home = book.read_file(HOME, 1 << 16).removesuffix(b"\n")
    who = replica.settle(store, home, request.host, request.entropy)
    if home != store.root:
        book.write_file(HOME, store.root + b"\n")
    return who


def write_own(book: Ledger, mine: str, held: Holdings, request: Request) -> Own:
    """This store's tree, written, and the index that describes it."""
    before = _subtree(book, book.tip(), mine)
    own = build(book, before, held, request.name, request.now)
    book.write_file(INDEX, own.index)
    return own


def _subtree(book: Ledger, commit: str, name: str) -> str:
    try:
        return book.subtree(book.tree_of(commit), "replicas", name) if commit else ""
    except Unsound:
        return ""  # a ledger that a crash damaged: everything is read from the store again


def _exchange(book: Ledger, carry: Carrier, request: Request, mine: str, own: str) -> tuple[Union, bool, int]:
    """Fetch, unite and push until the remote has it all; the union, whether anything was sent, and how often."""
    changed: set[str] = set()
    notes: tuple[str, ...] = ()
    reason = ""
    for attempt in range(1, ATTEMPTS + 1):
        theirs, rewritten = _receive(book, carry, request)
        union = _united(book, theirs, mine, own, rewritten=rewritten)
        changed, notes = changed | set(union.changed), notes or union.notes
        union = union.replace(changed=tuple(sorted(changed)), notes=notes)
        if theirs and book.tree_of(theirs) == union.tree:
            _agree(book, theirs)
            return union, False, attempt
        commit = book.commit(union.tree, [theirs] if theirs else [], f"Sync {mine}\n", mine, request.now)
        book.point(BRANCH, commit)
        if theirs:
            book.point(SEEN, theirs)
        carrier.tidy(carry)  # before the push, which reads one pack faster than ten thousand files
        refused = carrier.push(carry, request.remote, commit)
        if refused is None:
            _agree(book, commit)
            return union, True, attempt
        if not any(word in refused for word in _CROWDED):
            raise GitFailed(f"cannot push to the ledger's remote: {refused}")
        reason = refused
        _pause(attempt, request.entropy)
    raise Busy(f"other stores were first {ATTEMPTS} times: {reason}", hint="try again: nothing was lost")


def _agree(book: Ledger, commit: str) -> None:
    book.point(BRANCH, commit)
    book.point(SEEN, commit)


def _pause(attempt: int, entropy: Callable[[int], bytes]) -> None:
    """Wait a little longer each time, and never as long as the other one."""
    time.sleep(min(0.02 * 2**attempt, 1.0) * (0.5 + entropy(1)[0] / 255))


def _receive(book: Ledger, carry: Carrier, request: Request) -> tuple[str, bool]:
    """The remote's commit (empty: it has none), brought here and looked at, and whether its history was rewritten."""
    names = carrier.references(carry, request.remote)
    forbid_shared(request.remote, carrier.shared(request.common_dir, names, request.env))
    forbid_others(request.remote, names, BRANCH)
    theirs = names.get(BRANCH, "")
    if not theirs:
        return "", False
    if not book.has(theirs):
        carrier.fetch(carry, request.remote)
    if not book.has(theirs):
        raise GitFailed("the remote's branch 'coop' changed while it was fetched", hint="try again")
    try:
        tree = book.tree_of(theirs)
        check_mark(book, tree)
        replicas(book, tree)
        seen = book.tip(SEEN)
        return theirs, bool(seen) and book.has(seen) and not book.descends(theirs, seen)
    except Unsound as error:
        raise Fatal(f"coop.remote holds no ledger: {error.sentence}") from error
    except Fatal as error:
        raise Fatal(f"coop.remote holds no ledger that can be used: {error.sentence}", hint=error.hint) from error


def _united(book: Ledger, theirs: str, mine: str, own: str, *, rewritten: bool) -> Union:
    tip = book.tip()
    try:
        known = book.tree_of(tip) if tip else ""
    except Unsound:
        known = ""
    union = unite(book, book.tree_of(theirs) if theirs else "", known, own, mine, rewritten=rewritten)
    if rewritten:
        said = "the remote's history was rewritten since the last sync: what it lacked was put back"
        union = union.replace(notes=(said, *union.notes))
    return union


def _settle_up(store: Store, book: Ledger, mine: str, held: Holdings, now: int) -> None:
    """What the store remembers of a sync: who adopted its letters, and how many of them are elsewhere now."""
    note_carried(book, "pushed", held, now)
    here = {holdings.identifier_of(path) for path in held.records if path.startswith("letters/")}
    found = fleet.Reader(book).adopters(mine)
    lines = adopted.encode((one, by) for one, all_ in found.items() if one in here for by in all_)
    if lines != _current(store):
        store.rewrite(adopted.path_of(store), lines)


def _current(store: Store) -> bytes:
    return files.read_small(adopted.path_of(store)) or b""


def note_carried(book: Ledger, place: str, held: Holdings, now: int) -> None:
    """Note that all letters that were seen are in another place now."""
    name = b"coop-carried"
    book.write_file(name, replica.with_note(book.read_file(name, 4096), place, now, held.count("letters")))


def plan(store: Store, request: Request, held: Holdings) -> Plan:
    """What a sync would do; nothing is written. The remote is asked what it has."""
    book = ledger.look(store)
    carry = Carrier(b"/" if book is None else book.root, request.env)
    mine = replica.read(store)
    names = carrier.references(carry, request.remote)
    forbid_shared(request.remote, carrier.shared(request.common_dir, names, request.env))
    forbid_others(request.remote, names, BRANCH)
    theirs = names.get(BRANCH, "")
    if book is None:
        return Plan(mine, tuple(held.records), bool(theirs), held.faults)
    with book:
        seen = book.tip(SEEN)  # where it is what the remote has, the index may know it
        known = known_paths(book, _subtree(book, theirs if book.has(theirs) else seen, mine)) if theirs else {}
        sent = tuple(path for path, one in held.records.items() if not is_known(one, known.get(path)))
        return Plan(mine, sent, bool(theirs) and not book.has(theirs), held.faults)

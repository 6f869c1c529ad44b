"""Requests on the disk: one record a request for the whole clone, and the mails that carry brief and result.

A record is published before its brief is mailed, and taken back where the mail cannot be queued: a kill between the
two leaves an open request that both worktrees list, never a mail about a request that nobody knows. A result is mailed
before its request is closed, so that a request is never closed whose result went nowhere.
"""

from collections.abc import Callable

from git_coop import files, ids, moves, requests
from git_coop.claims import lock, remove
from git_coop.errors import CoopError, Refused, StoreFault
from git_coop.layout import Box, boxes, owners
from git_coop.locks import Lock
from git_coop.record import Record
from git_coop.requests import Request, Side
from git_coop.store import Store
from git_coop.toml import LIMIT

LOCK_WAIT = 10.0  # seconds

Send = Callable[[Request], str]
"""Queues the mail about a request and gives the message's id; raises ``CoopError`` where it cannot."""


class Shelf(Record):
    """The requests of a clone, oldest first; ``broken`` says why each record that cannot be read could not be."""

    requests: tuple[Request, ...] = ()
    broken: tuple[str, ...] = ()
    strangers: int = 0  # names that are no requests


def folder(store: Store) -> bytes:
    """Where the records lie."""
    return store.root + b"/requests"


def path_of(store: Store, identifier: str) -> bytes:
    """Where the record of a request lies."""
    return folder(store) + b"/" + identifier.encode() + b".toml"


def side(box: Box, path: bytes, worktree: str | None) -> Side:
    """A worktree as a side of a request."""
    return Side(box.key, path.decode("utf-8", "replace"), worktree or None, moves.alive(box.store))


def known(store: Store) -> list[str]:
    """The ids of the clone's requests, oldest first."""
    return sorted(name for name in map(ids.of_record, files.entries(folder(store))) if name)


def load(store: Store, identifier: str) -> Request:
    """The request. Raises ``Gone``, ``Unreadable`` or ``Damaged``, each naming the file."""
    path = path_of(store, identifier)
    return requests.decode(store.read(path, LIMIT), path, identifier)


def demand(store: Store, asked: str) -> Request:
    """The request that ``asked`` names; ``NotFound`` where there is none."""
    return load(store, ids.pick(asked, known(store), what="request"))


def shelf(store: Store) -> Shelf:
    """Every request of the clone. One bad record hides no other."""
    found, broken = [], []
    names = files.entries(folder(store))
    for identifier in sorted(name for name in map(ids.of_record, names) if name):
        try:
            found.append(load(store, identifier))
        except files.Gone:
            continue
        except StoreFault as error:
            broken.append(error.sentence)
    strangers = sum(1 for name in names if not ids.of_record(name) and name != ".lock")
    return Shelf(tuple(found), tuple(broken), strangers)


def _locked(store: Store) -> Lock:
    store.ensure_folder(folder(store))
    return lock(store, folder(store) + b"/.lock", wait=LOCK_WAIT)


def open_request(
    store: Store, draft: Callable[[str], Request], now: int, entropy: Callable[[int], bytes], send: Send
) -> Request:
    """Store the request that ``draft`` makes of a new id, and queue its brief; nothing stays where that fails."""
    with _locked(store):
        everyone = known(store)
        request = draft(ids.mint(now, entropy, after=everyone[-1] if everyone else ""))
        path = path_of(store, request.id)
        if not store.create(path, requests.encode(request)):
            raise Refused(f"request {request.id} exists", hint="try again")
        try:
            mail = send(request)
        except BaseException:
            remove(path)
            raise
        request = request.replace(brief_mail=mail)
        store.rewrite(path, requests.encode(request))
    return request


def close_request(store: Store, identifier: str, transition: Callable[[Request], Request], send: Send) -> Request:
    """Close a request: queue its result, then record it. What ``transition`` or ``send`` refuses changes nothing."""
    with _locked(store):
        request = transition(load(store, identifier))
        try:
            mail = send(request)
        except CoopError as error:
            error.hint = f"the request is still open{'; ' if error.hint else ''}{error.hint}"
            raise
        request = request.replace(result_mail=mail)
        try:
            store.rewrite(path_of(store, identifier), requests.encode(request))
        except StoreFault as error:
            error.hint = f"the result was queued as {mail}, and the request is still open"
            raise
    return request


def home(store: Store, key: str, worktree: str | None) -> bytes:
    """Where a side of a request is now: the path of the box that its worktree owns, else of the box with its key.

    Empty where no box says.
    """
    own = Box(store, key)
    if worktree is not None and owners(own)[-1:] != [worktree]:
        for box in boxes(store):
            if owners(box)[-1:] == [worktree]:
                return box.path()
    return own.path()

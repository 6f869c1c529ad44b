"""Checks of letters, todos and requests: records that cannot be read, marks that a kill left out, broken chains."""

from collections.abc import Iterator
from functools import partial

from git_coop import (
    adopted,
    config,
    fleet,
    ledger,
    letter_glance,
    letter_record,
    letterbox,
    replica,
    requestbox,
    todobox,
)
from git_coop.checks import FOUND, NOTE, Case, Finding, many
from git_coop.errors import StoreFault
from git_coop.layout import Box
from git_coop.letters import Letter

_MEND = "mend it by hand, or bring back a copy of it; git coop never overwrites what it cannot read"


def letters(case: Case) -> Iterator[Finding]:
    """Letters that cannot be read: never taken for no letters."""
    for box in case.shelves():
        for broken in letterbox.shelf(box).broken:
            yield Finding("letters", FOUND, broken.why, _MEND)


def todos(case: Case) -> Iterator[Finding]:
    """Todos that cannot be read."""
    for box in case.shelves():
        for why in todobox.shelf(box).broken:
            yield Finding("todos", FOUND, why, _MEND)


def requests(case: Case) -> Iterator[Finding]:
    """Requests that cannot be read."""
    for why in requestbox.shelf(case.store).broken if case.store is not None else ():
        yield Finding("requests", FOUND, why, _MEND)


def live_letters(case: Case) -> Iterator[Finding]:
    """Older records that still say live: a kill came between a letter's publication and their marks."""
    for box in case.shelves():
        for letter in _stored(box)[:-1]:
            if letter.live:
                yield Finding(
                    "live-letters",
                    FOUND,
                    f"letter {letter.id} says '{letter.status}' and is superseded by a newer one",
                    "--fix marks it, and so does the next change of a letter there",
                    partial(_settle, box, letter.id),
                )


def _stored(box: Box) -> "list[Letter]":
    """The records as they lie there, oldest first; the newest id has a place even where it cannot be read."""
    found = []
    everyone = letter_glance.known(box)
    for identifier in everyone:
        try:
            found.append(letter_record.stored(box, identifier))
        except StoreFault:
            if identifier == everyone[-1]:
                found.append(Letter(identifier, box.key, "", "", "", 0, "done"))
    return found


def _settle(box: Box, identifier: str) -> str:
    letterbox.change(box, identifier, lambda letter: letter)
    return f"marked letter {identifier} as superseded"


def chains(case: Case) -> Iterator[Finding]:
    """Letters that point to letters which are not there: a record was removed by hand."""
    for box in case.shelves():
        everyone = set(letter_glance.known(box))
        for letter in _stored(box):
            gone = [other for other in (*letter.supersedes, letter.superseded_by) if other and other not in everyone]
            if gone:
                yield Finding(
                    "letter-chains",
                    FOUND,
                    f"letter {letter.id} points to {', '.join(gone)}, which is not there",
                    "bring the record back from a copy; no older letter comes to life in its place",
                )


def one_place(case: Case) -> Iterator[Finding]:
    """Letters that exist nowhere else."""
    if case.store is None:
        return
    exposure = replica.only_here(case.store)
    warning = replica.warning(exposure, config.load(case.place.root, case.env).remote(), case.now)
    if warning:
        what, _colon, way = warning.partition(": ")
        yield Finding("copies", NOTE, what, way)


def strays(case: Case) -> Iterator[Finding]:
    """Letters that another clone sent under this store's name: both go by one name, or did."""
    name = "" if case.store is None else replica.read(case.store)
    book = ledger.look(case.store) if case.store is not None and name else None
    if book is None:
        return
    with book:
        reader = fleet.Reader(book)
        found = reader.found(name + adopted.STRAYS, states=False) if name + adopted.STRAYS in reader.trees else []
    if found:
        yield Finding(
            "strays",
            NOTE,
            f"{many(len(found), 'letter')} of another clone that has or had the name {name} too",
            "remove coop/replica in one of the two: its next sync gives it a name of its own;"
            " git coop letter list --fleet shows the letters, git coop letter adopt ID takes one over",
        )

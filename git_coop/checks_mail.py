"""Checks of the mail: messages that are none, twice there, stranded, without a receipt, or without a worktree."""

import os
from collections.abc import Iterator
from functools import partial

from git_coop import drained, files, ids, inbox, layout, overview, receipts
from git_coop.checks import FOUND, NOTE, Case, Finding, listed, many
from git_coop.claims import claim
from git_coop.errors import Busy, Refused, StoreFault
from git_coop.inbox import Odd
from git_coop.layout import Box, message_path


def messages(case: Case) -> Iterator[Finding]:
    """What waits in an inbox and is no message: the drain names it and goes on."""
    for box in case.boxes():
        for name in inbox.listed(box.inbox).ids:
            found = inbox.look(box, name)
            if isinstance(found, Odd):
                yield Finding(
                    "messages",
                    FOUND,
                    f"'{case.within(message_path(box.inbox, name))}': {found.reason}",
                    "look at it with care, then move it out of the inbox: it is shown to nobody",
                )


def stranded(case: Case) -> Iterator[Finding]:
    """What lies in ``claiming/``: an older program, or a person, put it there."""
    for box in case.boxes():
        for name in inbox.listed(box.claiming).ids:
            if ids.is_id(name):
                yield Finding(
                    "claiming",
                    FOUND,
                    f"message {name} is stranded in '{case.within(box.claiming)}'",
                    "--fix returns it to the inbox, and so does the box's next drain",
                    partial(_return, box, name),
                )


def _return(box: Box, name: str) -> str:
    try:
        with claim(message_path(box.claiming, name)) as held:
            if held.move(message_path(box.inbox, name)):
                return f"returned message {name} to the inbox"
    except files.Gone:
        pass
    return f"message {name} was returned already"


def doubles(case: Case) -> Iterator[Finding]:
    """A message that waits and was filed: a power cut or a restored backup leaves both names."""
    for box in case.boxes():
        waiting = set(inbox.listed(box.inbox).ids)
        for folder in (box.seen, box.expired):
            for name in sorted(waiting.intersection(inbox.listed(folder).ids)):
                yield _double(case, box, folder, name)


def _double(case: Case, box: Box, folder: bytes, name: str) -> Finding:
    what = f"message {name} lies in '{case.within(box.inbox)}' and in '{case.within(folder)}'"
    if _bytes(box.inbox, name) == _bytes(folder, name):
        remedy = "--fix removes the inbox's name, and so does the next drain: what was filed counts"
        return Finding("both-names", FOUND, what, remedy, partial(_drop, box, folder, name))
    remedy = "compare the two files, and move one out of the store; git coop touches neither"
    return Finding("both-names", FOUND, f"{what}, with different contents", remedy)


def _bytes(folder: bytes, name: str) -> "bytes | None":
    try:
        return files.read_cut(message_path(folder, name), 2 << 20).data
    except StoreFault:
        return None


def _drop(box: Box, folder: bytes, name: str) -> str:
    odd = inbox.drop_filed(box, name, message_path(folder, name))
    if odd is not None:
        raise Refused(odd.reason)
    if files.exists(message_path(box.inbox, name)):
        raise Busy(f"message {name} is held by another process", hint="try again")
    return f"removed the inbox's name of message {name}"


def filed(case: Case) -> Iterator[Finding]:
    """Filed messages without a receipt: nothing proves that anybody saw them."""
    for box in case.boxes():
        known = {name[: ids.LENGTH] for name in files.entries(box.receipts)}
        for folder in (box.seen, box.expired):
            bare = [name for name in inbox.listed(folder).ids if name not in known]
            if bare:
                yield Finding(
                    "receipts",
                    FOUND,
                    f"{many(len(bare), 'message')} in '{case.within(folder)}' without a receipt: {listed(bare)}",
                    "nothing proves a showing: git coop mail show ID reads one, requeue ID sends it again",
                )


def orphans(case: Case) -> Iterator[Finding]:
    """Boxes whose worktree is gone: what lies there waits for nobody."""
    rows = overview.clone(case.place, case.store, case.env, [])
    for row in overview.orphans(rows):
        path, held = os.fsdecode(row.glance.path), row.glance.undelivered
        letter = None if row.adopted else row.glance.letter
        holds = [many(held, "undelivered message")] if held else []
        holds += [f"the live letter {letter.id}"] if letter is not None else []
        if holds:
            ways = ["send a message elsewhere: git coop mail requeue ID --to PATH"] if held else []
            ways += [f"go on with the letter here: git coop letter adopt {letter.id}"] if letter is not None else []
            yield Finding(
                "orphans",
                FOUND,
                f"no worktree at '{path}', whose box holds {' and '.join(holds)}",
                "; ".join(["make a worktree there again, or " + ways[0], *ways[1:]]),
            )
        else:
            rest = "; its letter was adopted" if row.adopted else "; its box holds nothing that waits"
            yield Finding("orphans", NOTE, f"no worktree at '{path}'{rest}")


def twins(case: Case) -> Iterator[Finding]:
    """Two boxes of one directory: a bind mount gives a directory two real paths, and the system does not tell."""
    homes: dict[tuple[int, int], list[str]] = {}
    for box in case.boxes():
        try:
            status = os.stat(box.path())
        except OSError:
            continue
        if layout.key(box.path()) != box.key:
            continue  # it waits for a worktree that moved on: its address is another's by now
        homes.setdefault((status.st_dev, status.st_ino), []).append(os.fsdecode(box.path()))
    for paths in homes.values():
        if len(paths) > 1:
            yield Finding(
                "twins",
                FOUND,
                f"one directory has {len(paths)} boxes, by the paths {listed(sorted(paths))}",
                "always work under one of these paths: each has letters and mail of its own",
            )


def consuming(case: Case) -> Iterator[Finding]:
    """Mail that is shown again and again: no stop hook files what was shown."""
    for box in case.boxes():
        lasts = drained.read(box)
        waiting = set(inbox.listed(box.inbox).ids)
        shown = sum(len(receipts.marked(box, session).intersection(waiting)) for session in receipts.sessions(box))
        if shown and "stop" not in lasts:
            yield Finding(
                "consuming",
                FOUND,
                f"mail in the box of '{os.fsdecode(box.path())}' was shown {many(shown, 'time')}, never consumed:"
                " no stop hook has run there",
                "see whether the client runs a stop hook: git coop hooks status",
            )

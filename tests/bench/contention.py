"""Eight senders and eight drains on one box, as processes: messages a second, and what else became of them.

Beside it the same work on ``mailbox.Maildir``: a sender adds a message, a taker reads what is there, prints it, adds
it to a second maildir and removes it from the first. Both are called in running processes, so that no interpreter's
start is in the figures. What is not the same: a send of ours notes it at the sender's, too, and flushes the folder; a
drain of ours renders, marks, writes a receipt, and files each message once.
"""

import mailbox
import os
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from git_coop import __main__ as program
from git_coop import discover, mail, moves
from git_coop.edge import Edge
from git_coop.mail import Content, Letterhead
from tests.bench.peer_tasks import MAIL, SUBJECT
from tests.bench.stage import BODY, Stage

SENDERS = TAKERS = 8
EACH = 100  # messages of one sender
PATIENCE = 120.0  # seconds
AT_ONCE = 5  # what a drain shows in one output
_PROCESSES = get_context("fork")

Send = Callable[[int], object]
Take = Callable[[], int]  # how many messages this process filed just now


class Mailbox(NamedTuple):
    """One kind of mailbox: the sender and the taker of a process's number, and how many filed messages lie there."""

    send: Callable[[int], Send]
    take: Callable[[int], Take]
    copies: Callable[[], int]


class Rate(NamedTuple):
    """What a race came to, from the first send to the last filing. More ``copies`` than messages: filed twice."""

    name: str
    fsync: bool
    messages: int
    seconds: float
    copies: int


class Sink:
    """A stream that ends at once and keeps what it is given."""

    def __init__(self) -> None:
        self.data = b""

    def read(self, size: int) -> bytes:
        """Nothing."""
        return b""

    def write(self, data: bytes) -> None:
        """Keep it."""
        self.data += data

    def isatty(self) -> bool:
        """No."""
        return False

    def ready(self, seconds: float) -> bool:
        """The end is there."""
        return True


def run(stage: Stage, tell: Callable[[str], None]) -> list[Rate]:
    """Both mailboxes, with and without flushing to the disk."""
    rates = []
    for fsync in (True, False):
        for name, make in (("git coop", _coop), ("Python mailbox", _maildir)):
            tell(f"{SENDERS} senders and {TAKERS} takers: {name}{'' if fsync else ', no fsync'}")
            box = make(stage, "flushed" if fsync else "unflushed")
            rates.append(Rate(name, fsync, SENDERS * EACH, _race(box, fsync=fsync), box.copies()))
    return rates


def _no_fsync(fd: object) -> None:
    """In the place of ``os.fsync``."""


def _race(box: Mailbox, *, fsync: bool) -> float:
    """The seconds until all that was sent is filed."""
    start, filed = _PROCESSES.Barrier(SENDERS + TAKERS + 1), _PROCESSES.Value("i", 0)

    def ready() -> None:
        if not fsync:
            os.fsync = _no_fsync
        start.wait()

    def send(number: int) -> None:
        each = box.send(number)
        ready()
        for index in range(EACH):
            each(index)

    def take(number: int) -> None:
        each, end = box.take(number), time.monotonic() + PATIENCE
        ready()
        while filed.value < SENDERS * EACH and time.monotonic() < end:
            count = each()
            with filed.get_lock():
                filed.value += count

    senders = [_PROCESSES.Process(target=send, args=(number,)) for number in range(SENDERS)]
    running = senders + [_PROCESSES.Process(target=take, args=(number,)) for number in range(TAKERS)]
    for process in running:
        process.start()
    start.wait()
    begin = time.monotonic()
    for process in running:
        process.join()
    return time.monotonic() - begin


def _coop(stage: Stage, name: str) -> Mailbox:
    target = stage.worktree(f"race-{name}")
    roots = [stage.worktree(f"race-{name}-{number}") for number in range(SENDERS)]
    there = stage.box(target)

    def send(number: int) -> Send:
        worktree = discover.find(os.fsencode(roots[number]), stage.env)
        own = moves.open_box(there.store, worktree, stage.fresh()).box
        head, content = Letterhead(own.key, worktree.root, "topic"), Content(BODY, SUBJECT)
        path = os.fsencode(target)
        return lambda _index: mail.queue(own, there, path, head, content, os.urandom, time.time_ns())

    def take(number: int) -> Take:
        words = ["drain", "--event", "stop", "--session", f"session-{number}"]

        def drain() -> int:
            out = Sink()
            edge = Edge(stage.env, os.fsencode(target), Sink(), out, Sink(), time.time_ns, os.urandom)
            program.main(words, edge)
            return out.data.count(b"\nconsumed ") + out.data.startswith(b"consumed ")

        return drain

    return Mailbox(send, take, lambda: len(os.listdir(there.seen)))


def _maildir(stage: Stage, name: str) -> Mailbox:
    place = stage.place / f"race-maildir-{name}"
    place.mkdir()
    for folder in ("box", "seen"):
        mailbox.Maildir(place / folder)

    def send(number: int) -> Send:
        box = mailbox.Maildir(place / "box")
        return lambda index: box.add(MAIL.replace("NUMBER", f"{number}.{index}").encode())

    def take(_number: int) -> Take:
        return lambda: _take(place)

    return Mailbox(send, take, lambda: _copies(place / "seen"))


def _take(place: Path) -> int:
    box, seen = mailbox.Maildir(place / "box"), mailbox.Maildir(place / "seen")
    out, taken = Sink(), 0
    for key in sorted(box.keys())[:AT_ONCE]:
        with suppress(KeyError, FileNotFoundError):  # another was quicker: it may be in `seen` twice
            text = box.get_bytes(key)
            out.write(text)
            seen.add(text)
            box.remove(key)
            taken += 1
    return taken


def _copies(place: Path) -> int:
    """How many files lie in a maildir."""
    return sum(len(list((place / folder).iterdir())) for folder in ("new", "cur"))

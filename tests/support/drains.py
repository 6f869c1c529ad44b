"""One worktree's box and the sessions that drain it, in this process: events go in, texts and the disk come out."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EPIPE
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from git_coop import (
    claims,
    clock,
    discover,
    drain,
    files,
    flat,
    ids,
    locks,
    making,
    moves,
    receipts,
    staged,
    store,
)
from git_coop.event import Event, Order, Outcome, Say
from git_coop.files import sha256
from git_coop.layout import Box, hashed, message_path
from git_coop.message import DEFAULT_TERM, Draft, compose
from tests.support.world import Clock, Counter, World, Worlds

_TITLE = re.compile(r"^message \d+ of \d+: (\S+), ", re.MULTILINE)
KEY = "peer-" + "0" * 32


class Drained(NamedTuple):
    """One drain: its text for the session, its text for the person, the ids that the text shows, the outcome."""

    text: str
    human: str
    shown: tuple[str, ...]
    outcome: Outcome | None  # None: the output did not get out


class Killed(BaseException):
    """The process died here."""


class Room:
    """The box of the worktree ``root``, made with its clone's store; clock and randomness are those of ``beside``."""

    def __init__(self, worlds: Worlds, root: Path, beside: "Room | None" = None) -> None:
        self.root = root
        self.clock: Clock = beside.clock if beside else Clock()
        self.entropy: Counter = beside.entropy if beside else Counter()
        self.world: World = worlds(cwd=root).replace(clock=self.clock, entropy=self.entropy)
        worktree = discover.find(os.fsencode(root), self.world.env)
        self.store = making.make_store(worktree.coop, 0o700)
        self.box: Box = moves.open_box(self.store, worktree, ids.mint(self.clock(), self.entropy)).box

    # mail

    def send(self, body: str = "hello", *, term: int = DEFAULT_TERM, **fields: Any) -> str:
        """A message of now in the inbox; its id."""
        name = ids.mint(self.clock(), self.entropy)
        draft = Draft(
            name,
            self.clock(),
            self.clock() + term,
            self.box.key,
            body,
            **{"from_key": KEY, "from_path": b"/p", **fields},
        )
        self.put(name, compose(draft))
        return name

    def put(self, name: str, data: bytes, folder: str = "inbox") -> None:
        """A message file with its own time set to now."""
        path = message_path(os.path.join(self.box.mail, folder.encode()), name)
        with open(path, "wb") as stream:
            stream.write(data)
        os.utime(path, ns=(self.clock(), self.clock()))

    def rewrite(self, name: str) -> None:
        """Change a message file, as only a program that keeps no rule does."""
        path = message_path(self.box.inbox, name)
        with open(path, "rb") as stream:
            data = stream.read()
        self.put(name, data + b"changed\n")

    def path(self, name: str, folder: str = "inbox") -> Path:
        return Path(os.fsdecode(message_path(os.path.join(self.box.mail, folder.encode()), name)))

    def digest(self, name: str) -> str:
        """The hash of a message file in the inbox, as markers have it."""
        return sha256(self.path(name).read_bytes())

    def place(self, name: str) -> str:
        """The folders in which a message lies, joined by ``+``."""
        return "+".join(
            folder for folder in ("inbox", "seen", "expired", "claiming") if self.path(name, folder).exists()
        )

    def queued(self) -> list[str]:
        return sorted(name.removesuffix(".eml") for name in files.entries(self.box.inbox))

    # records

    def marker(self, session: str, name: str) -> receipts.Marker | None:
        return receipts.read_marker(self.box, hashed(session), name)

    def marked(self, session: str) -> dict[str, str]:
        """The event of each marker of a session."""
        known = receipts.marked(self.box, hashed(session))
        return {name: marker.event for name in sorted(known) if (marker := self.marker(session, name))}

    def receipts(self, name: str) -> set[tuple[str, str]]:
        """(hash of the session, outcome) of every receipt of a message on the disk, whether it counts or not."""
        found = set()
        for entry in files.entries(self.box.receipts):
            if entry.startswith(name):
                with open(os.path.join(os.fsdecode(self.box.receipts), entry), "rb") as stream:
                    record = flat.loads(stream.read())
                found.add((flat.text(record, "session"), flat.text(record, "outcome")))
        return found

    # drains

    def drain(
        self,
        kind: str,
        session: str | None = "s",
        turn: str | None = None,
        *,
        text: bool = False,
        out: str = "open",
        carries: bool = True,
        stop_shows: Callable[[], bool] = lambda: True,
        world: World | None = None,
        **fields: Any,
    ) -> Drained:
        """One event of a client that is like Claude Code where no argument says otherwise; ``out``: open or closed."""
        event = Event(kind, "" if text else "claude", session=session, turn=turn, **fields)
        said: list[Say] = []

        def emit(say: Say) -> None:
            if out == "closed" and (say.text or say.human):
                raise OSError(EPIPE, os.strerror(EPIPE))
            said.append(say)

        order = Order(event, os.fsencode(self.root), self.world.env, text, None, carries, stop_shows)
        try:
            outcome = drain.run(order, world or self.world, emit)
        except OSError:
            assert out == "closed"
            return Drained("", "", (), None)
        assert len(said) == 1
        return Drained(said[0].text, said[0].human, tuple(_TITLE.findall(said[0].text)), outcome)

    # the disk

    def saved(self) -> dict[str, bytes]:
        """Every file of the box but what drains leave anew each time, by its path in the box."""
        top = Path(os.fsdecode(self.box.mail))
        return {str(path.relative_to(top)): path.read_bytes() for path in top.glob("*/**/*") if path.is_file()}

    def restore(self, saved: dict[str, bytes]) -> None:
        """The box as it was ``saved``; messages get the time of now, and what was staged or switched off is gone."""
        top = Path(os.fsdecode(self.box.mail))
        for path in [*top.glob("*/**/*"), *Path(os.fsdecode(self.store.tmp)).iterdir()]:
            if path.is_file():
                path.unlink()
        for name, data in saved.items():
            (top / name).parent.mkdir(exist_ok=True)
            (top / name).write_bytes(data)
            os.utime(top / name, ns=(self.clock(), self.clock()))
        self.switch(off=False)

    def switch(self, *, off: bool) -> None:
        """Hold delivery, or let it go on."""
        path = Path(os.fsdecode(self.store.root)) / "OFF"
        path.touch() if off else path.unlink(missing_ok=True)

    def tick(self, nanoseconds: int = clock.SECOND) -> None:
        self.clock.tick(nanoseconds)


class _Dying:
    """``os`` for the store of a process that is killed after its operation number ``last``; from then on nothing works.

    Descriptors are still closed: the kernel does that, and drops the locks.
    """

    CHANGING = ("mkdir", "chmod", "fchmod", "write", "pwrite", "fsync", "link", "rename", "unlink", "rmdir")

    def __init__(self, last: int) -> None:
        self.last = last
        self.done = 0
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.CHANGING and name != "open":
            return real

        def act(*args: Any, **named: Any) -> Any:
            changes = name != "open" or bool(args[1] & os.O_CREAT)
            if changes and self.dead:
                raise Killed
            result = real(*args, **named)
            if changes:
                self.done += 1
                if self.done == self.last:
                    self.dead = True
                    if name == "open":
                        os.close(result)
                    raise Killed
            return result

        return act


@contextmanager
def killed_after(operation: int) -> Iterator[_Dying]:
    """Within: the store's writer dies after its change number ``operation`` (0: never, and they are counted)."""
    dying = _Dying(operation)
    with pytest.MonkeyPatch.context() as patch:
        for writer in (store, claims, staged, locks):
            patch.setattr(writer, "os", dying)
        yield dying

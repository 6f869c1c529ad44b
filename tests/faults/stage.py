"""A clone on which one command is run again and again from the same beginning.

Between two runs only what differs is put back. The clock and the randomness are given, so that run after run makes
the same calls: the n-th call of one is the n-th call of all.
"""

import gc
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from git_coop import __main__, clock
from git_coop.edge import Edge
from git_coop.layout import key
from tests import invariants
from tests.faults.seam import Act, Count, Sink, installed
from tests.invariants import State, Tree
from tests.support.clones import Clone
from tests.support.world import START, Clock, Counter, Source

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("main", "alpha", "beta")


class Ended(NamedTuple):
    """A run that is over. ``code`` is -9 for one that was killed."""

    code: int
    out: bytes
    err: bytes

    @property
    def said(self) -> bytes:
        return self.out + self.err


class Kept(NamedTuple):
    """One file or folder as it was."""

    data: bytes | None
    mode: int
    mtime: int


class Stage:
    """A clone with the worktrees ``main``, ``alpha`` and ``beta``, its store, and ways to run commands on it."""

    def __init__(self, clone: Clone, place: Path) -> None:
        self.clone = clone
        self.roots = {"main": clone.root, "alpha": clone.worktree("alpha"), "beta": clone.worktree("beta")}
        self.out, self.err = Sink(place / "said.out"), Sink(place / "said.err")
        self.now = START
        self.runs = 0
        self.keys: dict[bytes, str] = {}
        self.begun_at = START
        self.begun: dict[str, Kept] = {}
        self.watched = [clone.coop]  # further files and folders that a command changes are added
        self.temporary = place / "temporary"
        self.temporary.mkdir()

    def close(self) -> None:
        os.close(self.out.number)
        os.close(self.err.number)

    # running

    def edge(self, where: str, stdin: bytes, env: Mapping[str, str], draws: int) -> Edge:
        counter = Counter()
        counter.drawn = draws
        directory = self.roots.get(where)
        return Edge(
            {**os.environ, "TMPDIR": str(self.temporary), **env},
            os.fsencode(directory if directory is not None else where),
            Source(stdin),
            self.out,
            self.err,
            Clock(self.now),
            counter,
        )

    def run(
        self,
        *argv: str,
        where: str = "main",
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        act: Act | None = None,
    ) -> Ended:
        """Run a command here, in this process, through the seam; a later command lives a second later."""
        self.runs += 1
        self.now += clock.SECOND
        return self._run(argv, where, stdin, env or {}, act or Count(), self.runs * 1000)

    def _run(
        self,
        argv: tuple[str, ...],
        where: str,
        stdin: bytes,
        env: Mapping[str, str],
        act: Act,
        draws: int,
        *,
        looking: bool = False,
    ) -> Ended:
        edge = self.edge(where, stdin, env, draws)
        with installed(act, looking=looking) as seam:
            self.out.seam = self.err.seam = seam
            try:
                code = __main__.main(list(argv), edge)
            finally:
                self.out.seam = self.err.seam = None
        return Ended(code, self.out.take(), self.err.take())

    def again(
        self,
        argv: tuple[str, ...],
        where: str,
        stdin: bytes,
        env: Mapping[str, str],
        act: Act,
        *,
        looking: bool = False,
    ) -> Ended:
        """Run the command under test, at the same time and with the same randomness at every call."""
        self.now, self.runs = self.begun_at, 500
        return self._run(argv, where, stdin, env, act, self.runs * 1000, looking=looking)

    def in_child(self, work: "Callable[[], Ended]") -> Ended:
        """What becomes of ``work`` in a process of its own; what a killed one said is what it had said."""
        child = os.fork()
        if child == 0:
            gc.disable()  # a collection would touch, and so copy, every page that is shared with the test
            self._be_child(work)
        _pid, status = os.waitpid(child, 0)
        return Ended(os.waitstatus_to_exitcode(status), self.out.take(), self.err.take())

    def _be_child(self, work: "Callable[[], Ended]") -> None:
        code = 99  # nothing of the test that forked may go on here
        try:
            ended = work()
            os.write(self.out.number, ended.out)
            os.write(self.err.number, ended.err)
            code = ended.code
        except BaseException as error:
            os.write(self.err.number, f"the child failed: {error!r}".encode())
        finally:
            os._exit(code)

    # the store's files

    def tree(self) -> Tree:
        return invariants.tree(self.clone.coop)

    def state(self) -> State:
        return invariants.state(self.tree())

    def everything(self) -> dict[str, bytes | None]:
        """Every watched file with its bytes and every watched folder, by absolute path."""
        found: dict[str, bytes | None] = {}
        for place in self.watched:
            if place.is_dir() and not place.is_symlink():
                found[str(place)] = None
                found.update({f"{place}/{name}": data for name, data in invariants.tree(place).items()})
            elif place.exists():
                found[str(place)] = place.read_bytes()
        return found

    def inside(self, everything: Mapping[str, bytes | None]) -> Tree:
        """The part of it that lies in the store, by path from its root."""
        start = f"{self.clone.coop}/"
        return {path[len(start) :]: data for path, data in everything.items() if path.startswith(start)}

    def begin(self) -> State:
        """Remember the store and the time as they are now: what every run begins with."""
        self.begun_at = self.now
        for root in self.roots.values():
            self.watched.append(self.git_dir(root) / "coop-worktree")
        for path, data in self.everything().items():
            status = os.lstat(path)
            self.begun[path] = Kept(data, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
        return self.state()

    def git_dir(self, root: Path) -> Path:
        link = root / ".git"
        return link if link.is_dir() else Path(link.read_text().removeprefix("gitdir: ").strip())

    def rewind(self, now: Mapping[str, bytes | None] | None = None) -> None:
        """Put back what differs from the beginning, the times of folders too."""
        here = self.everything() if now is None else now
        touched: set[str] = set()
        for path in sorted(here.keys() - self.begun.keys(), reverse=True):
            os.rmdir(path) if here[path] is None else os.unlink(path)
            touched.add(os.path.dirname(path))
        for path, kept in sorted(self.begun.items()):
            if path in here and here[path] == kept.data:
                continue
            touched.add(os.path.dirname(path))
            if kept.data is None:
                os.mkdir(path)
            else:
                Path(path).write_bytes(kept.data)
                os.utime(path, ns=(kept.mtime, kept.mtime))
            os.chmod(path, kept.mode)
        for path in touched & self.begun.keys():
            os.utime(path, ns=(self.begun[path].mtime, self.begun[path].mtime))

    def key(self, where: str) -> str:
        """The key of a worktree's box."""
        root = os.path.realpath(os.fsencode(self.roots[where]))
        if root not in self.keys:
            self.keys[root] = key(root)
        return self.keys[root]

    def age(self) -> None:
        """Give what lies in the boxes the time of the stage, as if the disk's clock were the run's."""
        for path in self.clone.coop.glob("mail/box/*/*/**/*"):
            os.utime(path, ns=(self.now, self.now))


def forget(place: Path) -> None:
    """Remove a folder and all that is in it, if it is there."""
    shutil.rmtree(place, ignore_errors=True)

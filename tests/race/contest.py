"""Real processes let go at one instant, each running one command, each giving way at random between its calls."""

import gc
import os
import random
import sys
from pathlib import Path
from typing import NamedTuple

from git_coop import __main__, clock
from tests import invariants
from tests.faults.seam import PASS, Call, Sink, die, installed
from tests.faults.stage import Ended, Stage
from tests.invariants import State

KILLED = -9
FINE = (0, 1, 128)


class Job(NamedTuple):
    """A command of one process."""

    argv: tuple[str, ...]
    where: str = "main"
    stdin: bytes = b""


class Jitter:
    """Gives the processor away at random, so that any two calls may meet; and ends the process at one, or at none."""

    def __init__(self, chance: random.Random, last: int | None) -> None:
        self.chance = chance
        self.last = last

    def __call__(self, call: Call) -> object:
        if call.number == self.last:
            die()
        for _time in range(self.chance.choice((0, 0, 1, 4))):
            os.sched_yield()
        return PASS


class Contest:
    """Rounds of many processes on one stage. ``killed`` counts the processes that were."""

    def __init__(self, stage: Stage, place: Path, seed: int = 1) -> None:
        self.stage = stage
        self.place = place
        self.chance = random.Random(seed)
        self.rounds = 0
        self.killed = 0
        self.started = 0

    def race(self, jobs: list[Job], *, kills: float = 0.0) -> list[Ended]:
        """Let every job go at once and wait for all. Each is killed at a random call with this probability."""
        self.rounds += 1
        self.stage.now += clock.SECOND
        reader, writer = os.pipe()
        children = [self._fork(job, number, reader, writer, kills) for number, job in enumerate(jobs)]
        os.close(reader)
        os.close(writer)
        ended = [self._wait(child, number) for number, child in enumerate(children)]
        self.killed += sum(each.code == KILLED for each in ended)
        self.started += len(jobs)
        return ended

    def _fork(self, job: Job, number: int, reader: int, writer: int, kills: float) -> int:
        last = self.chance.randrange(1, 60) if self.chance.random() < kills else None
        jitter = Jitter(random.Random(self.chance.random()), last)
        child = os.fork()
        if child:
            return child
        code = 99  # nothing of the test that forked may go on here
        try:
            gc.disable()  # a collection would touch, and so copy, every page that is shared with the test
            os.close(writer)
            os.read(reader, 1)  # until the last of the others has been started
            code = self._run(job, number, jitter)
        except BaseException as error:
            os.write(2, f"{error!r}".encode())
        finally:
            os._exit(code)

    def _run(self, job: Job, number: int, jitter: Jitter) -> int:
        out, err = Sink(self.place / f"{number}.out"), Sink(self.place / f"{number}.err")
        draws = (self.rounds * 100 + number) * 1000
        edge = self.stage.edge(job.where, job.stdin, {}, draws).replace(stdout=out, stderr=err)
        with installed(jitter, looking=True) as seam:
            seam.pid = os.getpid()
            out.seam = err.seam = seam
            return __main__.main(list(job.argv), edge)

    def _wait(self, child: int, number: int) -> Ended:
        _pid, status = os.waitpid(child, 0)
        said = []
        for name in (f"{number}.out", f"{number}.err"):
            path = self.place / name
            said.append(path.read_bytes() if path.exists() else b"")
            path.unlink(missing_ok=True)
        return Ended(os.waitstatus_to_exitcode(status), said[0], said[1])


def disturbed(ended: list[Ended]) -> list[str]:
    """Processes that ended in no way that a command ends in."""
    return [
        f"exit {each.code}: {each.err.decode()}"
        for each in ended
        if each.code not in (*FINE, KILLED) or b"unexpected" in each.err or b"Traceback" in each.said
    ]


def wrong(before: State, after: State, ended: list[Ended], *, removed: frozenset[str] = frozenset()) -> list[str]:
    """What is wrong after a round: the invariants, what was lost or filed unseen, and who was disturbed."""
    out = b"".join(each.out for each in ended)
    return [
        *invariants.violations(after),
        *invariants.losses(before, after, removed=removed),
        *invariants.unseen(before, after, out),
        *disturbed(ended),
    ]


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1

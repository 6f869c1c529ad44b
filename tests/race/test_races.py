"""Sixteen at once, in rounds, some of them killed: nobody's mail lost, doubled or filed unseen; one letter live."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import invariants
from tests.faults.beginnings import BODY, mailed, send
from tests.faults.commands import TO_MAIN
from tests.faults.promises import filed
from tests.faults.stage import Ended, Stage
from tests.invariants import State
from tests.race.contest import KILLED, Contest, Job, wrong
from tests.support.clones import Clone
from tests.support.program import Program

MANY = 16
ROUNDS = 25 if os.environ.get("COOP_SOAK") == "1" else 4
STOP = ("drain", "--event", "stop", "--session")
CONSUMED = re.compile(rb"^consumed (\S+)$", re.MULTILINE)
QUEUED = re.compile(rb"^queued (\S+) for", re.MULTILINE)
WRITTEN = re.compile(rb"^letter (\S+) written", re.MULTILINE)
Note = Callable[[str, object], None]


@pytest.fixture
def contest(stage: Stage, tmp_path: Path, record_property: Note) -> Iterator[Contest]:
    """Races on a stage with mail in the main worktree's box."""
    mailed(stage)
    found = Contest(stage, tmp_path)
    yield found
    for name in ("rounds", "started", "killed"):
        record_property(name, getattr(found, name))


def names(pattern: "re.Pattern[bytes]", ended: list[Ended]) -> list[str]:
    """What the processes reported, one after another."""
    return [name.decode() for each in ended for name in pattern.findall(each.out)]


def reported(after: State, ended: list[Ended]) -> list[str]:
    """Reports that are not true."""
    consumed, queued, written = (names(pattern, ended) for pattern in (CONSUMED, QUEUED, WRITTEN))
    letters = {name for found in after.letters.values() for name in found}
    return [
        *(f"message {name} was consumed {count} times" for name, count in Counter(consumed).items() if count > 1),
        *(
            f"message {name} was consumed, and is {after.where(name)}"
            for name in consumed
            if after.where(name) != "seen"
        ),
        *(f"message {name} was queued, and is nowhere" for name in queued if after.where(name) == "nowhere"),
        *(f"letter {name} was written, and is not there" for name in written if name not in letters),
    ]


def settled(stage: Stage) -> list[str]:
    """What is left over after ordinary drains and a mending."""
    for where in stage.roots:
        for _time in range(ROUNDS * MANY):
            ended = stage.run(*STOP, "the last", where=where)
            if not CONSUMED.findall(ended.out):
                break
    stage.run("doctor", "--fix")
    found = stage.state()
    return [*invariants.leftovers(found), *invariants.unsettled(found), *sorted(found.lying("inbox"))]


@pytest.mark.parametrize("kills", [0.0, 0.5], ids=["alive", "killed"])
def test_sixteen_drains_at_stop(contest: Contest, kills: float) -> None:
    for number in range(ROUNDS):
        for _each in range(4):
            send(contest.stage)
        before = contest.stage.state()
        ended = contest.race([Job((*STOP, f"{number}-{each}")) for each in range(MANY)], kills=kills)
        after = contest.stage.state()
        assert [*wrong(before, after, ended), *reported(after, ended)] == []
        filed_now = after.lying("seen") - before.lying("seen")
        if not kills:
            assert sorted(filed_now) == sorted(names(CONSUMED, ended))
    assert settled(contest.stage) == []
    assert (contest.killed > 0) == bool(kills)


@pytest.mark.parametrize("kills", [0.0, 0.5], ids=["alive", "killed"])
def test_sixteen_senders_against_drains(contest: Contest, kills: float) -> None:
    jobs = [
        Job(("mail", "send", "--to", "../main", *TO_MAIN), "alpha" if each % 2 else "beta", BODY.encode())
        for each in range(MANY)
    ]
    for number in range(ROUNDS):
        before = contest.stage.state()
        drains = [Job((*STOP, f"{number}-{each}")) for each in range(4)]
        ended = contest.race([*jobs, *drains], kills=kills)
        after = contest.stage.state()
        assert [*wrong(before, after, ended), *reported(after, ended)] == []
        came = after.messages.keys() - before.messages.keys()
        if not kills:
            assert [each.err for each in ended[:MANY] if each.code] == []
            assert len(names(QUEUED, ended)) == len(came) == MANY
        assert set(names(QUEUED, ended)) <= came
        assert len(came) <= MANY
    assert settled(contest.stage) == []


@pytest.mark.parametrize("kills", [0.0, 0.5], ids=["alive", "killed"])
def test_sixteen_writers_and_readers_of_letters(contest: Contest, kills: float) -> None:
    stage = contest.stage
    stage.run("letter", "write", "-m", BODY)
    key = stage.key("main")
    for _number in range(ROUNDS):
        before = stage.state()
        ended = contest.race([Job(("letter", "write", "-m", BODY)) for _each in range(MANY)], kills=kills)
        after = stage.state()
        assert [*wrong(before, after, ended), *reported(after, ended)] == []
        new = after.letters[key].keys() - before.letters[key].keys()
        assert after.live(key) == (max(new) if new else before.live(key))
        if not kills:
            assert len(new) == MANY
            assert invariants.unsettled(after) == []
        readers = contest.race([Job(("letter", "read", "--session", str(each))) for each in range(MANY)], kills=kills)
        read = stage.state()
        assert [*wrong(after, read, readers), *reported(read, readers)] == []
        record = read.letters[key][max(read.letters[key])]
        told = sum(each.code == 0 and b"warning" not in each.err for each in readers)
        assert record is not None
        assert told <= record["read_count"] <= sum(each.code in (0, KILLED) for each in readers)
    assert settled(stage) == []


def test_everything_against_everything(contest: Contest) -> None:
    stage = contest.stage
    stage.run("letter", "write", "-m", BODY)
    for number in range(ROUNDS * 2):
        before = stage.state()
        ended = contest.race(everything(contest, number), kills=0.3)
        after = stage.state()
        assert [*wrong(before, after, ended, removed=filed(before)), *reported(after, ended)] == []
    assert contest.killed > 0
    assert settled(stage) == []


def everything(contest: Contest, number: int) -> list[Job]:
    """A round's jobs: every command that changes a store, in a random order."""
    session = f"{number % 3}"
    body = BODY.encode()
    jobs = [
        Job(("mail", "send", "--to", "all", *TO_MAIN), "alpha", body),
        Job(("mail", "send", "--to", "../main", *TO_MAIN), "beta", body),
        Job(("drain", "--event", "start", "--session", session)),
        Job(("drain", "--event", "prompt", "--session", session)),
        Job((*STOP, session)),
        Job((*STOP, f"other {number}")),
        Job((*STOP, session), "beta"),
        Job(("mail", "read"), "alpha"),
        Job(("letter", "write", "-m", BODY)),
        Job(("letter", "read")),
        Job(("letter", "ack")),
        Job(("todo", "add", "something")),
        Job(("request", "open", "--to", "../beta", *TO_MAIN), "main", body),
        Job(("gc",)),
        Job(("doctor", "--fix"), "alpha"),
        Job(("doctor", "--fix")),
    ]
    contest.chance.shuffle(jobs)
    return jobs


def test_the_program_itself_sixteen_times(clone: Clone, coop: Program) -> None:
    """The same with what is installed, started as a client or a shell starts it."""
    peer = clone.worktree("peer")
    for _each in range(4):
        coop("mail", "send", "--to", str(peer), "-m", BODY, cwd=clone.root, check=0)
    before = invariants.read(clone.coop)
    drains = [coop.start("drain", "--event", "stop", "--session", str(each), cwd=peer) for each in range(MANY)]
    senders = [coop.start("mail", "send", "--to", str(peer), "-m", BODY, cwd=clone.root) for _each in range(4)]
    ended = [_finished(process) for process in (*drains, *senders)]
    after = invariants.read(clone.coop)
    assert [*wrong(before, after, ended), *reported(after, ended)] == []
    assert len(names(QUEUED, ended)) == 4
    assert before.lying("inbox") <= after.lying("seen") | after.lying("inbox")


def _finished(process: "subprocess.Popen[bytes]") -> Ended:
    out, err = process.communicate()
    return Ended(process.returncode, out, err)

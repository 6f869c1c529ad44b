"""Two commands at one store: while one stands still before a call, another runs from its beginning to its end.

Every call counts, those that only open or lock a file too. What must hold after each: the invariants, nothing lost,
each message consumed by one alone, each reading counted, and an error where a command did not do its work.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from git_coop import locks
from tests import invariants
from tests.faults.beginnings import BODY, SESSION, left_by_a_kill, letters, mailed, moved, over, shown
from tests.faults.commands import TO_MAIN
from tests.faults.seam import Call, Count, Impatient, Meanwhile
from tests.faults.stage import Ended, Stage
from tests.invariants import State

CONSUMED = re.compile(rb"^consumed (\S+)$", re.MULTILINE)
# Where the other one comes in: what it would see, or find locked, is the same before every other call.
MANY = 40  # calls from which the other one comes in at every second, and at every lock, unless the run is long
SOAK = os.environ.get("COOP_SOAK") == "1"
WHERE = ("open", "flock", "create", "link", "rename", "unlink", "mkdir", "rmdir", "say")
STOP = ("drain", "--event", "stop")
SEND = ("mail", "send", "--to", "../main", *TO_MAIN)

TO_MOVED = ("mail", "send", "--to", "../alpha-moved", *TO_MAIN)


class Who(NamedTuple):
    """One of the two: its words, and the worktree that it stands in."""

    argv: tuple[str, ...]
    where: str = "main"


class Pair(NamedTuple):
    """Two commands, and what is wrong about the two of them beyond what is always wrong."""

    name: str
    prepare: Callable[[Stage], object]
    one: Who
    other: Who
    check: Callable[[State, State, list[Ended]], Iterator[str]]


def nothing_more(_before: State, _after: State, _ended: list[Ended]) -> Iterator[str]:
    yield from ()


def readings(before: State, after: State, ended: list[Ended]) -> Iterator[str]:
    """Each reading that gave no warning is counted."""
    told = sum(b"could not be recorded" not in each.err for each in ended)
    counts = [_sum(found) for found in (before, after)]
    if counts[1] - counts[0] != told:
        yield f"{told} readings were recorded, and {counts[1] - counts[0]} are counted"


def _sum(found: State) -> int:
    return sum((record or {}).get("read_count", 0) for each in found.letters.values() for record in each.values())


def writings(before: State, after: State, ended: list[Ended]) -> Iterator[str]:
    """Each letter that was reported is there; the newest is live."""
    written = re.findall(rb"^letter (\S+) written", b"".join(each.out for each in ended), re.MULTILINE)
    for key, found in after.letters.items():
        for name in written:
            if name.decode() not in found:
                yield f"letter {name.decode()} was reported, and is not there"
        new = found.keys() - before.letters[key].keys()
        if new and after.live(key) != max(new):
            yield f"the newest letter is {found[max(new)]}, and not live"


def sendings(_before: State, after: State, ended: list[Ended]) -> Iterator[str]:
    """Each message that was reported is there, once."""
    queued = re.findall(rb"^queued (\S+) for", b"".join(each.out for each in ended), re.MULTILINE)
    yield from (
        f"message {name.decode()} was queued {count} times" for name, count in Counter(queued).items() if count > 1
    )
    for name in queued:
        if after.where(name.decode()) not in ("inbox", "seen"):
            yield f"message {name.decode()} was reported as queued, and is {after.where(name.decode())}"
    for each in ended:  # a message that is just being published is held by its sender: a drain may meet it so
        if each.code and not re.search(rb"is locked by|claim on message", each.err):
            yield f"somebody was disturbed: {each.err.decode()}"


PAIRS = [
    Pair("two drains at stop", shown, Who((*STOP, *SESSION)), Who((*STOP, "--session", "two")), nothing_more),
    Pair("a drain and a reader of mail", shown, Who((*STOP, *SESSION)), Who(("mail", "read")), nothing_more),
    Pair("two drains that expire", over, Who((*STOP, *SESSION)), Who((*STOP, "--session", "two")), nothing_more),
    Pair("two readers", letters, Who(("letter", "read", *SESSION)), Who(("letter", "read")), readings),
    Pair("two writers", letters, Who(("letter", "write", "-m", BODY)), Who(("letter", "write", "-m", BODY)), writings),
    Pair("an ack and a writer", letters, Who(("letter", "ack")), Who(("letter", "write", "-m", BODY)), writings),
    Pair("a writer and a reader", letters, Who(("letter", "write", "-m", BODY)), Who(("letter", "read")), writings),
    Pair("a sender and a drain", mailed, Who(SEND, "beta"), Who((*STOP, *SESSION)), sendings),
    Pair("two senders with one id", mailed, Who(SEND, "beta"), Who(SEND, "alpha"), sendings),
    Pair("a move and a sender", moved, Who((*STOP, *SESSION), "alpha"), Who(TO_MOVED), sendings),
    Pair("a doctor and a drain", left_by_a_kill, Who(("doctor", "--fix")), Who((*STOP, *SESSION)), nothing_more),
]


class Both:
    """A pair on its stage."""

    def __init__(self, stage: Stage, pair: Pair) -> None:
        self.stage = stage
        self.pair = pair
        pair.prepare(stage)
        self.before = stage.begin()
        count = Count()
        self._one(count)
        self.calls = count.calls
        stage.rewind()

    def _one(self, act: Callable[[Call], object]) -> Ended:
        one = self.pair.one
        return self.stage.again(one.argv, one.where, BODY.encode(), {}, act, looking=True)

    def _other(self) -> Ended:
        locks.__dict__["time"] = Impatient()
        return self.stage.again(self.pair.other.argv, self.pair.other.where, BODY.encode(), {}, Count())

    def at(self, call: Call) -> list[str]:
        """What is wrong where the other one ran just before this call."""
        ended: list[Ended] = []
        mine: list[bytes] = []

        def meanwhile() -> None:
            mine.extend((self.stage.out.take(), self.stage.err.take()))
            ended.append(self.stage.in_child(self._other))

        last = self._one(Meanwhile(call.number, meanwhile))
        assert ended, f"{call} was never made"
        ended.append(Ended(last.code, mine[0] + last.out, mine[1] + last.err))
        after = self.stage.state()
        wrong = [*self._always(after, ended), *self.pair.check(self.before, after, ended)]
        self.stage.rewind()
        return [f"before {call}: {sentence}" for sentence in wrong]

    def _always(self, after: State, ended: list[Ended]) -> Iterator[str]:
        yield from invariants.violations(after)
        yield from invariants.losses(self.before, after)
        yield from invariants.unseen(self.before, after, b"".join(each.out for each in ended))
        said = Counter(name for each in ended for name in CONSUMED.findall(each.out))
        yield from (f"message {name.decode()} was consumed {count} times" for name, count in said.items() if count > 1)
        filed = after.lying("seen") - self.before.lying("seen")
        if "read" not in self.pair.other.argv:
            yield from (f"message {name} was filed by nobody" for name in filed - {name.decode() for name in said})
        for each in ended:
            if each.code not in (0, 1, 128) or b"unexpected" in each.err or b"Traceback" in each.said:
                yield f"exit {each.code}: {each.err.decode()}"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_what_runs_meanwhile_costs_nothing(
    stage: Stage, pair: Pair, record_property: Callable[[str, object], None]
) -> None:
    both = Both(stage, pair)
    calls = [call for call in both.calls if call.kind in WHERE]
    if len(calls) > MANY and not SOAK:
        calls = [call for place, call in enumerate(calls) if place % 2 or call.kind == "flock"]
    wrong = [sentence for call in calls for sentence in both.at(call)]
    record_property("interleavings", len(calls))
    assert not wrong, "\n".join(wrong)

"""Rounds: every case once a round, in an order that is shuffled anew, so that what disturbs disturbs all."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple

from tests.bench.cases import BARE, Case
from tests.bench.processes import Failed, Sample, instructions, output, timed

SEED = 20  # the orders of the rounds are the same at every run


class Measured(NamedTuple):
    """A case's samples in nanoseconds, or why there are none."""

    name: str
    bound: float | None = None
    aim: float | None = None
    wall: tuple[int, ...] = ()
    processor: tuple[int, ...] = ()
    instructions: int | None = None
    reason: str = ""


class Row(NamedTuple):
    """What a case's samples come to. ``ratio`` and ``processor`` are in units of the bare interpreter's median."""

    milliseconds: float
    ratio: float
    spread: float  # half of the middle half's width, in the same unit
    processor: float


def works(case: Case, env: Mapping[str, str]) -> str:
    """Run a case twice outside the time, to warm it and to see it do its work; why it cannot be measured, if so."""
    try:
        for _ in range(2):
            case.before()
            said = output(next(case.calls), env)
            if case.says not in said:
                return f"printed no '{case.says}'"
    except Failed as error:
        return str(error)
    return ""


def run(cases: Iterable[Case], env: Mapping[str, str], rounds: int, tell: Callable[[str], None]) -> list[Measured]:
    """Measure every case that works."""
    cases = list(cases)
    reasons = {case.name: works(case, env) for case in cases}
    samples: dict[str, list[Sample]] = {case.name: [] for case in cases}
    able = [case for case in cases if not reasons[case.name]]
    order = random.Random(SEED)
    for number in range(rounds):
        order.shuffle(able)
        for case in able:
            case.before()
            samples[case.name].append(timed(next(case.calls), env))
        tell(f"round {number + 1} of {rounds}")
    return [_measured(case, samples[case.name], reasons[case.name]) for case in cases]


def _measured(case: Case, samples: Sequence[Sample], reason: str) -> Measured:
    walls, processors = tuple(sample.wall for sample in samples), tuple(sample.processor for sample in samples)
    return Measured(case.name, case.bound, case.aim, walls, processors, None, reason)


def counted(
    measured: Measured, case: Case, env: Mapping[str, str], valgrind: str, tell: Callable[[str], None]
) -> Measured:
    """The same with the instructions of one run."""
    if measured.reason:
        return measured
    tell(f"counting {case.name}")
    case.before()
    return measured._replace(instructions=instructions(next(case.calls), env, valgrind))


def bare_of(measured: Iterable[Measured]) -> Measured:
    """The measurement of the bare interpreter, the unit of all others."""
    return next(one for one in measured if one.name == BARE)


def row(one: Measured, bare: Measured) -> Row:
    """The figures of a case that was measured."""
    unit, processor_unit = median(bare.wall), median(bare.processor)
    low, _, high = quantiles(one.wall, n=4) if len(one.wall) > 1 else (one.wall[0],) * 3
    middle = median(one.wall)
    return Row(middle / 1e6, middle / unit, (high - low) / 2 / unit, median(one.processor) / processor_unit)

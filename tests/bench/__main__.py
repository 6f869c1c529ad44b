"""``tests/bench/run``: reads its words, sets the stage, measures, prints, and stores where it is asked to."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench import cases, contention, facts, measure, memory, peers, report, results
from tests.bench.measure import Measured
from tests.bench.provide import ROOT
from tests.bench.results import Results
from tests.bench.stage import Stage


def main() -> int:
    """Run what the words ask for."""
    words = _words()
    if not words.readme:
        # In the checkout, and not where temporary files go: that may be memory, where a flush costs nothing.
        (ROOT / "build").mkdir(exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / "build"))
        try:
            found = _run(words, place)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        print(report.text(found))
        if words.write:
            results.store(found)
    if words.readme or words.write:
        report.README.write_text(report.readme(results.newest()), encoding="utf-8")
    return 0


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/bench/run", description="measure what git coop costs")
    parser.add_argument("--rounds", type=int, default=60, help="how often each case is run (60)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose names hold this")
    parser.add_argument("--peers", action="store_true", help="also the same work by other programs")
    parser.add_argument("--throughput", action="store_true", help="also senders and drains that contend for one box")
    parser.add_argument("--memory", action="store_true", help="also the peak memory of a drain")
    parser.add_argument("--instructions", action="store_true", help="also instructions, counted by valgrind")
    parser.add_argument("--all", action="store_true", help="all of the above but the instructions")
    parser.add_argument("--write", action="store_true", help="store the samples, and make README.md from them")
    parser.add_argument("--readme", action="store_true", help="only make README.md from the newest samples")
    words = parser.parse_args()
    if words.all:
        words.peers = words.throughput = words.memory = True
    return words


def _run(words: argparse.Namespace, place: Path) -> Results:
    stage = Stage(place)
    about = facts.of(stage, words.rounds)
    tell("making the boxes")
    every = cases.build(stage)
    chosen = [case for case in every if words.only in case.name or case.name in (cases.BARE, cases.REV_PARSE)]
    tools = peers.build(stage) if words.peers else []
    alike = [case for tool in tools for case in tool.cases]
    measured = measure.run([*chosen, *alike], stage.env, words.rounds, tell)
    if words.instructions:
        measured = _counted(measured, chosen, stage)
    mine, theirs = measured[: len(chosen)], measured[len(chosen) :]
    reasons = [Measured(name, reason=reason) for tool in tools for name, reason in tool.reasons.items()]
    peaks = memory.run(stage, tell) if words.memory else []
    rates = contention.run(stage, tell) if words.throughput else []
    tell("")
    return Results(about, mine, peaks, rates, [*theirs, *reasons], {tool.name: tool.version for tool in tools})


def _counted(measured: "list[Measured]", chosen: "list[cases.Case]", stage: Stage) -> "list[Measured]":
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        tell("no valgrind on the path: no instructions are counted")
        return measured
    by_name = {case.name: case for case in chosen}
    return [
        measure.counted(one, by_name[one.name], stage.env, valgrind, tell) if one.name in by_name else one
        for one in measured
    ]


def tell(words: str) -> None:
    """Say where the run is, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

"""The tables, for the terminal and for README.md, from the figures of one run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.bench.contention import Rate
from tests.bench.measure import Measured, bare_of, row
from tests.bench.memory import Peak
from tests.bench.peer_tasks import TASKS, named
from tests.bench.results import Results

HERE = Path(__file__).parent
README = HERE / "README.md"
_HEAD = """\
# What git coop costs

Made by `tests/bench/run --readme` from the newest file in `results/`, which holds every sample; a test holds the two
equal. `tests/bench/run --all --write` measures anew.

Every case is run once a round, in an order that is shuffled anew each round; the unit is the median of
`python -I -c pass`, by the same interpreter, in the same rounds. `±` is half of the width of the middle half of the
samples. `processor` is the same ratio for the time of the processor, which another program's work disturbs less.
"""
_NOTHING = "\nNo run is stored yet.\n"


def readme(results: Results | None) -> str:
    """The text of README.md for a run, or for none."""
    return _HEAD + (_NOTHING if results is None else "\n" + text(results))


def text(results: Results) -> str:
    """All tables of a run."""
    parts = [_facts(results), _costs(results.measured)]
    if results.memory:
        parts.append(_memory(results.memory))
    if results.rates:
        parts.append(_rates(results.rates))
    if results.peers:
        parts.append(_peers(results))
    return "\n".join(parts)


def _facts(results: Results) -> str:
    facts = results.facts
    versions = ", ".join(f"{name} {facts[name]}" for name in ("git-coop", "python", "click", "pygit2", "git"))
    machine = f"{facts['processor']}, {facts['cores']} cores, {facts['kernel']}, {facts['file system']}"
    return (
        f"{facts['date']}: {versions}; {machine}; load {facts['load']} at the start; "
        f"{facts['rounds']} rounds; commit {facts['commit']}.\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, the first column to the left, the others to the right, each as wide as it needs."""
    cells = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "".join(_line(line, widths) for line in (cells[0], rule, *cells[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    aligned = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "| " + " | ".join(aligned) + " |\n"


def _costs(measured: Sequence[Measured]) -> str:
    bare = bare_of(measured)
    counted = any(one.instructions for one in measured)
    head = ["case", "median, ms", "ratio", "±", "processor", *(["instructions"] if counted else []), "bound", "aim"]
    return table(head, (_cost(one, bare, counted) for one in measured)) + _unmeasured(measured)


def _cost(one: Measured, bare: Measured, counted: bool) -> list[str]:
    limits = ["" if value is None else f"{value:g}" for value in (one.bound, one.aim)]
    if not one.wall:
        return [one.name, "", "", "", "", *([""] if counted else []), *limits]
    found = row(one, bare)
    over = one.bound is not None and found.ratio >= one.bound
    figures = [f"{found.milliseconds:.2f}", f"{found.ratio:.2f}{' !' if over else ''}", f"{found.spread:.2f}"]
    ratio = one.instructions / bare.instructions if one.instructions and bare.instructions else None
    extra = ["" if ratio is None else f"{ratio:.2f}"] if counted else []
    return [one.name, *figures, f"{found.processor:.2f}", *extra, *limits]


def _unmeasured(measured: Iterable[Measured]) -> str:
    missing = [f"- {one.name}: {one.reason}\n" for one in measured if one.reason]
    return "\nNot measured:\n\n" + "".join(missing) if missing else ""


def _memory(peaks: Iterable[Peak]) -> str:
    rows = ((peak.name, peak.reason or f"{peak.bytes / 1e6:.1f}") for peak in peaks)
    return table(("peak memory", "MB"), rows)


def _rates(rates: Iterable[Rate]) -> str:
    rows = [
        (rate.name, "yes" if rate.fsync else "no", f"{rate.messages / rate.seconds:.0f}", f"{rate.copies}")
        for rate in rates
    ]
    words = (
        "Eight senders and eight takers on one box at once, all of them running processes, 100 messages a sender.\n"
        "`copies` is how many files the 800 messages are once all are filed: more than 800 were filed twice.\n"
        "A send of git coop also notes the message at its sender's and flushes the folder; its drain also renders,\n"
        "marks and writes a receipt. Python's `mailbox` flushes the file and not the folder.\n"
    )
    return f"{words}\n{table(('mailbox', 'fsync', 'messages a second', 'copies'), rows)}"


def _peers(results: Results) -> str:
    bare = bare_of(results.measured)
    found = {one.name: one for one in results.peers}
    tools = [(name, version) for name, version in results.tools.items()]
    rows = [
        [f"{name} {version}".strip(), *(_peer(found, name, task, bare) for task in TASKS)] for name, version in tools
    ]
    reasons = sorted({f"- {one.name.partition(':')[0]}: {one.reason}\n" for one in results.peers if one.reason})
    words = "The same work by other means; ratios to the bare interpreter as above, and milliseconds.\n"
    return f"{words}\n{table(('tool', *TASKS), rows)}" + ("\n" + "".join(reasons) if reasons else "")


def _peer(found: "dict[str, Measured]", tool: str, task: str, bare: Measured) -> str:
    one = found.get(named(tool, task))
    if one is None or not one.wall:
        return "-"
    figures = row(one, bare)
    return f"{figures.ratio:.2f} ({figures.milliseconds:.1f})"

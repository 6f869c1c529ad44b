"""Peak memory of a drain, over what is large and over what is many."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.bench.cases import BARE, MANY, WAITING
from tests.bench.processes import Call, Failed, output, peak
from tests.bench.stage import Stage, payload, sparse

HUGE = 5 << 30  # bytes


class Peak(NamedTuple):
    """The most resident memory that a run had at once, in bytes, or why it was not measured."""

    name: str
    bytes: int = 0
    reason: str = ""


def run(stage: Stage, tell: Callable[[str], None]) -> list[Peak]:
    """The bare interpreter, and prompts over five messages, over ten thousand, and over a file of 5 GB."""
    few, many, huge = (stage.worktree(f"memory-{name}") for name in ("few", "many", "huge"))
    stage.fill(stage.box(few), WAITING)
    stage.fill(stage.box(many), MANY)
    bare = Call([sys.executable, "-I", "-c", "pass"], stage.main)
    peaks = [
        _peak(BARE, bare, "", stage, tell),
        _peak(f"a prompt, {WAITING} messages waiting", _prompt(stage, few), "messages follow", stage, tell),
        _peak(f"a prompt, {MANY:,} messages waiting", _prompt(stage, many), "messages follow", stage, tell),
    ]
    name = f"a prompt, a file of {HUGE >> 30} GB in the inbox"
    try:
        sparse(stage.box(huge), stage.fresh(), HUGE)
    except OSError as error:
        return [*peaks, Peak(name, 0, f"no such file here: {error.strerror}")]
    return [*peaks, _peak(name, _prompt(stage, huge), "is no message", stage, tell)]


def _prompt(stage: Stage, root: Path) -> Call:
    data = payload("UserPromptSubmit", root.name, root, "turn-1")
    return Call([stage.program, "drain", "--client", "claude"], root, data)


def _peak(name: str, call: Call, says: str, stage: Stage, tell: Callable[[str], None]) -> Peak:
    tell(f"memory: {name}")
    try:
        if says not in output(call, stage.env):
            return Peak(name, 0, f"printed no '{says}'")
        return Peak(name, peak(call, stage.env))
    except Failed as error:
        return Peak(name, 0, str(error))

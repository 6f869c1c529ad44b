"""Each command, killed at each of its file operations by a real SIGKILL: nothing lost, twice or unseen."""

from collections.abc import Callable

import pytest

from tests.faults.commands import COMMANDS, Command
from tests.faults.seam import SEAMS
from tests.faults.stage import Stage
from tests.faults.trial import Trial
from tests.test_layers import WRITERS


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_kill_at_any_call_loses_nothing(
    stage: Stage, command: Command, record_property: Callable[[str, object], None]
) -> None:
    trial = Trial(stage, command)
    wrong = []
    for call in trial.calls:
        if call.changes:
            wrong += trial.killed(call)
        if call.kind in ("write", "say"):
            wrong += trial.killed(call, torn=True)
    record_property("operations", len(trial.calls))
    record_property("kills", trial.tally["kills"])
    assert not wrong, "\n".join(wrong)
    assert trial.tally["kills"] >= 2


def test_every_module_that_writes_has_a_seam() -> None:
    assert set(SEAMS) == WRITERS.keys() - {"edge"}  # which writes to the streams of the command alone

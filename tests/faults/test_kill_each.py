"""Each command, killed at each of its file operations by a real SIGKILL: nothing lost, twice or unseen."""

from collections.abc import Callable

import pytest

from tests.faults.commands import COMMANDS, Command
from tests.faults.stage import Stage
from tests.faults.trial import Trial


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

"""Each command, with each of its file operations failing in each way: nothing lost, and whatever failed is said."""

import os
from collections.abc import Callable
from errno import EACCES, EDQUOT, EINTR, EIO, EMFILE, ENOLCK, ENOSPC, EROFS

import pytest

from tests.faults.commands import COMMANDS, Command
from tests.faults.seam import Call, Count, Short
from tests.faults.stage import Stage
from tests.faults.trial import Trial

ONCE = (ENOSPC, EIO, EACCES, EROFS, EINTR, EMFILE, EDQUOT)
LASTING = (ENOSPC, EROFS)
LONG = 75  # calls of a command from which each is given two of the errors in turn, unless the run is a long one
SOAK = os.environ.get("COOP_SOAK") == "1"


def ways(call: Call, calls: int) -> tuple[int, ...]:
    """The errors that one of so many calls is made to fail with."""
    if call.kind in ("open", "close"):  # nothing is changed there
        inside = call.kind == "close" or b"/coop/" in call.args[0]
        return ((EIO, EACCES, EMFILE)[call.number % 3],) if inside else ()
    if calls > LONG and not SOAK:
        return ONCE[call.number % 7], ONCE[(call.number + 3) % 7]
    return ONCE


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_an_error_at_any_call_is_said_and_loses_nothing(
    stage: Stage, command: Command, record_property: Callable[[str, object], None]
) -> None:
    trial = Trial(stage, command)
    wrong = []
    for call in trial.calls:
        for errno in ways(call, len(trial.calls)):
            wrong += trial.failed(call, errno)
        for errno in LASTING if call.changes else ():
            wrong += trial.failed(call, errno, lasting=True)
    record_property("errors", trial.tally["errors"])
    assert not wrong, "\n".join(wrong)
    assert trial.tally["errors"] > 3


def blind(call: Call) -> tuple[int, ...]:
    """The errors of a call that looks into the store."""
    if call.kind == "flock":
        return (ENOLCK,)
    return (EIO, EMFILE)[call.number % 2 :][:1] if call.kind == "open" and b"/coop" in call.args[0] else ()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_what_cannot_be_seen_is_not_taken_for_nothing(
    stage: Stage, command: Command, record_property: Callable[[str, object], None]
) -> None:
    trial = Trial(stage, command)
    count = Count()
    trial.run(count, looking=True)
    trial.rewind()
    calls = [call for call in count.calls if blind(call)]
    if command.argv[0] == "doctor" and not SOAK:  # which opens everything, and asks git twice as well
        calls = calls[::4]
    wrong = [sentence for call in calls for errno in blind(call) for sentence in trial.blinded(call, errno)]
    record_property("errors", trial.tally["errors"])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_short_writes_are_gone_on_with(stage: Stage, command: Command) -> None:
    trial = Trial(stage, command)
    ended = trial.run(Short())
    assert ended == trial.normal
    assert trial.look() == trial.finished

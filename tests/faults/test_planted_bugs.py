"""The bar, measured: faults that somebody might well build in, each caught by the test that is there for it.

A fault is planted in the running process, never by a switch in the program. Its test must fail, and for that reason;
and it must have been reached: a fault that was never run proves nothing about a test that passes.
"""

import mmap
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests import test_situations, test_situations_letters, test_situations_places
from tests.faults import plants, test_errors_each, test_fsync_order, test_interleaved, test_kill_each
from tests.faults.beginnings import mailed
from tests.faults.commands import COMMANDS
from tests.faults.plants import Applied, Put
from tests.faults.stage import Stage
from tests.race import test_races
from tests.race.contest import Contest
from tests.support.peer import Room
from tests.support.world import Worlds


class Plant(NamedTuple):
    """A fault, the test that is there for it, and what that test then says."""

    name: str
    plant: Callable[[Put, Applied], None]
    caught_by: Callable[[Stage], None]
    because: str


def note(_name: str, _value: object) -> None:
    """Where a test records a property: nobody asks here."""


def killing(name: str) -> Callable[[Stage], None]:
    return lambda stage: test_kill_each.test_a_kill_at_any_call_loses_nothing(stage, _command(name), note)


def failing(name: str) -> Callable[[Stage], None]:
    return lambda stage: test_errors_each.test_an_error_at_any_call_is_said_and_loses_nothing(
        stage, _command(name), note
    )


def flushing(name: str) -> Callable[[Stage], None]:
    return lambda stage: test_fsync_order.test_every_name_is_flushed_before_success_is_told(stage, _command(name))


def meeting(name: str) -> Callable[[Stage], None]:
    pair = next(pair for pair in test_interleaved.PAIRS if pair.name == name)
    return lambda stage: test_interleaved.test_what_runs_meanwhile_costs_nothing(stage, pair, note)


def racing(what: str) -> Callable[[Stage], None]:
    """Sixteen at once, with many seeds: two that never meet in one round meet in another."""

    def race(stage: Stage) -> None:
        mailed(stage)
        for seed in range(1, 40):
            contest = Contest(stage, stage.temporary, seed)
            if what == "drains":
                test_races.test_sixteen_drains_at_stop(contest, 0.0)
            else:
                test_races.test_sixteen_writers_and_readers_of_letters(contest, 0.0)

    return race


def _command(name: str) -> Any:
    return next(command for command in COMMANDS if command.name == name)


Situation = Callable[[test_situations.Inbox], None]


def standing(situation: Situation) -> Callable[[Stage], None]:
    return lambda stage: situation(test_situations.Inbox(Worlds(), stage.clone))


def symlink(inbox: test_situations.Inbox) -> None:
    test_situations.test_a_symlink_to_a_file(inbox, inbox.peer, "elsewhere")


def clock_back(stage: Stage) -> None:
    test_situations_letters.test_the_clock_goes_back_while_letters_are_written(
        test_situations_letters.Drawer(Worlds(), stage.clone)
    )


def odd_session(stage: Stage) -> None:
    room = Room(Worlds(), stage.clone)
    test_situations_places.test_a_session_id_that_is_no_file_name(room, "../../../x")


PLANTS = [
    Plant("marker before output", plants.marker_before_output, killing("drain at start"), "marked before it was shown"),
    Plant("receipt after move", plants.receipt_after_the_move, killing("drain at stop"), "in seen without a receipt"),
    Plant(
        "supersede first", plants.supersede_first, killing("letter write"), "gave way to .* which is no later letter"
    ),
    Plant("copy instead of rename", plants.copy_instead_of_rename, killing("drain at stop"), "is in 2 places"),
    Plant("publish without staging", plants.publish_without_staging, killing("send to one"), "in inbox is not whole"),
    Plant(
        "reading before output",
        plants.read_counted_before_it_is_shown,
        killing("letter read"),
        "read before it was shown",
    ),
    Plant("notice after expiry", plants.notice_after_expiry, killing("expiry at the recipient's"), "nobody is told"),
    Plant(
        "data not flushed", plants.no_flush_of_data, flushing("send to one"), "published before its data was flushed"
    ),
    Plant(
        "folders not flushed",
        plants.no_flush_of_folders,
        flushing("letter write"),
        "before the folder of .* was flushed",
    ),
    Plant("error swallowed", plants.an_error_swallowed, failing("send to one"), "exit 0, and it is not done"),
    Plant("error of no kind", plants.an_error_of_no_kind, failing("letter ack"), "an internal error"),
    Plant("client told by stderr", plants.a_client_told_by_status, failing("client at stop"), "a client is disturbed"),
    Plant(
        "no inode check", plants.no_inode_check, meeting("two drains at stop"), "filed by nobody|consumed 2 times|says"
    ),
    Plant("no lock", plants.no_lock, meeting("two readers"), "readings were recorded"),
    Plant(
        "no lock for a claim", plants.no_lock, meeting("two drains at stop"), "filed by nobody|consumed 2 times|receipt"
    ),
    Plant(
        "sweep takes what is held",
        plants.sweep_takes_what_is_held,
        meeting("a sender and a drain"),
        "somebody was disturbed",
    ),
    Plant(
        "publish over another", plants.publish_over_another, meeting("two senders with one id"), "was queued 2 times"
    ),
    Plant("no lock, sixteen at once", plants.no_lock, racing("writers"), "a newer one stands"),
    Plant(
        "no inode check, sixteen at once",
        plants.no_inode_check_between_slow_steps,
        racing("drains"),
        "receipt|consumed|places",
    ),
    Plant(
        "changed file not checked",
        plants.changed_file_not_checked,
        standing(test_situations.test_a_message_that_changed_since_it_was_shown_is_shown_again),
        "peer/seen",
    ),
    Plant(
        "live in any turn",
        plants.live_in_any_turn,
        standing(test_situations.test_only_the_turn_in_which_a_message_was_shown_files_it),
        "peer/seen",
    ),
    Plant(
        "any marker files", plants.any_marker_files, standing(test_situations.test_a_start_files_nothing), "peer/seen"
    ),
    Plant(
        "move over another",
        plants.move_over_another,
        standing(test_situations.test_another_message_was_filed_under_the_id_after_it_was_shown),
        "assert 0 == 1",
    ),
    Plant("ids by the clock", plants.ids_by_the_clock, clock_back, "assert '.*' > '.*'"),
    Plant("symlinks followed", plants.symlinks_followed, standing(symlink), "assert .0, ''. =="),
    Plant("session ids as names", plants.session_ids_as_names, odd_session, r"assert \[\] == \[16\]"),
    Plant("stale count", plants.note_before_the_reader_is_asked, meeting("two readers"), "readings were recorded"),
]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_fault_is_caught_by_its_test(stage: Stage, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = mmap.mmap(-1, 1)  # shared with the processes that are forked, in which it may be reached
    plant.plant(monkeypatch.setattr, lambda: reached.__setitem__(0, 1))
    with pytest.raises(AssertionError) as failed:
        plant.caught_by(stage)
    assert reached[0], "the fault was never run"
    assert re.search(plant.because, str(failed.value)), str(failed.value)[:2000]


def test_slow_steps_alone_are_no_fault(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the one that needs them."""
    plants.slow_steps(monkeypatch.setattr)
    mailed(stage)
    for seed in range(1, 4):
        test_races.test_sixteen_drains_at_stop(Contest(stage, stage.temporary, seed), 0.0)

"""Many processes over one box: at most one files a message, nobody loses one, and no sender overwrites another."""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import clock, files, mail
from git_coop.errors import CoopError
from git_coop.layout import hashed
from git_coop.mail import Content, Letterhead
from tests.conftest import SOAK
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.world import Counter, Worlds

RACERS = 16
KINDS = ("start", "prompt", "start", "prompt")


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def race(act: Callable[[int], None], racers: int = RACERS) -> None:
    """``act(number)`` in that many processes that start at the same time; each must come to its end."""
    gate, opener = os.pipe()
    children = [_racer(act, number, gate, opener) for number in range(racers)]
    os.close(gate)
    os.close(opener)  # the end of the pipe is the shot
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * racers


def _racer(act: Callable[[int], None], number: int, gate: int, opener: int) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.alarm(60)
        os.close(opener)
        os.read(gate, 1)
        act(number)
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


@pytest.mark.parametrize("rounds", [4, pytest.param(300, marks=pytest.mark.soak)])
def test_sixteen_stops_file_a_message_once(room: Room, rounds: int) -> None:
    """Every session was shown it, and each may file it. A round without a winner is made good by the next stop."""
    for number in range(rounds):
        name = room.send()
        for racer in range(RACERS):
            assert room.drain("prompt", f"s{racer}", f"p{number}").shown == (name,)

        def stop(racer: int, number: int = number) -> None:
            room.drain("stop", f"s{racer}", f"p{number}", stop_shows=lambda: False)

        race(stop)
        if room.place(name) == "inbox":
            stop(0)
        assert room.place(name) == "seen"
        assert len(room.receipts(name)) == 1
        winner = next(iter(room.receipts(name)))[0]
        left = [racer for racer in range(RACERS) if name in room.marked(f"s{racer}")]
        assert winner not in [hashed(f"s{racer}") for racer in left]
    assert files.entries(room.store.tmp) == []


@pytest.mark.parametrize("rounds", [3, pytest.param(200, marks=pytest.mark.soak)])
def test_stops_prompts_and_expiry_at_the_same_time(room: Room, rounds: int) -> None:
    """Half of the sessions end their turn, the others look at mail whose term has just passed."""
    for number in range(rounds):
        names = [room.send(f"m{each}", term=clock.HOUR) for each in range(5)]
        for racer in range(RACERS):
            room.drain("prompt", f"s{racer}", f"p{number}")
        room.tick(clock.DAY)

        def act(racer: int, number: int = number) -> None:
            if racer % 2:
                room.drain("stop", f"s{racer}", f"p{number}", stop_shows=lambda: False)
            else:
                room.drain("prompt", f"t{racer}", f"p{number}")

        race(act)
        act(2)
        for name in names:
            place, records = room.place(name), room.receipts(name)
            assert place in ("seen", "expired")
            assert [outcome for _, outcome in records] == ["consumed" if place == "seen" else "expired"]
        for name in room.queued():  # the notices, one for each that expired
            room.path(name).unlink()


@pytest.mark.parametrize("rounds", [3, pytest.param(200, marks=pytest.mark.soak)])
def test_hooks_of_one_session_that_run_at_the_same_time(room: Room, rounds: int) -> None:
    """Starts and prompts of one session in any order: the message is shown by each, and filed at its next stop."""
    for number in range(rounds):
        name = room.send()

        def act(racer: int, number: int = number) -> None:
            drained = room.drain(KINDS[racer], "s", f"p{number}" if racer % 2 else None)
            assert drained.outcome is not None
            assert drained.outcome.faults == ()

        race(act, len(KINDS))
        assert room.marked("s") == {name: "prompt"}
        room.drain("stop", "s", f"p{number}")
        assert room.place(name) == "seen"


def send(room: Room, entropy: Callable[[int], bytes], body: str) -> str:
    head = Letterhead("main-" + "0" * 32, os.fsencode(room.root))
    return mail.queue(room.box, room.box, os.fsencode(room.root), head, Content(body), entropy, room.clock()).id


@pytest.mark.parametrize("chance", [True, False], ids=["chance", "no chance"])
def test_sixteen_senders_with_a_clock_that_stands_still(room: Room, tmp_path: Path, chance: bool) -> None:
    """Every message that a sender was told of is there, as it was sent, even where all of them draw the same ids."""
    told = tmp_path / "told"
    told.mkdir()

    def act(racer: int) -> None:
        entropy = os.urandom if chance else Counter()
        for number in range(6):
            try:
                name = send(room, entropy, f"{racer} {number}")
            except CoopError:
                assert not chance
                continue
            (told / name).write_text(f"{racer} {number}")

    race(act)
    names = sorted(path.name for path in told.iterdir())
    assert room.queued() == names
    assert len(names) == 96 if chance else len(names) >= 8
    for name in names:
        assert room.path(name).read_bytes().endswith(b"\n\n" + (told / name).read_bytes())


def test_a_reader_beside_senders_sees_whole_messages_only(room: Room) -> None:
    def act(racer: int) -> None:
        if racer:
            for number in range(10):
                send(room, os.urandom, f"{racer} {number} " + "x" * 5000 + " end")
            return
        for _ in range(30):
            drained = room.drain("start", "reader")
            assert drained.outcome is not None
            assert drained.outcome.faults == ()

    race(act, 4)
    assert len(room.queued()) == 30


def test_the_races_are_real(room: Room) -> None:
    """The control: a claim that only looks whether the file is there has several winners."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one processor: these races prove nothing")
    folder = Path(os.fsdecode(room.box.mail)) / "control"
    folder.mkdir()
    rounds = 200 if SOAK else 40
    for number in range(rounds):
        (folder / f"m{number}").touch()

    def act(racer: int) -> None:
        for number in range(rounds):
            path = folder / f"m{number}"
            if path.exists():
                (folder / f"won-{number}-{racer}").touch()
                path.unlink(missing_ok=True)

    race(act)
    assert len(list(folder.glob("won-*"))) > rounds

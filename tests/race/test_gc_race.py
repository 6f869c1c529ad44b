"""Several sweeps and doctors at once over one store, some killed: no message without its receipt, no fresh one lost."""

import os
import random
import signal
import subprocess
from pathlib import Path

from git_coop import clock
from tests.support.clones import Clone
from tests.support.desk import Desk
from tests.support.program import Program
from tests.support.world import START, Worlds

MESSAGES = 24
ROUNDS = 4


def filed(desk: Desk, clone: Clone, peer: Path, count: int) -> None:
    """Messages that the peer consumed, five a turn, as a drain shows them."""
    for _number in range(count):
        assert desk("mail", "send", "--to", str(peer), "-m", "x")[0] == 0
    for turn in range(-(-count // 5)):
        for event in ("prompt", "stop"):
            assert desk("drain", "--event", event, "--session", f"s{turn % 3}", cwd=peer)[0] == 0
    for path in clone.coop.rglob("*"):
        os.utime(path, ns=(desk.clock.now, desk.clock.now))


def names(box: Path, folder: str) -> set[str]:
    return {path.name.partition(".")[0] for path in (box / folder).iterdir()}


def test_sweeps_doctors_and_drains_at_once(edge: Worlds, clone: Clone, coop: Program) -> None:
    desk = Desk(edge, clone.root)
    peer = clone.worktree("peer")
    chance = random.Random(1)
    filed(desk, clone, peer, MESSAGES)
    box = next(clone.coop.glob("mail/box/peer-*"))
    assert len(names(box, "seen")) == MESSAGES
    late = START + 60 * clock.DAY
    desk.clock.now = late
    fresh = {desk("mail", "send", "--to", str(peer), "-m", "fresh")[1].split()[1] for _ in range(3)}
    for name in fresh:
        os.utime(box / "inbox" / f"{name}.eml", ns=(late, late))
    for turn in range(ROUNDS):
        started = [coop.start("gc", cwd=clone.root, now=late) for _number in range(3)]
        started.append(coop.start("doctor", "--fix", cwd=peer, now=late))
        started.append(coop.start("drain", "--event", "start", "--session", f"new{turn}", cwd=peer, now=late))
        for victim in chance.sample(started, 2):
            try:
                victim.wait(chance.uniform(0.05, 0.3))
            except subprocess.TimeoutExpired:
                victim.send_signal(signal.SIGKILL)
        for process in started:
            process.communicate()
            assert process.returncode in (0, 1, -signal.SIGKILL)
        assert names(box, "seen") <= names(box, "receipts")
        assert names(box, "inbox") == fresh
    assert coop("gc", cwd=clone.root, now=late).code == 0
    assert (names(box, "seen"), names(box, "receipts"), names(box, "inbox")) == (set(), set(), fresh)

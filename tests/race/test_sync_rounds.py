"""Three machines, one repository between them, random work, syncs at once, kills: all end with the same fleet."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.clones import git
from tests.support.fleets import Fleet, Machine
from tests.support.program import Program
from tests.support.world import Worlds

ROUNDS = 50 if os.environ.get("COOP_SOAK") == "1" else 4
_CROWDED = "other stores were first"


def _write(machine: Machine, chance: random.Random) -> None:
    machine.clock.tick()
    machine.write(f"letter {chance.random()}\n" + "more\n" * chance.randrange(40))


def _todo(machine: Machine, chance: random.Random) -> None:
    machine.ok("todo", "add", f"todo {chance.random()}")


def _read(machine: Machine, chance: random.Random) -> None:
    machine("letter", "read")


def _ack(machine: Machine, chance: random.Random) -> None:
    machine("letter", "ack")


def _adopt(machine: Machine, chance: random.Random) -> None:
    machine.clock.tick()
    found = machine.json("letter", "list", "--fleet", "--all")["letters"]
    if found:
        far = chance.choice(found)
        machine("letter", "adopt", f"{far['replica']}/{far['id']}")


WORK: tuple[Callable[[Machine, random.Random], None], ...] = (_write, _write, _todo, _read, _ack, _adopt)


def _sync(coop: Program, machine: Machine) -> "subprocess.Popen[bytes]":
    return coop.start("sync", cwd=machine.clone.root)


def _finish(running: "subprocess.Popen[bytes]") -> None:
    out, err = running.communicate(timeout=60)
    said = err.decode()
    fine = running.returncode in (0, -signal.SIGKILL) or _CROWDED in said or "another sync" in said
    assert fine, f"{running.returncode}: {out.decode()}{said}"


def _round(coop: Program, machines: list[Machine], chance: random.Random) -> None:
    for _step in range(chance.randrange(1, 4)):
        chance.choice(WORK)(chance.choice(machines), chance)
    running = [_sync(coop, machine) for machine in chance.choices(machines, k=chance.randrange(1, 4))]
    if chance.random() < 0.5:
        time.sleep(chance.random() * 0.6)  # where the kill falls is the test's chance
        chance.choice(running).kill()
    for one in running:
        _finish(one)


def _records(machine: Machine, owner: str) -> Iterator[tuple[str, bytes]]:
    """What a machine's ledger has of a store: ids and bytes."""
    where = f"coop:replicas/{owner}"
    for line in git("ls-tree", "-r", where, cwd=machine.ledger).splitlines():
        facts, _tab, path = line.partition("\t")
        if path.startswith(("letters/", "todos/", "requests/")):
            yield path.rpartition("/")[2], git("cat-file", "blob", facts.split()[2], cwd=machine.ledger).encode()


def _stored(machine: Machine) -> dict[str, bytes]:
    return {
        path.rpartition("/")[2]: data
        for path, data in machine.store().items()
        if path.startswith(("letters/", "todos/", "requests/")) and path.endswith(".toml")
    }


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "form", ["{remote}", pytest.param("file://{remote}", marks=pytest.mark.soak)], ids=["path", "file"]
)
def test_every_machine_ends_with_the_same_fleet(
    edge: Worlds, template: Path, tmp_path: Path, coop: Program, form: str
) -> None:
    fleet = Fleet(edge, template, tmp_path)
    url = form.replace("{remote}", str(fleet.remote))
    machines = [fleet.machine(name, url) for name in ("one", "two", "three")]
    chance = random.Random(f"{form} {ROUNDS}")
    for machine in machines:
        _write(machine, chance)
    written = {machine.clone.root: set(_stored(machine)) for machine in machines}
    for _number in range(ROUNDS):
        _round(coop, machines, chance)
        for machine in machines:
            written[machine.clone.root] |= set(_stored(machine))
    for machine in [*machines, *machines]:
        machine.ok("sync")
    assert len({machine.tree() for machine in machines}) == 1
    names = [machine.replica for machine in machines]
    assert len(set(names)) == 3
    assert sorted(git("ls-tree", "--name-only", "coop:replicas", cwd=machines[0].ledger).split()) == sorted(names)
    for owner in machines:
        assert written[owner.clone.root] == set(_stored(owner))
        for machine in machines:
            assert dict(_records(machine, owner.replica)) == _stored(owner)
    for machine in machines:
        found = machine.json("letter", "list", "--fleet", "--all")
        expected = {name for owner in machines if owner is not machine for name in _stored(owner) if name[0] != "t"}
        assert {f"{letter['id']}.toml" for letter in found["letters"]} == expected
        assert found["unreadable"] == []
        assert not list(machine.ledger.rglob("*.lock"))


def test_two_syncs_of_one_store_take_turns(edge: Worlds, template: Path, tmp_path: Path, coop: Program) -> None:
    fleet = Fleet(edge, template, tmp_path)
    one = fleet.machine("one")
    one.write("x")
    for running in [_sync(coop, one) for _number in range(3)]:
        _finish(running)
        assert running.returncode == 0
    assert len(git("ls-tree", "--name-only", "coop:replicas", cwd=fleet.remote).split()) == 1


def test_what_a_kill_left_beside_a_reference_is_removed(edge: Worlds, template: Path, tmp_path: Path) -> None:
    one = Fleet(edge, template, tmp_path).machine("one")
    one.write("x")
    one.ok("sync")
    one.write("y")
    left = [one.ledger / name for name in ("HEAD.lock", "refs/heads/coop.lock", "refs/coop/remote.lock")]
    for path in left:
        path.touch()
    (one.ledger / "coop-index").write_bytes((one.ledger / "coop-index").read_bytes()[:40])
    one.ok("sync")
    assert not [path for path in left if path.exists()]


def test_a_ledger_that_is_gone_is_made_again(edge: Worlds, template: Path, tmp_path: Path) -> None:
    one = Fleet(edge, template, tmp_path).machine("one")
    one.write("x")
    one.ok("sync")
    name, tree = one.replica, one.tree()
    subprocess.run(["rm", "-rf", str(one.ledger)], check=True)
    one.ok("sync")
    assert (one.replica, one.tree()) == (name, tree)

"""What a power cut would take is told by the order of the calls.

A power cut is out of a test's reach; the order is not. Each name that a command publishes must come after the flush
of its data and before the flush of its folder, and both before success is reported. What is exempt by choice costs a
second showing or a proof that hooks run, and nothing else: markers, a session's turn, the stamp of a drain.
"""

import os
from pathlib import Path

import pytest

from tests.faults.commands import COMMANDS, Command
from tests.faults.seam import PASS, SAY, Call
from tests.faults.stage import Stage
from tests.faults.trial import Trial

File = tuple[int, int]
EXEMPT = ("/shown/", "/drained")


class Order:
    """Follows the calls; ``wrong`` says which name could be lost, or stand without its data, after a success."""

    def __init__(self, out: int) -> None:
        self.out = out  # the descriptor of standard output
        self.unflushed: set[File] = set()  # files whose latest bytes were not flushed
        self.pending: dict[File, list[str]] = {}  # names by folder, not flushed yet
        self.published = 0
        self.wrong: list[str] = []

    def __call__(self, call: Call) -> object:
        act = getattr(self, f"_{call.kind}", None)
        if act is not None:
            act(*call.args)
        return PASS

    def _write(self, number: int, _data: bytes) -> None:
        self.unflushed.add(_file(os.fstat(number)))

    def _fsync(self, number: int) -> None:
        flushed = _file(os.fstat(number))
        self.unflushed.discard(flushed)
        self.pending.pop(flushed, None)

    def _link(self, source: bytes, target: bytes) -> None:
        self._publish(source, target)

    def _rename(self, source: bytes, target: bytes) -> None:
        self._publish(source, target)
        if os.path.dirname(source) != os.path.dirname(target) and not os.path.dirname(source).endswith(b"/mail/tmp"):
            self._owe(os.path.dirname(source), f"the move of {_name(source)}")

    def _mkdir(self, path: bytes, _mode: int = 0) -> None:
        self._owe(os.path.dirname(path), _name(path))

    def _say(self, number: int, _data: bytes) -> None:
        if number == self.out:
            self.end("something was reported")

    def _publish(self, source: bytes, target: bytes) -> None:
        if any(each in os.fsdecode(target) for each in EXEMPT):
            return
        self.published += 1
        if _file(os.lstat(source)) in self.unflushed:
            self.wrong.append(f"{_name(target)} was published before its data was flushed")
        self._owe(os.path.dirname(target), _name(target))

    def _owe(self, folder: bytes, name: str) -> None:
        self.pending.setdefault(_file(os.stat(folder)), []).append(name)

    def end(self, when: str = "the command ended") -> None:
        """Nothing may be owed when success is told."""
        for names in self.pending.values():
            self.wrong += [f"{when} before the folder of {name} was flushed" for name in names]
        self.pending.clear()


def _file(status: os.stat_result) -> File:
    return status.st_dev, status.st_ino


def _name(path: bytes) -> str:
    return Path(os.fsdecode(path)).name


PUBLISHING = [command for command in COMMANDS if command.name != "handoff write"]  # a packet is made to be read at once


@pytest.mark.parametrize("command", PUBLISHING, ids=lambda command: command.name)
def test_every_name_is_flushed_before_success_is_told(stage: Stage, command: Command) -> None:
    trial = Trial(stage, command)
    order = Order(stage.out.number)
    trial.run(order)
    order.end()
    assert not order.wrong, "\n".join(order.wrong)
    assert order.published or not {call.kind for call in trial.calls} & {"link"}


def test_a_name_that_nobody_flushes_is_seen(tmp_path: Path) -> None:
    order = Order(-1)
    staged, folder = bytes(tmp_path / "staged"), bytes(tmp_path)
    number = os.open(staged, os.O_WRONLY | os.O_CREAT)
    order(Call(1, "write", (number, b"x")))
    order(Call(2, "link", (staged, folder + b"/name")))
    assert order.wrong == ["name was published before its data was flushed"]
    order(Call(3, SAY, (-1, b"done")))
    assert order.wrong[1:] == ["something was reported before the folder of name was flushed"]
    order.wrong.clear()
    order(Call(4, "fsync", (number,)))
    order(Call(5, "rename", (staged, folder + b"/other")))
    parent = os.open(folder, os.O_RDONLY)
    order(Call(6, "fsync", (parent,)))
    order.end()
    assert order.wrong == []
    os.close(number)
    os.close(parent)

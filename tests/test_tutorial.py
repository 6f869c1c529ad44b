"""The tutorial, typed through in a sealed room: every command, and every answer that the page prints."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.pages import page, steps
from tests.support.program import Program

SOURCE = page("gitcoop-tutorial.7").read_text(encoding="utf-8")
STATUS = {"error": 1, "fatal": 128, "usage": 129}
HERE, HOME = "/src", "/home/you"

# What differs from one run to the next. The first is remembered: an id that comes back is the same in both.
ID = r"(?:\d{8}T\d{9}Z-)?\b[0-9a-f]{8}\b|\bt-[0-9a-z]{5}\b"
VARYING = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "<time>",
    r"\d+ (?:second|minute|hour)s?": "<age>",
    r"(?<=tried with )\d+(?:\.\d+)+": "<version>",
    r"(?<=at )[0-9a-f]{12}\b": "<commit>",
    r"\S+/git-coop(?= )": "<program>",
    r"[a-z0-9-]+-<tail>(?= (?:in|with) )": "<replica>",
    r"\d+ bytes$": "<size>",
    r" +": " ",
}


class Reader:
    """Who types the page: knows which id of the page is which id of this run, and which directory is the page's."""

    def __init__(self, place: Path, home: Path) -> None:
        self.place, self.home = place, home
        self.ids: dict[str, str] = {}

    def typed(self, text: str) -> str:
        """What is typed here for what the page types."""
        text = re.sub(ID, lambda found: self.ids.get(found[0], found[0]), text)
        return text.replace(f" {HERE}/", f" {self.place}/")

    def shown(self, text: str) -> str:
        """A line of this run in the page's terms."""
        return text.replace(str(self.place), HERE).replace(str(self.home), HOME)

    def same(self, expected: str, got: str) -> bool:
        """Whether a line of this run is the page's; ids that are new are remembered."""
        theirs, ours = re.findall(ID, expected), re.findall(ID, got)
        if len(theirs) != len(ours) or neutral(expected) != neutral(got):
            return False
        pairs = {**dict(zip(theirs, ours, strict=True)), **{a[-8:]: b[-8:] for a, b in zip(theirs, ours, strict=True)}}
        if any(self.ids.get(one, other) != other for one, other in pairs.items()):
            return False
        self.ids |= pairs
        return True

    def answered(self, expected: list[str], got: list[str]) -> str:
        """Nothing, or the first line that differs. ``...`` stands for any number of lines."""
        for index, line in enumerate(expected):
            if line == "...":
                rest = expected[index + 1 :]
                return min((self.tried(rest, got[at:]) for at in range(index, len(got) + 1)), key=len)
            if index >= len(got) or not self.same(line, got[index]):
                return f"the page has {line!r}, it is {got[index] if index < len(got) else 'the end'!r}"
        return "" if len(got) == len(expected) else f"the page ends, it goes on with {got[len(expected)]!r}"

    def tried(self, expected: list[str], got: list[str]) -> str:
        """``answered``, with what it learnt forgotten where it does not fit."""
        known = dict(self.ids)
        wrong = self.answered(expected, got)
        if wrong:
            self.ids = known
        return wrong


def neutral(line: str) -> str:
    """A line without what differs from one run to the next."""
    line = re.sub(ID, lambda found: "<id>" if len(found[0]) > 8 else "<tail>", line)
    for pattern, word in VARYING.items():
        line = re.sub(pattern, word, line)
    return line.rstrip()


def test_the_tutorial_can_be_typed_through(tmp_path: Path, sealed: Path, coop: Program) -> None:
    place = tmp_path / "src"
    place.mkdir()
    where, reader = place, Reader(place, sealed)
    typed = steps(SOURCE)
    assert len(typed) > 50
    for step in typed:
        command = reader.typed(step.typed)
        script = 'eval "$1" </dev/null; status=$?; pwd -P >"$2"; exit "$status"'
        done = subprocess.run(
            ["bash", "-c", script, "bash", command, str(tmp_path / "where")],
            cwd=where,
            env=coop.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        where = Path((tmp_path / "where").read_text().removesuffix("\n"))
        got = [reader.shown(line) for line in done.stdout.splitlines()]
        wrong = reader.answered(step.answer, got)
        assert not wrong, f"$ {command}\n{done.stdout}\n{wrong}"
        labels = [STATUS[line.split(":")[0]] for line in step.answer if line.split(":")[0] in STATUS]
        assert done.returncode == (labels[0] if labels else 0), f"$ {command}\n{done.stdout}"


def test_the_delegation_is_whole() -> None:
    """From a request opened in one worktree to its result read in the other."""
    commands = [step.typed.splitlines()[0] for step in steps(SOURCE)]
    wanted = iter(("request open", "request show", "letter write", "todo done", "request close", "cd ../shop"))
    following = next(wanted)
    for command in commands:
        if following in command:
            following = next(wanted, "")
            if not following:
                break
    assert not following


@pytest.mark.parametrize(
    ("expected", "got", "fits"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["...", "b", "..."], ["a", "b", "c"], True),
        (["letter 20261130T100003123Z-8433141c"], ["letter 20270101T000000000Z-00000001"], True),
        (["5 seconds ago"], ["1 second ago"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["...", "d"], ["a", "b"], False),
        (["letter 8433141c", "letter 8433141c"], ["letter 00000001", "letter 00000002"], False),
        (["letter read"], ["letter 8433141c"], False),
    ],
)
def test_answers_are_compared_line_by_line(expected: list[str], got: list[str], fits: bool, tmp_path: Path) -> None:
    assert (not Reader(tmp_path, tmp_path).answered(expected, got)) == fits

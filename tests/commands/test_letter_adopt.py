"""``git coop letter adopt`` of a letter whose worktree is gone: nobody else can close it."""

import json
from pathlib import Path

import pytest

from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import Worlds

AS_OF = "2026-11-30T10:45:12Z"


class Heirs:
    """A main worktree and one that is removed, with a letter in it."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.clone = clone
        self.desk = Desk(edge, clone.root)
        self.gone = clone.worktree("gone")
        self.letter = self.desk.letter("how far I came\n\nand the rest", cwd=self.gone)

    def remove(self) -> None:
        self.clone.git("worktree", "remove", "--force", str(self.gone))

    def record(self) -> bytes:
        """The letter's own record."""
        (path,) = self.clone.coop.glob(f"letters/*/{self.letter}.toml")
        return path.read_bytes()


@pytest.fixture
def heirs(edge: Worlds, clone: Clone) -> Heirs:
    return Heirs(edge, clone)


def test_a_letter_whose_worktree_is_gone_is_taken_over(heirs: Heirs) -> None:
    tail = heirs.letter[-8:]
    heirs.remove()
    before = heirs.record()
    assert heirs.desk("letter", "abandon", tail, "--reason", "nobody is left") == (
        1,
        "",
        (
            f"error: cannot abandon letter {heirs.letter}: it is another worktree's\n"
            f"hint: its worktree is gone: git coop letter adopt {tail} takes it over\n"
        ),
    )
    code, out, err = heirs.desk("letter", "adopt", tail)
    mine = out.split()[1]
    assert (code, out, err) == (0, f"letter {mine} written to the next session in this worktree\n", "")
    found = json.loads(heirs.desk.done("letter", "show", "--json"))["letter"]
    assert (found["id"], found["adopted_from"]) == (mine, f"{heirs.gone}/{heirs.letter}")
    assert (found["body"], found["subject"]) == ("how far I came\n\nand the rest", "how far I came")
    assert heirs.record() == before
    assert heirs.desk("letter", "adopt", heirs.letter) == (
        1,
        "",
        (
            f"error: letter {heirs.letter} of {heirs.gone} was adopted here as {mine}\n"
            f"hint: git coop letter read {mine[-8:]} reads it\n"
        ),
    )
    heirs.desk.done("letter", "abandon", "--reason", "nobody goes on with it")
    assert heirs.record() == before


def test_a_letter_that_somebody_is_the_next_session_of_is_not(heirs: Heirs, tmp_path: Path) -> None:
    own = heirs.desk.letter("my own")
    before = tree(heirs.clone.coop)
    there = f"error: letter {heirs.letter} is for the next session in the worktree"
    tail = heirs.letter[-8:]
    shows = f"hint: git coop letter show {tail} shows it\n"
    assert heirs.desk("letter", "adopt", tail) == (1, "", f"{there} {heirs.gone}\n{shows}")
    assert heirs.desk("letter", "adopt", own) == (
        1,
        "",
        f"error: letter {own} is this worktree's own\nhint: git coop letter read {own[-8:]} reads it\n",
    )
    heirs.clone.git("worktree", "move", str(heirs.gone), str(tmp_path / "moved"))
    assert heirs.desk("letter", "adopt", tail) == (1, "", f"{there} {heirs.gone}\n{shows}")
    assert heirs.desk("letter", "adopt", "ffffffff") == (
        1,
        "",
        (
            "error: no letter 'ffffffff' of another store or of a worktree that is gone\n"
            "hint: git coop letter list --fleet and --all-worktrees show them\n"
        ),
    )
    assert tree(heirs.clone.coop) == before


def test_a_pointer_is_not_adopted(heirs: Heirs) -> None:
    (path,) = heirs.clone.coop.glob(f"letters/*/{heirs.letter}.toml")
    path.write_bytes(path.read_bytes().replace(b"and the rest", b"see /tmp/handoff.md"))
    heirs.remove()
    code, out, err = heirs.desk("letter", "adopt", heirs.letter)
    assert (code, out) == (1, "")
    assert "/handoff.md" in err

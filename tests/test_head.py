"""The branch without pygit2: the answers of git itself, and no process where ``HEAD`` says it."""

import os
import subprocess
from pathlib import Path

import pytest

from git_coop import discover, git, head
from tests.support.clones import Clone


def here(place: Path) -> discover.Worktree:
    return discover.find(os.fsencode(place), {})


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("a process")

    monkeypatch.setattr(subprocess, "run", refuse)


def test_the_stand_in_of_a_reftable_is_no_branch(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    worktree = here(clone.root)
    (clone.common / "HEAD").write_text("ref: refs/heads/.invalid\n")
    monkeypatch.setattr(git, "head", lambda *_args: git.Head("asked", None))
    assert head.branch(worktree, os.environ) == "asked"


@pytest.mark.parametrize("branch", ["topic", "a/b/c", "ünïcode", "x" * 200])
def test_a_branch_of_each_worktree(clone: Clone, branch: str, request: pytest.FixtureRequest) -> None:
    side = clone.worktree("side", branch)
    expected = [git.head(here(place), os.environ).branch for place in (clone.root, side)]
    request.getfixturevalue("no_process")
    assert [head.branch(here(place), os.environ) for place in (clone.root, side)] == expected == ["main", branch]


def test_what_is_no_branch(clone: Clone) -> None:
    clone.git("checkout", "-q", "--detach")
    assert head.branch(here(clone.root), os.environ) is None
    clone.git("checkout", "-q", "--orphan", "unborn")
    assert head.branch(here(clone.root), os.environ) == "unborn"


def test_a_head_that_is_a_symbolic_link_and_one_that_cannot_be_read(clone: Clone) -> None:
    worktree = here(clone.root)
    file = clone.common / "HEAD"
    file.unlink()
    file.symlink_to("refs/heads/main")
    assert head.branch(worktree, os.environ) == "main"
    file.unlink()
    assert head.branch(worktree, os.environ) is None
    file.mkdir()
    assert head.branch(worktree, os.environ) is None


def test_a_reftable_is_asked_of_git(tmp_path: Path) -> None:
    place = tmp_path / "reftable"
    words = ["git", "init", "-q", "--ref-format=reftable", "-b", "kept-elsewhere", str(place)]
    made = subprocess.run(words, check=False, stderr=subprocess.DEVNULL)
    if made.returncode:
        pytest.skip("this git makes no reftable")
    assert (place / ".git" / "HEAD").read_text() == "ref: refs/heads/.invalid\n"
    assert head.branch(here(place), os.environ) == "kept-elsewhere"
    assert head.branch(here(place), {**os.environ, "PATH": "/nonexistent"}) is None

"""The check of words: what it finds, what it lets pass, and that it fails where it cannot look."""

import subprocess
from pathlib import Path

import pytest

from tests.support.clones import Clone
from tests.support.room import ROOT

# Spelled in pieces: this file is looked at, too.
FORBIDDEN = [
    "https://py" + "pi.org/simple",
    "pip install -" + "-index-url x",
    "see /wo" + "rk/notes",
    "../sha" + "red/x",
]
ALLOWED = ["https://git-scm.com/docs", "pip install git-coop", "at work/notes", "/home/ada/worktree", "shared/x"]


def words(cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(ROOT / ".ci" / "words")], cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("text", FORBIDDEN)
def test_a_forbidden_word_is_found_before_it_is_committed(clone: Clone, text: str) -> None:
    (clone.root / "notes").write_text(f"first\n{text}\n")
    done = words(clone.root)
    assert (done.returncode, done.stdout) == (1, f"notes:2:{text}\n")


@pytest.mark.parametrize("text", ALLOWED)
def test_other_words_pass(clone: Clone, text: str) -> None:
    (clone.root / "notes").write_text(f"{text}\n")
    done = words(clone.root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_place_that_git_cannot_read_does_not_pass(clone: Clone) -> None:
    (clone.common / "HEAD").write_text("broken\n")
    assert words(clone.root).returncode == 1

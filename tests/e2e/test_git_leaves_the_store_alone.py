"""What git does to a repository leaves the store as it is, and nothing of the store ever travels."""

import subprocess
from pathlib import Path

import pytest

from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.program import Program
from tests.support.world import Worlds

SECRET = "a sentence that stands in no commit"
HERE: list[list[str]] = [
    ["add", "-A"],
    ["status", "--porcelain", "--ignored"],
    ["stash", "-u"],
    ["stash", "pop"],
    ["clean", "-xdff"],
    ["gc", "--prune=now"],
    ["worktree", "prune"],
    ["reset", "--hard"],
    ["checkout", "-b", "elsewhere"],
    ["repack", "-adf"],
    ["reflog", "expire", "--expire=now", "--all"],
    ["fsck", "--full"],
    ["pack-refs", "--all"],
]


@pytest.fixture
def filled(edge: Worlds, clone: Clone) -> Desk:
    """A clone with a linked worktree inside it, a letter in each and mail in one; and work that git will move."""
    run = Desk(edge, clone.root)
    side = clone.worktree("side", at=clone.root / ".worktrees" / "side")
    run.letter(f"{SECRET}, for main")
    run.letter(f"{SECRET}, for side", cwd=side)
    assert run("mail", "send", "--to", str(side), "-m", f"{SECRET}, by mail")[0] == 0
    (clone.root / "untracked").write_text("x")
    (clone.root / "README").write_text("changed\n")
    return run


def holds(place: Path, text: str) -> bool:
    """Whether any file below has this text, or any object of the repository there."""
    if any(text.encode() in path.read_bytes() for path in place.rglob("*") if path.is_file()):
        return True
    listing = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return text.encode() in subprocess.run(listing, cwd=place, capture_output=True, check=True).stdout


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_git_in_the_clone_leaves_the_store_alone(filled: Desk, clone: Clone, words: list[str]) -> None:
    if words == ["stash", "pop"]:
        clone.git("stash", "-u")
    before = tree(clone.coop)
    said = clone.git(*words)
    assert "coop" not in said
    assert tree(clone.coop) == before
    assert filled.done("letter", "show", "--raw") == f"{SECRET}, for main"


def test_git_in_a_linked_worktree_leaves_the_store_alone(filled: Desk, clone: Clone) -> None:
    side = clone.root / ".worktrees" / "side"
    before = tree(clone.coop)
    for words in (["add", "-A"], ["stash", "-u"], ["clean", "-xdff"], ["gc", "--prune=now"]):
        clone.git(*words, cwd=side)
    assert tree(clone.coop) == before
    assert filled.done("letter", "show", "--raw", cwd=side) == f"{SECRET}, for side"


def test_nothing_travels(filled: Desk, clone: Clone, tmp_path: Path) -> None:
    before = tree(clone.coop)
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", "Second")
    bare = tmp_path / "pushed.git"
    clone.git("init", "-q", "--bare", str(bare))
    clone.git("push", "-q", "--mirror", str(bare))
    clone.git("clone", "-q", "--mirror", f"file://{clone.root}", str(tmp_path / "mirrored.git"))
    clone.git("clone", "-q", str(clone.root), str(tmp_path / "cloned"))
    clone.git("bundle", "create", "-q", str(tmp_path / "all.bundle"), "--all")
    clone.git("archive", "-o", str(tmp_path / "tree.tar"), "HEAD")
    assert tree(clone.coop) == before
    assert clone.git("for-each-ref", "--format=%(refname)", cwd=bare).split() == [
        "refs/heads/main",
        "refs/heads/side",
    ]
    for name in ("pushed.git", "mirrored.git", "cloned"):
        assert not holds(tmp_path / name, SECRET)
        assert [path for path in (tmp_path / name).rglob("*coop*") if path.is_file()] == []
        assert filled("letter", "list", "--all", cwd=tmp_path / "cloned") == (0, "", "")
    for name in ("all.bundle", "tree.tar"):
        assert SECRET.encode() not in (tmp_path / name).read_bytes()
    assert holds(clone.common, SECRET)  # the eye that looked elsewhere sees it here
    assert holds(tmp_path / "pushed.git", "changed")


def test_through_git_itself(filled: Desk, coop: Program, clone: Clone) -> None:
    """``git coop``, ``git -C``, and a hook of git's own all reach the one store."""
    side = clone.root / ".worktrees" / "side"
    assert clone.git("coop", "letter", "show", "--raw") == f"{SECRET}, for main"
    assert clone.git("-C", str(side), "coop", "letter", "show", "--raw", cwd=Path("/")) == f"{SECRET}, for side"
    hook = clone.common / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncd deep || exit 1\ngit coop letter show --raw >"$OUT"\n')
    hook.chmod(0o755)
    (side / "deep").mkdir()
    out = clone.root.parent / "out"
    subprocess.run(
        ["git", "checkout", "-q", "-b", "hooked"], cwd=side, env=coop.environment({"OUT": str(out)}), check=True
    )
    assert out.read_text() == f"{SECRET}, for side"

"""What is checked out, by pygit2 where it can open the repository and by other ways where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

from git_coop import discover, repo
from git_coop.discover import Worktree
from git_coop.git import Head
from tests.support import room, users
from tests.support.clones import Clone
from tests.support.clones import git as real_git

NO_GIT = {**os.environ, "PATH": "/nonexistent"}


def tree_of(place: Path) -> Worktree:
    return repo.find(os.fsencode(place), os.environ)


def test_pygit2_is_loaded_by_its_users_only() -> None:
    command = "import sys; from git_coop import repo; print('pygit2' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(room.ROOT)}
    done = subprocess.run([sys.executable, "-P", "-c", command], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_a_branch_of_each_worktree(clone: Clone) -> None:
    commit = clone.git("rev-parse", "HEAD").strip()
    peer = clone.worktree("peer", branch="feature/\u00fcber")
    assert [repo.describe(tree_of(place), NO_GIT) for place in (clone.root, peer)] == [
        Head("main", commit),
        Head("feature/\u00fcber", commit),
    ]


def test_detached_and_unborn(clone: Clone, tmp_path: Path) -> None:
    commit = clone.git("rev-parse", "HEAD").strip()
    clone.git("checkout", "-q", "--detach")
    real_git("init", "-q", "unborn", cwd=tmp_path)
    assert repo.describe(tree_of(clone.root), NO_GIT) == Head(None, commit)
    assert repo.describe(tree_of(tmp_path / "unborn"), NO_GIT) == Head("main", None)


def test_a_branch_whose_name_is_not_utf8(clone: Clone) -> None:
    name = os.fsdecode(b"caf\xe9")
    clone.git("checkout", "-q", "-b", name)
    assert repo.describe(tree_of(clone.root), NO_GIT).branch == name


def test_the_environment_does_not_move_it(clone: Clone, tmp_path: Path) -> None:
    real_git("init", "-q", "-b", "theirs", "other", cwd=tmp_path)
    tree = tree_of(clone.root)
    for env in ({**os.environ, "GIT_DIR": str(tmp_path / "other" / ".git")}, NO_GIT):
        assert repo.describe(tree, env).branch == "main"


def test_what_libgit2_cannot_open_git_tells(tmp_path: Path) -> None:
    real_git("init", "-q", "--object-format=sha256", "new", cwd=tmp_path)
    real_git("commit", "-q", "--allow-empty", "-m", "First", cwd=tmp_path / "new")
    commit = real_git("rev-parse", "HEAD", cwd=tmp_path / "new").strip()
    tree = tree_of(tmp_path / "new")
    with pytest.raises(pygit2.GitError):
        pygit2.Repository(os.fsdecode(tree.git_dir))
    assert len(commit) == 64
    assert repo.describe(tree, os.environ) == Head("main", commit)
    # Without git, the file is all there is.
    assert repo.describe(tree, NO_GIT) == Head("main", None)
    real_git("checkout", "-q", "--detach", cwd=tmp_path / "new")
    assert repo.describe(tree, os.environ) == repo.describe(tree, NO_GIT) == Head(None, commit)


def test_reftable(tmp_path: Path) -> None:
    made = subprocess.run(["git", "init", "-q", "--ref-format=reftable", "new"], cwd=tmp_path, capture_output=True)
    if made.returncode:
        pytest.skip("this git has no reftable")
    tree = tree_of(tmp_path / "new")
    assert repo.describe(tree, os.environ) == Head("main", None)
    assert repo.describe(tree, NO_GIT) == Head(None, None)


def test_no_head_at_all(clone: Clone) -> None:
    tree = tree_of(clone.root)
    (clone.common / "HEAD").unlink()
    assert repo.describe(tree, os.environ) == Head(None, None)


@pytest.mark.skipif(os.geteuid() != 0, reason=users.NOT_ROOT)
def test_a_strangers_repository_is_found_and_described(clone: Clone) -> None:
    """Finding opens nothing; whether it may be used is for the check of trust, which comes between the two."""
    commit = clone.git("rev-parse", "HEAD").strip()
    users.give(clone.root, 12345)
    tree = tree_of(clone.root)
    assert tree == discover.find(os.fsencode(clone.root), os.environ)
    assert repo.describe(tree, os.environ) == Head("main", commit)


def test_where_pygit2_sees_nothing_the_walk_has_the_last_word(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygit2, "discover_repository", lambda *_: None)
    assert tree_of(clone.root).root == os.fsencode(clone.root)
    with pytest.raises(discover.NotARepository):
        tree_of(clone.root.parent)


def test_a_find_that_no_git_entry_leads_to_is_gits_to_judge(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygit2, "discover_repository", lambda *_: "/nonexistent/.git/")
    assert tree_of(clone.root).root == os.fsencode(clone.root)

"""Where mail may go, below the command line."""

import os
import subprocess
from pathlib import Path

import pytest

from git_coop import addresses, layout, making, place
from git_coop.errors import Fatal, NotFound, Refused, Untrusted, Usage
from git_coop.place import Place
from tests.support.clones import Clone, copy_template
from tests.support.desk import Desk
from tests.support.users import NOBODY, NOT_ROOT, give
from tests.support.world import Worlds


@pytest.fixture
def here(clone: Clone) -> Place:
    return place.find(os.fsencode(clone.root), os.environ, None)


def resolved(here: Place, text: str, *, outside: bool = False) -> addresses.Target:
    return addresses.resolve(text, here, here.root, os.environ, outside=outside)


def test_every_spelling_of_a_path_is_one_target(clone: Clone, here: Place) -> None:
    side = clone.worktree("side")
    (side / "sub").mkdir()
    (side / "sub" / "file").write_text("x")
    (clone.root.parent / "link").symlink_to(side / "sub")
    for text in ("../side", str(side), "../side/", "../side/sub/..", "../side/sub/file", "../link", f"{side}//."):
        target = resolved(here, text)
        assert (target.path, target.own) == (os.fsencode(side), True), text


def test_the_nearest_worktree_around_a_path_counts(clone: Clone, here: Place) -> None:
    nested = clone.worktree("nested", at=clone.root / ".agents" / "nested")
    assert resolved(here, ".agents").path == here.root
    assert resolved(here, ".agents/nested").path == os.fsencode(nested)


def test_git_variables_of_the_caller_do_not_move_a_target(clone: Clone, here: Place, template: Path) -> None:
    other = copy_template(template, clone.root.parent / "other")
    env = {**os.environ, "GIT_DIR": str(clone.common), "GIT_WORK_TREE": str(clone.root)}
    target = addresses.resolve(str(other.root), here, here.root, env, outside=False)
    assert (target.path, target.own) == (os.fsencode(other.root), False)


@pytest.mark.parametrize("kind", ["missing", "plain", "loop", "deep", ".git", "long"])
def test_what_is_no_place(clone: Clone, here: Place, kind: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    text = {".git": ".git", "deep": "../missing/deep", "long": "x" * 5000}.get(kind, f"../{kind}")
    with pytest.raises(Refused) as caught:
        resolved(here, text)
    assert text.strip("./") in caught.value.sentence
    with pytest.raises(Usage):
        resolved(here, "")


def test_a_plain_directory_needs_its_word(here: Place, tmp_path: Path) -> None:
    home = tmp_path / "container"
    home.mkdir()
    assert resolved(here, str(home), outside=True) == addresses.Target(os.fsencode(home), None, True)
    (home / "file").write_text("x")
    with pytest.raises(Refused):
        resolved(here, str(home / "file"), outside=True)


def test_a_refusal_names_worktrees_up_to_a_bound(clone: Clone, here: Place) -> None:
    for number in range(7):
        clone.worktree(f"w{number}")
    with pytest.raises(Refused) as caught:
        resolved(here, "/nowhere")
    lines = [f"a worktree of this clone: {clone.root.parent}/w{number}" for number in range(5)]
    assert caught.value.hint.split("\n") == [*lines, "git worktree list shows them all"]


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_somebody_elses_worktree_is_not_written_to(here: Place, template: Path, tmp_path: Path) -> None:
    other = copy_template(template, tmp_path / "other")
    assert resolved(here, str(other.root)).path == os.fsencode(other.root)  # the control
    give(other.root, NOBODY)
    with pytest.raises(Untrusted):
        resolved(here, str(other.root))


def test_everyone_is_who_can_be_there(clone: Clone, here: Place) -> None:
    assert addresses.everyone(here, os.environ) == []
    side, gone = clone.worktree("side"), clone.worktree("gone")
    assert set(addresses.everyone(here, os.environ)) == {os.fsencode(side), os.fsencode(gone)}
    (gone / ".git").unlink()
    assert addresses.everyone(here, os.environ) == [os.fsencode(side)]
    there = place.find(os.fsencode(side), os.environ, None)
    assert addresses.everyone(there, os.environ) == [os.fsencode(clone.root)]
    with pytest.raises(Fatal) as caught:
        addresses.everyone(here, {**os.environ, "PATH": "/nonexistent"})
    assert caught.value.hint == "this does not mean that there is nobody"


def test_a_peer_is_a_listed_worktree_by_its_very_path(clone: Clone, here: Place, template: Path) -> None:
    side = os.fsencode(clone.worktree("side"))
    other = os.fsencode(copy_template(template, clone.root.parent / "other").root)
    assert addresses.peer(here, os.environ, side) == side
    assert addresses.peer(here, os.environ, here.root) == here.root
    for claim in (side + b"/", side + b"/sub", b"../side", other, b"", side.upper(), side + b"\n"):
        assert addresses.peer(here, os.environ, claim) is None, claim


def test_a_box_by_path_or_key(clone: Clone, here: Place) -> None:
    store = making.make_store(here.clone.coop, 0o700)
    side = clone.worktree("side")
    target = resolved(here, str(side))
    opened = addresses.open_target(target, store, lambda _worktree: store, "20261130T104512123Z-00000001")

    def at(text: str) -> layout.Box:
        return addresses.box_at(store, here, text, here.root, os.environ)

    assert [at(text) for text in ("../side", opened.box.key, str(side))] == [opened.box] * 3
    assert at(".") == layout.Box(store, layout.key(here.root))  # a worktree that has no box yet has an empty one
    (clone.root.parent / "plain").mkdir()
    for text in ("../plain", f"side-{'0' * 32}", "/nowhere"):
        with pytest.raises(Refused) as caught:
            at(text)
        assert not isinstance(caught.value, NotFound)
    (side / ".git").unlink()
    assert at("../side") == opened.box


def test_a_main_worktree_that_git_does_not_list_is_found_by_its_box(tmp_path: Path, edge: Worlds) -> None:
    """``--separate-git-dir``: git lists the git directory in the place of the main worktree."""
    main, side = tmp_path / "main", tmp_path / "side"
    run = Desk(edge, tmp_path)
    for words in (
        ("init", "-q", f"--separate-git-dir={tmp_path / 'git'}", str(main)),
        ("-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"),
        ("-C", str(main), "worktree", "add", "-q", str(side)),
    ):
        subprocess.run(["git", *words], check=True)
    there = place.find(os.fsencode(side), os.environ, None)
    assert addresses.everyone(there, os.environ) == []
    assert run("todo", "add", "something", cwd=main)[0] == 0
    assert addresses.everyone(there, os.environ) == [os.fsencode(main)]
    assert addresses.everyone(place.find(os.fsencode(main), os.environ, None), os.environ) == [os.fsencode(side)]

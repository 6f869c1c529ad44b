"""Whose store and whose box: the worktree's, and outside any, by an anchor, the directory's own box in that clone."""

import os
from pathlib import Path
from typing import Any

import pytest

from git_coop import discover, git, layout, making, place
from git_coop.discover import CannotLook, NotARepository
from git_coop.errors import CoopError, Fatal
from tests.support.clones import Clone, copy_template
from tests.support.drains import Room
from tests.support.program import Program
from tests.support.world import Worlds


def find(start: Path | bytes, env: dict[str, str] | None = None, anchor: str | None = None) -> place.Place:
    return place.find(os.fsencode(start), {**os.environ, **(env or {})}, anchor)


@pytest.fixture
def container(tmp_path: Path, template: Path) -> Path:
    """A directory in no repository that holds clones."""
    folder = tmp_path / "container"
    folder.mkdir()
    for name in ("one", "two"):
        copy_template(template, folder / name)
    return folder


def test_a_worktree_is_its_own_place(clone: Clone) -> None:
    peer = clone.worktree("peer")
    (peer / "sub").mkdir()
    for start in (peer, peer / "sub", peer / "README"):
        found = find(start)
        assert (found.root, found.clone.common_dir, found.outside) == (
            os.fsencode(peer),
            os.fsencode(clone.common),
            False,
        )


@pytest.mark.parametrize("anchor", ["/nowhere", "relative", "", "{two}"])
def test_an_anchor_changes_nothing_inside_a_repository(container: Path, anchor: str) -> None:
    anchor = anchor.format(two=container / "two")
    bare = find(container / "one")
    assert find(container / "one", anchor=anchor or None) == bare
    assert find(container / "one", {"GIT_COOP_ANCHOR": anchor}) == bare
    with open(Path(os.environ["HOME"], ".gitconfig"), "a") as config:
        config.write(f"[coop]\n\tanchor = {anchor}\n")
    assert find(container / "one") == bare


def test_outside_an_anchor_gives_the_store_and_the_directory_the_box(container: Path) -> None:
    found = find(container, anchor=str(container / "one"))
    assert (found.root, found.clone.root, found.outside) == (
        os.fsencode(container),
        os.fsencode(container / "one"),
        True,
    )
    store = making.make_store(found.clone.coop, 0o700)
    assert found.store() == store
    assert found.look(store).key == layout.key(os.fsencode(container))
    opened = found.open(store, "20261130T104512123Z-0000000a")
    assert opened.box == found.look(store)
    assert not (container / "one" / ".git" / "coop-worktree").exists()


def test_the_option_goes_before_the_variable_and_that_before_the_configuration(container: Path) -> None:
    one, two = str(container / "one"), str(container / "two")
    with pytest.raises(NotARepository):
        find(container)
    with open(Path(os.environ["HOME"], ".gitconfig"), "a") as config:
        config.write(f"[coop]\n\tanchor = {one}\n")
    assert find(container).clone.root == os.fsencode(one)
    assert find(container, {"GIT_COOP_ANCHOR": two}).clone.root == os.fsencode(two)
    assert find(container, {"GIT_COOP_ANCHOR": two}, one).clone.root == os.fsencode(one)


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        ("relative", "the anchor 'relative' is not an absolute path"),
        ("{top}/gone", "the anchor '{top}/gone' is of no use: cannot look at '{top}/gone': no such file or directory"),
        ("{top}", "the anchor '{top}' is in no repository"),
    ],
)
def test_an_anchor_of_no_use_is_a_fault(container: Path, anchor: str, words: str) -> None:
    with pytest.raises(Fatal) as caught:
        find(container, anchor=anchor.format(top=container))
    assert caught.value.sentence == words.format(top=container)
    assert not isinstance(caught.value, NotARepository)  # which would be silence in a hook


def test_a_directory_that_is_gone_is_refused_though_the_anchor_is_good(container: Path) -> None:
    with pytest.raises(CannotLook):
        find(container / "gone", anchor=str(container / "one"))
    with pytest.raises(Fatal, match="cannot read the current directory"):
        find(b"", anchor=str(container / "one"))


def test_a_repository_s_own_configuration_names_no_anchor(container: Path, template: Path) -> None:
    """Only the person's own word counts: a clone could else show another clone's mail."""
    copy_template(template, container / "three").git("config", "coop.anchor", str(container / "one"))
    with pytest.raises(NotARepository):
        find(container)


def test_git_is_asked_only_where_a_file_may_name_an_anchor(container: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = git.config

    def counting(*words: Any) -> Any:
        asked.append(words)
        return real(*words)

    monkeypatch.setattr(git, "config", counting)
    home = Path(os.environ["HOME"])

    def count(env: dict[str, str] | None = None) -> int:
        asked.clear()
        with pytest.raises(NotARepository):
            find(container, env)
        return len(asked)

    assert count() == 0
    (home / ".gitconfig").write_text("[include]\n\tpath = more\n")
    assert count() == 1
    (home / ".gitconfig").unlink()
    (home / ".gitconfig").symlink_to("elsewhere")
    assert count() == 1
    (home / ".gitconfig").unlink()
    (home / "own").write_text("[coop]\n\tAnchor =\n")
    assert count() == 0
    assert count({"GIT_CONFIG_GLOBAL": str(home / "own")}) == 1
    xdg = Path(os.environ["XDG_CONFIG_HOME"], "git", "config")
    xdg.parent.mkdir(parents=True)
    xdg.write_text("[coop]\n\tanchor =\n")
    assert count() == 1


# A session in the container, by the real program.


def test_mail_to_the_container_reaches_its_session(container: Path, coop: Program) -> None:
    one = container / "one"
    coop("mail", "send", "--to", str(container), "--outside", "-m", "to all of you", cwd=one, check=0)
    coop("mail", "send", "--to", str(one), "-m", "to the first", cwd=one, check=0)
    env = {"GIT_COOP_ANCHOR": str(one)}
    assert "to all of you" in coop("drain", "--event", "start", cwd=container, env=env, check=0).out
    there = coop("drain", "--event", "stop", cwd=container, env=env, check=0).out
    assert "to all of you" in there
    assert "to the first" not in there
    assert "the box is empty" in coop("drain", "--event", "start", cwd=container, env=env, check=0).out
    assert "to the first" in coop("drain", "--event", "start", cwd=one, check=0).out
    assert "the box is empty" in coop("drain", "--event", "start", cwd=container / "two", env=env, check=0).out


@pytest.mark.parametrize("anchor", ["/nowhere", "relative"])
def test_a_bad_anchor_speaks_to_the_session_and_exits_0(container: Path, coop: Program, anchor: str) -> None:
    words = ("drain", "--client", "claude", "--event", "start", "--anchor", anchor)
    result = coop(*words, cwd=container)
    assert (result.code, result.err) == (0, "")
    assert f"cannot look into the box; mail may wait:\\n    | the anchor '{anchor}' " in result.out
    assert coop(*words, cwd=container / "one").out.count("the box is empty") == 1
    assert coop("drain", "--anchor", anchor, cwd=container).code == 128


def test_a_stray_anchor_inside_a_worktree_changes_nothing(room: Room, container: Path, edge: Worlds) -> None:
    name = room.send()
    world = edge(cwd=room.root, env={"GIT_COOP_ANCHOR": str(container / "one")})
    assert room.drain("start", world=world.replace(clock=room.clock, entropy=room.entropy)).shown == (name,)
    assert not (container / "one" / ".git" / "coop").exists()


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def test_every_error_is_one_that_a_command_knows(tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git_dir = Clone(tmp_path)
    git_dir.git("init", "-q", "--bare", str(bare))
    with pytest.raises(CoopError):
        find(bare)
    with pytest.raises(discover.NoWorktree):
        find(tmp_path, anchor=str(bare))

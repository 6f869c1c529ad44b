"""Whose repository it is: the owner's, or one that the person's own configuration vouches for."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from git_coop import discover, git, vouching
from git_coop.discover import Worktree
from git_coop.errors import CoopError, GitFailed, Untrusted
from git_coop.place import _callers, check_trust
from tests.support import users
from tests.support.clones import Clone

STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason=users.NOT_ROOT)


def tree_of(place: Path) -> Worktree:
    return discover.find(os.fsencode(place), os.environ)


def untrusted(worktree: Worktree, uid: int | None = None, **variables: str) -> Untrusted | None:
    try:
        check_trust(worktree, {**os.environ, **variables}, uid)
    except Untrusted as error:
        return error
    return None


def say_safe(*values: str, scope: str = "--global", cwd: Path | None = None) -> None:
    for value in values:
        subprocess.run(["git", "config", scope, "--add", "safe.directory", value], cwd=cwd, check=True)


def test_the_callers_own_place_costs_no_process(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(clone.worktree("peer"))
    asked: list[object] = []

    def config(*args: object) -> list[git.ConfigEntry]:
        asked.append(args)
        return []

    monkeypatch.setattr(git, "config", config)
    check_trust(tree, os.environ)
    assert asked == []
    assert untrusted(tree, STRANGER) is not None  # the control: a stranger's place is asked about
    assert len(asked) == 1


def test_the_sentence_names_place_and_owner_and_gits_way_out(clone: Clone) -> None:
    error = untrusted(tree_of(clone.root), STRANGER)
    assert error is not None
    me = f"root (uid {os.geteuid()})" if os.geteuid() == 0 else f"(uid {os.geteuid()})"
    assert (error.status, error.label) == (128, "fatal")
    assert error.sentence.startswith(f"detected dubious ownership: '{clone.root}' belongs to ")
    assert f"{me}, not to you" in error.sentence
    assert error.hint == f"if you trust it: git config --global --add safe.directory {clone.root}"


@as_root
def test_an_owner_without_a_name_and_a_path_that_a_shell_would_split(tmp_path: Path) -> None:
    place = tmp_path / "two words; $(touch x)"
    subprocess.run(["git", "init", "-q", place], check=True)
    tree = tree_of(place)
    os.chown(place, 54321, -1)
    error = untrusted(tree)
    assert error is not None
    assert error.sentence == f"detected dubious ownership: '{place}' belongs to uid 54321, not to you"
    subprocess.run(shlex.split(error.hint.removeprefix("if you trust it: ")), check=True)
    assert untrusted(tree) is None


@as_root
@pytest.mark.parametrize("part", ["peer", "peer/.git", "main/.git/worktrees/peer", "main/.git", "main/.git/coop"])
def test_each_part_must_be_the_callers(clone: Clone, part: str) -> None:
    peer = clone.worktree("peer")
    clone.coop.mkdir()
    tree = tree_of(peer)
    assert untrusted(tree) is None
    place = clone.root.parent / part
    os.chown(place, STRANGER, -1)
    error = untrusted(tree)
    assert error is not None
    assert f"'{place}' belongs to uid {STRANGER}" in error.sentence
    say_safe(str(peer))
    assert untrusted(tree) is None


@as_root
def test_what_lies_outside_of_these_parts_does_not_count(clone: Clone) -> None:
    for place in (clone.root / "README", clone.common / "HEAD", clone.root.parent):
        os.chown(place, STRANGER, -1)
    assert untrusted(tree_of(clone.root)) is None


@as_root
def test_a_link_is_judged_by_its_own_owner(clone: Clone) -> None:
    clone.coop.symlink_to(clone.root)
    tree = tree_of(clone.root)
    assert untrusted(tree) is None
    os.chown(clone.coop, STRANGER, -1, follow_symlinks=False)
    assert untrusted(tree) is not None


@pytest.mark.parametrize(
    ("values", "safe"),
    [
        ([], False),
        (["{root}"], True),
        (["*"], True),
        (["{parent}/*"], True),
        (["/*"], True),
        (["{root}/*"], False),
        (["{root}/"], True),
        (["{root}/../main"], True),
        (["{parent}/mai*"], False),
        (["{parent}"], False),
        (["{root}x"], False),
        (["main"], False),
        (["."], False),
        (["{link}"], True),
        (["{link}/../main"], True),
        (["{link}/../peer"], False),
        (["*", ""], False),
        (["", "*"], True),
        (["*", "", "{root}"], True),
        (["{root}", "/elsewhere"], True),
        (["~nobody-by-this-name/x", "{root}"], True),
        (["~nobody-by-this-name/x"], False),
    ],
)
def test_values_of_safe_directory(clone: Clone, values: list[str], safe: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(clone.root)
    where = {"root": clone.root, "parent": clone.root.parent, "link": tmp_path / "elsewhere" / "link"}
    say_safe(*(value.format(**where) for value in values))
    assert (untrusted(tree_of(clone.root), STRANGER) is None) is safe


def test_home_is_expanded_as_git_does(clone: Clone, sealed: Path) -> None:
    (sealed / "code").symlink_to(clone.root)
    say_safe("~/code")
    assert untrusted(tree_of(clone.root), STRANGER) is None
    assert untrusted(tree_of(clone.root), STRANGER, HOME="/nonexistent") is not None


def test_a_value_less_key_resets(clone: Clone, sealed: Path) -> None:
    say_safe("*")
    assert untrusted(tree_of(clone.root), STRANGER) is None
    with open(sealed / ".gitconfig", "a", encoding="utf-8") as config:
        config.write("[safe]\n\tdirectory\n")
    assert untrusted(tree_of(clone.root), STRANGER) is not None


def test_a_repository_cannot_vouch_for_itself(clone: Clone) -> None:
    say_safe("*", scope="--local", cwd=clone.root)
    tree = tree_of(clone.root)
    assert untrusted(tree, STRANGER) is not None
    assert untrusted(tree, STRANGER, GIT_DIR=str(clone.common)) is not None
    os.chdir(clone.root)
    assert untrusted(tree, STRANGER) is not None


def test_the_other_trusted_scopes(clone: Clone, tmp_path: Path) -> None:
    tree, config = tree_of(clone.root), tmp_path / "config"
    config.write_text(f"[safe]\n\tdirectory = {clone.root}\n")
    command = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(clone.root)}
    for variables in (
        {"GIT_CONFIG_GLOBAL": str(config)},
        {"GIT_CONFIG_SYSTEM": str(config), "GIT_CONFIG_NOSYSTEM": "0"},
        command,
        {"GIT_CONFIG_PARAMETERS": f"'safe.directory={clone.root}'"},
    ):
        assert untrusted(tree, STRANGER, **variables) is None, variables
    # A payload's directory is looked at without what belongs to the command that started us.
    with pytest.raises(Untrusted):
        check_trust(tree, discover.without_local({**os.environ, **command}), STRANGER)


def test_nobody_vouches_where_git_cannot_be_asked(clone: Clone, sealed: Path) -> None:
    say_safe("*")
    tree = tree_of(clone.root)
    assert untrusted(tree, STRANGER) is None
    assert untrusted(tree, STRANGER, PATH="/nonexistent") is not None
    (sealed / ".gitconfig").write_text("[broken\n")
    assert untrusted(tree, STRANGER) is not None


def test_checking_changes_no_configuration(clone: Clone, sealed: Path) -> None:
    before = [(path, path.read_bytes()) for path in (sealed / ".gitconfig", clone.common / "config")]
    assert untrusted(tree_of(clone.root), STRANGER) is not None
    assert [(path, path.read_bytes()) for path, _ in before] == before


@pytest.mark.parametrize(
    ("uid", "sudo", "accepted"),
    [
        (0, str(STRANGER), {0, STRANGER}),
        (0, "", {0}),
        (0, "12x", {0}),
        (0, "-1", {0}),
        (0, "\u0661", {0}),
        (7, str(STRANGER), {7}),
    ],
)
def test_root_also_accepts_the_user_of_sudo(uid: int, sudo: str, accepted: set[int]) -> None:
    assert set(_callers({"SUDO_UID": sudo}, uid)) == accepted


@as_root
def test_sudo_on_disk(clone: Clone) -> None:
    users.give(clone.root, STRANGER)
    tree = tree_of(clone.root)
    assert untrusted(tree) is not None
    assert untrusted(tree, SUDO_UID=str(STRANGER)) is None


@as_root
def test_as_git_judges_it(clone: Clone) -> None:
    """The same repository, met by its owner and by another user: git and we say the same."""
    say_safe_for_none = {"GIT_CONFIG_GLOBAL": "/dev/null"}

    def both() -> str:
        env = {**os.environ, **say_safe_for_none}
        done = subprocess.run(["git", "status", "-s"], cwd=clone.root, env=env, capture_output=True)
        return f"git {'refuses' if b'dubious' in done.stderr else 'answers'}, {verdict(env)}"

    def verdict(env: dict[str, str]) -> str:
        try:
            check_trust(discover.find(os.fsencode(clone.root), env), env)
        except Untrusted:
            return "we refuse"
        return "we answer"

    assert users.run_as(users.NOBODY, both) == "git refuses, we refuse"
    users.give(clone.root, users.NOBODY)
    assert users.run_as(users.NOBODY, both) == "git answers, we answer"
    assert both() == "git refuses, we refuse"


@as_root
def test_git_refuses_where_it_is_asked_for_the_place(clone: Clone) -> None:
    """A configuration that only git can judge, in a stranger's repository: its refusal is ours."""
    with open(clone.common / "config", "a", encoding="utf-8") as config:
        config.write('[core]\n\tbare = "false"\n')
    assert tree_of(clone.root).root == os.fsencode(clone.root)
    users.give(clone.root, STRANGER)
    with pytest.raises(Untrusted) as caught:
        tree_of(clone.root)
    assert f"detected dubious ownership in repository at '{clone.root}'" in caught.value.sentence
    assert caught.value.hint.endswith(f"git config --global --add safe.directory {clone.root}")


@as_root
def test_an_owner_that_cannot_be_told_is_a_fault(clone: Clone) -> None:
    tree = tree_of(clone.worktree("peer"))
    clone.common.chmod(0o700)

    def refused() -> str:
        try:
            check_trust(tree, os.environ, 0)
        except CoopError as error:
            return f"{type(error).__name__}: {error.sentence}"
        return "accepted"

    assert users.run_as(users.NOBODY, refused).startswith("Untrusted: cannot tell who owns '")


@pytest.mark.parametrize(
    ("value", "shared"),
    [
        (None, False),
        ("umask", False),
        ("false", False),
        ("0", False),
        ("group", True),
        ("true", True),
        ("TRUE", True),
        ("1", True),
        ("all", True),
        ("world", True),
        ("everybody", True),
        ("2", True),
        ("0660", True),
        ("0600", False),
        ("0640", False),
        ("0664", True),
    ],
)
def test_others_are_admitted_by_the_repositorys_own_setting(clone: Clone, value: str | None, shared: bool) -> None:
    peer = clone.worktree("peer")
    if value is not None:
        clone.git("config", "core.sharedRepository", value)
    assert [vouching.admits_others(tree_of(place), os.environ) for place in (clone.root, peer)] == [shared, shared]


def test_another_repositorys_setting_does_not_count(clone: Clone, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--shared", "other"], cwd=tmp_path, check=True)
    env = {**os.environ, "GIT_DIR": str(tmp_path / "other" / ".git")}
    assert vouching.admits_others(tree_of(clone.root), env) is False
    assert vouching.admits_others(tree_of(tmp_path / "other"), env) is True


def test_a_setting_that_git_cannot_read_is_an_error(clone: Clone) -> None:
    tree = tree_of(clone.root)
    (clone.common / "config").write_text("[broken\n")
    with pytest.raises(GitFailed):
        vouching.admits_others(tree, os.environ)

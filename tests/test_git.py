"""The processes we start: git's answers as they are, its failures as ours, and the editor that git names."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import discover, git
from git_coop.errors import GitFailed
from git_coop.git import Answer, ConfigEntry, Head, Listed
from tests.support.clones import Clone
from tests.support.clones import git as real_git


def program(place: Path, name: str, text: str) -> dict[str, str]:
    """An environment whose ``name`` on the path is a shell script."""
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"#!/bin/sh\n{text}\n")
    (place / name).chmod(0o755)
    return {**os.environ, "PATH": f"{place}:{os.environ['PATH']}"}


def test_run_gives_bytes_and_takes_bytes(clone: Clone) -> None:
    root = os.fsencode(clone.root)
    name = hashlib.sha1(b"blob 4\0\xff\0\r\n").hexdigest()
    said = git.run(["hash-object", "--stdin"], cwd=root, env=os.environ, stdin=b"\xff\0\r\n")
    assert said == f"{name}\n".encode()
    assert git.run(["config", "--get", "no.such"], cwd=root, env=os.environ, check=False) == b""
    assert git.call(["config", "--get", "no.such"], cwd=root, env=os.environ) == Answer(1, b"", b"")


def test_a_failure_carries_gits_own_words(clone: Clone) -> None:
    with pytest.raises(GitFailed) as caught:
        git.run(["--no-pager", "cat-file", "-p", "nothing"], cwd=os.fsencode(clone.root), env=os.environ)
    assert caught.value.sentence == "git cat-file failed: Not a valid object name nothing"
    assert caught.value.stderr == b"fatal: Not a valid object name nothing\n"
    assert (caught.value.returncode, caught.value.status) == (128, 128)


def test_a_failure_without_words_names_its_status(tmp_path: Path) -> None:
    env = program(tmp_path / "bin", "git", "exit 3")
    with pytest.raises(GitFailed, match=r"^git status failed: status 3$"):
        git.run(["status"], cwd=None, env=env)


def test_no_git_on_the_path(tmp_path: Path) -> None:
    with pytest.raises(GitFailed) as caught:
        git.run(["version"], cwd=os.fsencode(tmp_path), env={**os.environ, "PATH": str(tmp_path)})
    assert caught.value.sentence == "cannot run git: no such file or directory"
    assert caught.value.hint == "git must be on PATH"


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match=r"cannot run git in '.*gone': no such file or directory"):
        git.run(["version"], cwd=os.fsencode(tmp_path / "gone"), env=os.environ)


def test_git_that_hangs_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    os.mkfifo(tmp_path / "fifo")
    env = program(tmp_path / "bin", "git", f"exec cat '{tmp_path}/fifo'")
    with pytest.raises(GitFailed, match=r"^git took longer than 0 seconds: status$"):
        git.run(["status"], cwd=None, env=env, timeout=0.05)


def test_the_environment_of_a_git_process() -> None:
    names = "PATH HOME GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS"
    kept = dict.fromkeys([*names.split(), "GIT_CEILING_DIRECTORIES", "GIT_SSH"], "x")
    dropped = (
        "GIT_CONFIG",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_TRACE",
        "GIT_TRACE2_EVENT",
    )
    given = {**kept, **dict.fromkeys(dropped, "x"), "LC_ALL": "de_DE.UTF-8"}
    assert git.environment(given) == {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def test_locate_reads_paths_that_hold_newlines(tmp_path: Path) -> None:
    place = tmp_path / "a\nb" / "c\n"
    place.mkdir(parents=True)
    real_git("init", "-q", cwd=place)
    root = os.fsencode(place)
    assert git.locate(root, os.environ) == discover.Worktree(root, root + b"/.git", root + b"/.git")


def test_locate_tells_its_errors_apart(clone: Clone, tmp_path: Path) -> None:
    with pytest.raises(discover.NotARepository) as nothing:
        git.locate(os.fsencode(tmp_path), os.environ)
    assert nothing.value.sentence == f"not a git repository (or any of the parent directories): .git: '{tmp_path}'"
    with pytest.raises(discover.NoWorktree):
        git.locate(os.fsencode(clone.common), os.environ)
    with pytest.raises(discover.BrokenLink):
        git.locate(os.fsencode(clone.root), {**os.environ, "GIT_DIR": "/nonexistent"})
    (clone.common / "config").write_text("[core]\n\trepositoryformatversion = 99\n")
    with pytest.raises(GitFailed, match="Expected git repo version"):
        git.locate(os.fsencode(clone.root), os.environ)


def test_a_git_that_is_too_old_says_so(tmp_path: Path) -> None:
    env = program(tmp_path / "bin", "git", "printf '%s\\n' --path-format=absolute .git .git /x")
    with pytest.raises(GitFailed, match=r"2\.31 or later"):
        git.locate(os.fsencode(tmp_path), env)


def test_config_is_every_setting_with_its_scope_and_origin(clone: Clone, sealed: Path) -> None:
    (sealed / ".gitconfig").write_text('[a "B.c\\\\d"]\n\tKey = one\\ntwo\\n\n\tempty =\n\tbare\n')
    (clone.common / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    env = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "Coop.TTL", "GIT_CONFIG_VALUE_0": "3d"}
    assert git.config(env, os.fsencode(clone.root)) == [
        ConfigEntry("global", f"file:{sealed}/.gitconfig", "a.B.c\\d.key", "one\ntwo\n"),
        ConfigEntry("global", f"file:{sealed}/.gitconfig", "a.B.c\\d.empty", ""),
        ConfigEntry("global", f"file:{sealed}/.gitconfig", "a.B.c\\d.bare", None),
        ConfigEntry("local", "file:.git/config", "core.repositoryformatversion", "0"),
        ConfigEntry("command", "command line:", "coop.ttl", "3d"),
    ]
    assert [entry.scope for entry in git.config(env, None)] == ["global", "global", "global", "command"]


def test_config_is_not_what_one_file_says(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("[only]\n\tthis = 1\n")
    keys = [e.key for e in git.config({**os.environ, "GIT_CONFIG": str(tmp_path / "other")}, os.fsencode(clone.root))]
    assert "only.this" not in keys
    assert "core.bare" in keys


@given(value=st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40))
def test_any_value_comes_through(value: str) -> None:
    env = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "coop.x", "GIT_CONFIG_VALUE_0": value}
    assert git.config(env, None)[-1] == ConfigEntry("command", "command line:", "coop.x", value)


def test_a_configuration_without_end_is_refused(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    git.config(os.environ, os.fsencode(clone.root))
    monkeypatch.setattr(git, "_CONFIG_BOUND", 10)
    with pytest.raises(GitFailed, match="larger than 10 bytes"):
        git.config(os.environ, os.fsencode(clone.root))


def test_one_setting_of_one_repository(clone: Clone, tmp_path: Path) -> None:
    real_git("init", "-q", "other", cwd=tmp_path)
    real_git("config", "coop.x", "theirs", cwd=tmp_path / "other")
    clone.git("config", "coop.x", "first")
    clone.git("config", "--add", "coop.x", "last")
    with open(clone.common / "config", "a", encoding="utf-8") as config:
        config.write("[coop]\n\ty\n")
    env = {
        **os.environ,
        "GIT_DIR": str(tmp_path / "other" / ".git"),
        "GIT_COMMON_DIR": str(tmp_path / "other" / ".git"),
    }
    common = os.fsencode(clone.common)
    assert [git.config_value(key, common, env) for key in ("coop.X", b"coop.y", "coop.z")] == ["last", "true", None]


def test_paths_are_expanded_as_git_does(sealed: Path) -> None:
    expected = {
        "~/x y": os.fsencode(sealed / "x y"),
        "~no-such-user/x": None,
        "/plain/~": b"/plain/~",
        "-rel": b"-rel",
        "~/a\nb": os.fsencode(sealed / "a\nb"),
    }
    assert {value: git.expand(value, os.environ) for value in expected} == expected


def test_worktrees_are_listed_with_all_that_git_knows(clone: Clone) -> None:
    commit = clone.git("rev-parse", "HEAD").strip()
    odd = clone.worktree("odd", at=clone.root.parent / os.fsdecode(b" two\nlines\xff "))
    locked, gone = clone.worktree("locked", branch="feature/locked"), clone.worktree("gone")
    clone.git("worktree", "lock", "--reason", "two\nlines", str(locked))
    clone.git("checkout", "-q", "--detach", cwd=gone)
    gone.rename(gone.parent / "elsewhere")
    listed = git.worktrees(os.fsencode(clone.common), {**os.environ, "GIT_DIR": "/nonexistent"})
    assert listed == [
        Listed(os.fsencode(clone.root), "main", commit),
        Listed(os.fsencode(odd), "odd", commit),
        Listed(os.fsencode(gone), None, commit, prunable=True),
        Listed(os.fsencode(locked), "feature/locked", commit, locked=True),
    ]


def test_worktrees_of_bare_and_unborn_repositories(clone: Clone, tmp_path: Path) -> None:
    real_git("clone", "-q", "--bare", str(clone.root), "bare.git", cwd=tmp_path)
    real_git("init", "-q", "unborn", cwd=tmp_path)
    bare, unborn = os.fsencode(tmp_path / "bare.git"), os.fsencode(tmp_path / "unborn")
    assert git.worktrees(bare, os.environ) == [Listed(bare, bare=True)]
    assert git.worktrees(unborn + b"/.git", os.environ) == [Listed(unborn, "main")]


def test_worktrees_of_a_submodule_are_where_they_are(clone: Clone, tmp_path: Path) -> None:
    real_git("init", "-q", "super", cwd=tmp_path)
    real_git("submodule", "--quiet", "add", str(clone.root), "module", cwd=tmp_path / "super")
    common = os.fsencode(tmp_path / "super" / ".git" / "modules" / "module")
    assert [each.path for each in git.worktrees(common, os.environ)] == [os.fsencode(tmp_path / "super" / "module")]


def test_a_separate_git_directory_is_not_called_a_worktree(clone: Clone, tmp_path: Path) -> None:
    real_git("clone", "-q", f"--separate-git-dir={tmp_path}/apart", str(clone.root), "tree", cwd=tmp_path)
    real_git("worktree", "add", "-q", "--detach", "../linked", cwd=tmp_path / "tree")
    listed = git.worktrees(os.fsencode(tmp_path / "apart"), os.environ)
    assert [each.path for each in listed] == [os.fsencode(tmp_path / "linked")]


def test_worktrees_by_a_git_without_z(clone: Clone, tmp_path: Path) -> None:
    clone.worktree("peer")
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    env = program(tmp_path / "bin", "git", f'for a; do test "$a" != -z || exit 129; done\nexec {real} "$@"')
    common = os.fsencode(clone.common)
    assert git.worktrees(common, env) == git.worktrees(common, os.environ)
    with pytest.raises(GitFailed):
        git.worktrees(os.fsencode(tmp_path), os.environ)


def test_heads(clone: Clone, tmp_path: Path) -> None:
    commit = clone.git("rev-parse", "HEAD").strip()
    peer = clone.worktree("peer", branch="feature/x")
    real_git("init", "-q", "unborn", cwd=tmp_path)
    places = [discover.find(os.fsencode(place), os.environ) for place in (clone.root, peer, tmp_path / "unborn")]
    env = {**os.environ, "GIT_DIR": "/nonexistent"}
    assert [git.head(place, env) for place in places] == [
        Head("main", commit),
        Head("feature/x", commit),
        Head("main", None),
    ]
    clone.git("checkout", "-q", "--detach")
    assert git.head(places[0], env) == Head(None, commit)
    (clone.common / "HEAD").unlink()
    with pytest.raises(GitFailed):
        git.head(places[0], env)


def test_the_editor_is_a_shell_command_and_the_path_its_argument(tmp_path: Path) -> None:
    path = tmp_path / "a b'; $(x)"
    env = {**os.environ, "GIT_EDITOR": f"FOO='1 2' {sys.executable} -c \"{WRITES}\" --flag"}
    git.editor(env, os.fsencode(tmp_path), os.fsencode(path))
    assert path.read_text() == "--flag 1 2"


WRITES = "import os, sys; open(sys.argv[2], 'w').write(sys.argv[1] + ' ' + os.environ['FOO'])"


def test_the_editor_is_gits_choice(tmp_path: Path) -> None:
    env = program(tmp_path / "bin", "writes", 'printf edited >"$1"')
    real_git("config", "--global", "core.editor", "writes", cwd=tmp_path)
    del env["GIT_EDITOR"]
    git.editor({**env, "VISUAL": "false"}, None, os.fsencode(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "edited"


def test_no_editor_at_all_and_one_that_fails(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "file")
    git.editor({**os.environ, "GIT_EDITOR": ":"}, None, path)
    with pytest.raises(GitFailed) as caught:
        git.editor({**os.environ, "GIT_EDITOR": "exit 7;"}, None, path)
    assert caught.value.sentence == "there was a problem with the editor 'exit 7;': status 7"
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_EDITOR", "EDITOR", "VISUAL")}
    with pytest.raises(GitFailed, match=r"^git names no editor"):
        git.editor({**env, "TERM": "dumb"}, None, path)


def test_a_keyboard_interrupt_belongs_to_the_editor(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    env = {**os.environ, "GIT_EDITOR": f"kill -INT {os.getpid()}; true"}
    git.editor(env, None, os.fsencode(tmp_path / "file"))
    assert signal.getsignal(signal.SIGINT) is before


def test_the_pages_of_a_virtual_environment_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "share" / "man").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    env = program(tmp_path / "bin", "man", f'echo "$MANPATH" >"{tmp_path}/seen"')
    assert git.manual("git-coop", {**env, "MANPATH": "/mine"}) == 0
    assert (tmp_path / "seen").read_text().endswith(f"/mine:{tmp_path}/share/man\n")
    env.pop("MANPATH", None)
    assert git.manual("git-coop", env) == 0
    assert (tmp_path / "seen").read_text().endswith(f":{tmp_path}/share/man\n")  # empty: where man looks
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert git.manual("git-coop", {**env, "MANPATH": "/mine"}) == 0
    assert (tmp_path / "seen").read_text().endswith("/mine\n")


def test_the_manual_is_gits_to_open(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    env = program(tmp_path / "bin", "man", 'echo "man $*"')
    assert git.manual("git-coop-letter", env) == 0
    assert capfd.readouterr().out == "man git-coop-letter\n"
    assert git.manual("git-coop-letter", program(tmp_path / "bin", "man", "exit 2")) == 128
    with pytest.raises(GitFailed):
        git.manual("git-coop", {**os.environ, "PATH": str(tmp_path)})

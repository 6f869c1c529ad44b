"""The room is sealed, and what stands in it does what the tests take for granted."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import freezegun
import pytest

from git_coop import clock
from git_coop import edge as edges
from tests.support import matrix, room
from tests.support.clones import Clone
from tests.support.program import Program
from tests.support.world import START, Worlds

OUTSIDE = {
    "PATH": "/usr/bin",
    "HOME": "/home/somebody",
    "XDG_CONFIG_HOME": "/home/somebody/.config",
    "GIT_DIR": "/somewhere/.git",
    "GIT_CONFIG_COUNT": "1",
    "GIT_COOP_ANCHOR": "/somewhere",
    "CLAUDE_PROJECT_DIR": "/somewhere",
    "CODEX_HOME": "/somewhere",
    "GEMINI_SESSION_ID": "1",
    "COPILOT_CLI": "1",
    "CURSOR_VERSION": "1",
    "EDITOR": "vi",
    "NO_COLOR": "1",
    "PYTHONPATH": "/somewhere",
    "PYTEST_CURRENT_TEST": "this one",
}


def test_only_what_is_named_passes_the_door() -> None:
    assert room.kept(OUTSIDE) == {"PATH": "/usr/bin", "PYTEST_CURRENT_TEST": "this one"}


def test_a_furnished_room_has_its_own_home(tmp_path: Path) -> None:
    furnished = room.furnish(tmp_path / "room", tmp_path / "programs", OUTSIDE)
    assert furnished["HOME"] == str(tmp_path / "room" / "home")
    assert [entry.name for entry in (tmp_path / "room" / "home").iterdir()] == [".gitconfig"]
    assert list((tmp_path / "room" / "xdg" / "config").iterdir()) == []
    assert "/somewhere" not in furnished.values()


def test_this_very_test_runs_in_a_room(sealed: Path, tmp_path: Path) -> None:
    assert os.environ["HOME"] == str(sealed)
    assert Path.cwd() == tmp_path
    ours = {name for name in os.environ if name.startswith("GIT_")}
    assert ours == {name for name in room.furnish(tmp_path / "other", tmp_path, {}) if name.startswith("GIT_")}
    assert time.tzname == ("UTC", "UTC")


def test_git_reads_no_configuration_but_the_rooms(clone: Clone) -> None:
    origins = {line.split("\t")[0] for line in clone.git("config", "--list", "--show-origin").splitlines()}
    assert origins == {f"file:{os.environ['HOME']}/.gitconfig", "file:.git/config"}


def test_git_reads_the_rooms_configuration(clone: Clone, sealed: Path) -> None:
    (sealed / ".gitconfig").write_text("[coop]\n\tttl = 3d\n")
    assert clone.git("config", "coop.ttl") == "3d\n"


def test_an_editor_that_nobody_asked_for_fails(clone: Clone) -> None:
    editor = clone.git("var", "GIT_EDITOR").strip()
    assert subprocess.run([editor, "file"]).returncode == 1


def test_a_clone_is_a_clean_repository_with_one_commit(clone: Clone) -> None:
    assert clone.git("log", "--format=%an %ae %aI %s") == "Ada Author ada@example.org 2026-11-30T10:00:00+00:00 First\n"
    assert clone.git("status", "--porcelain", "--branch") == "## main\n"
    assert Path(clone.git("rev-parse", "--absolute-git-dir").strip()) == clone.common
    assert not clone.coop.exists()


def test_a_worktree_is_linked_to_the_clone(clone: Clone, tmp_path: Path) -> None:
    beside = clone.worktree("feature")
    elsewhere = clone.worktree("other", branch="topic", at=tmp_path / "deep" / "er")
    assert (beside, elsewhere) == (tmp_path / "feature", tmp_path / "deep" / "er")
    assert clone.git("branch", "--show-current", cwd=beside) == "feature\n"
    assert clone.git("branch", "--show-current", cwd=elsewhere) == "topic\n"
    shared = clone.git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=beside)
    assert Path(shared.strip()) == clone.common


def test_a_git_that_fails_fails_the_test(clone: Clone) -> None:
    with pytest.raises(AssertionError, match="not-a-command"):
        clone.git("not-a-command")


def test_git_finds_git_coop_on_the_path(programs: Path) -> None:
    assert os.environ["PATH"].split(os.pathsep)[0] == str(programs)
    assert os.access(programs / "git-coop", os.X_OK)


def test_the_made_program_runs_the_checkouts_launcher(tmp_path: Path) -> None:
    made = room.make_programs(tmp_path / "it's here") / "git-coop"
    text = made.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert str(room.LAUNCHER) in text


def test_the_programs_environment_is_the_rooms_with_changes(coop: Program) -> None:
    changed = coop.environment({"GIT_EDITOR": None, "CLAUDE_PROJECT_DIR": "/here"})
    assert changed == {
        **{name: value for name, value in os.environ.items() if name != "GIT_EDITOR"},
        "CLAUDE_PROJECT_DIR": "/here",
        "PYTHONPATH": str(room.ROOT),
    }


def test_the_program_is_the_checkouts_launcher(coop: Program) -> None:
    assert coop.argv("status") == [sys.executable, "-P", str(room.ROOT / "git_coop" / "launcher.py"), "status"]


def test_a_stopped_program_reads_the_time_it_is_given(coop: Program, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, time\nprint(time.time_ns(), sys.argv, __name__)\n")
    argv = [str(script) if part == str(coop.script) else part for part in coop.argv("drain", "-h", now=START)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{START} {[str(script), 'drain', '-h']} __main__\n", "")


def test_an_edge_in_memory_has_a_time_a_counter_and_streams(edge: Worlds, tmp_path: Path) -> None:
    world = edge(stdin="hello")
    assert (world.cwd, world.env["HOME"]) == (os.fsencode(tmp_path), os.environ["HOME"])
    assert clock.rfc3339(world.clock()) == "2026-11-30T10:45:12Z"
    assert world.clock() == clock.parse_rfc3339("2026-11-30T10:45:12.123Z")
    assert world.clock.tick(clock.DAY) == START + clock.DAY == world.clock()
    assert [world.entropy(4), world.entropy(2)] == [b"\0\0\0\x01", b"\0\x02"]
    assert [world.stdin.read(3), world.stdin.read(9), world.stdin.read(9)] == [b"hel", b"lo", b""]
    world.stdout.write(b"out")
    world.stderr.write(b"err")
    assert (world.stdout.text, world.stderr.data) == ("out", b"err")
    assert [world.stdin.isatty(), edge(terminal=True).stdin.isatty()] == [False, True]
    assert edge(gone=True).cwd is None
    assert edge(cwd=tmp_path / "sub", env={"A": "b", "HOME": None}).env == {
        **{name: value for name, value in os.environ.items() if name != "HOME"},
        "A": "b",
    }


@pytest.mark.parametrize(("state", "number"), [("closed", errno.EPIPE), ("full", errno.ENOSPC)])
def test_an_output_fails_as_told_and_keeps_nothing(edge: Worlds, state: str, number: int) -> None:
    world = edge(out=state)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        world.stdout.write(b"lost")
    assert (caught.value.errno, world.stdout.data) == (number, b"")


def test_a_silent_pipe_is_never_waited_for(edge: Worlds) -> None:
    world = edge(stdin=None)
    assert not world.stdin.ready(2.0)
    with pytest.raises(AssertionError, match="never returns"):
        world.stdin.read(1)


def test_the_real_edge_reads_the_clock_when_it_is_asked() -> None:
    with freezegun.freeze_time("2026-11-30T10:45:12Z"):
        assert edges.real().clock() == clock.parse_rfc3339("2026-11-30T10:45:12Z")


def test_rows_of_the_matrix_become_a_count_and_the_reasons(
    request: pytest.FixtureRequest, matrix_row: Callable[..., None]
) -> None:
    properties = request.node.user_properties
    matrix_row("main")
    matrix_row("reftable", "skipped", "git 2.39 has no reftable")
    matrix_row("main")
    found = matrix.rows([request.node])
    properties.clear()  # these rows are not the suite's
    assert matrix.summary(found) == [
        "repository matrix: 1 rows ran, 1 skipped",
        "  skipped reftable: git 2.39 has no reftable",
    ]
    assert matrix.summary([]) == []


def test_a_skipped_row_needs_a_reason(matrix_row: Callable[..., None]) -> None:
    with pytest.raises(AssertionError, match="reason"):
        matrix_row("reftable", "skipped")

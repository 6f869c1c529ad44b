"""What is in ``contrib``: the prompt, tmux's status line, the aliases."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.clones import Clone
from tests.support.commands import tree
from tests.support.program import Program
from tests.support.room import ROOT
from tests.support.terminal import Terminal

CONTRIB = ROOT / "contrib"
PROMPT = CONTRIB / "prompt.sh"
ALIASES = CONTRIB / "coop.gitconfig"
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed"))
    for shell in ("bash", "zsh", "dash")
]


def prompt(shell: str, where: Path, script: str = "__git_coop_ps1", env: dict[str, str] | None = None) -> str:
    """What the function says there, in a shell that can start no program at all."""
    found = shutil.which(shell)
    assert found is not None
    environment = {**os.environ, "PATH": "/nonexistent", "WHERE": str(where), **(env or {})}
    done = subprocess.run(
        [found, "-c", f'. {PROMPT}; cd "$WHERE"; {script}'], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def busy(clone: Clone, coop: Program) -> tuple[Path, Path]:
    """Two worktrees with a letter here and a letter and two messages there."""
    there = clone.worktree("My Peer+", branch="peer")
    coop("letter", "write", "-m", 'status = "done"\nand more', cwd=clone.root, check=0)
    coop("letter", "write", "-m", "old", cwd=there, check=0)
    coop("letter", "write", "-m", "new", cwd=there, check=0)
    coop("letter", "read", cwd=there, check=0)
    for _ in range(2):
        coop("mail", "send", "--to", str(there), "-m", "hello", cwd=clone.root, check=0)
    return clone.root, there


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_says_what_waits(shell: str, clone: Clone, coop: Program) -> None:
    here, there = busy(clone, coop)
    (there / "deep" / "er").mkdir(parents=True)
    assert prompt(shell, here) == "letter:unread"
    assert prompt(shell, there) == "letter:read mail:2"
    assert prompt(shell, there / "deep" / "er") == "letter:read mail:2"
    assert prompt(shell, there, "__git_coop_ps1 ' (%s)'") == " (letter:read mail:2)"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_speaks_as_status_does(shell: str, clone: Clone, coop: Program) -> None:
    for where in busy(clone, coop):
        assert prompt(shell, where) + "\n" == coop("status", "--short", cwd=where, check=0).out
    coop("mail", "off", cwd=clone.root, check=0)
    assert prompt(shell, clone.root) + "\n" == coop("status", "--short", cwd=clone.root, check=0).out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_is_silent_where_nothing_waits(shell: str, clone: Clone, coop: Program, tmp_path: Path) -> None:
    assert prompt(shell, clone.root, "__git_coop_ps1 ' (%s)'") == ""
    assert prompt(shell, tmp_path) == ""
    assert not clone.coop.exists()
    here, _there = busy(clone, coop)
    coop("letter", "read", cwd=here, check=0)
    coop("letter", "ack", cwd=here, check=0)
    assert prompt(shell, here) == ""
    assert prompt(shell, clone.worktree("third")) == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_sets_a_variable(shell: str, clone: Clone, coop: Program, tmp_path: Path) -> None:
    here, there = busy(clone, coop)
    script = f"""
__git_coop_ps1 -v said ' (%s)'; printf '%s\\n' "$said"
cd '{there}'; __git_coop_ps1 -v said ' (%s)'; printf '%s\\n' "$said"
__git_coop_ps1 -v said ' (%s)'; printf '%s\\n' "$said"
cd '{tmp_path}'; __git_coop_ps1 -v said ' (%s)'; printf '%s\\n' "$said"
"""
    expected = " (letter:unread)\n (letter:read mail:2)\n (letter:read mail:2)\n\n"
    assert prompt(shell, here, script) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_follows_symbolic_links(shell: str, clone: Clone, coop: Program, tmp_path: Path) -> None:
    _here, there = busy(clone, coop)
    (tmp_path / "by").symlink_to(there)
    (tmp_path / "above").symlink_to(tmp_path)
    assert prompt(shell, tmp_path / "by") == "letter:read mail:2"
    assert prompt(shell, tmp_path / "above" / there.name) == "letter:read mail:2"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_tells_worktrees_of_one_name_apart(shell: str, clone: Clone, coop: Program, tmp_path: Path) -> None:
    one, other = (clone.worktree("w", branch=name, at=tmp_path / name / "w") for name in ("one", "other"))
    coop("letter", "write", "-m", "here", cwd=one, check=0)
    coop("mail", "send", "--to", str(other), "-m", "there", cwd=one, check=0)
    assert (prompt(shell, one), prompt(shell, other)) == ("letter:unread", "mail:1")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_survives_careful_shells(shell: str, clone: Clone, coop: Program) -> None:
    here, _there = busy(clone, coop)
    assert prompt(shell, here, "set -eu; __git_coop_ps1") == "letter:unread"
    if shell == "bash":
        assert prompt(shell, here, "shopt -s nullglob; __git_coop_ps1") == "letter:unread"
    if shell == "zsh":
        assert prompt(shell, here, "setopt nomatch null_glob ksh_arrays; __git_coop_ps1") == "letter:unread"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not count a process's children")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_prompt_forks_no_shell(shell: str, clone: Clone, coop: Program) -> None:
    """No program is on the path, so a subshell is all that could be started: proc(5) has its faults as cminflt."""
    _here, there = busy(clone, coop)
    script = """
count() { read -r _ _ _ _ _ _ _ _ _ _ faults _ </proc/$$/stat; }
count; before=$faults; __git_coop_ps1 -v said; count
echo "$said $((faults - before))"
before=$faults; said=$(__git_coop_ps1); count
[ $((faults - before)) -gt 0 ] && echo seen
"""
    assert prompt(shell, there, script) == "letter:read mail:2 0\nseen\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_prompt_is_fast(clone: Clone, coop: Program) -> None:
    """Under 3 ms with twenty boxes, a hundred letters and a hundred messages: the best of many, for others run too."""
    _here, there = busy(clone, coop)
    box = next(clone.coop.glob("mail/box/my-peer-*"))
    letter = max(clone.coop.glob("letters/my-peer-*/*.toml"))
    for number in range(100):
        (box / "inbox" / f"20261130T100000000Z-{number:08x}.eml").touch()
        shutil.copy(letter, letter.with_name(f"20001130T100000000Z-{number:08x}.toml"))
    for number in range(20):
        other = box.with_name(f"my-peer-{number:032x}")
        other.mkdir()
        (other / "path").write_text(f"/elsewhere/{number}\n")
    script = """
best=1000000
for ((i = 0; i < 100; i++)); do
    __git_coop_last_root= before=${EPOCHREALTIME/[^0-9]/}
    __git_coop_ps1 -v said
    after=${EPOCHREALTIME/[^0-9]/}
    ((after - before < best)) && best=$((after - before))
done
echo "$said $best"
"""
    said, _, best = prompt("bash", there, script).strip().rpartition(" ")
    assert said == "letter:read mail:102"
    assert int(best) < 3000, "microseconds"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_tmux_shows_what_waits(clone: Clone, coop: Program, tmp_path: Path) -> None:
    _here, there = busy(clone, coop)
    quoted = tmp_path / "it's here"
    quoted.symlink_to(there)
    config = tmp_path / "tmux.conf"
    config.write_text(f"set -g status-right-length 80\nsource-file {CONTRIB / 'tmux'}\n")
    argv = ["tmux", "-S", str(tmp_path / "socket"), "-f", str(config), "new-session", "-c", str(quoted), "sh"]
    with Terminal(argv, cwd=tmp_path, env={"SHELL": "/bin/sh"}) as terminal:
        terminal.until("letter:read mail:2")
        subprocess.run([*argv[:3], "kill-server"], check=True)


# the aliases


def aliases() -> dict[str, str]:
    command = ["git", "config", "-z", "--file", str(ALIASES), "--list"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = [entry.split("\n", 1) for entry in text.split("\0") if entry]
    assert all(name.startswith("alias.") for name, _value in pairs)
    return {name.removeprefix("alias."): value for name, value in pairs}


def test_no_alias_is_a_shell_command() -> None:
    assert aliases()
    assert not [name for name, value in aliases().items() if not value.startswith("coop ")]


def test_each_alias_is_a_command_with_its_options() -> None:
    known = {" ".join(command.words): command for command in tree()}
    for name, value in aliases().items():
        words = value.split()[1:]
        command = known[" ".join(word for word in words if not word.startswith("-"))]
        assert {word for word in words if word.startswith("-")} <= command.options, name


def test_no_alias_hides_behind_a_command_of_git() -> None:
    """git runs its own command where one has the name of an alias."""
    listed = subprocess.run(["git", "--list-cmds=builtins,main"], check=True, capture_output=True, text=True).stdout
    assert "status" in listed.split()
    assert not set(aliases()) & set(listed.split())


def test_an_alias_works_where_it_is_typed(clone: Clone, coop: Program) -> None:
    (clone.root / "deep").mkdir()
    there = clone.worktree("api")
    clone.git("config", "include.path", str(ALIASES))
    environment = coop.environment()
    subprocess.run(
        ["git", "tell", "../../api", "-m", "hello"],
        cwd=clone.root / "deep",
        env=environment,
        check=True,
        capture_output=True,
    )
    done = subprocess.run(["git", "inbox"], cwd=there, env=environment, check=True, capture_output=True, text=True)
    assert "hello" in done.stdout

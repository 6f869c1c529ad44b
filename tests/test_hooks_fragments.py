"""hooks/ holds what the installer writes, and every command in it exists and runs; the commands of `git coop hooks`."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from git_coop import hook_clients, hook_plugin
from git_coop.hook_clients import CLIENTS, PROJECT, USER

ROOT = Path(__file__).resolve().parents[1]
JSON_CLIENTS = [name for name, client in CLIENTS.items() if client.shape is not None]
Coop = Callable[..., Any]


def fragment(name: str) -> Path:
    return ROOT / "hooks" / f"{name}.{'js' if CLIENTS[name].shape is None else 'json'}"


def commands(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [each for inner in value.values() for each in commands(inner)]
    return [each for inner in value for each in commands(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("name", list(CLIENTS))
def test_the_fragment_is_what_the_installer_writes(name: str, coop: Coop, clone: Any) -> None:
    ours = fragment(name).read_text()
    done = coop("hooks", "install", name, "--project", cwd=clone.root)
    assert (done.code, done.err) == (0, "")
    written = clone.root / CLIENTS[name].files[PROJECT][0]
    assert written.read_text() == ours
    assert coop("hooks", "show", name, "--project", cwd=clone.root).out == ours
    again = coop("hooks", "install", name, "--project", cwd=clone.root)
    assert again.out == f"{CLIENTS[name].title}: the hooks are in {written} already; nothing was changed\n"
    assert coop("hooks", "uninstall", name, cwd=clone.root).out == f"{CLIENTS[name].title}: removed {written}\n"
    assert clone.git("status", "--porcelain").strip() == ""


def test_there_is_one_fragment_for_each_client_and_a_page() -> None:
    names = {fragment(name).name for name in CLIENTS} | {"README.md"}
    assert {path.name for path in (ROOT / "hooks").iterdir()} == names
    page = (ROOT / "hooks" / "README.md").read_text()
    for client in CLIENTS.values():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{client.name}`"))
        assert (client.ran or "only read about") in row
        for paths in client.files.values():
            assert paths[0] in row


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_every_command_runs_and_says_the_empty_answer(name: str, coop: Coop, clone: Any) -> None:
    found = commands(json.loads(fragment(name).read_text()))
    assert len(found) == 3
    for command in found:
        done = subprocess.run(["sh", "-c", command], cwd=clone.root, capture_output=True, input=b"", timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.strip() == b"" or isinstance(json.loads(done.stdout), dict)


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_a_colleague_without_the_program_sees_nothing(name: str, tmp_path: Path) -> None:
    for command in set(commands(json.loads(fragment(name).read_text()))):
        done = subprocess.run(
            ["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, capture_output=True, input=b"{}", timeout=60
        )
        answer = b"{}" if name == "gemini" else b""
        assert (done.returncode, done.stderr, done.stdout.strip()) == (0, b"", answer if name == "gemini" else b"")


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_a_program_that_is_gone_blocks_nobody(name: str) -> None:
    gone = hook_clients.command(CLIENTS[name], USER, "/gone/it's/git-coop")
    done = subprocess.run(["sh", "-c", gone], capture_output=True, input=b"{}", timeout=60)
    if name == "gemini":
        assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"{}\n")
    else:
        assert done.returncode == 127  # which these clients take for a hook that failed, and go on


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_every_event_has_a_bound_in_the_client_s_own_unit(name: str) -> None:
    entries = hook_clients.entries(CLIENTS[name], "x").values()
    key = "timeoutSec" if name == "copilot" else "timeout"
    assert {entry[key] for entry in entries} == {10_000 if name == "gemini" else 10}


def test_no_command_changes_with_a_version() -> None:
    for path in (ROOT / "hooks").glob("*.js*"):
        runs = (
            [hook_plugin.program(path.read_text())] if path.suffix == ".js" else commands(json.loads(path.read_text()))
        )
        assert [run for run in runs if re.search(r"\d+\.\d+", run)] == []


# ---- the commands


def test_the_user_s_file_holds_the_absolute_path_of_a_program_that_runs(coop: Coop, clone: Any) -> None:
    for name in JSON_CLIENTS:
        assert coop("hooks", "install", name, cwd=clone.root).code == 0
        file = Path(hook_clients.paths(CLIENTS[name], USER, os.environ, None)[0])
        for command in commands(json.loads(file.read_text())):
            assert command.startswith("/")
            done = subprocess.run(["sh", "-c", command], cwd=clone.root, capture_output=True, input=b"", timeout=60)
            assert (done.returncode, done.stderr) == (0, b"")


def test_a_dry_run_writes_nothing_and_shows_a_diff_that_applies(coop: Coop, clone: Any, sealed: Path) -> None:
    settings = sealed / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n\t"model": "opus"\n}\n')
    shown = coop("hooks", "install", "claude", "--dry-run", cwd=clone.root)
    assert (shown.code, shown.err, settings.read_text()) == (0, "", '{\n\t"model": "opus"\n}\n')
    assert [line for line in shown.out.splitlines()[2:] if line.startswith("-")] == []
    assert coop("hooks", "install", "claude", cwd=clone.root).code == 0
    installed = settings.read_text()
    added = "".join(line[1:] + "\n" for line in shown.out.splitlines()[3:] if not line.startswith("-"))
    assert added == installed
    back = coop("hooks", "uninstall", "claude", "--dry-run", cwd=clone.root)
    assert settings.read_text() == installed
    assert [line for line in back.out.splitlines()[2:] if line.startswith("+")] == []


def test_what_is_wrong_with_the_words_is_a_usage_error(coop: Coop, clone: Any) -> None:
    for words in (
        ["install", "emacs"],
        ["install", "codex", "--local"],
        ["install", "claude", "--user", "--project"],
        ["show"],
    ):
        done = coop("hooks", *words, cwd=clone.root)
        assert (done.code, done.out) == (129, ""), words
        assert done.err.startswith("usage: "), words


def test_errors_carry_their_status(coop: Coop, clone: Any, sealed: Path, tmp_path: Path) -> None:
    settings = sealed / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "a": 1\n  "b": 2\n}')
    done = coop("hooks", "install", "claude", cwd=clone.root)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: cannot parse '{settings}': line 3, column 3: expected ',' or '}}', found '\"'\n"
        "hint: the file was left as it is; mend it and run this again\n"
    )
    assert coop("hooks", "uninstall", "claude", cwd=clone.root).code == 1
    settings.write_text("{}")
    settings.chmod(0o444)
    assert coop("hooks", "install", "claude", cwd=clone.root).code == 128
    assert coop("hooks", "install", "claude", "--project", cwd=tmp_path).code == 128


def test_install_without_a_client_lists_those_that_are_here(coop: Coop, clone: Any, sealed: Path) -> None:
    assert "no client was found" in coop("hooks", "install", cwd=clone.root).out
    (sealed / ".codex").mkdir()
    done = coop("hooks", "install", cwd=clone.root)
    assert (done.code, done.out) == (0, f"Codex CLI ({sealed}/.codex): git coop hooks install codex\n")


def test_status_says_where_what_and_what_was_run(coop: Coop, clone: Any, sealed: Path) -> None:
    coop("hooks", "install", "copilot", cwd=clone.root)
    answer = json.loads(coop("hooks", "status", "--json", cwd=clone.root).out)
    ran = {each["client"]: each["ran"] for each in answer["clients"]}
    assert ran == {name: client.ran or None for name, client in CLIENTS.items()}
    assert ran["cursor"] is None
    copilot = next(each for each in answer["clients"] if each["client"] == "copilot")
    assert copilot["problems"] == []
    assert [(each["event"], each["kind"], each["runs"]) for each in copilot["places"][0]["hooks"]] == [
        ("sessionStart", "start", True),
        ("userPromptSubmitted", "prompt", True),
        ("agentStop", "stop", True),
    ]
    text = coop("hooks", "status", cwd=clone.root).out
    assert f"  user: {sealed}/.copilot/hooks/git-coop.json: sessionStart, userPromptSubmitted, agentStop\n" in text
    assert "cursor (only read about, never tried): not installed" in text


def test_the_instructions_fit_and_name_commands_that_there_are(coop: Coop, clone: Any) -> None:
    text = coop("hooks", "instructions", cwd=clone.root).out
    assert len(text) < 1200
    for family, verb in re.findall(r"git coop (\w+) (\w+)", text):
        assert coop(family, verb, "-h", cwd=clone.root).code == 0


def test_status_says_what_was_seen_and_by_whom_and_where_it_is_no_worktree(
    coop: Coop, clone: Any, tmp_path: Path
) -> None:
    coop("letter", "write", "-m", "x", cwd=clone.root)  # a store, for a drain makes none
    coop("drain", "--event", "start", "--session", "s", cwd=clone.root)
    text = coop("hooks", "status", cwd=clone.root).out
    assert re.search(r"^last start: \d+ seconds? ago by hand\nlast prompt: never in this worktree\n", text, re.M)
    outside = coop("hooks", "status", cwd=tmp_path).out
    assert "this is no worktree: nothing was seen here\nas of " in outside
    assert "last start" not in outside


def test_what_is_said_of_a_scope_fits_the_command(coop: Coop, clone: Any) -> None:
    taken = coop("hooks", "uninstall", "-h", cwd=clone.root).out
    assert "Only from your own settings, for every worktree (default: from" in taken
    assert "Write to your own settings, for every worktree (default)." in coop("hooks", "install", "-h").out


@pytest.mark.parametrize("option", ["--project", "--dry-run"])
def test_an_option_of_installing_needs_a_client(coop: Coop, clone: Any, option: str) -> None:
    done = coop("hooks", "install", option, cwd=clone.root)
    sentence = f"usage: option '{option}' needs a client\nhint: git coop hooks install lists those here\n"
    assert (done.code, done.out, done.err) == (129, "", sentence)

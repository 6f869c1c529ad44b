"""Hooks in Codex's config.toml: appended as tables, cut out without a trace."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import settings_toml
from git_coop.errors import Refused
from git_coop.settings_json import Damaged

DATA = Path(__file__).parent / "data" / "settings" / "toml"
FILES = sorted(DATA.glob("*.toml"))
RUN = "'/o p/git-coop' drain --client codex"
ENTRIES: dict[str, dict[str, object]] = {
    event: {"type": "command", "command": RUN, "timeout": 10} for event in ("SessionStart", "UserPromptSubmit", "Stop")
}


def _read(path: Path) -> str:
    return path.read_bytes().decode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_install_twice_and_uninstall_give_the_file_back(path: Path) -> None:
    text = _read(path)
    installed = settings_toml.merge(text, ENTRIES)
    assert installed.startswith(text)
    assert installed != text
    assert settings_toml.merge(installed, ENTRIES) == installed
    assert [(found.event, found.verdict, found.command) for found in settings_toml.find(installed)] != []
    assert settings_toml.strip(installed) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_edits_in_between_stay(path: Path) -> None:
    text = _read(path)
    installed = settings_toml.merge(text, ENTRIES)
    assert settings_toml.strip("theirs = 1\n" + installed) == "theirs = 1\n" + text
    newline = "" if installed.endswith("\n") else "\n"
    behind = f"{newline}[theirs]\nx = 1\n"
    assert settings_toml.strip(installed + behind).replace("\r\n", "\n") == (text + behind).replace("\r\n", "\n")


def test_the_addition_is_the_documented_form() -> None:
    text = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'x'\n"
    entry = '[[hooks.{0}]]\n[[hooks.{0}.hooks]]\ntype = "command"\ncommand = "{1}"\ntimeout = 10\n'
    added = "".join(entry.format(event, RUN) for event in ENTRIES)
    assert settings_toml.merge(text, ENTRIES) == f"{text}\n{added}"


def test_an_entry_that_shares_our_group_keeps_the_group() -> None:
    text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'x'\n"
    installed = settings_toml.merge(text, {"Stop": ENTRIES["Stop"]})
    shared = installed + "[[hooks.Stop.hooks]]\ncommand = 'theirs'\n"
    assert settings_toml.strip(shared) == text + "\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'theirs'\n"


def test_a_program_that_moved_is_mended_in_place() -> None:
    text = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'x'\n"
    installed = settings_toml.merge(text, ENTRIES)
    moved = {event: {**entry, "command": "/new/git-coop drain --client codex"} for event, entry in ENTRIES.items()}
    assert settings_toml.merge(installed, moved) == settings_toml.merge(text, moved)
    assert settings_toml.strip(settings_toml.merge(installed, moved)) == text


def test_an_edited_hook_is_found_and_left_alone() -> None:
    text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'git coop drain --client codex; date'\n"
    assert [(found.verdict, found.line) for found in settings_toml.find(text)] == [("edited", 2)]
    assert settings_toml.strip(text) == text
    assert "Stop" not in settings_toml.merge(text, ENTRIES).removeprefix(text)


@pytest.mark.parametrize(
    "text",
    [
        'hooks = {Stop = [{hooks = [{type = "command", command = "x"}]}]}\n',
        '[hooks]\nStop = [{hooks = [{type = "command", command = "x"}]}]\n',
    ],
)
def test_hooks_in_line_are_refused(text: str) -> None:
    with pytest.raises(Refused, match="in line"):
        settings_toml.merge(text, ENTRIES)


def test_ours_in_line_are_refused_at_removal() -> None:
    text = '[hooks]\nStop = [{hooks = [{type = "command", command = "git-coop drain --client codex"}]}]\n'
    with pytest.raises(Refused, match="in line"):
        settings_toml.strip(text)


def test_damage_is_told_with_line_and_column() -> None:
    with pytest.raises(Damaged) as caught:
        settings_toml.find("a = 1\nb = = 2\n")
    assert caught.value.sentence == "line 2, column 5: invalid value"
    with pytest.raises(Damaged) as caught:
        settings_toml.find("a = [1,\n")
    assert caught.value.line in (1, 2)


def test_settings_of_hooks_are_no_hooks() -> None:
    assert not settings_toml.has_hooks('[hooks.state."a"]\nx = 1\n')
    assert settings_toml.has_hooks("[[hooks.Stop]]\n")


values = st.sampled_from(
    ["1", '"x"', "'[[hooks.Stop]]'", '"""\n[[hooks.Stop]]\n"""', "[\n1, # ]\n2\n]", "{x = 1}", "'''\n'''"]
)
lines = st.one_of(
    st.sampled_from(["", "# [[hooks.Stop]]", "   "]),
    st.tuples(st.integers(0, 10**6), values).map(lambda pair: f"k{pair[0]} = {pair[1]}"),
    st.integers(0, 10**6).map(lambda number: f"[t{number}] # '"),
    st.sampled_from(["[[hooks.Stop]]", "[[hooks.Pre]]", "[[hooks.Stop]]\n [[hooks.Stop.hooks]]\n command = 'x'"]),
)


@given(st.lists(lines, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_install_and_uninstall_are_the_identity(parts: list[str], newline: str, ended: bool) -> None:
    text = newline.join(part.replace("\n", newline) for part in parts) + (newline if ended else "")
    try:
        settings_toml.load(text)
    except Damaged:
        return
    installed = settings_toml.merge(text, ENTRIES)
    assert settings_toml.merge(installed, ENTRIES) == installed
    assert settings_toml.strip(installed) == text

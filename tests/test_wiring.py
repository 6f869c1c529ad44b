"""Installing, uninstalling and the state of the hooks, over settings as people have them."""

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import hook_clients, hook_command, hook_status, wiring
from git_coop.errors import CoopError, Fatal, Refused, Usage
from git_coop.hook_clients import CLIENTS, LOCAL, PROJECT, USER
from git_coop.wiring import Plan, World
from tests.test_settings_file import entropy, tree

DATA = Path(__file__).parent / "data" / "settings"
KNOWN = [
    path for name in ("claude", "codex", "gemini", "cursor", "copilot") for path in sorted((DATA / name).iterdir())
]
BROKEN = sorted((DATA / "broken").iterdir())


class Home:
    """A home, a worktree in it, and a program that is there."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.root = place / "work tree"
        self.program = place / "bin of 'mine'" / "git-coop"
        for folder in (self.home, self.root, self.program.parent):
            folder.mkdir()
        self.program.write_text("#!/bin/sh\n")
        self.program.chmod(0o755)
        self.env = {"HOME": str(self.home), "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}"}

    @property
    def world(self) -> World:
        return World(self.env, str(self.root))

    def path(self, client: str, scope: str = USER) -> Path:
        return Path(hook_clients.paths(CLIENTS[client], scope, self.env, str(self.root))[0])

    def put(self, client: str, data: bytes, scope: str = USER) -> Path:
        path = self.path(client, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def install(self, client: str, scope: str = USER, program: str | None = None) -> Plan:
        plan = wiring.install(CLIENTS[client], scope, self.world, program or str(self.program))
        wiring.apply(plan, entropy)
        return plan

    def uninstall(self, client: str, scopes: tuple[str, ...] = wiring.SCOPES) -> list[Plan]:
        plans, errors = wiring.uninstall(CLIENTS[client], self.world, scopes)
        if errors:
            raise errors[0]
        for plan in plans:
            wiring.apply(plan, entropy)
        return plans

    def status(self, client: str, **options: str) -> hook_status.Wiring:
        return next(each for each in hook_status.status(self.world, **options) if each.client.name == client)


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(tmp_path)


SCOPES_OF_ALL = [(name, scope) for name, client in CLIENTS.items() for scope in client.files]


# ---- the collection


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_install_twice_and_uninstall_give_the_file_back(place: Home, path: Path) -> None:
    client, original = path.parent.name, path.read_bytes()
    file = place.put(client, original)
    before = tree(place.home)
    place.install(client)
    installed = file.read_bytes()
    assert installed != original
    state = file.stat()
    assert not place.install(client).changes
    assert file.stat() == state
    events = [found.event for each in place.status(client).places for found in each.ours]
    assert sorted(events) == sorted(CLIENTS[client].events)
    place.uninstall(client)
    assert tree(place.home) == before


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_was_there_is_still_there_word_for_word(place: Home, path: Path) -> None:
    client, original = path.parent.name, path.read_bytes()
    file = place.put(client, original)
    place.install(client)
    rest = iter(file.read_bytes())
    assert all(byte in rest for byte in original), "the file is no longer a subsequence"


MULTILINE = [path for path in KNOWN if path.stem in ("usual", "config", "version", "state")]


@pytest.mark.parametrize("path", MULTILINE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_difference_shows_added_lines_only(place: Home, path: Path) -> None:
    text = path.read_bytes().replace(b'"Stop": [{', b'"Stop": [\n{').replace(b'"AfterAgent": [{', b'"AfterAgent": [\n{')
    place.put(path.parent.name, text)
    plan = wiring.install(CLIENTS[path.parent.name], USER, place.world, str(place.program))
    lines = wiring.diff(plan).splitlines()[2:]
    assert [line for line in lines if line.startswith("-")] == []
    assert [line for line in lines if line.startswith("+")] != []


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_a_person_s_edits_in_between_stay(place: Home, client: str) -> None:
    original = (DATA / client / "usual.json").read_text()
    file = place.put(client, original.encode())

    def edited(text: str) -> str:
        text = text.replace('"model": "opus"', '"model": "haiku"').replace("~/bin/check.sh", "~/bin/other.sh")
        return text.replace('  "statusLine"', '  // mine\n  "theirs": {"a": []},\n  "statusLine"')

    assert edited(original).count("theirs") == 1
    place.install(client)
    file.write_text(edited(file.read_text()))
    place.install(client)
    place.uninstall(client)
    assert file.read_text() == edited(original)


def test_keys_added_to_a_file_that_installing_made_keep_it(place: Home) -> None:
    place.install("claude")
    file = place.path("claude")
    file.write_text(file.read_text().replace("{\n", '{\n  "model": "opus",\n', 1))
    place.uninstall("claude")
    assert file.read_text() == '{\n  "model": "opus"\n}\n'


@pytest.mark.parametrize(("client", "scope"), SCOPES_OF_ALL)
def test_what_installing_made_goes_with_it(place: Home, client: str, scope: str) -> None:
    before = tree(place.home.parent)
    plan = place.install(client, scope)
    assert plan.changes
    assert Path(plan.path).read_text() == hook_clients.fragment(CLIENTS[client], scope, str(place.program))
    assert not place.install(client, scope).changes
    assert not place.status(client).problems
    place.uninstall(client)
    assert tree(place.home.parent) == before


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_file_that_another_program_wrote_anew_loses_ours_and_no_more(place: Home, indent: int | None) -> None:
    file = place.put("claude", b'{"model": "opus", "hooks": {"PreToolUse": []}}')
    place.install("claude")
    file.write_text(json.dumps({**json.loads(file.read_text()), "theirs": 1}, indent=indent))
    place.uninstall("claude")
    assert json.loads(file.read_text()) == {"model": "opus", "hooks": {"PreToolUse": []}, "theirs": 1}


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_file_that_cannot_be_parsed_is_left_alone(place: Home, path: Path) -> None:
    file = place.put("claude", path.read_bytes())
    before = tree(place.home)
    with pytest.raises(Refused, match=r"settings\.json': line \d+, column \d+: ") as caught:
        place.install("claude")
    assert caught.value.status == 1
    assert str(file) in caught.value.sentence
    assert tree(place.home) == before


def test_a_file_of_two_megabytes(place: Home) -> None:
    many = {f"key {number}": {"command": "x" * 40, "list": [1, 2, {"a": None}]} for number in range(16000)}
    original = json.dumps(
        {**many, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}, indent=4
    ).encode()
    assert len(original) > 2_000_000
    file = place.put("claude", original)
    place.install("claude")
    place.uninstall("claude")
    assert file.read_bytes() == original


# ---- ours, edited, foreign

OURS = [
    "/opt/x/git-coop drain --client claude",
    "'/opt/it'\"'\"'s mine/git-coop' drain --client claude",
    "git coop drain --client claude",
    "git-coop drain --client=claude",
    "command -v git-coop >/dev/null 2>&1 && git coop drain --client claude || true",
    "/opt/x/git-coop drain --client gemini 2>/dev/null || echo '{}'",
    "/opt/x/git-coop drain --client claude --anchor /x",
]
EDITED = [
    "git coop drain",
    "git coop drain --event stop",
    "git coop drain --client claude | tee log",
    "git coop drain --client claude; date",
    "sh -c 'git-coop drain --client claude'",
    "A=1 /opt/x/git-coop drain --client claude",
    "git coop drain --client $(name)",
    "git coop drain --client claude\ndate",
]
FOREIGN = [
    "",
    "git commit -m coop",
    "git -C coop status",
    "git coop status",
    "/opt/git-coop-status/run drain",
    "my-git-coop drain --client claude",
    "git-coop-x drain --client claude",
    "git-coop draining --client claude",
    "echo 'git",
]


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        *itertools.product(OURS, ["ours"]),
        *itertools.product(EDITED, ["edited"]),
        *itertools.product(FOREIGN, ["foreign"]),
    ],
)
def test_whose_a_command_is(command: str, verdict: str) -> None:
    assert hook_command.judge(command) == verdict


@pytest.mark.parametrize("command", EDITED)
def test_an_edited_hook_is_reported_and_left_alone(place: Home, command: str) -> None:
    place.install("claude")
    file = place.path("claude")
    value = json.loads(file.read_text())
    value["hooks"]["Stop"][0]["hooks"][0]["command"] = command
    file.write_text(json.dumps(value))
    assert place.install("claude").changes is False
    (plan,) = place.uninstall("claude")
    assert [(found.event, found.command) for found in plan.edited] == [("Stop", command)]
    assert json.loads(file.read_text()) == {"hooks": {"Stop": value["hooks"]["Stop"]}}
    assert "an edited hook at Stop" in place.status("claude").problems[0]


@pytest.mark.parametrize("command", FOREIGN)
def test_a_foreign_hook_stays(place: Home, command: str) -> None:
    value = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    original = json.dumps(value).encode()
    file = place.put("claude", original)
    place.install("claude")
    place.uninstall("claude")
    assert file.read_bytes() == original


def test_an_entry_that_shares_a_group_keeps_the_group(place: Home) -> None:
    place.install("claude")
    file = place.path("claude")
    value = json.loads(file.read_text())
    theirs = {"type": "command", "command": "theirs"}
    value["hooks"]["Stop"][0]["hooks"].append(theirs)
    value["hooks"]["SessionStart"][0]["hooks"].insert(0, theirs)
    value["hooks"]["SessionStart"][0]["matcher"] = "startup"
    file.write_text(json.dumps(value, indent=1))
    place.uninstall("claude")
    assert json.loads(file.read_text())["hooks"] == {
        "SessionStart": [{"hooks": [theirs], "matcher": "startup"}],
        "Stop": [{"hooks": [theirs]}],
    }


def test_doubled_entries_become_one(place: Home) -> None:
    place.install("claude")
    file = place.path("claude")
    value = json.loads(file.read_text())
    value["hooks"]["Stop"] *= 3
    file.write_text(json.dumps(value, indent=2))
    place.install("claude")
    assert len(json.loads(file.read_text())["hooks"]["Stop"]) == 1


def test_a_program_that_moved_is_mended_and_others_are_left(place: Home) -> None:
    place.install("claude", program="/gone/git-coop")
    assert "is not there: '/gone/git-coop'" in place.status("claude").problems[0]
    assert place.install("claude").changes
    assert place.status("claude").problems == ()
    link = place.home / "git-coop"
    link.symlink_to(place.program)
    assert not place.install("claude", program=str(link)).changes


def test_a_prompt_or_stop_hook_that_is_missing_is_broken_wiring(place: Home) -> None:
    place.install("claude")
    file = place.path("claude")
    value = json.loads(file.read_text())
    del value["hooks"]["UserPromptSubmit"], value["hooks"]["Stop"]
    file.write_text(json.dumps(value))
    first, second = place.status("claude").problems
    assert first.startswith("no prompt hook (UserPromptSubmit) in ")
    assert second.startswith("no stop hook (Stop) in ")
    place.install("claude")
    assert place.status("claude").problems == ()


# ---- scopes


def test_a_second_scope_is_refused_with_the_place_of_the_first(place: Home) -> None:
    first = place.install("codex")
    with pytest.raises(Refused) as caught:
        place.install("codex", PROJECT)
    assert first.path in caught.value.sentence
    assert not place.path("codex", PROJECT).exists()


def test_uninstalling_without_a_scope_takes_every_one(place: Home) -> None:
    for scope in (USER, PROJECT, LOCAL):
        place.put("claude", hook_clients.fragment(CLIENTS["claude"], scope, str(place.program)).encode(), scope)
    assert "installed in 3 places" in place.status("claude").problems[-1]
    place.uninstall("claude", (PROJECT,))
    assert place.path("claude").exists()
    assert not place.path("claude", PROJECT).exists()
    place.uninstall("claude")
    assert not place.path("claude").exists()
    assert not place.path("claude", LOCAL).exists()


def test_a_damaged_file_bars_no_other(place: Home) -> None:
    place.install("claude")
    place.put("claude", b"{", PROJECT)
    plans, errors = wiring.uninstall(CLIENTS["claude"], place.world)
    assert [plan.scope for plan in plans] == [USER]
    assert [str(place.path("claude", PROJECT)) in error.sentence for error in errors] == [True]
    assert "cannot parse" in place.status("claude").problems[0]


@pytest.mark.parametrize("client", [name for name, client in CLIENTS.items() if LOCAL not in client.files])
def test_a_scope_that_the_client_has_not_is_a_usage_error(place: Home, client: str) -> None:
    with pytest.raises(Usage) as caught:
        place.install(client, LOCAL)
    assert caught.value.hint == "it has --user and --project"


def test_outside_of_a_worktree_there_is_the_user_s_scope_alone(place: Home) -> None:
    outside = World(place.env, None)
    with pytest.raises(Fatal):
        wiring.install(CLIENTS["claude"], PROJECT, outside, str(place.program))
    assert wiring.install(CLIENTS["claude"], USER, outside, str(place.program)).changes


def test_a_home_that_is_a_worktree_has_one_file_for_two_scopes(place: Home) -> None:
    place.root = place.home
    place.install("claude")
    assert not place.install("claude").changes
    assert place.status("claude").problems == ()
    assert len(place.uninstall("claude")) == 1


def test_clients_own_variables_are_honoured(place: Home, tmp_path: Path) -> None:
    names = {
        "claude": "CLAUDE_CONFIG_DIR",
        "codex": "CODEX_HOME",
        "copilot": "COPILOT_HOME",
        "opencode": "XDG_CONFIG_HOME",
        "gemini": "GEMINI_CLI_HOME",
    }
    for client, variable in names.items():
        place.env[variable] = str(tmp_path / client)
        assert place.path(client).is_relative_to(tmp_path / client)
    place.env["XDG_CONFIG_HOME"] = "relative"
    assert place.path("opencode") == place.home / ".config/opencode/plugins/git-coop.js"


def test_codex_has_its_hooks_in_toml_where_others_are(place: Home) -> None:
    original = (DATA / "toml" / "usual.toml").read_bytes()
    file = place.path("codex").with_name("config.toml")
    file.parent.mkdir()
    file.write_bytes(original)
    assert place.install("codex").path == str(file)
    assert not place.install("codex").changes
    assert place.status("codex").problems == ()
    place.uninstall("codex")
    assert file.read_bytes() == original
    assert not place.path("codex").exists()


def test_codex_has_json_where_toml_holds_no_hooks(place: Home) -> None:
    file = place.put("codex", b"{}").with_name("config.toml")
    file.write_text('model = "x"\n[hooks.state."a"]\ntrusted_hash = "y"\n')
    assert place.install("codex").path == str(place.path("codex"))


def test_cursor_says_what_it_cannot_show_and_what_it_reads(place: Home) -> None:
    place.install("cursor")
    assert place.status("cursor").problems == ()
    assert "mail is shown at start only" in place.status("cursor", stop_delivery="never").problems[0]
    place.install("claude")
    assert "Cursor runs Claude Code's hooks" in place.status("cursor").problems[0]


def test_hooks_that_are_switched_off_are_told(place: Home) -> None:
    place.put("claude", b'{"disableAllHooks": true}')
    place.install("claude")
    assert "switches every hook off" in place.status("claude").problems[0]
    place.put("gemini", b'{"hooksConfig": {"enabled": false}}')
    place.install("gemini")
    assert "switches every hook off" in place.status("gemini").problems[0]


def test_project_hooks_need_the_program_on_the_path(place: Home) -> None:
    place.install("claude", PROJECT)
    assert place.status("claude").problems == ()
    place.program.unlink()
    place.env["PATH"] = "/nowhere"
    assert "is not there: 'git'" in place.status("claude").problems[0]


# ---- the plugin file


def test_an_edited_plugin_is_left_alone(place: Home) -> None:
    place.install("opencode")
    file = place.path("opencode")
    file.write_text(file.read_text() + "// mine\n")
    before = tree(place.home)
    with pytest.raises(Refused):
        place.install("opencode")
    (plan,) = place.uninstall("opencode")
    assert not plan.changes
    assert len(plan.edited) == 3
    assert tree(place.home) == before


def test_another_plugin_in_our_place_is_left_alone(place: Home) -> None:
    place.put("opencode", b"export const Theirs = async () => ({});\n")
    with pytest.raises(Refused):
        place.install("opencode")
    assert place.uninstall("opencode") == []


# ---- the program


def test_a_path_that_is_not_utf_8_is_refused(place: Home) -> None:
    with pytest.raises(Refused, match="UTF-8"):
        place.install("claude", program="/x\udcff/git-coop")


def make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_program_is_found_past_a_shim(tmp_path: Path) -> None:
    shim = make(tmp_path / ".pyenv" / "shims" / "git-coop")
    real = make(tmp_path / ".pyenv" / "versions" / "3.11.7" / "bin" / "git-coop")
    interpreter = str(Path(real).with_name("python"))
    find: Callable[..., str] = hook_command.find_program
    assert find(real, "/usr/bin/python", "/", os.path.dirname(shim)) == real
    assert find("/x/git_coop/__main__.py", interpreter, "/", os.path.dirname(shim)) == real
    assert find(shim, interpreter, "/", os.path.dirname(shim)) == real
    with pytest.raises(Fatal):
        find(shim, "/usr/bin/python", "/", os.path.dirname(shim))


def test_a_relative_call_becomes_absolute_and_links_lead_to_what_lasts(tmp_path: Path) -> None:
    real = make(tmp_path / "venv" / "bin" / "git-coop")
    link = tmp_path / "bin" / "git-coop"
    link.parent.mkdir()
    link.symlink_to(real)
    assert hook_command.find_program("bin/git-coop", "/python", str(tmp_path), "") == real
    link.unlink()
    link.symlink_to(make(tmp_path / "Cellar" / "git-coop" / "1.2.3" / "bin" / "git-coop"))
    assert hook_command.find_program(str(link), "/python", "/", "") == str(link)


def test_errors_are_of_the_one_tree() -> None:
    assert issubclass(Refused, CoopError)
    assert len(hook_status.INSTRUCTIONS) < 1200

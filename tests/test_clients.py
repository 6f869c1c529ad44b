import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop.clients import NAMES, adapter, recognise
from git_coop.errors import Usage
from git_coop.event import Say
from tests.support.answers import PAYLOADS, said

ROOT = Path(__file__).parent.parent
Fields = dict[str, object]

CLAUDE = {"session_id": "5e55", "transcript_path": "/t.jsonl", "cwd": "/repo"}
CODEX = {**CLAUDE, "transcript_path": None, "model": "m", "permission_mode": "default"}
GEMINI = {**CLAUDE, "timestamp": "2026-11-30T10:45:12.123Z"}
CURSOR = {"conversation_id": "c0", "generation_id": "g", "cursor_version": "3.7", "workspace_roots": ["/repo"]}
CAMEL = {"sessionId": "c0b1", "timestamp": 1796035512123, "cwd": "/repo"}
SNAKE = {"session_id": "c0b1", "timestamp": "2026-11-30T10:45:12.123Z", "cwd": "/repo"}
PLUGIN = {"sessionID": "ses_1", "directory": "/repo"}


def named(name: str, fields: Mapping[str, object], **more: object) -> Fields:
    return {**fields, "hook_event_name": name, **more}


# Each client's three payloads, as documented and as measured, start first.
FORMS: dict[str, list[Fields]] = {
    "claude": [
        named("SessionStart", CLAUDE, source="startup"),
        named("SessionStart", CLAUDE, source="startup", model="opus", session_title="t"),
        named("UserPromptSubmit", CLAUDE, prompt_id="p", permission_mode="default", prompt="hi"),
        named("Stop", CLAUDE, prompt_id="p", permission_mode="default", stop_hook_active=False),
        named("UserPromptSubmit", CLAUDE, permission_mode="default", prompt="hi"),  # before 2.1.196
        named("Stop", CLAUDE, permission_mode="default", stop_hook_active=False),
    ],
    "codex": [
        named("SessionStart", CODEX, source="startup"),
        named("UserPromptSubmit", CODEX, turn_id="t", prompt="hi"),
        named("Stop", CODEX, turn_id="t", stop_hook_active=False, last_assistant_message="x"),
    ],
    "gemini": [
        named("SessionStart", GEMINI, source="startup"),
        named("BeforeAgent", GEMINI, prompt="hi"),
        named("AfterAgent", GEMINI, prompt="hi", prompt_response="x", stop_hook_active=False),
        named("PreCompress", GEMINI, trigger="auto"),
    ],
    "cursor": [
        named("sessionStart", CURSOR, session_id="c0", is_background_agent=False),
        named("beforeSubmitPrompt", CURSOR, prompt="hi", attachments=[]),
        named("stop", CURSOR, status="completed", loop_count=0),
    ],
    "copilot": [
        {**CAMEL, "source": "new", "initialPrompt": "hi"},
        {**CAMEL, "prompt": "hi"},
        {**CAMEL, "transcriptPath": "/t", "stopReason": "end_turn", "stop_hook_active": False},
        named("SessionStart", SNAKE, source="new", initial_prompt="hi"),
        named("SessionStart", SNAKE, source="resume"),
        named("UserPromptSubmit", SNAKE, prompt="hi"),
        named("Stop", SNAKE, transcript_path="/t", stop_reason="end_turn", stop_hook_active=False),
    ],
    "opencode": [
        named("session.created", PLUGIN),
        named("chat.message", PLUGIN, prompt="hi"),
        named("session.idle", PLUGIN),
    ],
}
# What each client sets for its hooks, as far as its documents or a run say.
HOOK_ENV: dict[str, dict[str, str]] = {
    "claude": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "5e55", "CLAUDE_PROJECT_DIR": "/repo"},
    "codex": {},
    "gemini": {"GEMINI_SESSION_ID": "5e55", "GEMINI_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/repo"},
    "cursor": {"CURSOR_VERSION": "3.7", "CURSOR_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/repo"},
    "copilot": {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/repo"},
    "opencode": {},
}
# What a client that was started from another's shell tool may inherit.
OUTER_ENV: dict[str, dict[str, str]] = {
    "nothing": {},
    "claude": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "outer", "CLAUDE_PROJECT_DIR": "/outer"},
    "codex": {"CODEX_THREAD_ID": "outer", "CODEX_SESSION_ID": "outer"},
    "gemini": {"GEMINI_CLI": "1", "GEMINI_SESSION_ID": "outer", "GEMINI_PROJECT_DIR": "/outer"},
    "cursor": {"CURSOR_AGENT": "1", "CURSOR_CONVERSATION_ID": "outer", "CURSOR_VERSION": "3.7"},
    "copilot": {"COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/outer", "COPILOT_AGENT_SESSION_ID": "outer"},
}
CASES = [(client, form) for client, forms in FORMS.items() for form in forms]


@pytest.mark.parametrize("outer", OUTER_ENV)
@pytest.mark.parametrize(("client", "form"), CASES)
def test_a_client_is_recognised_without_and_by_its_own_name_wherever_it_was_started(
    client: str, form: Fields, outer: str
) -> None:
    env = {**OUTER_ENV[outer], **HOOK_ENV[client]}
    assert recognise(form, env, None) == client
    assert recognise(form, env, client) == client


@pytest.mark.parametrize(("client", "form"), [case for case in CASES if case[0] in ("cursor", "copilot")])
def test_a_client_that_runs_claudes_hooks_is_itself(client: str, form: Fields) -> None:
    assert recognise(form, HOOK_ENV[client], "claude") == client
    assert recognise(form, {}, "claude") == client


@pytest.mark.parametrize(("client", "form"), [case for case in CASES if case[0] in ("gemini", "codex")])
def test_a_claude_command_that_was_copied_is_answered_by_the_payload(client: str, form: Fields) -> None:
    found = recognise(form, HOOK_ENV[client], "claude")
    # The two starts without a mark of their own are answered in the same shape by all three.
    assert found == client or form["hook_event_name"] == "SessionStart"


@pytest.mark.parametrize(
    ("form", "env", "name", "found"),
    [
        # The two forms that claude and codex share: the name decides.
        (named("SessionStart", CLAUDE, source="startup"), {}, "codex", "codex"),
        (named("SessionStart", CODEX, source="startup"), {}, "claude", "claude"),
        (named("Stop", CLAUDE, stop_hook_active=False), {}, "codex", "codex"),
        (named("Stop", CLAUDE, turn_id="t", prompt_id="p"), {}, "codex", "codex"),
        (named("Stop", CLAUDE, turn_id="t", prompt_id="p"), {}, None, "claude"),
        # Imported hooks of a client whose payload says less than it is documented to.
        (named("SessionStart", {"session_id": "s", "cwd": "/repo"}), {"COPILOT_CLI": "1"}, "claude", "copilot"),
        (named("SessionStart", {"session_id": "s", "cwd": "/r"}), {"COPILOT_PROJECT_DIR": "/r"}, None, "copilot"),
        (named("stop", {"conversation_id": "c0"}), {"CURSOR_VERSION": "3.7"}, "claude", "cursor"),
        ({}, {"COPILOT_CLI": "1"}, "claude", "copilot"),
        ({}, {"COPILOT_CLI": "1"}, "codex", "codex"),
        ({}, {"CURSOR_VERSION": "3.7"}, "gemini", "gemini"),
        ({}, {"GEMINI_SESSION_ID": "s"}, None, "gemini"),
        ({}, {"GEMINI_SESSION_ID": "s"}, "claude", "claude"),
        (named("Stop", {"session_id": "s"}), {"GEMINI_SESSION_ID": "outer"}, None, "claude"),
        # Clients that we have no adapter for, and whose payload is like Claude's with a time.
        (named("Stop", GEMINI, permission_mode="default"), {}, "claude", "claude"),
        (named("UserPromptSubmit", GEMINI, prompt="hi"), {}, None, "claude"),
        # A name is kept where the payload shows nothing, and an unknown one is none.
        (named("Stop", CLAUDE), {}, "opencode", "opencode"),
        ({}, {}, "cursor", "cursor"),
        ({}, {}, None, "claude"),
        ({}, {}, "nobody", "claude"),
        # Gemini's start without a transcript is not Copilot's where the command says gemini.
        (named("SessionStart", SNAKE, source="startup"), {}, "gemini", "gemini"),
        # Values of a wrong kind are no evidence.
        ({"cursor_version": 3, "sessionId": None, "turn_id": [], "timestamp": {}}, {}, "codex", "codex"),
        ({"hook_event_name": ["BeforeAgent"]}, {}, None, "claude"),
    ],
)
def test_other_evidence(form: Fields, env: dict[str, str], name: str | None, found: str) -> None:
    assert recognise(form, env, name) == found


@given(PAYLOADS, st.sampled_from([None, "nobody", *NAMES]), st.sampled_from(list(OUTER_ENV)))
def test_any_payload_is_somebodys_and_is_answered(payload: Fields, name: str | None, outer: str) -> None:
    found = recognise(payload, OUTER_ENV[outer], name)
    assert found in NAMES
    client = adapter(found)
    said(client.answer(client.event(payload, OUTER_ENV[outer]), Say("text", "human")))


@pytest.mark.parametrize("client", NAMES)
def test_every_client_answers_every_kind_of_event_of_its_own(client: str) -> None:
    found = adapter(client)
    events = [found.event(form, HOOK_ENV[client]) for form in FORMS[client]]
    assert {event.client for event in events} == {client}
    assert {event.kind for event in events} - {""} == {"start", "prompt", "stop"}
    for event in events:
        assert isinstance(said(found.answer(event, Say("text", "human"))), dict) == bool(
            event.kind or client != "claude"
        )


def test_an_unknown_client_is_a_usage_error() -> None:
    with pytest.raises(Usage, match="unknown client 'nobody'"):
        adapter("nobody")


@pytest.mark.parametrize("client", NAMES)
def test_an_adapter_loads_no_other_and_nothing_dear(client: str) -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules);"
        "from git_coop import clients; clients.adapter(sys.argv[2]); print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT), client]
    loaded = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    own = {"git_coop", "git_coop.clients", "git_coop.record", "git_coop.event", "git_coop.payload"}
    own |= {f"git_coop.clients.{name}" for name in ("encode", client)}
    hashing = {"git_coop.files", "git_coop.errors", "_sha2", "_sha256"} if client == "gemini" else set()
    assert set(loaded) - hashing == own

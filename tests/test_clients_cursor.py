from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, cursor
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = cursor
COMMON = {
    "conversation_id": "c0",
    "generation_id": "g-1",
    "model": "m",
    "cursor_version": "3.7.21",
    "workspace_roots": ["/repo/wt", "/elsewhere"],
    "user_email": None,
    "transcript_path": None,
}


def call(name: str, **fields: object) -> dict[str, object]:
    return {**COMMON, "hook_event_name": name, **fields}


def event(kind: str, name: str, **facts: object) -> Event:
    own = Event(kind, "cursor", name, session="c0", turn="g-1", directory="/repo/wt", marked=False)
    return own.replace(**facts)


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (
            call("sessionStart", session_id="c0", is_background_agent=False, composer_mode="agent"),
            event("start", "sessionStart"),
        ),
        (
            call("beforeSubmitPrompt", prompt="hello", attachments=[]),
            event("prompt", "beforeSubmitPrompt", prompt="hello", arrives=False),
        ),
        (call("stop", status="completed", loop_count=0), event("stop", "stop")),
        (call("stop", status="completed", loop_count=1), event("stop", "stop", continued=True)),
        (call("stop", status="aborted", loop_count=0), event("stop", "stop", interrupted=True)),
        (call("stop", status="error", loop_count=0), event("stop", "stop", interrupted=True)),
        (call("stop", status="not heard of yet"), event("stop", "stop", interrupted=True)),
        (call("stop", status=7, loop_count="1"), event("stop", "stop")),
        (call("SessionStart"), event("start", "SessionStart")),
        (call("UserPromptSubmit", prompt="hi"), event("prompt", "UserPromptSubmit", prompt="hi", arrives=False)),
        (call("Stop", status="completed"), event("stop", "Stop")),
    ],
)
def test_events(payload: dict[str, object], found: Event) -> None:
    assert cursor.event(payload, {}) == found


@pytest.mark.parametrize(
    "name",
    [
        *("sessionEnd", "preCompact", "postToolUse", "preToolUse", "beforeShellExecution", "afterFileEdit"),
        *("subagentStart", "subagentStop", "afterAgentResponse", "x"),
    ],
)
def test_other_events_are_nothing(name: str) -> None:
    assert cursor.event(call(name, status="aborted"), {}) == event("", name)
    assert cursor.answer(cursor.event(call(name), {}), Say("text", "human")) == b"{}\n"


def test_the_session_is_the_conversation_and_else_the_session_id() -> None:
    assert cursor.event(call("stop", session_id="other"), {}).session == "c0"
    assert cursor.event(call("stop", conversation_id=None, session_id="other"), {}).session == "other"


def test_the_directory_is_the_first_root_and_else_a_variable() -> None:
    env = {"CURSOR_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/alias"}
    assert cursor.event(call("stop"), env).directory == "/repo/wt"
    assert cursor.event(call("stop", cwd="/repo/wt/sub"), env).directory == "/repo/wt/sub"
    assert cursor.event(call("stop", workspace_roots=[]), env).directory == "/repo"
    assert cursor.event(call("stop", workspace_roots=[]), {"CLAUDE_PROJECT_DIR": "/alias"}).directory == "/alias"


def test_wrong_types_are_absent_fields() -> None:
    wrong: dict[str, object] = {key: ["x", None] for key in [*COMMON, "prompt", "status", "loop_count", "agent_id"]}
    wrong["workspace_roots"] = [7]
    assert cursor.event({**wrong, "hook_event_name": "stop"}, {}) == Event("stop", "cursor", "stop", marked=False)


@pytest.mark.parametrize("text", HOSTILE)
def test_each_event_has_its_own_key(text: str) -> None:
    start, prompt, stop = (Event(kind, "cursor") for kind in ("start", "prompt", "stop"))
    assert said(cursor.answer(start, Say(text, text))) == {"additional_context": clean(text)}
    assert said(cursor.answer(stop, Say(text, text))) == {"followup_message": clean(text)}
    assert said(cursor.answer(prompt, Say(text, text))) == {}


def test_silence_is_an_empty_object() -> None:
    for kind in ("start", "prompt", "stop", ""):
        assert cursor.answer(Event(kind, "cursor"), Say(human="a fault")) == b"{}\n"


def test_the_stop_is_the_only_channel() -> None:
    assert (cursor.PROMPT_CARRIES, cursor.STOP_CHANNEL) == (False, "only")
    assert adapter("cursor") is cursor


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    assert said(cursor.answer(cursor.event(payload, {}), Say("text", "human"))) is not None

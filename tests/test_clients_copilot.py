from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, copilot
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = copilot
CAMEL = {"sessionId": "c0b1", "timestamp": 1796035512123, "cwd": "/repo/wt"}
SNAKE = {"session_id": "c0b1", "timestamp": "2026-11-30T10:45:12.123Z", "cwd": "/repo/wt"}
TRANSCRIPT = "/home/u/.copilot/session-state/c0b1/events.jsonl"
STOP = {"transcriptPath": TRANSCRIPT, "stopReason": "end_turn", "stop_hook_active": False}
SNAKE_STOP = {"transcript_path": TRANSCRIPT, "stop_reason": "end_turn", "stop_hook_active": False}
INSIDE = {"agentId": "a-1", "agentType": "task", "parentAgentId": "main"}


def event(kind: str, name: str, **facts: object) -> Event:
    return Event(kind, "copilot", name, session="c0b1", directory="/repo/wt", marked=False).replace(**facts)


@pytest.mark.parametrize("source", ["startup", "resume", "new"])
def test_every_start_is_a_start(source: str) -> None:
    assert copilot.event({**CAMEL, "source": source}, {}) == event("start", "sessionStart")
    assert copilot.event({**CAMEL, "source": source, "initialPrompt": "hi"}, {}) == event("start", "sessionStart")
    imported = {**SNAKE, "hook_event_name": "SessionStart", "source": source, "initial_prompt": "hi"}
    assert copilot.event(imported, {}) == event("start", "SessionStart")


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({**CAMEL, "prompt": "hello"}, event("prompt", "userPromptSubmitted", prompt="hello")),
        ({**CAMEL, "prompt": ""}, event("prompt", "userPromptSubmitted")),
        ({**CAMEL, **STOP}, event("stop", "agentStop")),
        ({**CAMEL, **STOP, "stop_hook_active": True}, event("stop", "agentStop", continued=True)),
        (
            {**SNAKE, "hook_event_name": "UserPromptSubmit", "prompt": "hello"},
            event("prompt", "UserPromptSubmit", prompt="hello"),
        ),
        ({**SNAKE, "hook_event_name": "Stop", **SNAKE_STOP}, event("stop", "Stop")),
        (
            {**SNAKE, "hook_event_name": "Stop", **SNAKE_STOP, "stop_hook_active": True},
            event("stop", "Stop", continued=True),
        ),
        (
            {**CAMEL, "prompt": "task", **INSIDE},
            event("prompt", "userPromptSubmitted", prompt="task", subagent=True),
        ),
        ({**CAMEL, **STOP, **INSIDE}, event("stop", "agentStop", subagent=True)),
        (
            {**SNAKE, "hook_event_name": "Stop", **SNAKE_STOP, "agent_id": "a-1"},
            event("stop", "Stop", subagent=True),
        ),
        ({**CAMEL, **STOP, "hook_event_name": "agentStop"}, event("stop", "agentStop")),
    ],
)
def test_events(payload: dict[str, object], found: Event) -> None:
    assert copilot.event(payload, {}) == found


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": "user_exit"},
        {"toolName": "bash", "toolArgs": "{}"},
        {"toolName": "bash", "toolArgs": "{}", "toolResult": {"resultType": "success", "textResultForLlm": "x"}},
        {"transcriptPath": TRANSCRIPT, "agentName": "explore", "agentDisplayName": "Explore"},
        {"transcriptPath": TRANSCRIPT, "agentName": "explore", "stopReason": "end_turn", "response": "x"},
        {"error": {"message": "m", "name": "n"}, "errorContext": "model_call", "recoverable": True},
        {"transcriptPath": TRANSCRIPT, "trigger": "auto", "customInstructions": ""},
        {"prompt": "p", "transformedPrompt": "q"},
        {"message": "m", "notification_type": "agent_idle"},
        {},
    ],
)
def test_other_events_are_nothing(fields: dict[str, object]) -> None:
    assert copilot.event({**CAMEL, **fields}, {}) == event("", "", prompt=fields.get("prompt", ""))
    assert copilot.answer(copilot.event({**CAMEL, **fields}, {}), Say("text", "human")) == b"{}\n"


@pytest.mark.parametrize("name", ["SessionEnd", "SubagentStop", "PreCompact", "ErrorOccurred", "PreToolUse", "x"])
def test_other_named_events_are_nothing(name: str) -> None:
    assert copilot.event({**SNAKE, "hook_event_name": name, **SNAKE_STOP}, {}) == event("", name)


def test_the_project_directory_stands_in_for_a_missing_cwd() -> None:
    env = {"COPILOT_PROJECT_DIR": "/repo", "CLAUDE_PROJECT_DIR": "/other"}
    assert copilot.event({**CAMEL, "cwd": None, **STOP}, env) == event("stop", "agentStop", directory="/repo")


def test_wrong_types_are_absent_fields() -> None:
    wrong = dict.fromkeys([*CAMEL, "prompt", "source", "initialPrompt", "agentId"], 7)
    assert copilot.event(wrong, {}) == Event("", "copilot", marked=False)
    assert copilot.event({**wrong, **STOP}, {}) == Event("stop", "copilot", "agentStop", marked=False)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_goes_in_a_context_at_the_top_and_in_a_block_at_the_stop(text: str) -> None:
    for kind, name in (("start", "SessionStart"), ("start", "sessionStart"), ("prompt", "userPromptSubmitted")):
        answer = copilot.answer(Event(kind, "copilot", name), Say(text, text))
        assert said(answer) == {"additionalContext": clean(text)}
    answer = copilot.answer(Event("stop", "copilot", "agentStop"), Say(text, text))
    assert said(answer) == {"decision": "block", "reason": clean(text)}


def test_silence_is_an_empty_object() -> None:
    for kind in ("start", "prompt", "stop", ""):
        assert copilot.answer(Event(kind, "copilot"), Say(human="a fault")) == b"{}\n"


def test_the_stop_looks_like_the_user() -> None:
    assert (copilot.PROMPT_CARRIES, copilot.STOP_CHANNEL) == (True, "unmarked")
    assert adapter("copilot") is copilot


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    assert said(copilot.answer(copilot.event(payload, {}), Say("text", "human"))) is not None

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, codex
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = codex
COMMON = {"session_id": "01c0", "transcript_path": None, "cwd": "/repo/wt", "model": "m", "permission_mode": "default"}
STOP = {"turn_id": "t-1", "stop_hook_active": False, "last_assistant_message": "done"}


def call(name: str, **fields: object) -> dict[str, object]:
    return {**COMMON, "hook_event_name": name, **fields}


def event(kind: str, name: str, **facts: object) -> Event:
    return Event(kind, "codex", name, session="01c0", directory="/repo/wt").replace(**facts)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_every_start_is_a_start(source: str) -> None:
    assert codex.event(call("SessionStart", source=source), {}) == event("start", "SessionStart")


def test_a_prompt_and_a_stop_name_their_turn() -> None:
    prompt = call("UserPromptSubmit", turn_id="t-1", prompt="hello")
    assert codex.event(prompt, {}) == event("prompt", "UserPromptSubmit", turn="t-1", prompt="hello")
    assert codex.event(call("Stop", **STOP), {}) == event("stop", "Stop", turn="t-1")
    again = call("Stop", **{**STOP, "stop_hook_active": True})
    assert codex.event(again, {}) == event("stop", "Stop", turn="t-1", continued=True)


@pytest.mark.parametrize(
    "name",
    [
        *("SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Interrupt", "SessionEnd"),
        *("PreToolUse", "PostToolUse", "PermissionRequest", "x"),
    ],
)
def test_other_events_are_nothing(name: str) -> None:
    assert codex.event(call(name, turn_id="t-1"), {}) == event("", name, turn="t-1")
    assert codex.answer(codex.event(call(name), {}), Say("text", "human")) == b""


def test_a_subagent_has_an_agent_id() -> None:
    inside = call("Stop", **STOP, agent_id="a-1", agent_type="worker")
    assert codex.event(inside, {}) == event("stop", "Stop", turn="t-1", subagent=True)


def test_no_variable_stands_in_for_the_directory() -> None:
    outer = {"CLAUDE_PROJECT_DIR": "/other"}
    assert codex.event(call("Stop", cwd=7), outer) == event("stop", "Stop", directory=None)


def test_wrong_types_are_absent_fields() -> None:
    wrong = {key: {"a": 1} for key in [*COMMON, *STOP, "prompt", "agent_id"]}
    assert codex.event({**wrong, "hook_event_name": "Stop"}, {}) == Event("stop", "codex", "Stop")
    assert codex.event({"hook_event_name": None}, {}) == Event("", "codex")


@pytest.mark.parametrize(("kind", "name"), [("start", "SessionStart"), ("prompt", "UserPromptSubmit")])
@pytest.mark.parametrize("text", HOSTILE)
def test_text_goes_in_the_additional_context_of_start_and_prompt(kind: str, name: str, text: str) -> None:
    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": clean(text)}}
    for asked in (Event(kind, "codex", name), Event(kind, "codex")):
        assert said(codex.answer(asked, Say(text))) == context
        assert said(codex.answer(asked, Say(text, text))) == {**context, "systemMessage": clean(text)}
        assert said(codex.answer(asked, Say(human=text))) == {"systemMessage": clean(text)}
        assert codex.answer(asked, Say()) == b""


@pytest.mark.parametrize("text", HOSTILE)
def test_a_stop_blocks_for_text_and_for_nothing_else(text: str) -> None:
    stop, block = Event("stop", "codex", "Stop"), {"decision": "block", "reason": clean(text)}
    assert said(codex.answer(stop, Say(text))) == block
    assert said(codex.answer(stop, Say(text, text))) == {**block, "systemMessage": clean(text)}
    assert said(codex.answer(stop, Say(human=text))) == {"systemMessage": clean(text)}
    assert codex.answer(stop, Say()) == b""


def test_the_stop_is_marked_as_a_hooks() -> None:
    assert (codex.PROMPT_CARRIES, codex.STOP_CHANNEL, event("stop", "Stop").marked) == (True, "marked", True)
    assert adapter("codex") is codex


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    said(codex.answer(codex.event(payload, {}), Say("text", "human")))

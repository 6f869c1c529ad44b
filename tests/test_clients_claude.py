from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, claude
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = claude
COMMON = {"session_id": "5e55", "transcript_path": "/home/u/.claude/projects/p/5e55.jsonl", "cwd": "/repo/wt"}
TURN = {"prompt_id": "p-1", "permission_mode": "default"}
STOP = {
    **TURN,
    "effort": {"level": "high"},
    "stop_hook_active": False,
    "last_assistant_message": "done",
    "background_tasks": [],
    "session_crons": [],
}


def call(name: str, **fields: object) -> dict[str, object]:
    return {**COMMON, "hook_event_name": name, **fields}


def event(kind: str, name: str, **facts: object) -> Event:
    return Event(kind, "claude", name, session="5e55", directory="/repo/wt").replace(**facts)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_every_start_is_a_start(source: str) -> None:
    assert claude.event(call("SessionStart", source=source), {}) == event("start", "SessionStart")
    more = call("SessionStart", source=source, model="opus", agent_type="reviewer", session_title="t")
    assert claude.event(more, {}) == event("start", "SessionStart")


def test_a_prompt_and_a_stop_name_their_turn() -> None:
    prompt = call("UserPromptSubmit", **TURN, prompt="hello")
    assert claude.event(prompt, {}) == event("prompt", "UserPromptSubmit", turn="p-1", prompt="hello")
    assert claude.event(call("Stop", **STOP), {}) == event("stop", "Stop", turn="p-1")
    again = call("Stop", **{**STOP, "stop_hook_active": True})
    assert claude.event(again, {}) == event("stop", "Stop", turn="p-1", continued=True)


def test_versions_before_2_1_196_have_no_turn() -> None:
    assert claude.event(call("Stop", stop_hook_active=False), {}) == event("stop", "Stop")


@pytest.mark.parametrize(
    "name",
    [
        *("SubagentStart", "SubagentStop", "StopFailure", "SessionEnd", "PreCompact", "PostCompact", "Notification"),
        *("CwdChanged", "WorktreeCreate", "PreToolUse", "PostToolUse", "Setup", "stop", "BeforeAgent", "x"),
    ],
)
def test_other_events_are_nothing(name: str) -> None:
    assert claude.event(call(name, **TURN), {}) == event("", name, turn="p-1")
    assert claude.answer(claude.event(call(name), {}), Say("text", "human")) == b""


def test_a_subagent_has_an_agent_id_and_a_named_agent_has_not() -> None:
    inside = call("Stop", **STOP, agent_id="a-1", agent_type="Explore")
    assert claude.event(inside, {}) == event("stop", "Stop", turn="p-1", subagent=True)
    named = call("Stop", **STOP, agent_type="reviewer")
    assert claude.event(named, {}) == event("stop", "Stop", turn="p-1")


def test_the_project_directory_stands_in_for_a_missing_cwd() -> None:
    env = {"CLAUDE_PROJECT_DIR": "/repo"}
    assert claude.event(call("Stop", cwd=None), env) == event("stop", "Stop", directory="/repo")
    assert claude.event(call("Stop"), env) == event("stop", "Stop")
    assert claude.event(call("Stop", cwd=None), {}) == event("stop", "Stop", directory=None)


def test_wrong_types_are_absent_fields() -> None:
    wrong = {key: [1] for key in [*COMMON, *STOP, "prompt", "agent_id"]}
    assert claude.event({**wrong, "hook_event_name": "Stop"}, {}) == Event("stop", "claude", "Stop")
    assert claude.event({"hook_event_name": 7}, {}) == Event("", "claude")


@pytest.mark.parametrize(
    ("kind", "name"), [("start", "SessionStart"), ("prompt", "UserPromptSubmit"), ("stop", "Stop")]
)
@pytest.mark.parametrize("text", HOSTILE)
def test_text_goes_in_the_additional_context_of_the_event(kind: str, name: str, text: str) -> None:
    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": clean(text)}}
    for asked in (Event(kind, "claude", name), Event(kind, "claude")):
        assert said(claude.answer(asked, Say(text))) == context
        assert said(claude.answer(asked, Say(text, text))) == {**context, "systemMessage": clean(text)}
        assert said(claude.answer(asked, Say(human=text))) == {"systemMessage": clean(text)}
        assert claude.answer(asked, Say()) == b""


def test_the_stop_is_marked_as_a_hooks() -> None:
    assert (claude.PROMPT_CARRIES, claude.STOP_CHANNEL, event("stop", "Stop").marked) == (True, "marked", True)
    assert adapter("claude") is claude


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    said(claude.answer(claude.event(payload, {}), Say("text", "human")))

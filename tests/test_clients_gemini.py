import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, gemini
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = gemini
COMMON = {
    "session_id": "9e31",
    "transcript_path": "/home/u/.gemini/tmp/p/chats/session.json",
    "cwd": "/repo/wt",
    "timestamp": "2026-11-30T10:45:12.123Z",
}
HELLO = hashlib.sha256(b"hello").hexdigest()


def call(name: str, **fields: object) -> dict[str, object]:
    return {**COMMON, "hook_event_name": name, **fields}


def event(kind: str, name: str, **facts: object) -> Event:
    return Event(
        kind, "gemini", name, session="9e31", directory="/repo/wt", turn_is_unique=False, marked=False
    ).replace(**facts)


def after(response: object = "done", **fields: object) -> dict[str, object]:
    return call("AfterAgent", prompt="hello", prompt_response=response, **{"stop_hook_active": False, **fields})


@pytest.mark.parametrize(("source", "arrives"), [("startup", True), ("resume", True), ("clear", False)])
def test_the_context_of_a_start_after_clear_is_lost(source: str, arrives: bool) -> None:
    found = gemini.event(call("SessionStart", source=source), {})
    assert found == event("start", "SessionStart", arrives=arrives)


def test_prompt_and_stop_are_one_turn_by_the_prompts_hash() -> None:
    prompt = call("BeforeAgent", prompt="hello")
    assert gemini.event(prompt, {}) == event("prompt", "BeforeAgent", turn=HELLO, prompt="hello")
    assert gemini.event(after(), {}) == event("stop", "AfterAgent", turn=HELLO)
    again = event("stop", "AfterAgent", turn=HELLO, continued=True)
    assert gemini.event(after(stop_hook_active=True), {}) == again


def test_a_prompt_with_a_lone_surrogate_has_a_turn_too() -> None:
    found = gemini.event(call("BeforeAgent", prompt="\ud800"), {})
    assert found.turn == hashlib.sha256(b"\xed\xa0\x80").hexdigest()
    assert gemini.event(call("BeforeAgent", prompt=""), {}).turn is None


@pytest.mark.parametrize("response", ["", " \n", "[no response text]", "[no response text]\n", None, 7])
def test_a_stop_without_a_response_is_an_interrupt(response: object) -> None:
    assert gemini.event(after(response), {}) == event("stop", "AfterAgent", turn=HELLO, interrupted=True)


def test_a_response_that_only_speaks_of_it_is_no_interrupt() -> None:
    assert gemini.event(after("it printed [no response text]"), {}) == event("stop", "AfterAgent", turn=HELLO)


@pytest.mark.parametrize(
    "name",
    ["SessionEnd", "PreCompress", "Notification", "BeforeTool", "AfterTool", "BeforeModel", "AfterModel", "Stop", "x"],
)
def test_other_events_are_nothing(name: str) -> None:
    assert gemini.event(call(name, trigger="auto", reason="exit"), {}) == event("", name)
    assert gemini.answer(gemini.event(call(name), {}), Say("text", "human")) == b"{}\n"


def test_the_project_directory_stands_in_for_a_missing_cwd() -> None:
    env = {"CLAUDE_PROJECT_DIR": "/other", "GEMINI_CWD": "/repo/wt/sub", "GEMINI_PROJECT_DIR": "/repo/wt"}
    assert gemini.event(call("SessionStart", cwd=[]), env) == event("start", "SessionStart")


def test_wrong_types_are_absent_fields() -> None:
    wrong = dict.fromkeys([*COMMON, "prompt", "source", "stop_hook_active", "agent_id"], 7)
    found = Event("prompt", "gemini", "BeforeAgent", turn_is_unique=False, marked=False)
    assert gemini.event({**wrong, "hook_event_name": "BeforeAgent"}, {}) == found


@pytest.mark.parametrize(("kind", "name"), [("start", "SessionStart"), ("prompt", "BeforeAgent")])
@pytest.mark.parametrize("text", HOSTILE)
def test_text_goes_in_the_additional_context_of_start_and_prompt(kind: str, name: str, text: str) -> None:
    context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": clean(text)}}
    for asked in (Event(kind, "gemini", name), Event(kind, "gemini")):
        assert said(gemini.answer(asked, Say(text))) == context
        assert said(gemini.answer(asked, Say(text, text))) == {**context, "systemMessage": clean(text)}
        assert said(gemini.answer(asked, Say(human=text))) == {"systemMessage": clean(text)}
        assert gemini.answer(asked, Say()) == b"{}\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_stop_denies_for_text_and_for_nothing_else(text: str) -> None:
    stop, deny = Event("stop", "gemini", "AfterAgent"), {"decision": "deny", "reason": clean(text)}
    assert said(gemini.answer(stop, Say(text))) == deny
    assert said(gemini.answer(stop, Say(human=text))) == {"systemMessage": clean(text)}
    assert gemini.answer(stop, Say()) == b"{}\n"


def test_the_stop_looks_like_the_user() -> None:
    assert (gemini.PROMPT_CARRIES, gemini.STOP_CHANNEL) == (True, "unmarked")
    assert adapter("gemini") is gemini


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    assert said(gemini.answer(gemini.event(payload, {}), Say("text", "human"))) is not None

"""Codex: https://learn.chatgpt.com/docs/hooks; measured on 0.171.0.

Start and prompt take ``hookSpecificOutput.additionalContext``. ``Stop`` does not: its one channel is ``decision:
block``, whose reason reaches the model as a user message in ``<hook_prompt>``. One unknown key, a wrong event name or
plain text, and Codex drops the whole output. Silence is empty output.
"""

from git_coop.clients import encode
from git_coop.event import PROMPT, START, STOP, Event
from git_coop.payload import directory, is_true, of_subagent, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.event import Say
    from git_coop.payload import Payload

PROMPT_CARRIES = True
STOP_CHANNEL = "marked"
KINDS = {"SessionStart": START, "UserPromptSubmit": PROMPT, "Stop": STOP}
_NAMES = {kind: name for name, kind in KINDS.items()}


def event(payload: "Payload", env: "Mapping[str, str]") -> Event:
    """What the payload means. No variable names the directory or the session in a hook."""
    name = string(payload, "hook_event_name") or ""
    return Event(
        KINDS.get(name, ""),
        "codex",
        name,
        session=string(payload, "session_id"),
        turn=string(payload, "turn_id"),
        directory=directory(payload, env),
        prompt=string(payload, "prompt") or "",
        subagent=of_subagent(payload),
        continued=is_true(payload, "stop_hook_active"),
    )


def answer(event: Event, say: "Say") -> bytes:
    """One object, or nothing at all."""
    if event.kind == STOP:
        return encode.verdict("block", say)
    name = event.name or _NAMES.get(event.kind, "")
    return encode.context(name, say) if event.kind else b""

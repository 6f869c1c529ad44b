"""GitHub Copilot CLI: https://docs.github.com/en/copilot/reference/hooks-reference; measured on 1.0.102.

Text goes in a top-level ``additionalContext`` at start and prompt (the documentation says that a prompt's is dropped;
1.0.102 passes it on), at a stop in ``decision: block``, whose reason is handed to the model as a bare user message.
There is no place for text to the person. Silence is ``{}``.

The spelling of an event in the settings picks the payload: ``sessionStart`` gets camelCase fields and no event name,
``SessionStart``, as in Claude Code's settings, which Copilot reads too, snake_case ones with the name.
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
STOP_CHANNEL = "unmarked"
KINDS = {
    "sessionStart": START,
    "userPromptSubmitted": PROMPT,
    "agentStop": STOP,
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": STOP,
}
# Fields of the events that are not ours; some of them carry our fields as well.
_FOREIGN = (
    *("toolName", "agentName", "error", "errorContext", "reason", "trigger"),
    *("transformedPrompt", "notification_type", "notificationType"),
)


def _name(payload: "Payload") -> str:
    """The event's name, in a camelCase payload told by the fields that it alone has."""
    named = string(payload, "hook_event_name")
    if named or any(field in payload for field in _FOREIGN):
        return named or ""
    if "stopReason" in payload or "stop_hook_active" in payload:
        return "agentStop"
    if isinstance(payload.get("prompt"), str):
        return "userPromptSubmitted"
    return "sessionStart" if string(payload, "source", "initialPrompt") else ""


def event(payload: "Payload", env: "Mapping[str, str]") -> Event:
    """What the payload means. Prompt and stop hooks also run inside a subagent, with that one's id and ``agentId``."""
    name = _name(payload)
    return Event(
        KINDS.get(name, ""),
        "copilot",
        name,
        session=string(payload, "sessionId", "session_id"),
        directory=directory(payload, env, "COPILOT_PROJECT_DIR"),
        prompt=string(payload, "prompt") or "",
        subagent=of_subagent(payload),
        continued=is_true(payload, "stop_hook_active"),
        marked=False,
    )


def answer(event: Event, say: "Say") -> bytes:
    """Always one object."""
    if event.kind == STOP:
        return encode.strings({"decision": "block" if say.text else "", "reason": say.text}) or encode.NOTHING
    return (encode.strings({"additionalContext": say.text}) if event.kind else b"") or encode.NOTHING

"""Cursor: https://cursor.com/docs/hooks and its page on third-party hooks; read, not run.

Text reaches the model at ``sessionStart`` (``additional_context``) and at ``stop`` (``followup_message``, which Cursor
submits as a user message of its own); ``beforeSubmitPrompt`` cannot add any. There is no place for text to the person.
Hooks that Cursor takes from Claude Code's settings come with its own payload. Silence is ``{}``.
"""

from git_coop.clients import encode
from git_coop.event import PROMPT, START, STOP, Event
from git_coop.payload import directory, of_subagent, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.event import Say
    from git_coop.payload import Payload

PROMPT_CARRIES = False
STOP_CHANNEL = "only"
KINDS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "stop": STOP,
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": STOP,
}
_KEYS = {START: "additional_context", STOP: "followup_message"}


def event(payload: "Payload", env: "Mapping[str, str]") -> Event:
    """What the payload means. A stop's ``status`` is ``completed``, or the turn was cut short."""
    name, status, loops = string(payload, "hook_event_name") or "", string(payload, "status"), payload.get("loop_count")
    kind = KINDS.get(name, "")
    return Event(
        kind,
        "cursor",
        name,
        session=string(payload, "conversation_id", "session_id"),
        turn=string(payload, "generation_id"),
        directory=directory(payload, env, "CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
        prompt=string(payload, "prompt") or "",
        subagent=of_subagent(payload),
        interrupted=kind == STOP and status not in (None, "completed"),
        continued=isinstance(loops, int | float) and loops > 0,
        arrives=kind != PROMPT,
        marked=False,
    )


def answer(event: Event, say: "Say") -> bytes:
    """Always one object."""
    key = _KEYS.get(event.kind)
    return (encode.strings({key: say.text}) if key else b"") or encode.NOTHING

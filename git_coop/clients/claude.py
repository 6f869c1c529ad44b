"""Claude Code: https://code.claude.com/docs/en/hooks; measured on 2.1.197 and 2.1.332.

Text goes in ``hookSpecificOutput.additionalContext`` at all three events. At ``Stop`` it keeps the turn going, under
the words "Stop hook additional context"; ``decision: block`` would also print the hook's whole command line and call
the text a standing instruction, so it is never used. ``systemMessage`` is for the person. Silence is empty output.
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
    """What the payload means. ``prompt_id`` is in prompt and stop since 2.1.196, not in a start."""
    name = string(payload, "hook_event_name") or ""
    return Event(
        KINDS.get(name, ""),
        "claude",
        name,
        session=string(payload, "session_id"),
        turn=string(payload, "prompt_id"),
        directory=directory(payload, env, "CLAUDE_PROJECT_DIR"),
        prompt=string(payload, "prompt") or "",
        subagent=of_subagent(payload),
        continued=is_true(payload, "stop_hook_active"),
    )


def answer(event: Event, say: "Say") -> bytes:
    """One object, or nothing at all."""
    name = event.name or _NAMES.get(event.kind, "")
    return encode.context(name, say) if event.kind else b""

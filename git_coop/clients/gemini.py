"""Gemini CLI: https://geminicli.com/docs/hooks/reference; measured on 0.61.0.

Start and prompt take ``hookSpecificOutput.additionalContext``; ``AfterAgent`` only ``decision: deny``, whose reason is
handed to the model as a bare user message, with no cap on how often. Empty output makes the runner parse
standard error instead, so silence is ``{}``. The context of a start after ``/clear`` is dropped.

An interrupt fires ``AfterAgent`` at once, with ``[no response text]`` for a response, and takes the prompt and all
that hooks added to it out of the history.
"""

from git_coop.clients import encode
from git_coop.event import PROMPT, START, STOP, Event
from git_coop.files import sha256
from git_coop.payload import directory, is_true, of_subagent, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.event import Say
    from git_coop.payload import Payload

PROMPT_CARRIES = True
STOP_CHANNEL = "unmarked"
KINDS = {"SessionStart": START, "BeforeAgent": PROMPT, "AfterAgent": STOP}
_NAMES = {kind: name for name, kind in KINDS.items()}
_NO_RESPONSE = ("", "[no response text]")


def event(payload: "Payload", env: "Mapping[str, str]") -> Event:
    """What the payload means. The turn is the hash of ``prompt``, which its first and its last event both carry."""
    name, prompt = string(payload, "hook_event_name") or "", string(payload, "prompt") or ""
    kind = KINDS.get(name, "")
    return Event(
        kind,
        "gemini",
        name,
        session=string(payload, "session_id"),
        turn=sha256(prompt.encode("utf-8", "surrogatepass")) if prompt else None,
        turn_is_unique=False,  # two prompts may read the same
        directory=directory(payload, env, "GEMINI_PROJECT_DIR", "GEMINI_CWD"),
        prompt=prompt if kind == PROMPT else "",
        subagent=of_subagent(payload),
        interrupted=kind == STOP and (string(payload, "prompt_response") or "").strip() in _NO_RESPONSE,
        continued=is_true(payload, "stop_hook_active"),
        arrives=not (kind == START and payload.get("source") == "clear"),
        marked=False,
    )


def answer(event: Event, say: "Say") -> bytes:
    """Always one object."""
    if not event.kind:
        return encode.NOTHING
    if event.kind == STOP:
        return encode.verdict("deny", say) or encode.NOTHING
    return encode.context(event.name or _NAMES.get(event.kind, ""), say) or encode.NOTHING

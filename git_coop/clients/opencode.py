"""OpenCode: https://opencode.ai/docs/plugins/; measured on 1.18.33.

OpenCode runs plugins, not commands. Ours, ``opencode_plugin.js`` beside this file, calls the drain with a payload of
OpenCode's own names: ``hook_event_name`` (``session.created``, ``chat.message`` or ``session.idle``), ``sessionID``,
``directory``, ``prompt``, and ``parentID`` in a subagent's session. The answer is ``{"text": …}`` or ``{}``. Only at
``chat.message`` has the plugin a place that lasts: it adds the text to the user's message as a part of its own.
"""

from git_coop.clients import encode
from git_coop.event import PROMPT, START, STOP, Event
from git_coop.payload import directory, of_subagent, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.event import Say
    from git_coop.payload import Payload

PROMPT_CARRIES = True
STOP_CHANNEL = "none"
KINDS = {"session.created": START, "chat.message": PROMPT, "session.idle": STOP}


def event(payload: "Payload", env: "Mapping[str, str]") -> Event:
    """What the payload means. A part stays in the session when its turn is interrupted, so no stop is marked so."""
    name = string(payload, "hook_event_name") or ""
    kind = KINDS.get(name, "")
    return Event(
        kind,
        "opencode",
        name,
        session=string(payload, "sessionID"),
        directory=string(payload, "directory") or directory(payload, env),
        prompt=string(payload, "prompt") or "",
        subagent=of_subagent(payload) or string(payload, "parentID") is not None,
        arrives=kind == PROMPT,
        marked=False,
    )


def answer(event: Event, say: "Say") -> bytes:
    """Always one object."""
    return (encode.strings({"text": say.text}) if event.kind == PROMPT else b"") or encode.NOTHING

"""Agent clients: a hook's payload in, an event out; a text in, one object of the client's own shape out.

Who is really there. Cursor and Copilot run the hooks that they find in Claude Code's settings files, Gemini can
copy them, and each reads its own answer shape alone: the name in a command is a hint. A client started from
another's shell tool inherits that one's variables: the environment is a weaker hint still. In this order:

====================================================  ==========  ==============================================
evidence                                              client      source
====================================================  ==========  ==============================================
``cursor_version``                                    cursor      cursor.com/docs/hooks: in every payload
``sessionID``, or an event ``session.…``/``chat.…``   opencode    our own plugin
``sessionId``                                         copilot     docs.github.com, hooks reference: camelCase
event ``BeforeAgent``, ``AfterAgent`` …               gemini      geminicli.com/docs/hooks/reference
``turn_id`` without ``prompt_id``                     codex       learn.chatgpt.com/docs/hooks; 0.171.0 measured
``prompt_id`` without ``turn_id``                     claude      code.claude.com/docs/en/hooks, 2.1.196 and later
``timestamp`` as text, and ``initial_prompt`` or      copilot     docs.github.com, hooks reference, the format for
``stop_reason`` or no ``transcript_path`` (not where              PascalCase events; 1.0.102 measured. Claude and
the command names gemini)                                         Codex send no ``timestamp``
``CLAUDE_CODE_SESSION_ID`` is the ``session_id``      claude      measured: the same in hooks, another when inherited
``GEMINI_SESSION_ID`` is the ``session_id``           gemini      geminicli.com/docs/hooks/reference
``cwd``, ``transcript_path``, no ``timestamp``        claude or   the name in the command; without one codex where a
                                                      codex       start has ``model`` and ``permission_mode``
``cwd``, ``transcript_path``, ``timestamp``           as named    without a name gemini, but claude at its events
``CURSOR_VERSION``                                    cursor      cursor.com/docs/hooks; unless the command names a
                                                                  client whose settings Cursor does not read
``COPILOT_CLI``, ``COPILOT_PROJECT_DIR``              copilot     1.0.102 measured; the same
``GEMINI_SESSION_ID``, no name                        gemini      geminicli.com/docs/hooks/reference
the name in the command, else                         claude
====================================================  ==========  ==============================================

``CLAUDE_PROJECT_DIR`` says nothing: Cursor, Gemini and Copilot set it too.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from git_coop.event import Event, Say
    from git_coop.payload import Payload

    class Adapter(Protocol):
        """What each client's module has."""

        # Whether text answered to a prompt event reaches the model.
        PROMPT_CARRIES: bool
        # What text answered to a stop is to the model. "marked": the client says that a hook wrote it; "unmarked": it
        # looks as if the user had typed it; "only": that too, but no prompt hook can carry text; "none": it is lost.
        STOP_CHANNEL: str

        def event(self, payload: Payload, env: Mapping[str, str]) -> Event: ...
        def answer(self, event: Event, say: Say) -> bytes: ...


NAMES = ("claude", "codex", "gemini", "cursor", "copilot", "opencode")

_GEMINI = (
    *("BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel"),
    *("BeforeTool", "AfterTool", "BeforeToolSelection", "PreCompress"),
)
_CLAUDE = ("UserPromptSubmit", "Stop")


def recognise(payload: "Payload", env: "Mapping[str, str]", named: str | None) -> str:
    """The client that is really there, one of ``NAMES``; ``named`` is the command line's, if it has one."""
    known = named if named in NAMES else None
    return (
        _by_mark(payload, known)
        or _by_identity(payload, env)
        or _by_form(payload, known)
        or _by_environment(payload, env, known)
        or known
        or "claude"
    )


def _text(payload: "Payload", name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _by_mark(payload: "Payload", named: str | None) -> str | None:
    """By what one client alone sends."""
    name, turn, prompt = _text(payload, "hook_event_name"), _text(payload, "turn_id"), _text(payload, "prompt_id")
    if _text(payload, "cursor_version"):
        return "cursor"
    if _text(payload, "sessionID") or name.startswith(("session.", "chat.")):
        return "opencode"
    if _text(payload, "sessionId"):
        return "copilot"
    if name in _GEMINI:
        return "gemini"
    if bool(turn) != bool(prompt):
        return "codex" if turn else "claude"
    return "copilot" if _is_imported_by_copilot(payload) and named != "gemini" else None


def _is_imported_by_copilot(payload: "Payload") -> bool:
    if not _text(payload, "timestamp"):
        return False
    return "initial_prompt" in payload or "stop_reason" in payload or "transcript_path" not in payload


def _by_identity(payload: "Payload", env: "Mapping[str, str]") -> str | None:
    """By a variable that holds this very session's id: an inherited one holds the outer session's."""
    session = _text(payload, "session_id")
    if session and env.get("CLAUDE_CODE_SESSION_ID") == session:
        return "claude"
    return "gemini" if session and env.get("GEMINI_SESSION_ID") == session else None


def _by_form(payload: "Payload", named: str | None) -> str | None:
    """By the common fields of the clients that Claude Code's payload was a model for."""
    if "transcript_path" not in payload or not _text(payload, "cwd"):
        return None
    name, dated = _text(payload, "hook_event_name"), bool(_text(payload, "timestamp"))
    if named in ("claude", "codex") or (named == "gemini" and dated):
        return named
    if named is not None or not name:
        return None
    if dated:
        return "claude" if name in _CLAUDE else "gemini"
    both = _text(payload, "model") and _text(payload, "permission_mode")
    return "codex" if both and name == "SessionStart" else "claude"


def _by_environment(payload: "Payload", env: "Mapping[str, str]", named: str | None) -> str | None:
    """By variables alone, for a payload that shows nothing."""
    if named in (None, "claude"):
        if env.get("CURSOR_VERSION"):
            return "cursor"
        if env.get("COPILOT_CLI") or env.get("COPILOT_PROJECT_DIR"):
            return "copilot"
    silent = named is None and _text(payload, "hook_event_name") not in _CLAUDE
    return "gemini" if silent and env.get("GEMINI_SESSION_ID") else None


def adapter(name: str) -> "Adapter":
    """The module of one client, loaded alone; ``Usage`` for a name that is none of ``NAMES``."""
    if name not in NAMES:
        from git_coop.errors import Usage

        raise Usage(f"unknown client '{name}'", hint=f"the clients are {', '.join(NAMES)}")
    found: Adapter = __import__(f"git_coop.clients.{name}", fromlist=("event",))
    return found

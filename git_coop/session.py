"""Who is calling: the session id that an agent client gives to its own shell, and its hash.

A raw session id never becomes a file name: it may be ``../..`` or four thousand characters long.
"""

from git_coop.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# An explicit word first, then what each client sets in the shell that it gives to its agent.
VARIABLES = (
    "GIT_COOP_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
)
NOBODY = "0" * 16  # stands for the hash of a session, where a drain was given none


def current(env: "Mapping[str, str]", given: "str | None" = None) -> "str | None":
    """The calling session's id: the option, else the first variable that is set and not empty, else ``None``.

    It is text: bytes that are no UTF-8 are replaced, for a record can hold nothing else.
    """
    found = given or next((env[name] for name in VARIABLES if env.get(name)), None)
    return found and found.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def hashed(session: str) -> str:
    """The name of a session in the store: 16 hex digits of the SHA-256 of its id's bytes."""
    return sha256(session.encode("utf-8", "surrogatepass"))[:16]

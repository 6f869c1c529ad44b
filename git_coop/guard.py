"""The guard of letters: a body is the handoff, it does not point at one.

A session that leaves ``see ~/notes/handoff.md`` leaves nothing: such a file is gone, moved or rewritten when the
next session looks. So a body that holds a path to a handoff file is refused, and nothing overrides that. A bare
``HANDOFF.md`` is talk about the habit and passes, and so does the path of any other file.
"""

import re

from git_coop.errors import HandoffPointerError

STEMS = ("handoff", "handover", "session-notes", "session-state", "new-session-reminder", "context-dump")

# The character before the stem makes it a path; the backslash is Windows' separator and counts everywhere. The
# second form is the name of a handoff packet: six characters of which one at least is a digit. An ASCII letter or
# digit after ".md" makes another name of it (handoff.mdx); anything else, a script without blanks between words
# included, ends the name or begins a variant of it (handoff.md.bak).
_POINTER = re.compile(
    r"[/~\\](?:" + "|".join(STEMS) + r"|handoff-(?=[a-z_]{0,5}[0-9])[0-9a-z_]{6})\.md(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)
_ENDS_A_PATH = re.compile(r"[\s\"'`<>()\[\]{}|,;]")
_QUOTED = 120  # characters of a pointer that are quoted; its end is kept

_HINT = (
    "inline the state itself (git coop letter write --body -); "
    "a path may stand as a locator for bulk material, never as the handoff"
)


def check(body: str, *, what: str = "body") -> None:
    """Raise ``HandoffPointerError``, with the first pointer quoted, where ``body`` points at a handoff.

    ``what`` is the noun for the text in the error's sentence.
    """
    found = _POINTER.search(body)
    if found is None:
        return
    pointer = _path_up_to(body, found.end())
    sentence = f"the {what} points at a handoff instead of being one: '{pointer}'"
    raise HandoffPointerError(sentence, pointer=pointer, hint=_HINT)


def _path_up_to(body: str, end: int) -> str:
    """The path that ends at ``end``, back to a blank, a quote or a bracket, at most ``_QUOTED`` characters of it."""
    before = body[max(end - _QUOTED, 0) : end]
    breaks = [at.end() for at in _ENDS_A_PATH.finditer(before)]
    return before[breaks[-1] if breaks else 0 :]

"""A hook's payload: bytes that nobody vouches for, and the fields in them.

Nothing here raises: what cannot be parsed or used is absent.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Payload = Mapping[str, object]

_SPACE = " \t\r\n"


def decode(data: bytes) -> dict[str, object] | None:
    """The object in ``data``, or ``None`` where that is not one whole JSON object.

    Bytes that are not UTF-8 are kept as ``os.fsencode`` takes them back, so that a path in them still works.
    """
    body = data.lstrip(b" \t\r\n").removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if not body.startswith(b"{"):
        return None
    text = body.decode("utf-8", "surrogateescape")
    found = _scan(text)
    if found is None:
        found = _parse(text)
    return found if isinstance(found, dict) else None


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) < 300 else None  # Python refuses thousands of digits; the field is lost alone


class _Rules:
    """What the scanner asks for, as ``json.JSONDecoder`` has it; control characters in strings are let through."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = staticmethod(_integer)


def _scan(text: str) -> object:
    """``json``'s scanner without ``json``, whose import costs more than the whole scan; ``None`` means ask ``json``.

    The scanner finds ``json``'s error class only where ``json`` is loaded: without, malformed text is a
    ``SystemError``, and would abort a debug build of Python.
    """
    if hasattr(sys, "gettotalrefcount"):
        return None
    try:
        from _json import make_scanner  # type: ignore[import-not-found, unused-ignore]

        found, end = make_scanner(_Rules)(text, 0)  # type: ignore[arg-type]
    except Exception:  # private to Python: whatever it does, json decides
        return None
    return None if text[end:].strip(_SPACE) else found


def _parse(text: str) -> object:
    import json

    try:
        return json.loads(text, strict=False, parse_int=_integer)
    except (ValueError, RecursionError):
        return None


def string(payload: "Payload", *names: str) -> str | None:
    """The first of these fields that is a string and not empty."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def is_true(payload: "Payload", name: str) -> bool:
    """Whether the field is ``true``, not merely something."""
    return payload.get(name) is True


def of_subagent(payload: "Payload") -> bool:
    """Whether a subagent is the caller. ``agent_type`` alone is not one: ``claude --agent`` has it too."""
    return string(payload, "agent_id", "agentId", "parentAgentId") is not None


def directory(payload: "Payload", env: "Mapping[str, str]", *variables: str) -> str | None:
    """Where the session works: the payload's directory, else its first workspace root, else the first of the
    ``variables`` that is set."""
    roots = payload.get("workspace_roots")
    first = {"root": roots[0]} if isinstance(roots, list) and roots else {}
    found = string(payload, "cwd") or string(first, "root")
    return found or next((env[name] for name in variables if env.get(name)), None)

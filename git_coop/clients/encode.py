"""JSON written without the ``json`` module, whose import costs half an interpreter's start.

Only what an answer to a client needs: objects of strings, in ASCII. A lone surrogate becomes ``?``: Codex and
Copilot drop the whole output for one (measured on Codex 0.171.0 and Copilot 1.0.102).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.event import Say

NOTHING = b"{}\n"


class _Escapes(dict[int, str]):
    """How each character is written between the quotes (RFC 8259, section 7), worked out when first met."""

    def __missing__(self, point: int) -> str:
        if 0x20 <= point < 0x7F:
            written = chr(point)
        elif 0xD800 <= point <= 0xDFFF:
            written = "?"
        elif point < 0x10000:
            written = f"\\u{point:04x}"
        else:
            high, low = divmod(point - 0x10000, 0x400)
            written = f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
        self[point] = written
        return written


_ESCAPES = _Escapes({8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"})


def quote(text: str) -> str:
    """``text`` as a JSON string in ASCII, quotes included; what ``json.dumps`` gives, but surrogates are ``?``."""
    return f'"{text.translate(_ESCAPES)}"'


def _fields(named: "dict[str, str]") -> str:
    return ",".join(f"{quote(name)}:{quote(value)}" for name, value in named.items() if value)


def strings(named: "dict[str, str]") -> bytes:
    """One object of the fields that are not empty, and a newline; ``b""`` where none is left."""
    inside = _fields(named)
    return f"{{{inside}}}\n".encode("ascii") if inside else b""


def context(name: str, say: "Say") -> bytes:
    """The ``hookSpecificOutput`` shape of Claude Code, which Codex and Gemini share: text for the session in
    ``additionalContext``, text for the person in ``systemMessage``; ``b""`` where there is neither.

    ``name`` must be the event's own: Claude and Codex drop the output for another.
    """
    if not say.text:
        return strings({"systemMessage": say.human})
    inside = _fields({"hookEventName": name, "additionalContext": say.text})
    human = f",{_fields({'systemMessage': say.human})}" if say.human else ""
    return f'{{"hookSpecificOutput":{{{inside}}}{human}}}\n'.encode("ascii")


def verdict(word: str, say: "Say") -> bytes:
    """The ``decision`` shape, by which a stop hook lets the turn go on; without text nothing is decided."""
    return strings({"decision": word if say.text else "", "reason": say.text, "systemMessage": say.human})

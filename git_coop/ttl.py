"""How long a message waits: the words of ``--ttl`` and ``coop.ttl``."""

from git_coop import clock
from git_coop.errors import Usage
from git_coop.message import LONGEST_TERM

_UNITS = {"m": clock.MINUTE, "h": clock.HOUR, "d": clock.DAY}
_HINT = "give minutes, or a number with m, h or d, such as 90m, 36h or 3d"


def parse_ttl(text: str) -> int:
    """The nanoseconds of ``90``, ``90m``, ``36h`` or ``3d``; raises ``Usage`` for anything else, 0 and over 30 days."""
    unit = text[-1:] if text[-1:] in _UNITS else ""
    number = text.removesuffix(unit)
    digits = number.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise Usage(f"ttl '{text}' is not a number of minutes, hours or days", hint=_HINT)
    if number != digits or not digits.strip("0"):
        raise Usage(f"ttl '{text}' must be more than 0", hint=_HINT)
    digits = digits.lstrip("0")
    term = int(digits[:12]) * _UNITS[unit or "m"]  # int() refuses thousands of digits
    if len(digits) > 12 or term > LONGEST_TERM:
        raise Usage(f"ttl '{text}' is over the limit of 30 days", hint=_HINT)
    return term

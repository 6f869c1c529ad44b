"""Hostile text in lines of ours: each line that holds anything somebody else wrote begins with ``PREFIX``.

Under whatever separator a reader splits, no such line is without it: the pieces that are put behind it hold none.
"""

from git_coop.record import Record
from git_coop.text import TAB, boundary, clip_bytes, safe_line, size, split, untagged, wrap

PREFIX = "    | "

TYPE_CHECKING = False
if TYPE_CHECKING:
    Claim = tuple[str, str | None, bool]  # label, safe text or nothing, whether its end matters more


class Quoted(Record):
    """A body as prefixed lines. ``characters`` of it are shown; ``markup``: a ``<`` was shown as ``‹``."""

    text: str
    characters: int
    whole: bool
    markup: bool


def quote(body: str, *, room: int, line: int, mark_up: bool = False) -> Quoted:
    """As much of a body as ``room`` bytes hold, in lines of ``line`` characters, each prefixed.

    A longer line goes on in further ones; the last may stop anywhere but inside a character.
    """
    window = body[: room + 1]  # each character takes a byte at least, so that more could not be shown
    rows: list[str] = []
    done, changed = 0, False
    for raw, end in split(window):
        safe = safe_line(raw)
        shown = untagged(safe) if mark_up else safe
        changed = changed or shown != safe
        taken = 0
        for piece in wrap(shown, line - len(PREFIX)):
            needed = len(PREFIX) + size(piece) + 1
            if needed > room:
                last = _start(piece, room - len(PREFIX) - 1)
                rows += [PREFIX + last] if last else []
                return Quoted(join(rows), done + _originals(raw, taken + len(last)), False, changed)
            rows.append(PREFIX + piece)
            room -= needed
            taken += len(piece)
        done += len(raw) + len(end)
    return Quoted(join(rows), done, done == len(body), changed)


def field(value: "str | None", limit: int, *, keep_end: bool = False) -> "str | None":
    """A field's value as one safe line, or ``None`` where nothing is said."""
    return safe_line(value, limit, keep_end=keep_end) if value else None


def fields(claims: "list[Claim]", room: int, mark_up: bool) -> "tuple[str, bool]":
    """One prefixed line a field in ``room`` bytes, the longest cut first; and whether a ``<`` was replaced."""
    rows, changed = [], False
    for label, value, keep_end in claims:
        if value is not None:
            shown = untagged(value) if mark_up else value
            changed = changed or shown != value
            rows.append((f"{PREFIX}{label}: ", shown, keep_end))
            room -= size(rows[-1][0]) + 1
    shares = _shares([size(value) for _label, value, _keep in rows], room)
    cut = [
        label + clip_bytes(value, share, keep_end=keep)
        for (label, value, keep), share in zip(rows, shares, strict=True)
    ]
    return join(cut), changed


def _shares(sizes: "list[int]", room: int) -> "list[int]":
    """How much of ``room`` each gets: the small ones all they need, the large ones equal parts of the rest."""
    shares = [0] * len(sizes)
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], max(room, 0) // (len(sizes) - place))
        room -= shares[index]
    return shares


def join(rows: "list[str]") -> str:
    """The rows as lines."""
    return "".join(row + "\n" for row in rows)


def _start(text: str, room: int) -> str:
    """As many whole characters from the start of safe text as ``room`` bytes hold."""
    if text.isascii():
        return text[: max(room, 0)]
    whole = len(text.encode()[: max(room, 0)].decode(errors="ignore"))
    return text[: boundary(text, whole)]


def _originals(raw: str, shown: int) -> int:
    """Of how many characters of a raw line the first ``shown`` of its safe form were made: a tab makes four."""
    for index, char in enumerate(raw):
        shown -= len(TAB) if char == "\t" else 1
        if shown < 0:
            return index
    return len(raw)


def weight(body: str) -> int:
    """The bytes that a decoded body had, as near as can be told: U+FFFD stands for a byte that was not UTF-8."""
    return len(body.encode("utf-8", "surrogatepass")) - 2 * body.count("\ufffd")

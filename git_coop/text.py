"""Text from outside made safe to show: one line, one path, one column at a time.

Everything that somebody else wrote (bodies, subjects, branches, paths, file names, a git process's words) passes
through here before a person or a model sees it. Characters that act instead of being read become ``?``, one for
one: controls, format characters (bidi, zero-width, tags), surrogates, private-use and unassigned ones, and every
separator that any reader takes for a line's end. None is ever deleted, for that would join what stood apart.
Letters, digits, signs and spaces of every script stay as they are.

The classes are those of ``str.isprintable``, which needs no import; ``unicodedata`` is loaded only for text with
characters that may be combining marks, or for display widths.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cost = Callable[[str], int]

MARK = "\u2026"  # stands where text was cut, and counts toward the bound
TAB = "    "
STACK = 4  # combining marks on one character; no orthography in use needs more
_BACK = 8  # how far a cut looks back for the character that a mark belongs to

_ASCII = dict.fromkeys((*range(32), 127), "?") | {9: TAB}
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# Letters and marks that draw nothing at all (Default_Ignorable_Code_Point outside the format characters), and
# U+FFFD, which stands for bytes that were not UTF-8.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufffd"
_SELECTORS = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))


def safe_line(text: str, limit: "int | None" = None, *, keep_end: bool = False) -> str:
    """``text`` as one harmless line, of at most ``limit`` characters.

    A tab becomes four spaces, every other character that is not for reading a ``?``. More than four combining
    marks on one character become ``?`` each. What is cut ends with ``…``, or begins with it where ``keep_end``
    asks for the end. Safe text passes unchanged.
    """
    if limit is not None and len(text) > limit:
        text = text[-limit - 1 :] if keep_end else text[: limit + 1]
    safe = _safe(text)
    return safe if limit is None else clip(safe, limit, keep_end=keep_end)


def safe_bytes(data: bytes) -> str:
    """``data`` read as UTF-8, every byte that is not becoming ``?``; nothing else is changed."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()


def quote_path(path: bytes, limit: "int | None" = None) -> str:
    """A path or a file name for a message or a list, its end kept where it is cut; no quotes are added."""
    return safe_line(safe_bytes(path), limit, keep_end=True)


def split(text: str) -> "list[tuple[str, str]]":
    """``text`` as (line, its end): the ends are CRLF, LF, CR and, for a last line without one, nothing.

    Joined again they are ``text``. Other separators stand inside a line and are made safe with it.
    """
    rows = []
    *ended, rest = text.split("\n")
    for row in ended:
        *inner, last = row.removesuffix("\r").split("\r")
        rows += [(part, "\r") for part in inner]
        rows.append((last, "\r\n" if row.endswith("\r") else "\n"))
    *inner, last = rest.split("\r")
    rows += [(part, "\r") for part in inner]
    return [*rows, (last, "")] if last else rows


def lines(body: str) -> "list[str]":
    """The lines of a text, each made safe; indentation is kept, a final line end opens no further line."""
    return [_safe(line) for line, _end in split(body)]


def visible(text: str) -> str:
    """A text of several lines for a terminal: its lines kept, each made safe, line ends written as LF."""
    return "".join(_safe(line) + ("\n" if end else "") for line, end in split(text))


def untagged(text: str) -> str:
    """``text`` with each ``<`` that could open markup shown as ``‹``: clients wrap our text in tags of their own."""
    if "<" not in text:
        return text
    first, *parts = text.split("<")
    return first + "".join(
        ("\u2039" if part[:1].isalpha() or part[:1] in tuple("/!?") else "<") + part for part in parts
    )


def width(text: str) -> int:
    """How many cells of a terminal safe text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, cells: int, *, keep_end: bool = False) -> str:
    """``text`` made safe and cut to a width; empty where not even the ``…`` has room."""
    return _cut(_safe(text), cells, _cells, keep_end)


def pad(text: str, cells: int, *, keep_end: bool = False) -> str:
    """``text`` made safe, cut to a width and filled up to it with spaces."""
    shown = fit(text, cells, keep_end=keep_end)
    return shown + " " * (cells - width(shown))


def clip(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Safe text cut to a number of characters."""
    return text if len(text) <= limit else _cut(text, limit, lambda _char: 1, keep_end)


def clip_bytes(text: str, limit: int, *, keep_end: bool = False) -> str:
    """Safe text cut to a number of bytes of UTF-8."""
    return _cut(text, limit, size, keep_end)


def size(text: str) -> int:
    """The bytes that safe text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def wrap(text: str, limit: int) -> "Iterator[str]":
    """Safe text in pieces of at most ``limit`` characters that joined again are the text; at least one piece.

    A piece ends after a space where there is one in its second half, never inside a character.
    """
    while len(text) > limit:
        space = text.rfind(" ", limit // 2, limit) + 1
        at = boundary(text, space or limit) or limit
        yield text[:at]
        text = text[at:]
    yield text


def boundary(text: str, at: int) -> int:
    """The last place at or before ``at`` where a cut parts no mark from its character and no flag in two.

    A pile without end (of jamo, say) is cut where asked.
    """
    if at >= len(text) or text[at].isascii():
        return min(at, len(text))
    for place in range(at, at - _BACK, -1):
        if place <= 0 or not _clings(text, place):
            return max(place, 0)
    return at


def _safe(text: str) -> str:
    if text.isascii():
        return text if text.isprintable() else text.translate(_ASCII)
    characters = set(text)
    if not (text.isprintable() and characters.isdisjoint(_BLANKS)):
        text = "".join(map(_shown, text))
    return text if all(map(_bare, characters)) else _unpiled(text)


def _shown(char: str) -> str:
    if char in _BLANKS:
        return "?"
    if char.isprintable() or char in _SPACES:
        return char
    return TAB if char == "\t" else "?"


def _bare(char: str) -> bool:
    """Whether a character is in a stretch of Unicode that holds no combining mark.

    Latin, Greek and Cyrillic of daily use, punctuation, kana, ideographs, Hangul, emoji: no table is loaded for them.
    """
    if char < "\u2010":
        return char < "\u0300" or "\u0370" <= char < "\u0483"
    if char < "\u3000":
        return char < "\u20d0" or "\u2100" <= char < "\u2cef"
    if char < "\uac00":
        return char < "\u302a" or "\u3030" <= char < "\u3099" or "\u309b" <= char < "\ua66f"
    return char < "\ufb1e" or "\ufe30" <= char <= "\uffff" or "\U0001f000" <= char < "\U000e0100"


def _is_mark(char: str) -> bool:
    import unicodedata

    return unicodedata.category(char)[0] == "M"


def _unpiled(text: str) -> str:
    """Combining marks bounded, and variation selectors kept only where they select one: right after a character."""
    from unicodedata import category

    kept, piled, before = [], 0, ""
    for char in text:
        if category(char)[0] != "M":
            piled, before = 0, char
        else:
            piled += 1
            if piled > STACK or (_selects(char) and not _selectable(char, piled, before)):
                char, piled = "?", STACK
        kept.append(char)
    return "".join(kept)


def _selects(char: str) -> bool:
    return any(first <= char <= last for first, last in _SELECTORS)


def _selectable(char: str, piled: int, before: str) -> bool:
    """Whether a variation selector has something to select: any character, or for the supplement an ideograph.

    Runs of selectors are a known way to hide text in text; one for each visible character is what writing needs.
    """
    ideograph = "\u3400" <= before <= "\u9fff" or "\uf900" <= before <= "\ufaff" or before >= "\U00020000"
    return piled == 1 and before != "" and (char < "\U000e0100" or ideograph)


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _clings(text: str, at: int) -> bool:
    """Whether the character at ``at`` is drawn as part of the one before it."""
    char = text[at]
    if char.isascii():
        return False
    if _flag(char):
        start = at
        while start and _flag(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f":
        return True
    return not _bare(char) and _is_mark(char)


def _cells(char: str) -> int:
    import unicodedata

    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _cut(text: str, room: int, cost: "Cost", keep_end: bool) -> str:
    """``text``, or as much of it as fits a room with the mark of the cut; ``cost`` measures one character."""
    if (len(text) <= room and text.isascii()) or sum(map(cost, text)) <= room:
        return text
    left, taken = room - cost(MARK), 0
    for char in reversed(text) if keep_end else text:
        left -= cost(char)
        if left < 0:
            break
        taken += 1
    if room < cost(MARK):
        return ""
    if not keep_end:
        return text[: boundary(text, taken)] + MARK
    at = len(text) - taken
    while at < len(text) and _clings(text, at):
        at += 1
    return MARK + text[at:]

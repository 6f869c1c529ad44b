"""Members put into a JSON settings document and taken out again, by splices that leave every other byte alone.

**Who made a container** must be told at removal without a saved copy. The text says it: a container that the
installer makes has white space behind its opening bracket (``{ "x": 1 }`` or a line each); one that was there and
empty gets its first member directly behind the bracket (``{"x": 1}``), in front of whatever white space it held.
In a container that has members, new ones go before the first (behind a leading ``$schema``), each with a comma and
the white space in front of it, so that a difference shows added lines only.

A blank file gets an object with one space behind its brace, a file that was not there one with a line end. Where
another program wrote the file anew, the marks are gone and so are the bytes that they stood for; then containers
that hold nothing but ours go.
"""

import json
import re

from git_coop.record import Record
from git_coop.settings_json import BOM, LINE_END, Document, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Splice = tuple[int, int, str]  # the characters from the first offset to the second become this text
    Member = tuple[str | None, object]  # a key, None in an array, and a value

_COMMENT_BESIDE = re.compile(r"[ \t]*+(?://[^\r\n]*|/\*.*?\*/)", re.DOTALL)


def apply(text: str, splices: "Iterable[Splice]") -> str:
    """``text`` with every splice done; offsets are those of ``text``, and no two overlap."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        if start < at:
            raise ValueError("splices overlap")
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


class Layout(Record):
    """How a file is laid out: its line end, one step of indentation, and whether all of it is one line."""

    newline: str = "\n"
    step: str = "  "
    flat: bool = False


def layout(document: Document) -> Layout:
    """The layout that ``document`` shows; where it shows none, two spaces and a line feed."""
    text, root = document.text, document.root
    ends = LINE_END.search(text)
    newline = ends.group() if ends else "\n"
    if root is None or not root.items:
        return Layout(newline)
    first = root.items[0]
    if not LINE_END.search(text, root.start, first.start):
        return Layout(newline, flat=not LINE_END.search(text, root.start, root.end))
    outer = _indent(text, root.start)
    return Layout(newline, _indent(text, first.start).removeprefix(outer))


def _indent(text: str, offset: int) -> str:
    """The white space that begins the line of ``offset``."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset), text.rfind(BOM, 0, offset)) + 1
    line = text[start:offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def render(value: object, look: Layout, indent: str = "") -> str:
    """``value`` (dicts, lists, strings, whole numbers) as JSON whose further lines begin with ``indent``."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    members: Iterable[Member] = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    inner = indent + look.step
    parts = [_member(member, look, inner) for member in members]
    if look.flat:
        return f"{opening} {', '.join(parts)} {closing}"
    lines = f",{look.newline}{inner}".join(parts)
    return f"{opening}{look.newline}{inner}{lines}{look.newline}{indent}{closing}"


def _member(member: "Member", look: Layout, indent: str) -> str:
    key, value = member
    text = render(value, look, indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def insert(document: Document, container: Node, members: "Sequence[Member]", look: Layout) -> "Splice":
    """The splice that puts ``members`` into ``container``, in this order, before those that it has."""
    if container.items:
        return _before_first(document.text, container, members, look)
    inner = _indent(document.text, container.start) + look.step
    parts = [_member(member, look, inner) for member in members]
    lead = look.newline + inner
    if container.tail > container.start + 1:  # a comment stands in it: it is kept whatever becomes of the rest
        return container.tail, container.tail, lead + f",{lead}".join(parts)
    at = container.start + 1
    return at, at, (", " if look.flat else f",{lead}").join(parts)


def _before_first(text: str, container: Node, members: "Sequence[Member]", look: Layout) -> "Splice":
    first = container.items[0]
    at = container.start + 1
    if not LINE_END.search(text, at, first.start):
        flat = look.replace(flat=True)
        parts = [_member(member, flat, "") for member in members]
        return at, at, ", ".join(parts) + ","
    lead = look.newline + _indent(text, first.start)
    parts = [_member(member, look, _indent(text, first.start)) for member in members]
    if first.key == "$schema" and first.comma:
        at = first.comma
    at = _behind_comments(text, at)
    return at, at, "".join(f"{lead}{part}," for part in parts)


def _behind_comments(text: str, at: int) -> int:
    """The offset behind the comments that begin on the line of ``at``, directly after it."""
    while found := _COMMENT_BESIDE.match(text, at):
        at = found.end()
    return at


def remove(document: Document, container: Node, gone: "set[int]") -> "list[Splice]":
    """The splices that take the members with these indexes out, each with its comma and the white space before it."""
    splices: list[Splice] = []
    for index in sorted(gone):
        item = container.items[index]
        if item.comma and not document.text[item.value.end : item.comma - 1].strip(" \t\r\n"):
            splices.append((item.gap, item.comma, ""))
            continue
        splices.append((item.gap, item.value.end, ""))
        if item.comma:  # a comment stands between the value and its comma
            splices.append((item.comma - 1, item.comma, ""))
    kept = [item for index, item in enumerate(container.items) if index not in gone]
    last = len(container.items) - 1
    if kept and last in gone and kept[-1].comma and not container.items[last].comma:
        splices.append((kept[-1].comma - 1, kept[-1].comma, ""))
    return splices


def emptied(document: Document, container: Node, splices: "Iterable[Splice]") -> bool:
    """Whether these deletions leave nothing but white space in ``container``."""
    inside = [(start - container.start - 1, end - container.start - 1, new) for start, end, new in splices]
    return not apply(document.text[container.start + 1 : container.end - 1], inside).strip(" \t\r\n")


def opening(document: Document, container: Node) -> str:
    """The white space between the opening bracket and the first member: empty where the container was there before."""
    return document.text[container.start + 1 : container.items[0].start] if container.items else ""

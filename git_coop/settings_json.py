"""Settings files in JSON, with comments and trailing commas, edited by splices that leave every other byte alone.

A document is its text and a tree of offsets into it; edits are insertions and deletions in that text. The grammar
is RFC 8259's with ``//`` and ``/* */`` comments and one trailing comma a container, which is what the clients read.

Why no library: ``json-five`` keeps every byte of a parsed document, but needs 6.7 s a megabyte, refuses U+2028 in a
string (legal JSON), accepts single quotes and bare keys (which no client reads), and has no insertion that knows a
file's layout. A rewriting encoder keeps nothing.

**Who made a container** must be told at removal without a saved copy. The text says it: a container that the
installer makes has white space behind its opening bracket (``{ "x": 1 }`` or a line each); one that was there and
empty gets its first member directly behind the bracket (``{"x": 1}``), in front of whatever white space it held.
In a container that has members, new ones go before the first (behind a leading ``$schema``), each with a comma and
the white space in front of it, so that a difference shows added lines only.
"""

import json
import re

from git_coop.errors import Refused
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Splice = tuple[int, int, str]  # the characters from the first offset to the second become this text
    Member = tuple[str | None, object]  # a key, None in an array, and a value

BOM = "\ufeff"
_DEEPEST = 200  # containers in containers; a client's own parser stops near 128 or at the stack's end
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<comment>//[^\r\n]*|/\*.*?\*/)
      | (?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")
      | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)
      | (?P<word>true|false|null)
      | (?P<mark>[{}\[\],:])""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_BESIDE = re.compile(r"[ \t]*+(?://[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\n|\r")


class Damaged(Refused):
    """A settings file that cannot be parsed, or whose shape leaves no place for hooks; it is left alone.

    ``line`` and ``column`` count from 1; a column is a character.
    """

    def __init__(self, reason: str, *, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason, self.line, self.column = reason, line, column


class Item(Record):
    """A member of a container."""

    key: "str | None"  # decoded; None in an array
    gap: int  # where the token before it ends, a comment's end included: white space alone stands up to ``start``
    start: int
    value: "Node"
    comma: int  # the end of the comma behind it; 0 where there is none


class Node(Record):
    """A value: ``kind`` is ``object``, ``array``, ``string``, ``number`` or ``word``."""

    kind: str
    start: int
    end: int
    items: "tuple[Item, ...]" = ()
    tail: int = 0  # of a container: where the last token or comment before its closing bracket ends

    def get(self, key: str) -> "Node | None":
        """The value of the last member with this key: of duplicates, JSON parsers take the last."""
        return next((item.value for item in reversed(self.items) if item.key == key), None)


class Document(Record):
    """A text and its root; ``root`` is ``None`` for a text of white space alone."""

    text: str
    root: Node | None

    def string(self, node: "Node | None") -> "str | None":
        """The decoded value of a string node, ``None`` for any other."""
        if node is None or node.kind != "string":
            return None
        return str(json.loads(self.text[node.start : node.end]))

    def damaged(self, reason: str, offset: int) -> Damaged:
        """The error for something wrong at ``offset``."""
        line, column = place(self.text, offset)
        return Damaged(reason, line=line, column=column)


def place(text: str, offset: int) -> "tuple[int, int]":
    """The line and the column of an offset, both from 1; a byte order mark has no column."""
    line, start = 1, int(text.startswith(BOM))
    for found in _LINE_END.finditer(text, 0, offset):
        line, start = line + 1, found.end()
    return line, offset - start + 1


class _Reader:
    """The current token of a text: its ``kind``, its ends, and the ``gap`` in front of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind, self.start, self.end = "", 0, int(text.startswith(BOM))
        self.comments = False
        self.advance()

    def advance(self) -> None:
        self.gap = at = self.end
        while True:
            found = _TOKEN.match(self.text, at)
            if found is None or found.lastgroup not in ("space", "comment"):
                break
            at = found.end()
            if found.lastgroup == "comment":
                self.gap, self.comments = at, True
        if found is None and at < len(self.text):
            raise self.damaged(_complaint(self.text, at), at)
        self.start = at
        self.end = found.end() if found else at
        self.kind = "end" if found is None else str(found.lastgroup)
        if self.kind == "mark":
            self.kind = self.text[at]

    def damaged(self, reason: str, offset: int) -> Damaged:
        return Document(self.text, None).damaged(reason, offset)

    def expected(self, what: str) -> Damaged:
        seen = "the end of the file" if self.kind == "end" else f"'{self.text[self.start : self.start + 1]}'"
        return self.damaged(f"expected {what}, found {seen}", self.start)

    def value(self, depth: int) -> Node:
        if self.kind in ("{", "["):
            return self.container(depth + 1)
        if self.kind not in ("string", "number", "word"):
            raise self.expected("a value")
        node = Node(self.kind, self.start, self.end)
        self.advance()
        return node

    def container(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.damaged(f"nested deeper than {_DEEPEST} levels", self.start)
        start, closing = self.start, "}" if self.kind == "{" else "]"
        self.advance()
        items: list[Item] = []
        while self.kind != closing:
            if items and not items[-1].comma:
                raise self.expected(f"',' or '{closing}'")
            items.append(self.item(closing == "}", depth))
        node = Node("object" if closing == "}" else "array", start, self.end, tuple(items), self.gap)
        self.advance()
        return node

    def item(self, keyed: bool, depth: int) -> Item:
        gap, start, key = self.gap, self.start, None
        if keyed:
            if self.kind != "string":
                raise self.expected("a key in double quotes or '}'")
            key = str(json.loads(self.text[self.start : self.end]))
            self.advance()
            if self.kind != ":":
                raise self.expected("':'")
            self.advance()
        value = self.value(depth)
        comma = 0
        if self.kind == ",":
            comma = self.end
            self.advance()
        return Item(key, gap, start, value, comma)


def _complaint(text: str, offset: int) -> str:
    """Why no token begins at ``offset``."""
    if text.startswith("/*", offset):
        return "a comment that is never closed"
    if text[offset] == '"':
        return "a string that is not closed on its line, or with an escape or a control character that JSON has not"
    return f"unexpected character {text[offset]!r}"


def parse(text: str) -> Document:
    """``text``, its byte order mark and line ends as they are, as a document. Raises ``Damaged``."""
    reader = _Reader(text)
    if reader.kind == "end" and not reader.comments:
        return Document(text, None)
    root = reader.value(0)
    if reader.kind != "end":
        raise reader.expected("the end of the file")
    return Document(text, root)


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
    ends = _LINE_END.search(text)
    newline = ends.group() if ends else "\n"
    if root is None or not root.items:
        return Layout(newline)
    first = root.items[0]
    if not _LINE_END.search(text, root.start, first.start):
        return Layout(newline, flat=not _LINE_END.search(text, root.start, root.end))
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
    if not _LINE_END.search(text, at, first.start):
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

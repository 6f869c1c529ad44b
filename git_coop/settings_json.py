"""Settings files in JSON, with comments and trailing commas, as a text and a tree of offsets into it.

Edits are splices of that text (``settings_splice``), so that every other byte stays. The grammar is RFC 8259's with
``//`` and ``/* */`` comments and one trailing comma a container, which is what the clients read.

Why no library: ``json-five`` keeps every byte of a parsed document, but needs 6.7 s a megabyte, refuses U+2028 in a
string (legal JSON), accepts single quotes and bare keys (which no client reads), and has no insertion that knows a
file's layout. A rewriting encoder keeps nothing.
"""

import json
import re
from functools import lru_cache

from git_coop.errors import Refused
from git_coop.record import Record

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
LINE_END = re.compile(r"\r\n|\n|\r")


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
    for found in LINE_END.finditer(text, 0, offset):
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


@lru_cache(maxsize=2)  # an edit has several steps, and most of them leave the text as it is
def parse(text: str) -> Document:
    """``text``, its byte order mark and line ends as they are, as a document. Raises ``Damaged``."""
    reader = _Reader(text)
    if reader.kind == "end" and not reader.comments:
        return Document(text, None)
    root = reader.value(0)
    if reader.kind != "end":
        raise reader.expected("the end of the file")
    return Document(text, root)

"""Codex's ``config.toml``: our hooks appended as tables of their own, and cut out again. Text in, text out; no disk.

Only a file that holds hooks already is written here, for Codex warns where one layer has hooks in both forms; else
they go into ``hooks.json``. What is appended is one blank line and then, for each event::

    [[hooks.Stop]]
    [[hooks.Stop.hooks]]
    type = "command"

A file without a last line end gets a second one in front, and its addition ends without one: so removal knows.

Why no library: ``tomlkit`` keeps every byte of a parsed document, but its additions end lines with a line feed
in a file of CRLF, and taking one out again leaves blank lines and ``hooks.Stop = []`` behind. What is written
here is checked with ``tomllib``: the tables must say what was meant, and nothing else may have changed.
"""

import json
import re
import tomllib

from git_coop import hook_command
from git_coop.errors import Refused
from git_coop.hook_command import EDITED, OURS
from git_coop.record import Record
from git_coop.settings_hooks import Found
from git_coop.settings_json import Damaged, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# One step through TOML outside of keys and plain values (TOML 1.0: strings, comments, brackets, line ends).
_STEP = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[{]|[\]}]|\n|[^"'\#\[\]{}\n]+''',
    re.DOTALL,
)
_HEADER = re.compile(r"[ \t]*\[\[[ \t]*hooks[ \t]*\.[ \t]*([A-Za-z]+)[ \t]*(\.[ \t]*hooks[ \t]*)?\]\]")
_ANY_HEADER = re.compile(r"[ \t]*\[[^\n]*")
_BLANK_BEFORE = re.compile(r"(?:\A|\n)[ \t]*\r?\n\Z")
_WHERE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)\Z")


class _Table(Record):
    """A ``[[hooks.…]]`` table: its text from the header's line to the end of its last entry's line."""

    event: str
    inner: bool  # ``[[hooks.Event.hooks]]``, an entry; else the group that holds entries
    start: int
    end: int
    bare: bool  # no key stands in it


def load(text: str) -> "dict[str, object]":
    """The data of ``text``. Raises ``Damaged`` with the place."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _WHERE.search(str(error))
        reason = _WHERE.sub("", str(error))
        line, column = place(text, len(text))
        if where and where.group(1):
            line, column = int(where.group(1)), int(where.group(2))
        raise Damaged(reason[:1].lower() + reason[1:], line=line, column=column) from error


def has_hooks(text: str) -> bool:
    """Whether any event has hooks in ``text``; a table ``hooks`` with settings alone is none."""
    hooks = load(text).get("hooks")
    return isinstance(hooks, dict) and any(isinstance(value, list) for value in hooks.values())


def _entries(data: "dict[str, object]") -> "Iterator[tuple[str, dict[str, object]]]":
    """Every entry of every event, in order."""
    hooks = data.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            held = group.get("hooks") if isinstance(group, dict) else None
            for entry in held if isinstance(held, list) else ():
                if isinstance(entry, dict):
                    yield event, entry


def find(text: str) -> "tuple[Found, ...]":
    """Every entry of ours, and every one that a person made of it. Raises ``Damaged``."""
    found = []
    tables = [table for table in _tables(text) if table.inner]
    for event, entry in _entries(load(text)):
        command = entry.get("command")
        verdict = hook_command.judge(command) if isinstance(command, str) else ""
        if verdict in (OURS, EDITED) and isinstance(command, str):
            line, column = _line_of(text, tables, event, command)
            found.append(Found(event, command, verdict, line, column))
    return tuple(found)


def _line_of(text: str, tables: "list[_Table]", event: str, command: str) -> "tuple[int, int]":
    for table in tables:
        if table.event == event and _command(text, table) == command:
            return place(text, table.start)
    return place(text, 0)  # written in line: no table of its own


def _command(text: str, table: _Table) -> "str | None":
    """The command of an entry's table."""
    for _, entry in _entries(tomllib.loads(f"[[hooks.{table.event}]]\n{text[table.start : table.end]}")):
        command = entry.get("command")
        return command if isinstance(command, str) else None
    return None


def merge(text: str, entries: "Mapping[str, Mapping[str, object]]") -> str:
    """``text`` with one entry for each event of ``entries``. Raises ``Damaged``, and ``Refused`` for hooks in line."""
    for found in find(text):
        wanted = entries.get(found.event, {}).get("command")
        if found.verdict == OURS and isinstance(wanted, str) and not hook_command.serves(found.command, wanted):
            text = _mend(text, found.event, found.command, wanted)
    there = {found.event for found in find(text)}
    missing = {event: entry for event, entry in entries.items() if event not in there}
    return _append(text, missing) if missing else text


def _mend(text: str, event: str, old: str, new: str) -> str:
    for table in _tables(text):
        if table.inner and table.event == event and _command(text, table) == old:
            body = text[table.start : table.end]
            for quoted in (json.dumps(old, ensure_ascii=False), f"'{old}'"):
                if quoted in body:
                    return text[: table.start] + body.replace(quoted, _string(new), 1) + text[table.end :]
    return text


def _append(text: str, missing: "Mapping[str, Mapping[str, object]]") -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = []
    for event, entry in missing.items():
        lines += [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]"]
        lines += [f"{key} = {_string(value)}" for key, value in entry.items()]
    block = newline.join(lines)
    ended = text == "" or text.endswith("\n")
    new = f"{text}{newline}{block}{newline}" if ended else f"{text}{newline}{newline}{block}"
    _same(text, new, missing)
    return new


def _same(old: str, new: str, missing: "Mapping[str, Mapping[str, object]]") -> None:
    """Raise ``Refused`` unless ``new`` says what ``old`` does and has the missing entries besides."""
    try:
        added = list(_entries(tomllib.loads(new)))
    except tomllib.TOMLDecodeError:
        added = []
    expected = [*_entries(load(old)), *((event, dict(entry)) for event, entry in missing.items())]
    if sorted(map(repr, added)) != sorted(map(repr, expected)):
        raise Refused("the hooks stand in line, where a table cannot be added", hint="see 'git coop hooks show codex'")


def _string(value: object) -> str:
    """A TOML value: a string, a number. JSON's escapes are TOML's, but for U+007F."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def strip(text: str) -> str:
    """``text`` without our tables. Raises ``Damaged``, and ``Refused`` where ours stand in line."""
    kept = [entry for entry in _entries(load(text)) if not _ours(entry[1])]
    new = text
    for start, end in reversed(_runs(text)):
        before = text[:start]
        if end == len(text) and not text.endswith("\n"):
            before = _without_line_end(_without_line_end(before))
        elif _BLANK_BEFORE.search(before):
            before = _without_line_end(before)
        new = before + new[end:]
    try:
        right = list(_entries(tomllib.loads(new))) == kept
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise Refused("our hooks stand in line, where they cannot be cut out", hint="take them out by hand")
    return new


def _ours(entry: "dict[str, object]") -> bool:
    command = entry.get("command")
    return isinstance(command, str) and hook_command.judge(command) == OURS


def _runs(text: str) -> "list[tuple[int, int]]":
    """Where our tables stand, neighbours joined. A group goes with an entry that is the only one in it."""
    tables = _tables(text)
    runs: list[tuple[int, int]] = []
    for index, table in enumerate(tables):
        if not table.inner or hook_command.judge(_command(text, table) or "") != OURS:
            continue
        start, group = table.start, tables[index - 1] if index else table
        alone = index + 1 == len(tables) or not tables[index + 1].inner
        if not group.inner and group.bare and alone and group.end == start:
            start = group.start
        if runs and runs[-1][1] == start:
            start = runs.pop()[0]
        runs.append((start, table.end))
    return runs


def _without_line_end(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _tables(text: str) -> "list[_Table]":
    """The ``[[hooks.Event]]`` and ``[[hooks.Event.hooks]]`` tables in the order of the file."""
    starts = list(_lines(text))
    ends = [*starts, len(text)][1:]
    tables: list[_Table] = []
    open_table = False
    for start, end in zip(starts, ends, strict=True):
        first = text[start:end].strip()[:1]
        header = _HEADER.match(text, start)
        if header:
            tables.append(_Table(header.group(1), header.group(2) is not None, start, end, bare=True))
        elif open_table and first not in ("", "#", "["):
            tables[-1] = tables[-1].replace(end=end, bare=False)
        open_table = bool(header) or (open_table and first != "[")
    return tables


def _lines(text: str) -> "Iterator[int]":
    """Where each line begins that no string and no bracket of an earlier line reaches into."""
    at = depth = 0
    fresh = True
    while at < len(text):
        header = _ANY_HEADER.match(text, at) if fresh and depth == 0 else None
        if fresh and depth == 0:
            yield at
        step = header or _STEP.match(text, at)
        if step is None:  # a quotation that is not closed, which ``load`` refuses
            return
        depth += 0 if header else {"[": 1, "{": 1, "]": -1, "}": -1}.get(step.group(), 0)
        fresh = step.group() == "\n"
        at = step.end()

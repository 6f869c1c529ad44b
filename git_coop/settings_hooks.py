"""Hooks in a JSON settings document: found, added and taken out again. Text in, text out; no disk.

The document has an object ``hooks``; in it an array an event; in that the entries themselves, or groups that hold
them in an array ``hooks`` (Claude Code, Codex and Gemini CLI; Cursor and Copilot have no groups).
"""

import shlex

from git_coop import hook_command
from git_coop.hook_command import EDITED, OURS
from git_coop.record import Record
from git_coop.settings_json import BOM, Document, Item, Node, parse, place
from git_coop.settings_splice import Layout, apply, emptied, insert, layout, opening, remove, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from git_coop.settings_splice import Splice

_COMMANDS = ("command", "bash", "powershell")  # the keys under which an entry may hold a command


class Shape(Record):
    """How a client's document holds its entries."""

    grouped: bool
    version: "int | None" = None  # of the whole document, where the client wants one


class Found(Record):
    """An entry that runs the drain; ``verdict`` is ``ours`` or ``edited``."""

    event: str
    command: str
    verdict: str
    line: int
    column: int


class _Entry(Record):
    event: int  # index in the object of events
    group: int  # index in the event's array
    entry: "int | None"  # index in the group's own array, None where there are no groups
    found: Found
    node: Node  # the string that is the command
    whole: Node  # the entry


def find(text: str, shape: Shape) -> "tuple[Found, ...]":
    """Every entry of ours, and every one that a person made of it, in the order of the file. Raises ``Damaged``."""
    document = parse(text)
    return tuple(entry.found for _, hooks in _hooks(document) for entry in _entries(document, hooks, shape))


def _hooks(document: Document) -> "Iterator[tuple[int, Node]]":
    """Each object ``hooks`` of the root with its index; keys may be doubled."""
    if document.root is not None:
        for index, item in enumerate(document.root.items):
            if item.key == "hooks" and item.value.kind == "object":
                yield index, item.value


def _entries(document: Document, hooks: Node, shape: Shape) -> "Iterator[_Entry]":
    for number, event in enumerate(hooks.items):
        for index, item in enumerate(event.value.items if event.value.kind == "array" else ()):
            if not shape.grouped:
                yield from _entry(document, event, item.value, number, index, None)
                continue
            for inner, one in enumerate(_inner(item.value).items):
                yield from _entry(document, event, one.value, number, index, inner)


def _inner(group: Node) -> Node:
    """The array of a group's entries; one without members where the group has none."""
    array = group.get("hooks") if group.kind == "object" else None
    return array if array is not None and array.kind == "array" else Node("array", 0, 0)


def _entry(
    document: Document, event: Item, entry: Node, number: int, group: int, inner: "int | None"
) -> "Iterator[_Entry]":
    for key in _COMMANDS if entry.kind == "object" else ():
        node = entry.get(key)
        command = document.string(node)
        if node is None or command is None:
            continue
        args = entry.get("args")
        if args is not None and args.items:
            words = [document.string(item.value) or "" for item in args.items]
            command = shlex.join([command, *words])
        verdict = hook_command.judge(command)
        if verdict in (OURS, EDITED):
            line, column = place(document.text, entry.start)
            yield _Entry(number, group, inner, Found(event.key or "", command, verdict, line, column), node, entry)
            return


def merge(text: "str | None", shape: Shape, entries: "Mapping[str, Mapping[str, object]]") -> str:
    """``text`` with one entry for each event of ``entries``; ``None`` is a file that is not there.

    An event that has ours keeps it, with the command mended where it would not work; of doubled ones the first
    stays. An event that has an edited one gets no second. Raises ``Damaged``.
    """
    if text is None:
        return render(_whole(shape, entries), Layout()) + "\n"
    document = parse(text)
    if document.root is None:
        return _fill_blank(text, render(_whole(shape, entries), layout(document)))
    if document.root.kind != "object":
        raise document.damaged("expected an object", document.root.start)
    text = _single(document, shape, set(entries))
    text = _mend(parse(text), shape, entries)
    return _add(parse(text), shape, entries)


def _whole(shape: Shape, entries: "Mapping[str, Mapping[str, object]]") -> "dict[str, object]":
    version = {} if shape.version is None else {"version": shape.version}
    return {**version, "hooks": {event: _listed(shape, entry) for event, entry in entries.items()}}


def _listed(shape: Shape, entry: "Mapping[str, object]") -> "list[object]":
    return [{"hooks": [dict(entry)]}] if shape.grouped else [dict(entry)]


def _fill_blank(text: str, root: str) -> str:
    """A document in a file of white space. One space behind its brace tells it from a file that was not there."""
    mark = BOM if text.startswith(BOM) else ""
    return f"{mark}{{ {root[1:].lstrip()}{text[len(mark) :]}"


def _single(document: Document, shape: Shape, events: "set[str]") -> str:
    """The text without every second entry of ours for one event."""
    seen: set[str] = set()
    splices: list[Splice] = []
    for _, hooks in _hooks(document):
        extra = []
        for entry in _entries(document, hooks, shape):
            if entry.found.verdict == OURS and entry.found.event in events:
                if entry.found.event in seen:
                    extra.append(entry)
                seen.add(entry.found.event)
        for number, event in enumerate(hooks.items):
            splices += _prune_event(document, event.value, [entry for entry in extra if entry.event == number])[0]
    return apply(document.text, splices)


def _mend(document: Document, shape: Shape, entries: "Mapping[str, Mapping[str, object]]") -> str:
    splices: list[Splice] = []
    for _, hooks in _hooks(document):
        for entry in _entries(document, hooks, shape):
            wanted = entries.get(entry.found.event, {}).get("command")
            if entry.found.verdict == OURS and isinstance(wanted, str):
                plain = document.string(entry.node) == entry.found.command  # else its words stand in ``args``
                if plain and not hook_command.serves(entry.found.command, wanted):
                    splices.append((entry.node.start, entry.node.end, render(wanted, Layout())))
    return apply(document.text, splices)


def _add(document: Document, shape: Shape, entries: "Mapping[str, Mapping[str, object]]") -> str:
    root = document.root
    if root is None:
        raise ValueError("a blank document has no place to add to")
    there = {entry.found.event for _, hooks in _hooks(document) for entry in _entries(document, hooks, shape)}
    missing = {event: _listed(shape, entry) for event, entry in entries.items() if event not in there}
    if not missing:
        return document.text
    look = layout(document)
    hooks = root.get("hooks")
    if hooks is None:
        members: list[tuple[str | None, object]] = [("hooks", missing)]
        if shape.version is not None and root.get("version") is None:
            members.insert(0, ("version", shape.version))
        return apply(document.text, [insert(document, root, members, look)])
    if hooks.kind != "object":
        raise document.damaged("'hooks' is not an object", hooks.start)
    return apply(document.text, _add_events(document, hooks, missing, look))


def _add_events(document: Document, hooks: Node, missing: "dict[str, list[object]]", look: Layout) -> "list[Splice]":
    splices, fresh = [], []
    for event, members in missing.items():
        array = hooks.get(event)
        if array is None:
            fresh.append((event, members))
        elif array.kind != "array":
            raise document.damaged(f"'{event}' is not an array", array.start)
        else:
            splices.append(insert(document, array, [(None, member) for member in members], look))
    if fresh:
        splices.append(insert(document, hooks, fresh, look))
    return splices


def strip(text: str, shape: Shape) -> "str | None":
    """``text`` without our entries, and without the groups, arrays and objects that installing made for them.

    ``None``: the file was not there before. Raises ``Damaged``.
    """
    document = parse(text)
    root = document.root
    if root is None:
        return text
    splices: list[Splice] = []
    gone: set[int] = set()
    for index, hooks in _hooks(document):
        cuts, whole = _prune_hooks(document, hooks, shape)
        if whole:
            gone |= _with_version(root, index, shape)
        else:
            splices += cuts
    if not gone:
        return apply(text, splices)
    cuts = remove(document, root, gone)
    if splices or not emptied(document, root, cuts):
        return apply(text, splices + cuts)
    return _without_root(document, root, cuts)


def _prune_hooks(document: Document, hooks: Node, shape: Shape) -> "tuple[list[Splice], bool]":
    """The splices for one object of events, and whether it goes as a whole: emptied, and made by installing."""
    ours = [entry for entry in _entries(document, hooks, shape) if entry.found.verdict == OURS]
    # An entry without the white space that we write was written anew by another program: the marks went with it.
    rewritten = any(not opening(document, entry.whole) for entry in ours)
    splices: list[Splice] = []
    gone: set[int] = set()
    for number, event in enumerate(hooks.items):
        cuts, empty = _prune_event(document, event.value, [entry for entry in ours if entry.event == number])
        if empty and (opening(document, event.value) or rewritten):
            gone.add(number)
        else:
            splices += cuts
    cuts = remove(document, hooks, gone)
    empty = bool(gone) and not splices and emptied(document, hooks, cuts)
    return splices + cuts, empty and (rewritten or bool(opening(document, hooks)))


def _prune_event(document: Document, array: Node, ours: "list[_Entry]") -> "tuple[list[Splice], bool]":
    """The splices for one event's array, and whether nothing is left in it. A group goes with its last entry."""
    splices: list[Splice] = []
    gone: set[int] = set()
    for group in sorted({entry.group for entry in ours}):
        inner = {entry.entry for entry in ours if entry.group == group and entry.entry is not None}
        holder = _inner(array.items[group].value)
        if not inner or emptied(document, holder, cuts := remove(document, holder, inner)):
            gone.add(group)
        else:
            splices += cuts
    cuts = remove(document, array, gone)
    return splices + cuts, bool(gone) and not splices and emptied(document, array, cuts)


def _with_version(root: Node, index: int, shape: Shape) -> "set[int]":
    """``hooks`` and, where installing wrote both, the ``version`` directly before it.

    A ``version`` that was there stands behind: new members go before the first.
    """
    both = shape.version is not None and index > 0 and root.items[index - 1].key == "version"
    return {index - 1, index} if both else {index}


def _without_root(document: Document, root: Node, cuts: "list[Splice]") -> "str | None":
    """What stood there before an object that holds ours alone."""
    mark = opening(document, root)
    around = document.text[: root.start] + document.text[root.end :]
    if mark == " ":
        return around
    if mark and not around.strip(" \t\r\n" + BOM):
        return None
    return apply(document.text, cuts)

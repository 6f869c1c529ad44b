"""The document: spans that reproduce the text, splices that come and go without a trace."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import settings_hooks
from git_coop.settings_hooks import Shape
from git_coop.settings_json import Damaged, Document, Node, parse
from git_coop.settings_splice import apply, insert, layout, remove

SHAPES = [Shape(grouped=True), Shape(grouped=False), Shape(grouped=False, version=1)]
EVENTS = ("Start", "Prompt", "Stop")
ENTRIES: dict[str, dict[str, object]] = {
    event: {"type": "command", "command": "/opt/x/git-coop drain --client claude", "timeout": 10} for event in EVENTS
}

STRING = "a string that is not closed on its line, or with an escape or a control character that JSON has not"

blank = st.text(" \t\n\r", max_size=3)
comment = st.one_of(
    st.text('ab/* {[,:"', max_size=6).filter(lambda text: "*/" not in text).map(lambda text: f"/*{text} */"),
    st.tuples(st.text('ab/*{[,:"', max_size=6), st.sampled_from(["\n", "\r\n"])).map(
        lambda pair: f"//{pair[0]}{pair[1]}"
    ),
)
space = st.one_of(blank, st.tuples(blank, comment, blank).map("".join))
scalar = st.one_of(
    st.sampled_from(["true", "false", "null", "-0", "1e9", "2.50", '"\\u00e9\\/"', '"\\ud800"', '"{[,:]}"', '""']),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
)
keys = st.sampled_from(["a", "hooks", "Start", "Stop", "command", "$schema", "version", "x y"]).map(json.dumps)


def _container(opening: str, closing: str, members: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def join(drawn: tuple[list[str], bool, str]) -> str:
        parts, trailing, inner = drawn
        comma = "," if trailing and parts else ""
        return opening + ",".join(parts) + comma + inner + closing

    return st.tuples(st.lists(members, max_size=3), st.booleans(), space).map(join)


def _padded(value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(space, value, space).map("".join)


def _member(value: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(space, keys, space, _padded(value)).map(lambda part: f"{part[0]}{part[1]}{part[2]}:{part[3]}")


values = st.recursive(
    scalar,
    lambda inner: st.one_of(_container("[", "]", _padded(inner)), _container("{", "}", _member(inner))),
    max_leaves=12,
)
objects = _container("{", "}", _member(values))
documents = st.tuples(st.sampled_from(["", "\ufeff"]), space, objects, space).map("".join)


def _rebuilt(document: Document, node: Node) -> str:
    """The text of a node, put together from the spans of what is in it."""
    text = document.text
    if node.kind not in ("object", "array"):
        return text[node.start : node.end]
    parts, at = [], node.start
    for item in node.items:
        assert text[item.gap : item.start].strip(" \t\r\n") == ""
        assert item.comma == 0 or text[item.comma - 1] == ","
        parts += [text[at : item.value.start], _rebuilt(document, item.value)]
        at = item.value.end
    assert text[node.tail : node.end - 1].strip(" \t\r\n") == ""
    return "".join([*parts, text[at : node.end]])


@given(documents)
def test_the_spans_of_a_document_reproduce_its_text(text: str) -> None:
    document = parse(text)
    assert document.root is not None
    around = text[: document.root.start], text[document.root.end :]
    assert around[0] + _rebuilt(document, document.root) + around[1] == text


@given(values)
def test_what_json_reads_is_read_alike(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        return  # comments or a trailing comma
    document = parse(text)
    assert document.root is not None
    assert _value(document, document.root) == expected


def _value(document: Document, node: Node) -> object:
    if node.kind == "object":
        return {item.key: _value(document, item.value) for item in node.items}
    if node.kind == "array":
        return [_value(document, item.value) for item in node.items]
    return json.loads(document.text[node.start : node.end])


@given(documents, st.integers(1, 3))
def test_members_put_in_and_taken_out_leave_the_text_as_it_was(text: str, count: int) -> None:
    document = parse(text)
    assert document.root is not None
    members = [(f"new {number}", {"a": [1, {"b": "c"}]}) for number in range(count)]
    edited = parse(apply(text, [insert(document, document.root, members, layout(document))]))
    assert edited.root is not None
    new = {index for index, item in enumerate(edited.root.items) if item.key in dict(members)}
    assert len(new) == count
    assert apply(edited.text, remove(edited, edited.root, new)) == text


@given(documents, st.sampled_from(SHAPES))
def test_install_and_uninstall_are_the_identity(text: str, shape: Shape) -> None:
    try:
        installed = settings_hooks.merge(text, shape, ENTRIES)
    except Damaged:
        return  # `hooks` or an event in it has another type: refused
    assert settings_hooks.merge(installed, shape, ENTRIES) == installed
    assert {found.event for found in settings_hooks.find(installed, shape)} == set(EVENTS)
    assert settings_hooks.strip(installed, shape) == text


@given(documents, st.sampled_from(SHAPES))
def test_an_edit_to_another_key_in_between_stays(text: str, shape: Shape) -> None:
    document = parse(text)
    assert document.root is not None
    try:
        installed = settings_hooks.merge(text, shape, ENTRIES)
    except Damaged:
        return
    root = parse(installed).root
    assert root is not None
    if not document.root.items:
        return  # a key in an empty object comes without a comma
    theirs = '"theirs": true,'
    edited = installed[: root.start + 1] + theirs + installed[root.start + 1 :]
    assert (
        settings_hooks.strip(edited, shape)
        == text[: document.root.start + 1] + theirs + text[document.root.start + 1 :]
    )


@given(st.text('{}[]",:/*a0 \n\\tru', max_size=30))
def test_any_text_is_parsed_or_refused_with_a_place(text: str) -> None:
    complaint = _complaint(text)
    if complaint is not None:
        assert 1 <= complaint.line <= text.count("\n") + 1
        assert complaint.column >= 1


def _complaint(text: str) -> Damaged | None:
    try:
        parse(text)
    except Damaged as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1\n "b": 2}', "line 2, column 2: expected ',' or '}', found '\"'"),
        ('{\r\n"a": 1,,}', "line 2, column 8: expected a key in double quotes or '}', found ','"),
        ("\ufeff{'a': 1}", 'line 1, column 2: unexpected character "\'"'),
        ('{"a": 1} x', "line 1, column 10: unexpected character 'x'"),
        ("/* never", "line 1, column 1: a comment that is never closed"),
        ("// only\n", "line 2, column 1: expected a value, found the end of the file"),
        ('{"a" 1}', "line 1, column 6: expected ':', found '1'"),
        ("[" * 300, "line 1, column 201: nested deeper than 200 levels"),
        ('{"a": "x\n"}', f"line 1, column 7: {STRING}"),
    ],
)
def test_damage_is_told_with_line_and_column(text: str, sentence: str) -> None:
    with pytest.raises(Damaged) as caught:
        parse(text)
    assert caught.value.sentence == sentence


def test_white_space_alone_is_a_document_without_a_root() -> None:
    assert parse("\ufeff \r\n").root is None
    assert parse("{}").root is not None


def test_new_members_come_on_lines_of_their_own_in_the_layout_of_the_file() -> None:
    text = '{ // mine\n\t"$schema": "s", // s\n\t"a": 1 // one\n}'
    document = parse(text)
    assert document.root is not None
    splice = insert(document, document.root, [("b", {"c": [1]})], layout(document))
    assert apply(text, [splice]) == (
        '{ // mine\n\t"$schema": "s", // s\n\t"b": {\n\t\t"c": [\n\t\t\t1\n\t\t]\n\t},\n\t"a": 1 // one\n}'
    )


def test_splices_that_overlap_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply("abc", [(0, 2, ""), (1, 3, "")])

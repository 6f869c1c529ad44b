"""Todos: ids, texts, states, records, and what counts as a mention."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import todos
from git_coop.errors import NotFound, Refused
from git_coop.todos import Todo
from git_coop.toml import Damaged
from tests.support.world import START, Counter

TODO = Todo("t-ab1cd", "write the test", START, "session-1")


@pytest.mark.parametrize("name", ["t-ab1cd", "t-00000", "t-zzzzz"])
def test_an_id_is_t_and_five_digits_of_36(name: str) -> None:
    assert todos.is_id(name)


@pytest.mark.parametrize(
    "name", ["", "t-", "t-ab1c", "t-ab1cde", "T-ab1cd", "t-AB1CD", "t-ab1c\n", "t-ab/cd", "t-ab1cé"]
)
def test_nothing_else_is_an_id(name: str) -> None:
    assert not todos.is_id(name)


@given(st.binary(min_size=8, max_size=8))
def test_what_is_minted_is_an_id(drawn: bytes) -> None:
    assert todos.is_id(todos.mint(lambda _size: drawn, ()))


def test_a_minted_id_is_not_taken() -> None:
    assert todos.mint(Counter(), {"t-00001", "t-00002"}) == "t-00003"
    with pytest.raises(Refused, match=r"^no free todo id was found$"):
        todos.mint(lambda size: b"\1".rjust(size, b"\0"), {"t-00001"})


def test_an_id_is_named_with_and_without_its_prefix() -> None:
    assert todos.pick("t-ab1cd", {"t-ab1cd"}) == todos.pick("ab1cd", {"t-ab1cd"}) == "t-ab1cd"
    with pytest.raises(NotFound, match=r"^no todo 't-ab1c'$"):
        todos.pick("t-ab1c", {"t-ab1cd"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [(" write it\t", "write it"), ("écrire", "écrire"), ("x" * 4096, "x" * 4096)],
)
def test_a_text_is_one_line(text: str, expected: str) -> None:
    assert todos.checked(text) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the todo is blank"),
        (" \n", "the todo is blank"),
        ("two\nlines", "a todo is one line"),
        ("two\u2028lines", "a todo is one line"),
        ("a NUL\0", "a todo is one line"),
        ("caf\udce9", "the todo is not valid UTF-8"),
        ("é" * 2049, "the todo has 4098 bytes, over the limit of 4096"),
    ],
)
def test_other_texts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        todos.checked(text)
    assert caught.value.sentence == sentence


def test_a_todo_is_done_once_and_opened_again() -> None:
    assert TODO.status == "open"
    finished = todos.done(TODO, START + 1)
    assert (finished, finished.status) == (TODO.replace(done_at=START + 1), "done")
    assert todos.done(finished, START + 2) is finished
    again = todos.reopened(finished, START + 3)
    assert (again, again.status) == (TODO.replace(reopened_at=START + 3), "open")
    assert todos.reopened(again, START + 4) is again
    assert todos.done(again, START + 5) == TODO.replace(done_at=START + 5, reopened_at=START + 3)


@pytest.mark.parametrize(
    "text",
    [
        "t-ab1cd",
        "do t-ab1cd first",
        "(t-ab1cd)",
        "`t-ab1cd`,",
        "t-ab1cd.",
        "t-ab1cd-part",
        "t-ab1cdを終える",
        "先t-ab1cd",
        "t-ab1cde and t-ab1cd",
        "x\nt-ab1cd\n",
    ],
)
def test_a_whole_word_is_a_mention(text: str) -> None:
    assert todos.mentions(text, "t-ab1cd")


@pytest.mark.parametrize(
    "text", ["", "t-ab1cde", "t-ab1c", "at-ab1cd", "xt-ab1cd_", "t-ab1cd_x", "not-t-ab1cd", "t-AB1CD", "t-ab1cd9"]
)
def test_a_part_of_a_word_is_none(text: str) -> None:
    assert not todos.mentions(text, "t-ab1cd")


def test_a_record_is_readable() -> None:
    assert (
        todos.encode(TODO.replace(done_at=START)).decode()
        == """\
id = "t-ab1cd"
status = "done"
text = "write the test"
session = "session-1"
created_at = 2026-11-30T10:45:12.123Z
done_at = 2026-11-30T10:45:12.123Z
"""
    )


@given(
    st.builds(
        Todo,
        st.just("t-ab1cd"),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.just(START),
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        st.none() | st.just(START + 10**6),
        st.none() | st.just(START + 10**9),
        st.sampled_from([{}, {"label": "x"}, {"meta": {"a": [1]}}]),
    )
)
def test_a_record_comes_back(todo: Todo) -> None:
    assert todos.decode(todos.encode(todo), b"x", "t-ab1cd") == todo


def test_the_file_name_gives_the_id() -> None:
    assert todos.decode(todos.encode(TODO), b"x", "t-00000") == TODO.replace(id="t-00000")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "it has no 'status'"),
        ("status = 'open'", "it has no 'text'"),
        ("status = 'maybe'\ntext = 'x'", "its status is not one of open, done"),
        ("status = 1\ntext = 'x'", "'status' is not a string"),
        ("status = 'open'\ntext = 'x'\ncreated_at = 1", "'created_at' is not a time with a zone"),
    ],
)
def test_a_record_that_makes_no_sense_is_named(data: str, why: str) -> None:
    with pytest.raises(Damaged) as caught:
        todos.decode(data.encode(), b"/a/t-ab1cd.toml", "t-ab1cd")
    assert caught.value.sentence == f"cannot parse '/a/t-ab1cd.toml': {why}"

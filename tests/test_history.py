"""Filters of a history, and the lines that join its entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock, history
from git_coop.errors import Usage
from git_coop.history import Node, Wanted
from tests.support.world import START


@pytest.mark.parametrize(
    ("words", "back"),
    [
        ("90m", 90 * clock.MINUTE),
        ("36h", 36 * clock.HOUR),
        ("3d", 3 * clock.DAY),
        ("3 days", 3 * clock.DAY),
        ("3 days ago", 3 * clock.DAY),
        ("2.weeks.ago", 14 * clock.DAY),
        ("1 Hour Ago", clock.HOUR),
        ("10 seconds", 10 * clock.SECOND),
        ("yesterday", clock.DAY),
        ("now", 0),
        ("999999999 years", START),
    ],
)
def test_a_time_ago(words: str, back: int) -> None:
    assert history.since(words, START) == START - back


@pytest.mark.parametrize(
    ("words", "time"),
    [
        ("2026-11-30", "2026-11-30T00:00:00Z"),
        ("2026-11-30 10:45", "2026-11-30T10:45:00Z"),
        ("2026-11-30T10:45:12Z", "2026-11-30T10:45:12Z"),
        ("2026-11-30t10:45:12z", "2026-11-30T10:45:12Z"),
    ],
)
def test_a_time_by_its_date(words: str, time: str) -> None:
    assert history.since(words, START) == clock.parse_rfc3339(time)


@pytest.mark.parametrize("words", ["", "soon", "3", "3 moons", "2026-13-01", "2026-11-30T25:00", "-3d", "3d later"])
def test_words_that_are_no_time_are_refused(words: str) -> None:
    with pytest.raises(Usage) as caught:
        history.since(words, START)
    assert caught.value.sentence == f"'{words}' is no time"


@given(st.text())
def test_every_text_is_a_time_or_a_usage_error(text: str) -> None:
    try:
        assert 0 <= history.since(text, START) <= 253_402_300_800 * clock.SECOND
    except Usage:
        pass


@given(st.text())
def test_every_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    try:
        history.pattern(text)
    except Usage:
        pass


def test_a_pattern_that_is_none_is_refused_and_one_that_may_change_its_meaning_is_not() -> None:
    with pytest.raises(Usage, match=r"'\(' is no regular expression: "):
        history.pattern("(")
    assert history.pattern("[[a]").search("[")


ENTRIES = [(5, "five"), (4, "FOUR"), (3, "three"), (2, "two")]


def chosen(want: Wanted) -> list[int]:
    found = history.chosen(ENTRIES, want, time=lambda each: each[0], text=lambda each: [each[1]])
    return [number for number, _name in found]


def test_filters_join_and_the_limit_counts_what_they_leave() -> None:
    assert chosen(Wanted()) == [5, 4, 3, 2]
    assert chosen(Wanted(limit=2)) == [5, 4]
    assert chosen(Wanted(limit=0)) == []
    assert chosen(Wanted(since=3)) == [5, 4, 3]
    assert chosen(history.wanted(START, grep="^t")) == [3, 2]
    assert chosen(history.wanted(START, grep="^T")) == []
    assert chosen(history.wanted(START, grep="f", ignore_case=True)) == [5, 4]
    assert chosen(Wanted(grep=history.pattern("^t"), since=3, limit=1)) == [3]


def test_the_text_is_asked_for_only_where_the_rest_fits() -> None:
    asked: list[int] = []

    def text(each: tuple[int, str]) -> list[str]:
        asked.append(each[0])
        return [each[1]]

    want = Wanted(grep=history.pattern("t"), since=3, limit=1)
    history.chosen(ENTRIES, want, time=lambda each: each[0], text=text)
    assert asked == [5, 4, 3]


def drawn(*nodes: Node) -> str:
    lines = []
    for node, strokes in zip(nodes, history.graph(nodes), strict=True):
        lines += [f"{strokes.first} {node.id}", *strokes.under, f"{strokes.rest} .", *strokes.last]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def test_a_chain_and_its_breaks() -> None:
    assert (
        drawn(Node("d", ("c",)), Node("c", ()), Node("b", ("a",)), Node("a", ("gone",)))
        == """\
* d
| .
* c
  .
* b
| .
* a
  .
"""
    )


def test_an_adopted_letter_shows_its_origin() -> None:
    assert (
        drawn(Node("b", ("a",), ("adopted from desk",)), Node("a", (), ("adopted from lap",)))
        == """\
* b
|\\
| o adopted from desk
| .
* a
 \\
  o adopted from lap
  .
"""
    )


def test_two_letters_that_give_way_to_one_and_one_that_follows_two() -> None:
    assert (
        drawn(Node("e", ("c",)), Node("d", ("c",)), Node("c", ("b", "a")), Node("b"), Node("a"))
        == """\
* e
| .
| * d
| | .
|/
* c
|\\
| | .
* | b
  | .
* a
  .
"""
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(0, 8))
    names = [str(number) for number in range(count)]
    return [
        Node(name, tuple(draw(st.lists(st.sampled_from([*names[index + 1 :], "gone"]), max_size=3))))
        for index, name in enumerate(names)
    ]


@given(histories())
def test_every_entry_has_one_star_and_strokes_of_strokes_only(nodes: list[Node]) -> None:
    for strokes in history.graph(nodes):
        assert strokes.first.count("*") == 1
        for line in (strokes.first, strokes.rest, *strokes.under, *strokes.last):
            assert set(line) <= set("*|/\\ ")

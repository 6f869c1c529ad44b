"""Ids: their order, their shape, and how people name one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock, ids
from git_coop.errors import Fatal, NotFound, Refused

NOW = 1_796_035_512_123_456_789
TIMES = st.integers(0, 253_402_300_799 * clock.SECOND)


def test_an_id_is_its_time_and_eight_digits() -> None:
    identifier = ids.mint(NOW, lambda size: b"\x5f\x3a\x9c\x1e"[:size])
    assert identifier == "20261130T104512123Z-5f3a9c1e"
    assert ids.is_id(identifier)
    assert (ids.tail(identifier), ids.time_of(identifier)) == ("5f3a9c1e", 1_796_035_512_123_000_000)


@given(TIMES, TIMES)
def test_ids_sort_by_their_times(one: int, other: int) -> None:
    first, second = ids.mint(one, bytes), ids.mint(other, bytes)
    assert (first < second) == (one // 1_000_000 < other // 1_000_000)


@given(TIMES.filter(lambda time: time < 253_402_300_000 * clock.SECOND), TIMES)
def test_a_new_id_is_later_than_the_newest_whatever_the_clock_says(newest: int, now: int) -> None:
    after = ids.mint(newest, lambda size: b"\xff" * size)
    assert ids.mint(now, bytes, after=after) > after


def test_nothing_follows_the_last_id_that_there_can_be() -> None:
    for last in ("99991231T235959000Z-00000000", "99991231T235959999Z-00000000"):
        assert ids.is_id(last)
        with pytest.raises(Fatal) as caught:
            ids.mint(NOW, bytes, after=last)
        assert caught.value.sentence == f"no id can follow {last}"
    before = "99991231T235958999Z-ffffffff"
    assert ids.mint(NOW, bytes, after=before) == "99991231T235959000Z-00000000"  # the control


@pytest.mark.parametrize(
    "name",
    [
        "",
        "20261130T104512123Z-5f3a9c1",
        "20261130T104512123Z-5f3a9c1e0",
        "20261130T104512123Z-5F3A9C1E",
        "20261130T104512123Z_5f3a9c1e",
        "20260230T104512123Z-5f3a9c1e",
        "20261130T246060123Z-5f3a9c1e",
        "20261130t104512123z-5f3a9c1e",
        "20261130T10451212３Z-5f3a9c1e",
        "20261130T104512123Z-5f3a9c1\n",
        "../../../../etc/passwd/12345",
    ],
)
def test_another_shape_is_no_id(name: str) -> None:
    assert not ids.is_id(name)


ONE, TWO = "20261130T104512123Z-5f3a9c1e", "20261130T104513123Z-5f3a0000"


@pytest.mark.parametrize(
    ("asked", "found"),
    [(ONE, ONE), ("5f3a9c1e", ONE), ("5f3a9", ONE), ("5f3a0", TWO), (TWO, TWO)],
)
def test_an_id_is_named_by_its_whole_its_tail_or_a_start_of_it(asked: str, found: str) -> None:
    assert ids.pick(asked, [ONE, TWO], what="letter") == found


def test_an_ambiguous_start_lists_the_matches() -> None:
    with pytest.raises(Refused) as caught:
        ids.pick("5f3a", [TWO, ONE, ONE], what="letter")
    assert caught.value.sentence == "letter '5f3a' is ambiguous"
    assert caught.value.hint == f"it could be {ONE}, {TWO}"


@pytest.mark.parametrize("asked", ["", "5f3", "5F3A", "9c1e", "20261130", "5f3a9c1e0", "zzzz", "../x"])
def test_nothing_else_names_one(asked: str) -> None:
    with pytest.raises(NotFound) as caught:
        ids.pick(asked, [ONE, TWO], what="letter")
    assert caught.value.sentence == f"no letter '{asked}'"
    every = "git coop letter list --all --all-worktrees shows every one"
    assert caught.value.hint == ("give four or more of its eight hex digits" if asked == "5f3" else every)

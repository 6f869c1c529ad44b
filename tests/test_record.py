"""Frozen values: made, compared, copied, and never changed."""

import pytest

from git_coop.record import Record


class Point(Record):
    x: int
    y: int = 2


class Named(Point):
    name: str = "origin"


def test_fields_are_given_by_position_or_by_name() -> None:
    assert Point(1) == Point(1, 2) == Point(x=1, y=2) == Point(1, y=2)
    assert repr(Named(1, name="a")) == "Named(x=1, y=2, name='a')"
    assert Named(1).values() == {"x": 1, "y": 2, "name": "origin"}


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        ((), {}, "field 'x' is missing"),
        ((1, 2, 3), {}, "takes 2 fields, 3 given"),
        ((1,), {"x": 1}, "field 'x' is unknown or given twice"),
        ((1,), {"z": 1}, "field 'z' is unknown or given twice"),
    ],
)
def test_a_wrong_field_is_an_error(values: tuple[int, ...], named: dict[str, int], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Point(*values, **named)


def test_a_value_is_never_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="Point is frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Point is frozen"):
        del point.x
    assert point.replace(x=5) == Point(5)
    assert point == Point(1)


def test_values_of_two_classes_differ_and_equal_ones_hash_alike() -> None:
    assert Point(1) != Named(1)
    assert Point(1) != (1, 2)
    assert len({Point(1), Point(1), Point(3)}) == 2

"""The words of ``--ttl`` and ``coop.ttl``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop.clock import DAY, HOUR, MINUTE
from git_coop.errors import Usage
from git_coop.message import LONGEST_TERM
from git_coop.ttl import parse_ttl

HINT = "give minutes, or a number with m, h or d, such as 90m, 36h or 3d"


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("1", MINUTE),
        ("90", 90 * MINUTE),
        ("90m", 90 * MINUTE),
        ("36h", 36 * HOUR),
        ("3d", 3 * DAY),
        ("007", 7 * MINUTE),
        ("30d", 30 * DAY),
        ("720h", 30 * DAY),
        ("43200", 30 * DAY),
        ("0" * 5_000 + "1", MINUTE),
    ],
)
def test_minutes_hours_and_days(text: str, term: int) -> None:
    assert parse_ttl(text) == term


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("0", "must be more than 0"),
        ("0h", "must be more than 0"),
        ("000", "must be more than 0"),
        ("-1", "must be more than 0"),
        ("-3d", "must be more than 0"),
        ("-0", "must be more than 0"),
        ("43201", "is over the limit of 30 days"),
        ("721h", "is over the limit of 30 days"),
        ("31d", "is over the limit of 30 days"),
        ("1000000000000", "is over the limit of 30 days"),
        ("9" * 5_000 + "d", "is over the limit of 30 days"),
        ("", "is not a number of minutes, hours or days"),
        ("d", "is not a number of minutes, hours or days"),
        ("-", "is not a number of minutes, hours or days"),
        ("soon", "is not a number of minutes, hours or days"),
        ("1.5h", "is not a number of minutes, hours or days"),
        ("1e3", "is not a number of minutes, hours or days"),
        ("NaN", "is not a number of minutes, hours or days"),
        ("inf", "is not a number of minutes, hours or days"),
        ("+5", "is not a number of minutes, hours or days"),
        ("--5", "is not a number of minutes, hours or days"),
        ("5s", "is not a number of minutes, hours or days"),
        ("5 h", "is not a number of minutes, hours or days"),
        (" 5", "is not a number of minutes, hours or days"),
        ("5hh", "is not a number of minutes, hours or days"),
        ("1_0", "is not a number of minutes, hours or days"),
        ("٣", "is not a number of minutes, hours or days"),
        ("²", "is not a number of minutes, hours or days"),
    ],
)
def test_anything_else_is_a_usage_error_that_says_why(text: str, what: str) -> None:
    with pytest.raises(Usage) as caught:
        parse_ttl(text)
    assert (caught.value.sentence, caught.value.hint, caught.value.status) == (f"ttl '{text}' {what}", HINT, 129)


@given(st.text() | st.from_regex(r"-?[0-9]{1,20}[mhd]?", fullmatch=True))
def test_any_text_is_a_term_in_range_or_a_usage_error(text: str) -> None:
    try:
        term = parse_ttl(text)
    except Usage:
        return
    assert 0 < term <= LONGEST_TERM

"""Written times: each form back to the same time, and any other text to none."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock

NOW = 1_796_035_512_123_456_789
SECONDS = st.integers(0, 253_402_300_799)


def test_the_three_forms() -> None:
    assert clock.rfc3339(NOW) == "2026-11-30T10:45:12Z"
    assert clock.id_stamp(NOW) == "20261130T104512123Z"
    assert clock.rfc5322(NOW) == "Mon, 30 Nov 2026 10:45:12 +0000"


@given(SECONDS)
def test_what_is_written_is_what_the_standard_library_reads(second: int) -> None:
    time = second * clock.SECOND
    civil = datetime.fromtimestamp(second, UTC)
    assert datetime.fromisoformat(clock.rfc3339(time)) == civil
    if civil.year >= 1900:
        assert parsedate_to_datetime(clock.rfc5322(time)) == civil


@given(SECONDS, st.integers(0, 999))
def test_every_form_comes_back(second: int, milliseconds: int) -> None:
    time = second * clock.SECOND
    assert clock.parse_rfc3339(clock.rfc3339(time)) == time
    assert clock.parse_rfc5322(clock.rfc5322(time)) == time
    assert clock.parse_id_stamp(clock.id_stamp(time + milliseconds * 1_000_000)) == time + milliseconds * 1_000_000


@pytest.mark.parametrize(
    ("time", "text"),
    [(-1, "1970-01-01T00:00:00Z"), (1 << 80, "9999-12-31T23:59:59Z"), (0, "1970-01-01T00:00:00Z")],
)
def test_a_time_out_of_range_is_clamped(time: int, text: str) -> None:
    assert clock.rfc3339(time) == text
    assert clock.parse_id_stamp(clock.id_stamp(time)) is not None


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-30T10:45:12.5Z", 1_796_035_512_500_000_000),
        ("2026-11-30T10:45:12.123456789Z", NOW),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000_000),
        ("2023-02-29T00:00:00Z", None),
        ("2026-11-30T10:45:60Z", None),
        ("2026-11-30T24:00:00Z", None),
        ("2026-13-30T10:45:12Z", None),
        ("2026-11-30t10:45:12z", None),
        ("2026-11-30T10:45:12+00:00", None),
        ("2026-11-30T10:45:12", None),
        ("2026-11-30T10:45:12.Z", None),
        ("2026-11-30T10:45:12.1234567890Z", None),
        ("２０26-11-30T10:45:12Z", None),
        ("2026-11-30T10:45:12Z\n", None),
        ("99999-11-30T10:45:12Z", None),
        ("NaN", None),
        ("", None),
    ],
)
def test_one_form_is_read_and_no_other(text: str, time: int | None) -> None:
    assert clock.parse_rfc3339(text) == time


@given(st.text(max_size=40))
def test_no_text_is_too_odd_to_read(text: str) -> None:
    for parse in (clock.parse_rfc3339, clock.parse_rfc5322, clock.parse_id_stamp):
        found = parse(text)
        assert found is None or found >= -62_135_596_800 * clock.SECOND


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (-5, "0 seconds"),
        (0, "0 seconds"),
        (clock.SECOND, "1 second"),
        (59 * clock.SECOND, "59 seconds"),
        (clock.MINUTE, "1 minute"),
        (2 * clock.HOUR - 1, "1 hour"),
        (30 * clock.DAY, "30 days"),
    ],
)
def test_an_age_is_its_largest_unit(passed: int, words: str) -> None:
    assert clock.age(NOW, NOW + passed) == words

"""Flat records: what was written is read back, any TOML reader reads it too, and no bytes make the reader raise."""

import datetime
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import flat

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.text(st.sampled_from("abcdefgh_"), min_size=1, max_size=8)


@given(st.dictionaries(KEYS, TEXT | st.integers(0, 10**18)))
def test_what_is_written_is_read_back_by_us_and_by_toml(record: dict[str, str | int]) -> None:
    data = flat.dumps({**record})
    assert flat.loads(data) == record
    assert tomllib.loads(data.decode()) == record
    assert data.count(b"\n") == len(record)


@given(TEXT.map(lambda text: text.replace("a", "\\").replace("b", '"').replace("c", "\\u0041")))
def test_what_looks_like_an_escape_is_none(text: str) -> None:
    assert flat.loads(flat.dumps({"k": text})) == {"k": text}


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(flat.loads(data), dict)
    flat.loads(b'k = "' + data + b'"\n')


def test_the_form() -> None:
    record: dict[str, str | int | None] = {
        "at": "2026-11-30T10:45:12Z",
        "none": None,
        "n": 7,
        "s": 'a"b\\c\n\x7f',
        "e": "",
    }
    data = flat.dumps(record, times=("at",))
    assert data == b'at = 2026-11-30T10:45:12Z\nn = 7\ns = "a\\"b\\\\c\\u000a\\u007f"\ne = ""\n'
    assert tomllib.loads(data.decode())["at"] == datetime.datetime(2026, 11, 30, 10, 45, 12, tzinfo=datetime.UTC)
    assert flat.loads(data) == {"at": "2026-11-30T10:45:12Z", "n": 7, "s": 'a"b\\c\n\x7f', "e": ""}


def test_a_surrogate_becomes_a_question_mark() -> None:
    assert flat.dumps({"k": "a\ud800"}) == b'k = "a?"\n'


@pytest.mark.parametrize("line", [b"", b"k", b"k = ", b"= 1", b"k=1", b"# k = 1"])
def test_lines_that_are_no_field_are_left_out(line: bytes) -> None:
    found = flat.loads(line + b"\nother = 1\n")
    assert found["other"] == 1
    assert "k" not in found


def test_fields_of_another_kind_are_absent() -> None:
    record = flat.loads(b'n = 7\ns = "7"\nbig = 99999999999999999999\nminus = -1\n')
    assert (flat.number(record, "n"), flat.number(record, "s"), flat.number(record, "x")) == (7, 0, 0)
    assert (flat.text(record, "s"), flat.text(record, "n"), flat.text(record, "x")) == ("7", "", "")
    assert flat.number(record, "big") == flat.number(record, "minus") == 0

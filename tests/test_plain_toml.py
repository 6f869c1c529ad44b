"""A plain record says what a TOML reader says; what is not plain is left to one, and nothing is taken for another."""

import tomllib
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_coop import letter_record, plain_toml, toml
from git_coop.letters import Letter
from git_coop.plain_toml import Time
from tests.test_letter_record import HARD, LETTERS

RECORD = b"""\
id = "20261130T104512123Z-0000000a"
branch = "a \\"quoted\\" \\\\ name"
count = 7
created_at = 2026-11-30T10:45:12.123Z
read_at = 2026-11-30T10:45:12Z
supersedes = [
    "one",
    "two",
]
empty = []
body = '''
first "line"
\\ second
'''
more = "behind"

[[events]]
event = "write"
at = 2026-11-30T10:45:12.123Z

[[events]]
event = "read"
"""


def as_plain(value: object) -> object:
    """What a TOML reader found, in our forms."""
    if isinstance(value, datetime):
        at = toml.nanoseconds(value)
        return None if at is None else Time(at)
    return value


def by_reader(data: bytes) -> object:
    return typed(tomllib.loads(data.decode()))


def typed(value: object) -> object:
    """A value in our forms, each with its type: ``1`` is no ``Time``."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    plain = as_plain(value)
    return type(plain), plain


def test_a_record_as_we_write_it() -> None:
    data = RECORD.replace(b"empty = []\n", b"")
    found = plain_toml.loads(data)
    assert found is not None
    assert typed(found) == (by_reader(data))
    assert len(found["events"]) == 2


@pytest.mark.parametrize(
    "odd",
    [
        *("x = []", 'x = ["one"]', "x = 1.5", "x = true", "x = +1", "x = 07", "x = 1_000", "x = 'one'", 'x = """'),
        *("x=1", " x = 1", "x = 1 ", "x = 1\r", "x = ", "x = {}", "x = 99999999999999999999", 'id = "again"'),
        *(
            'x = "\\t"',
            'x = "\\u0041"',
            'x = "a" # b',
            "# a",
            "[x]",
            'x.y = "a"',
            "[[x] ]",
            "[[id]]",
            "[[a.b]]",
            "[[x]] ",
        ),
        *('"x" = "a"', 'x = "a', 'x = "\x01"', 'x = "\x7f"', "\ufeffx = 1", 'é = "a"'),
        *("x = 10:45:12", "x = 2026-11-30", "x = 2026-11-30T10:45:12+00:00", "x = 2026-11-30 10:45:12Z"),
        *("x = 0000-01-01T00:00:00Z", "x = '''\nno end", "x = '''\na''''", 'x = [\n"a",\n]', 'x = [\n    "a",'),
    ],
)
def test_what_is_not_plain_is_left_to_a_reader(odd: str) -> None:
    assert plain_toml.loads(f'id = "a"\n{odd}\n'.encode()) is None
    assert plain_toml.loads(b'id = "a"\n') == {"id": "a"}


def test_what_is_no_text_is_left_to_a_reader() -> None:
    assert plain_toml.loads(b'id = "\xff"\n') is None


@given(LETTERS)
def test_any_letter_is_read_as_it_was_written_or_left(letter: Letter) -> None:
    data = letter_record.encode(letter)
    found = plain_toml.loads(data)
    assert found is None or typed(found) == (by_reader(data))


@pytest.mark.parametrize("body", HARD)
def test_hard_bodies_are_read_or_left(body: str) -> None:
    data = toml.dumps({"body": body, "after": 1})
    found = plain_toml.loads(data)
    assert found is None or found == {"body": body, "after": 1}


@pytest.mark.parametrize("body", ["", "one", "two\nlines", "x" * 2000, "a 'b' \"c\" \\ d\n\n", "é\n😀\n"])
def test_usual_bodies_are_read(body: str) -> None:
    assert plain_toml.loads(toml.dumps({"body": body, "after": 1})) == {"body": body, "after": 1}


PIECES = [*RECORD.decode().splitlines(keepends=True), "'''", '"', "\\", "\n", "]", "[", ",", " = ", "Z", "\t", "0"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.data())
@settings(max_examples=500)
def test_nothing_is_taken_that_a_reader_takes_otherwise(text: str, data: st.DataObject) -> None:
    start = RECORD.decode()
    at = data.draw(st.integers(0, len(start)))
    for given_text in (text, start[:at] + text + start[at:], start[:at] + start[at + len(text) :]):
        found = plain_toml.loads(given_text.encode())
        if found is not None:
            assert typed(found) == (by_reader(given_text.encode())), given_text

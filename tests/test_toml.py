"""Records come back to the character, whatever their texts hold, and a damaged one is an error that names it."""

import re
import tomllib
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from git_coop import clock, toml

NASTY = st.text(
    st.sampled_from(list("a é\t\n\r\"'\\#=[]\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x85\u2028\u0301\U0001f600")),
    max_size=60,
)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
TEXTS = [
    "",
    "\n",
    "\n\nafter two newlines",
    "no final newline",
    "final newline\n",
    "\r",
    "\r\n",
    "dos\r\nlines\r\n",
    "old mac\rlines\r",
    "mixed\n\r\n\r",
    "a tab\tand\n\ttabs",
    "'''\n",
    "ends in '\n'",
    'ends in "\n"',
    "\"\"\"\n'''",
    '\'\'\'\n""""""""',
    "'''\nends in \\",
    "'''\nends in \\\\\"",
    "'''\nan escape that is none: \\u0041 \\n",
    "ends in \\\n\\",
    "controls " + "".join(map(chr, range(0x20))) + "\x7f",
    "caf\u00e9 NFC\ncafe\u0301 NFD\n",
    "emoji \U0001f469\u200d\U0001f4bb\n",
    "\ufeffa mark first\n",
    "line\u2028separator\n\u0085",
    "x" * 2000,
    '"' * 2000,
    "'" * 2000,
    "\\" * 2000,
    "\r" * 2000,
]


def there_and_back(record: dict[str, object]) -> dict[str, object]:
    return toml.loads(toml.dumps(record), path=b"x.toml")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back_to_the_character(text: str) -> None:
    assert there_and_back({"subject": text, "body": text, "last": 1}) == {"subject": text, "body": text, "last": 1}


@given(NASTY | ANY)
@example("'''\r\n\"\"\"\\")
def test_any_text_comes_back_to_the_character(text: str) -> None:
    record: dict[str, object] = {
        "body": text,
        "list": [text, text],
        "after": 7,
        "events": [{"event": text}, {"event": "x"}],
    }
    assert there_and_back(record) == record


@given(NASTY)
def test_no_carriage_return_and_no_other_control_character_stands_raw_in_a_record(text: str) -> None:
    assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", toml.dumps({"body": text}))


def test_a_record_is_written_to_be_read() -> None:
    at = clock.parse_rfc3339("2026-11-30T10:45:12.123456789Z")
    assert at is not None
    record: dict[str, object] = {
        "id": "20261130T104512123Z-5f3a9c1e",
        "subject": 'a "quoted" one',
        "created_at": toml.moment(at),
        "read_at": None,
        "read_count": 0,
        "supersedes": ["20261130T104512122Z-00000000"],
        "events": [{"event": "write", "at": toml.moment(at), "session": None}, {"event": "read", "at": toml.moment(0)}],
        "body": 'first "line"\nC:\\path\n',
        "dos": "a\r\nb\\\r\n",
    }
    assert (
        toml.dumps(record).decode()
        == """\
id = "20261130T104512123Z-5f3a9c1e"
subject = "a \\"quoted\\" one"
created_at = 2026-11-30T10:45:12.123Z
read_count = 0
supersedes = [
    "20261130T104512122Z-00000000",
]
body = '''
first "line"
C:\\path
'''
dos = \"\"\"
a\\r
b\\\\\\r
\"\"\"

[[events]]
event = "write"
at = 2026-11-30T10:45:12.123Z

[[events]]
event = "read"
at = 1970-01-01T00:00:00Z
"""
    )


def test_a_time_is_a_time_and_nothing_is_nothing_at_any_depth() -> None:
    at = toml.moment(clock.parse_rfc3339("2026-11-30T10:45:12.123Z") or 0)
    record: dict[str, object] = {
        "- -": at,
        "table": {"at": at, "none": None, "deeper": [{"at": at, "list": [at]}]},
        "events": [{"at": at, "session": None, "meta": {"a": 1, "none": None}}],
    }
    when = datetime(2026, 11, 30, 10, 45, 12, 123000, UTC)
    written = toml.dumps(record).decode()
    assert tomllib.loads(written) == {
        "- -": when,
        "table": {"at": when, "deeper": [{"at": when, "list": [when]}]},
        "events": [{"at": when, "meta": {"a": 1}}],
    }
    assert written.count("2026-11-30T10:45:12.123Z") == 5


@pytest.mark.parametrize(
    "line",
    [
        *("born = 1969-07-20T20:17:40Z", "born = 1969-07-20T20:17:40.123Z", "born = 0001-01-01T00:00:00Z"),
        *("- = 2026-01-01T00:00:00Z", "_ = 2026-01-01T00:00:00.001Z", '"a b" = 2026-01-01T00:00:00Z'),
        *("x = 2026-01-01T00:00:00.123456Z", "x = 2026-01-01T00:00:00+02:00", "x = 9999-12-31T23:59:59Z"),
        *("[[due]]\nat = 1960-01-01T00:00:00Z", "[[--]]\nat = 2026-01-01T00:00:00Z", "x = {at = 2026-01-01T00:00:00Z}"),
    ],
)
def test_a_time_of_a_newer_program_is_the_same_time_when_written_back(line: str) -> None:
    data = f'id = "a"\n{line}\n'.encode()
    assert tomllib.loads(toml.dumps(toml.loads(data, path=b"x")).decode()) == tomllib.loads(data.decode())


def test_a_lone_surrogate_cannot_be_written() -> None:
    for text in ("\udcff", "\udcff\n"):
        with pytest.raises(UnicodeEncodeError):
            toml.dumps({"body": text})


VALUES = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | NASTY
    | st.datetimes(timezones=st.just(UTC))
    | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NASTY | st.sampled_from(["events", "body", "a-b_c", "-", "_"]), VALUES, max_size=5))
@example({"meta": {"a": 1}, "after": 2})
@example({"events": [{"at": 1, "more": {"x": 1}}, {"at": 2, "list": [{"y": "\n"}]}], "after": 2})
@example({"a b": "two\nlines", "": [{"": ""}]})
def test_what_was_read_is_written_back(record: dict[str, object]) -> None:
    assert there_and_back(record) == record


@given(st.integers(min_value=0, max_value=253_402_300_799_999_999_999))
def test_times_come_back_to_the_millisecond(at: int) -> None:
    assert toml.nanoseconds(there_and_back({"at": toml.moment(at)})["at"]) == at // 1_000_000 * 1_000_000


@given(st.integers(min_value=0, max_value=253_402_300_799_999_999_999))
def test_a_written_time_is_one_that_the_clock_module_reads(at: int) -> None:
    written = toml.dumps({"at": toml.moment(at)}).decode()
    assert clock.parse_rfc3339(written.removeprefix("at = ").removesuffix("\n")) == at // 1_000_000 * 1_000_000
    assert toml.nanoseconds(tomllib.loads(written)["at"]) == at // 1_000_000 * 1_000_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 10**9),
        (datetime(1970, 1, 1, 1, 0, 1, tzinfo=timezone(timedelta(hours=1))), 10**9),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23))), -62135679600 * 10**9),
        (datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=23))), 253402380000 * 10**9),
        (datetime(1970, 1, 1), None),  # noqa: DTZ001 - a time without a zone is the case
        (date(1970, 1, 1), None),
        (time(1), None),
        ("1970-01-01T00:00:00Z", None),
        (0, None),
        (None, None),
    ],
)
def test_only_an_offset_datetime_is_a_time(value: object, expected: int | None) -> None:
    assert toml.nanoseconds(value) == expected


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"a = ", "cannot parse 'bo\udcffx.toml': invalid value (at end of document)"),
        (b"a = 1\na = 2\n", "cannot parse 'bo\udcffx.toml': cannot overwrite a value (at end of document)"),
        (b'a = "caf\xe9"', "cannot parse 'bo\udcffx.toml': it is not valid UTF-8 at byte 8"),
        (b"a = " + b"[" * 100_000, "cannot parse 'bo\udcffx.toml': it is nested too deeply"),
        (b"#" * 101, "cannot parse 'bo\udcffx.toml': it has more than 100 bytes"),
    ],
)
def test_a_damaged_record_is_an_error_that_names_it(data: bytes, sentence: str) -> None:
    with pytest.raises(toml.Damaged) as caught:
        toml.loads(data, path=b"bo\xffx.toml", limit=100 if data.startswith(b"#") else toml.LIMIT)
    assert (caught.value.status, caught.value.path) == (128, b"bo\xffx.toml")
    assert caught.value.sentence.replace("(at line 2, column 6)", "(at end of document)") == sentence


@given(st.binary(max_size=80) | st.text("a=\"'[]{}\\.0123456789-:TZu+e\n\r ,_xinf", max_size=80).map(str.encode))
@example(b"a = " + b"9" * 5000)
@example(b"a = 0001-01-01T00:00:00+23:59")
@example(b"a = 2026-02-30")
@example(b'a = "\\uD800"')
def test_reading_is_total(data: bytes) -> None:
    found: object
    try:
        found = toml.loads(data, path=b"x")
    except toml.Damaged as error:
        found = error.sentence
    if isinstance(found, str):
        assert found.startswith("cannot parse 'x': ")
    else:
        assert repr(found) == repr(tomllib.loads(data.decode()))  # a NaN equals nothing, not even itself


def test_a_path_is_shown_and_never_fails() -> None:
    assert toml.display(b"/caf\xc3\xa9/\xff") == "/café/\ufffd"

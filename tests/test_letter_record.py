"""A letter's record: what TOML readers see, and that every letter comes back as it was."""

import tomllib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock, letter_record, letters
from git_coop.errors import StoreFault
from git_coop.letters import STATES, Happening, Letter
from tests.test_letters import BORN, NEW, NOW, OLD, fresh, in_state

PATH = b"/store/letters/main-0/" + OLD.encode() + b".toml"
FIELDS = (
    *("id", "from", "to", "path", "branch", "head", "session", "subject", "status", "created_at", "read_at"),
    *("last_read_at", "read_count", "started_at", "acked_at", "abandoned_at", "superseded_at", "close_reason"),
    *("ack_body", "supersedes", "superseded_by", "adopted_from", "body", "events"),
)
HARD = [
    *("a\r\nb", "a\rb", "\r", "\r\n", "\n", "a\n", "no end", "\ttab\t", '"', "'", "'''", '"""', '""""', "''''\n'"),
    *("back\\", "\\", "\\\\", "\\\n", 'end"', "end'", '\n"', "\n'", "é", "e\u0301", "😀👩‍🚀", "\x7f\x01\x1b[31m"),
    *("\u2028\u2029\x85", "\ufeffbom", "x = 1\n[[events]]\n", " lead", "trail ", "x" * 2000, "'''\r\n\"\"\"\\" * 99),
]
TIMES = st.integers(0, 253_402_300_799_999).map(lambda milliseconds: milliseconds * 1_000_000)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


def back(letter: Letter) -> Letter:
    return letter_record.decode(letter_record.encode(letter), PATH, letter.id)


@pytest.mark.parametrize("state", STATES)
def test_every_state_comes_back(state: str) -> None:
    assert back(in_state(state)) == in_state(state)


@pytest.mark.parametrize("body", HARD)
def test_a_body_comes_back_to_the_character(body: str) -> None:
    letter = fresh().replace(body=body, ack_body=body, close_reason=body, subject=body[:50])
    assert back(letter) == letter
    assert tomllib.loads(letter_record.encode(letter).decode())["body"] == body


OPTIONAL = st.none() | TEXTS
LETTERS = st.builds(
    Letter,
    id=st.just(OLD),
    key=st.just("main-0"),
    path=TEXTS,
    body=TEXTS,
    subject=TEXTS,
    created_at=TIMES,
    status=st.sampled_from(STATES),
    branch=OPTIONAL,
    head=OPTIONAL,
    session=OPTIONAL,
    read_at=st.none() | TIMES,
    read_count=st.integers(0, 1 << 40),
    ack_body=OPTIONAL,
    supersedes=st.lists(TEXTS, max_size=3).map(tuple),
    superseded_by=OPTIONAL,
    events=st.lists(st.builds(Happening, TEXTS, TIMES, OPTIONAL), max_size=3).map(tuple),
)


@given(LETTERS)
def test_any_letter_comes_back(letter: Letter) -> None:
    assert back(letter) == letter


def test_the_record_is_what_the_manual_says() -> None:
    record = tomllib.loads(letter_record.encode(letters.read(fresh(), NOW, None)).decode())
    assert record == {
        "id": OLD,
        "from": "main-0",
        "to": "main-0",
        "path": "/w/main",
        "session": "writer",
        "subject": "do it",
        "status": "read",
        "created_at": datetime(2026, 11, 30, 10, 45, 12, 123000, tzinfo=UTC),
        "read_at": datetime(2026, 11, 30, 10, 46, 12, 123000, tzinfo=UTC),
        "last_read_at": datetime(2026, 11, 30, 10, 46, 12, 123000, tzinfo=UTC),
        "read_count": 1,
        "body": "do it\n",
        "events": [
            {"event": "write", "at": datetime(2026, 11, 30, 10, 45, 12, 123000, tzinfo=UTC), "session": "writer"},
            {"event": "read", "at": datetime(2026, 11, 30, 10, 46, 12, 123000, tzinfo=UTC)},
        ],
    }


def test_for_json_every_field_is_there_and_times_are_text() -> None:
    record = letter_record.fields(letters.supersede(fresh(), NEW, None), clock.rfc3339)
    assert tuple(record) == FIELDS
    assert (record["created_at"], record["superseded_at"], record["acked_at"]) == (
        "2026-11-30T10:45:12Z",
        "2026-11-30T10:46:12Z",
        None,
    )
    assert record["supersedes"] == []


def test_what_a_newer_program_put_there_survives_a_rewrite() -> None:
    data = letter_record.encode(fresh())
    more = b'mood = "fine"\nlinks = ["a"]\n' + data + b'tone = "dry"\n\n[extra]\ndeep = {x = [1, 2.5]}\n'
    letter = letter_record.decode(more, PATH, OLD)
    record = tomllib.loads(letter_record.encode(letters.read(letter, NOW, None)).decode())
    assert (record["mood"], record["links"], record["extra"]) == ("fine", ["a"], {"deep": {"x": [1, 2.5]}})
    assert [event.get("tone") for event in record["events"]] == ["dry", None]


def test_the_file_name_is_the_id_whatever_the_record_says() -> None:
    data = letter_record.encode(fresh().replace(id=NEW))
    assert letter_record.decode(data, PATH, OLD).id == OLD


def test_a_time_in_another_zone_is_the_same_time() -> None:
    data = letter_record.encode(fresh()).replace(b"2026-11-30T10:45:12.123Z", b"2026-11-30T12:45:12.123+02:00")
    assert letter_record.decode(data, PATH, OLD).created_at == BORN


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'status = "unread"', b'status = "lost"', "its status is not one of"),
        (b'status = "unread"', b"", "it has no 'status'"),
        (b'body = """', b'text = """', "it has no 'body'"),
        (b'subject = "do it"', b"subject = 7", "'subject' is not a string"),
        (b"read_count = 0", b"read_count = -1", "'read_count' is not a count"),
        (b"read_count = 0", b"read_count = true", "'read_count' is not a count"),
        (b"read_count = 0", b"supersedes = [1]", "'supersedes' is not a list of ids"),
        (b"Z\n", b"\n", "is not a time with a zone"),
        (b"[[events]]", b"[events]", "'events' is not a list of tables"),
        (b'event = "write"', b"", "it has no 'event'"),
        (b"do it", b"\xff", "it is not valid UTF-8"),
        (b"id = ", b"= ", "cannot parse"),
    ],
)
def test_a_damaged_record_names_its_file_and_the_damage(old: bytes, new: bytes, why: str) -> None:
    data = letter_record.encode(fresh())
    data = data.replace(b"'''", b'"""')
    assert old in data
    with pytest.raises(StoreFault) as caught:
        letter_record.decode(data.replace(old, new), PATH, OLD)
    assert PATH.decode() in caught.value.sentence
    assert why in caught.value.sentence


@given(st.binary(max_size=200))
def test_junk_is_damage_and_nothing_else(data: bytes) -> None:
    with pytest.raises(StoreFault):
        letter_record.decode(data, PATH, OLD)

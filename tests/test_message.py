"""The message file: what is written is read back, by us and by ``email``; what lies there otherwise never raises."""

import email
import email.message
import email.policy
import subprocess
import sys
import time
from email.header import decode_header, make_header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import clock, header, message
from git_coop.errors import Refused
from git_coop.message import DEFAULT_TERM, LONGEST_TERM, Draft, Message, compose, damage, parse, peek, restamp

ID = "20261130T104512123Z-5f3a9c1e"
OTHER = "20261130T104512124Z-00000000"
NOW = 1_796_035_512 * clock.SECOND
HOUR, DAY = clock.HOUR, clock.DAY
PEER = "peer-" + "a" * 32
PRIMARY = "primary-one-" + "b" * 32

DRAFT = Draft(
    id=ID,
    date=NOW,
    expires=NOW + DEFAULT_TERM,
    to_key=PEER,
    from_key=PRIMARY,
    from_path=b"/home/ada/primary one",
    from_branch="topic/adr",
    from_session="0197-abc",
    kind="note",
    subject="the ADR number",
    to_session="0197-def",
    in_reply_to=OTHER,
    body="the ADR number is 0161\n",
)
BARE = Draft(id=ID, date=NOW, expires=NOW + DEFAULT_TERM, to_key=PEER, body="x")

FILE = f"""\
Date: Mon, 30 Nov 2026 10:45:12 +0000
From: primary-one <primary-one@{"b" * 32}.coop.invalid>
To: peer <peer@{"a" * 32}.coop.invalid>
Subject: the ADR number
Message-ID: <{ID}@coop.invalid>
In-Reply-To: <{OTHER}@coop.invalid>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit
Coop-From-Path: /home/ada/primary one
Coop-From-Branch: topic/adr
Coop-From-Session: 0197-abc
Coop-Kind: note
Coop-Expires: 2026-12-03T10:45:12Z
Coop-To-Session: 0197-def

the ADR number is 0161
""".encode()

READ = Message(
    id=ID,
    date=NOW,
    from_path="/home/ada/primary one",
    from_branch="topic/adr",
    from_session="0197-abc",
    kind="note",
    subject="the ADR number",
    to_session="0197-def",
    to_session_damaged=False,
    in_reply_to=OTHER,
    expires=NOW + DEFAULT_TERM,
    body="the ADR number is 0161\n",
    size=23,
    problems=(),
)


def lines(*given: str, body: str = "x") -> bytes:
    """A file with these header lines, dated and with a term."""
    stamps = ("Date: Mon, 30 Nov 2026 10:45:12 +0000", "Coop-Expires: 2026-12-03T10:45:12Z")
    return "\n".join((*stamps, *given, "", body)).encode("utf-8", "surrogateescape")


# Writing


def test_a_message_file_is_header_lines_an_empty_line_and_the_body() -> None:
    assert compose(DRAFT) == FILE


def test_absent_fields_have_no_line_and_a_notice_comes_from_git_coop() -> None:
    assert compose(BARE).decode() == (
        "Date: Mon, 30 Nov 2026 10:45:12 +0000\n"
        "From: git coop <git-coop@coop.invalid>\n"
        f"To: peer <peer@{'a' * 32}.coop.invalid>\n"
        f"Message-ID: <{ID}@coop.invalid>\n"
        "MIME-Version: 1.0\n"
        "Content-Type: text/plain; charset=utf-8\n"
        "Content-Transfer-Encoding: 8bit\n"
        "Coop-Expires: 2026-12-03T10:45:12Z\n"
        "\n"
        "x"
    )


def test_what_is_not_plain_is_folded_encoded_words() -> None:
    assert header.field("Subject", " ünïcode ") == b"Subject: =?utf-8?B?IMO8bsOvY29kZSA=?=\n"
    assert header.field("Coop-From-Path", "/a\nSubject: forged") == (
        b"Coop-From-Path: =?utf-8?B?L2EKU3ViamVjdDogZm9yZ2Vk?=\n"
    )
    assert header.field("Coop-From-Path", "/t/\udcff" + "y" * 60) == (
        b"Coop-From-Path: =?unknown-8bit?B?L3Qv/3l5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5?=\n"
        b" =?unknown-8bit?B?eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eQ==?=\n"
    )


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("", True),
        ("a  b", True),
        ("a: b; c", True),
        ("x" * 67, True),
        ("x" * 68, False),
        (" a", False),
        ("a ", False),
        ("a\tb", False),
        ("a\x7fb", False),
        ("=?utf-8?B?YQ==?=", False),
        ("why=?", False),
        ("é", False),
    ],
)
def test_a_value_stands_as_it_is_where_no_reader_changes_it(value: str, plain: bool) -> None:
    written = header.field("Subject", value)
    assert (b"=?utf-8?B?" in written) is not plain
    assert header.read(written + b"\n").fields == {"subject": value}


def test_a_field_over_its_limit_is_refused_with_both_numbers() -> None:
    assert parse(ID, compose(BARE.replace(subject="é" * 2048))).subject == "é" * 2048
    with pytest.raises(Refused) as caught:
        compose(BARE.replace(subject="é" * 2048 + "x"))
    assert caught.value.sentence == "the subject is 4097 bytes long, over the limit of 4096"


@pytest.mark.parametrize(
    "path", [b"/" + b"x" * 4095, b"/" + b"\xff" * 4095, b"/" + "é漢𝄞".encode() * 455, b"/\n" * 2048]
)
def test_the_longest_path_is_kept(path: bytes) -> None:
    read = parse(ID, compose(BARE.replace(from_path=path)))
    assert read.problems == ()
    assert header.value_bytes(read.from_path or "") == path


def test_a_file_of_ours_with_every_field_at_its_limit_has_its_header_in_the_head() -> None:
    long = "\x01" * header.VALUE_LIMIT
    full = DRAFT.replace(
        from_path=b"\xff" * header.VALUE_LIMIT,
        from_branch=long,
        from_session=long,
        kind=long,
        subject=long,
        to_session=long,
    )
    read = peek(ID, compose(full)[: message.HEAD_LIMIT])
    assert (read.subject, read.to_session, read.kind, read.problems) == (long, long, long, ())


# Reading


def test_what_was_written_is_read() -> None:
    assert parse(ID, FILE) == READ


def test_line_ends_case_and_folding_do_not_matter() -> None:
    assert parse(ID, FILE.replace(b"\n", b"\r\n")) == READ.replace(body="the ADR number is 0161\r\n", size=24)
    head, _, body = FILE.partition(b"\n\n")
    shouted = b"\n".join(b":".join((n.upper(), v)) for n, _, v in (line.partition(b":") for line in head.split(b"\n")))
    assert parse(ID, shouted + b"\n\n" + body) == READ
    assert parse(ID, FILE.replace(b"the ADR number\n", b"the\n ADR\n\tnumber\n")).subject == "the ADR\tnumber"


def test_a_peek_has_every_field_and_no_body() -> None:
    assert peek(ID, FILE) == READ.replace(body="")
    cut = FILE.index(b"Coop-Kind: no") + len(b"Coop-Kind: no")
    assert peek(ID, FILE[:cut]) == READ.replace(
        kind=None,
        expires=None,
        to_session=None,
        body="",
        size=0,
        problems=("expiry missing", "header without an end"),
    )


def test_the_body_is_kept_and_bytes_that_are_no_utf8_are_replaced() -> None:
    read = parse(ID, compose(BARE.replace(body=b"a\xff\xc3 \xe2\x82")))
    assert (read.body, read.size) == ("a�� �", 6)
    assert parse(ID, compose(BARE.replace(body="a\ud83db"))).body == "a?b"


@pytest.mark.parametrize(
    ("extra", "field", "problem"),
    [
        ("Subject: a\nsubject: a", "subject", "subject given twice"),
        ("Subject: a\x1b[31m", "subject", "subject unreadable"),
        ("Subject: a\rb", "subject", "subject unreadable"),
        ("Subject: a\udcff", "subject", "subject unreadable"),
        ("Subject: =?utf-8?B?YQ=?=", "subject", "subject unreadable"),
        ("Subject: =?utf-8?B?é?=", "subject", "subject unreadable"),
        ("Subject: =?utf-8?B?/w==?=", "subject", "subject unreadable"),
        ("Subject: " + "x" * 8_192, "subject", "subject too long"),
        ("Subject: x" + "\n x" * 4_096, "subject", "more than 1000 header lines"),
        ("Subject: x" + "\n " + "x" * 8_192, "subject", "subject too long"),
        ("Coop-From-Path: a\nCoop-From-Path: a", "from_path", "sender path given twice"),
        ("Coop-From-Branch: a\nCoop-From-Branch: a", "from_branch", "sender branch given twice"),
        ("Coop-From-Session: a\nCoop-From-Session: a", "from_session", "sender session given twice"),
        ("Coop-Kind: a\nCoop-Kind: a\nCoop-Kind: a", "kind", "kind given twice"),
        ("Coop-To-Session: a\nCoop-To-Session: a", "to_session", "addressee given twice"),
        ("Coop-To-Session:", "to_session", "addressee empty"),
        ("Coop-To-Session: =?utf-8?B?====?=", "to_session", "addressee unreadable"),
        ("In-Reply-To: <../../evil@coop.invalid>", "in_reply_to", "in-reply-to unreadable"),
        ("In-Reply-To: ", "in_reply_to", "in-reply-to unreadable"),
        ("Date: Mon, 30 Nov 2026 10:45:12 +0000", "date", "date given twice"),
        ("Coop-Expires: 2026-12-03T10:45:12Z", "expires", "expiry given twice"),
    ],
)
def test_a_damaged_field_costs_itself(extra: str, field: str, problem: str) -> None:
    read = parse(ID, lines(extra, body="whole"))
    assert read.values()[field] is None or problem.startswith("more than")
    assert read.problems == (problem,)
    assert read.body == "whole"
    assert read.to_session_damaged == (field == "to_session")


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"X: y\n\nb", ("date missing", "expiry missing")),
        (lines("no header at all"), ("lines that belong to no header field",)),
        (b" folded\n" + lines(), ("lines that belong to no header field",)),
        (lines(f"Message-ID: <{OTHER}@coop.invalid>"), ("message id of another message",)),
        (lines(f"Message-ID: <{ID}@coop.invalid>"), ()),
        (b"\xef\xbb\xbf" + lines(), ("starts with a byte order mark",)),
        (lines(*["X: y"] * 999), ("more than 1000 header lines",)),
        (lines(*["X: y"] * 998), ()),
        (lines().partition(b"\n\n")[0], ("expiry missing", "header without an end")),
        (b"", ("date missing", "expiry missing", "header without an end")),
    ],
)
def test_problems_are_named_in_our_words(data: bytes, problems: tuple[str, ...]) -> None:
    assert parse(ID, data).problems == problems


def test_a_header_of_one_megabyte_costs_its_field_alone() -> None:
    read = parse(ID, lines("Subject: " + "x" * 1_000_000, "Coop-Kind: note", body="here"))
    assert (read.subject, read.kind, read.body, read.problems) == (None, "note", "here", ("subject too long",))


def test_text_that_others_encoded_is_left_as_it_is() -> None:
    for text in ("=?iso-8859-1?Q?a=E9?=", "Re: =?utf-8?B?YQ==?=", "=?utf-8?Q?a?=", "=?=", "=??="):
        assert parse(ID, lines(f"Subject: {text}")).subject == text


@pytest.mark.parametrize(
    "stamp",
    [
        "NaN",
        "inf",
        "0",
        "-1",
        "99999-01-01T00:00:00Z",
        "2026-12-03T10:45:12",
        "2026-12-03T10:45:12+02:00",
        "2026-13-03T10:45:12Z",
        "2026-02-29T10:45:12Z",
        "2026-12-03 10:45:12Z",
        "٢٠٢٦-12-03T10:45:12Z",
        "9" * 5_000,
        "Thu, 03 Dec 2026 10:45:12 +0000",
        "",
    ],
)
def test_a_stamp_that_is_none_is_a_problem(stamp: str) -> None:
    read = parse(ID, f"Date: {stamp}x\nCoop-Expires: {stamp}\n\nb".encode())
    assert (read.date, read.expires) == (None, None)
    assert read.problems == ("date unreadable", "expiry unreadable")
    assert not message.expired(read, mtime=NOW, now=NOW + DEFAULT_TERM - 1)
    assert message.expired(read, mtime=NOW, now=NOW + DEFAULT_TERM)


# What is no message


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (FILE, None),
        (FILE.replace(b"\n", b"\r\n"), None),
        (b"\xef\xbb\xbf" + FILE, None),
        (b"X: y\n\n", None),
        (b"", "empty"),
        (b" \r\n\t\n", "nothing but blanks"),
        (FILE.decode().encode("utf-16"), "UTF-16 text"),
        (FILE.decode().encode("utf-16-le"), "NUL byte at offset 1"),
        (FILE + b"\0", f"NUL byte at offset {len(FILE)}"),
        (b"\0" * 4096, "NUL byte at offset 0"),
        (b"not json\n\nbody", "no header line at its start"),
        (b"\nSubject: x\n\nbody", "no header line at its start"),
        (b'{"id": "x"}\n\nbody', None),
        (b"\x1b[31m: x\n\nbody", "no header line at its start"),
        (b"\x7fELF\x02\x01\x01\n", "no header line at its start"),
        (b"From ada@example.org Mon Nov 30 10:45 2026\nSubject: x\n\nbody", "no header line at its start"),
        (FILE[:200], "header without an end"),
        (lines(*["X: y"] * 2_000), None),
        (lines(*["X: y"] * 2_000).partition(b"\n\n")[0], "header without an end"),
        (FILE.ljust(message.FILE_LIMIT, b"x"), None),
        (FILE.ljust(message.FILE_LIMIT + 1, b"x"), "over 1114112 bytes long"),
    ],
)
def test_damage_says_why_a_file_is_no_message(data: bytes, why: str | None) -> None:
    assert damage(data) == why


def test_the_beginning_of_a_file_need_not_end_its_header() -> None:
    assert damage(FILE[:200], whole=False) is None
    assert damage(b"", whole=False) == "empty"


# Expiry


def at(date: int | None, expires: int | None) -> Message:
    return READ.replace(date=date, expires=expires)


FAR = 2_145_916_800 * clock.SECOND  # 2038
Y2099 = 4_070_908_800 * clock.SECOND


@pytest.mark.parametrize(
    ("name", "date", "expires", "mtime", "now", "expected"),
    [
        ("one nanosecond before its term", NOW, NOW + HOUR, NOW, NOW + HOUR - 1, False),
        ("at its term", NOW, NOW + HOUR, NOW, NOW + HOUR, True),
        ("the file a little younger than the stamp's date", NOW, NOW + HOUR, NOW + 5, NOW + HOUR, False),
        ("stamp of 2099, within 30 days", NOW, Y2099, NOW, NOW + 30 * DAY - 1, False),
        ("stamp of 2099, after 30 days", NOW, Y2099, NOW, NOW + 30 * DAY, True),
        ("dated 2099, fresh", Y2099, Y2099 + HOUR, NOW, NOW + HOUR, False),
        ("dated 2099, after 30 days", Y2099, Y2099 + HOUR, NOW, NOW + 30 * DAY, True),
        (
            "the sender's clock 20 years back, fresh",
            NOW - 7300 * DAY,
            NOW - 7300 * DAY + HOUR,
            NOW,
            NOW + HOUR - 1,
            False,
        ),
        ("the sender's clock 20 years back, old", NOW - 7300 * DAY, NOW - 7300 * DAY + HOUR, NOW, NOW + HOUR, True),
        ("the reader's clock back", NOW, NOW + HOUR, NOW, NOW - 7300 * DAY, False),
        ("both clocks jumped forward before the send", FAR, FAR + HOUR, FAR, FAR + HOUR - 1, False),
        ("file restored from a backup with a new time", NOW, NOW + HOUR, NOW + DAY, NOW + DAY + 1, False),
        ("file time in the far past", NOW, NOW + HOUR, 0, NOW + HOUR - 1, True),  # clamped: older than 30 days
        ("no stamp, fresh", NOW, None, NOW, NOW + DEFAULT_TERM - 1, False),
        ("no stamp, old", NOW, None, NOW, NOW + DEFAULT_TERM, True),
        ("no date, stamp passed, fresh", None, NOW + HOUR, NOW, NOW + 2 * HOUR, False),
        ("no date, stamp passed, old", None, NOW + HOUR, NOW, NOW + DEFAULT_TERM, True),
        ("no date, stamp to come, old", None, NOW + 10 * DAY, NOW, NOW + DEFAULT_TERM, False),
        ("stamp before its date, fresh", NOW, NOW - DAY, NOW, NOW + DEFAULT_TERM - 1, False),
        ("stamp before its date, old", NOW, NOW - DAY, NOW, NOW + DEFAULT_TERM, True),
        ("year 1, old", -62_135_596_800 * clock.SECOND, NOW, NOW, NOW + 30 * DAY, True),
        ("year 1, fresh", -62_135_596_800 * clock.SECOND, NOW, NOW, NOW + 30 * DAY - 1, False),
    ],
)
def test_a_message_expires_when_two_clocks_agree(
    name: str, date: int | None, expires: int | None, mtime: int, now: int, expected: bool
) -> None:
    assert message.expired(at(date, expires), mtime=mtime, now=now) is expected, name


def test_the_term_is_the_messages_own_and_at_most_30_days() -> None:
    assert message.term(at(NOW, NOW + HOUR)) == HOUR
    assert message.term(at(NOW, Y2099)) == LONGEST_TERM
    assert message.term(at(None, NOW)) == DEFAULT_TERM == 3 * DAY
    assert message.term(at(NOW, None), default_term=5) == 5


times = st.integers(-(10**21), 10**21)


@given(st.none() | times, st.none() | times, times, times)
def test_nothing_fresh_expires_and_nothing_lives_for_ever(
    date: int | None, expires: int | None, mtime: int, now: int
) -> None:
    over = message.expired(at(date, expires), mtime=mtime, now=now)
    if now - mtime < message.term(at(date, expires)):
        assert not over
    if now - mtime >= LONGEST_TERM:
        assert over


# A message under another stamp


def test_a_restamped_message_keeps_every_other_byte() -> None:
    moved = restamp(FILE, identifier=OTHER, date=NOW + DAY, expires=NOW + 2 * DAY, to_key=PRIMARY)
    assert parse(OTHER, moved) == READ.replace(id=OTHER, date=NOW + DAY, expires=NOW + 2 * DAY)
    assert f"\nTo: primary-one <primary-one@{'b' * 32}.coop.invalid>\n".encode() in moved
    assert moved.count(b"\nTo:") == moved.count(b"Message-ID:") == 1
    assert sorted(moved.split(b"\n")[4:]) == sorted(
        line for line in FILE.split(b"\n") if not line.startswith((b"Date:", b"To:", b"Message-ID:", b"Coop-Expires:"))
    )


def test_a_restamp_drops_folded_and_doubled_stamps_and_no_others() -> None:
    data = b"\xef\xbb\xbfdate: a\n b\nSubject: a\rDate: x\r\nX: y\n z\nCOOP-EXPIRES: 1\nDate: 2\n\r\nDate: body\xff\r\n"
    moved = restamp(data, identifier=ID, date=NOW, expires=NOW + HOUR, to_key=PEER)
    assert moved.partition(b"Subject")[2] == b": a\rDate: x\r\nX: y\n z\n\r\nDate: body\xff\r\n"
    read = parse(ID, moved)
    assert (read.date, read.expires, read.body) == (NOW, NOW + HOUR, "Date: body�\r\n")
    assert read.problems == ("subject unreadable",)


# Read by others


def modern(data: bytes) -> email.message.EmailMessage:
    read = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(read, email.message.EmailMessage)
    return read


def old(data: bytes, name: str) -> str:
    """A header as a reader of the ``compat32`` policy gets it."""
    return str(make_header(decode_header(email.message_from_bytes(data)[name])))


def test_every_header_is_read_by_email() -> None:
    rows = (line.partition(": ") for line in FILE.decode().partition("\n\n")[0].split("\n"))
    expected = [(name, value) for name, _, value in rows]
    read = modern(FILE)
    quoted = [(name, value.replace("utf-8", '"utf-8"')) for name, value in expected]  # email quotes a parameter
    assert [(name, str(value)) for name, value in read.items()] == quoted
    assert [value.defects for value in read.values()] == [()] * len(expected)
    assert read.defects == []
    assert [(name, old(FILE, name)) for name in email.message_from_bytes(FILE)] == expected
    sender = read["From"].addresses[0]
    assert (sender.display_name, sender.username, sender.domain) == (
        "primary-one",
        "primary-one",
        "b" * 32 + ".coop.invalid",
    )
    assert read["Date"].datetime.isoformat() == "2026-11-30T10:45:12+00:00"
    assert read.get_content() == "the ADR number is 0161\n"


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
awkward = st.text(st.sampled_from(list(' \t\r\n\0\x7f=?_.:é漢𝄞\u0301\u2028\x85aB\\"<>')), max_size=120)
values = text | awkward
paths = st.binary(max_size=200) | awkward.map(str.encode)


@given(values)
def test_any_text_is_read_by_email_as_it_was_written(value: str) -> None:
    data = compose(BARE.replace(subject=value, from_branch=value, to_session=value))
    assert max(map(len, data.split(b"\n"))) <= 998
    assert data.isascii()
    for name in ("Subject", "Coop-From-Branch", "Coop-To-Session"):
        assert str(modern(data)[name]) == value
        assert old(data, name) == value


@given(paths)
def test_any_path_is_read_by_email_as_it_was_written(path: bytes) -> None:
    data = compose(BARE.replace(from_path=path))
    assert str(modern(data)["Coop-From-Path"]) == path.decode("utf-8", "replace")
    parts = decode_header(email.message_from_bytes(data)["Coop-From-Path"])
    assert b"".join(part.encode("ascii") if isinstance(part, str) else part for part, _ in parts) == path


@given(
    st.binary(max_size=300).map(lambda body: body.replace(b"\0", b""))
    | awkward.map(lambda s: s.replace("\0", "").encode())
)
def test_any_body_is_kept_to_the_byte(body: bytes) -> None:
    data = compose(BARE.replace(body=body))
    assert modern(data).get_payload(decode=True) == body
    read = parse(ID, data)
    assert (read.body, read.size, read.problems) == (body.decode("utf-8", "replace"), len(body), ())
    assert damage(data) is None


@given(
    st.none() | paths,
    st.none() | values,
    st.none() | values,
    st.none() | values,
    st.none() | values,
    st.none() | values.filter(bool),
)
def test_any_draft_is_read_as_it_was_written(
    path: bytes | None, branch: str | None, session: str | None, kind: str | None, subject: str | None, to: str | None
) -> None:
    draft = DRAFT.replace(
        from_path=path, from_branch=branch, from_session=session, kind=kind, subject=subject, to_session=to
    )
    assert parse(ID, compose(draft)) == READ.replace(
        from_path=None if path is None else path.decode("utf-8", "surrogateescape"),
        from_branch=branch,
        from_session=session,
        kind=kind,
        subject=subject,
        to_session=to,
    )


@given(st.text(st.characters(), max_size=60))
def test_lone_surrogates_are_bytes_or_replaced(value: str) -> None:
    read = parse(ID, compose(BARE.replace(subject=value))).subject
    assert read is not None
    assert header.value_bytes(read) == header.value_bytes(value)


# No input raises

MUTABLE = compose(DRAFT.replace(subject="ünï " * 40, from_path=b"/\xff" * 40, body="x\r\ny\n" * 9))
fragments = st.binary(max_size=12) | st.sampled_from(
    [b"\n", b"\n\n", b"\r\n", b"\r", b": ", b" ", b"=?", b"?=", b"\0", b"\xef\xbb\xbf"]
)


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A real message with a few edits: bytes flipped, cut out or put in, lines doubled, dropped or moved."""
    data = MUTABLE
    for _ in range(draw(st.integers(1, 6))):
        first = draw(st.integers(0, len(data)))
        last = draw(st.integers(first, min(first + 40, len(data))))
        rows = data.split(b"\n")
        row = draw(st.integers(0, len(rows) - 1))
        other = draw(st.integers(0, len(rows) - 1))
        data = draw(
            st.sampled_from(
                [
                    data[:first] + draw(fragments) + data[last:],
                    data[:first] + bytes(byte ^ 0x20 for byte in data[first:last]) + data[last:],
                    data[:first],
                    b"\n".join([*rows[:other], rows[row], *rows[other:]]),
                    b"\n".join(rows[:row] + rows[row + 1 :]),
                ]
            )
        )
    return data


def holds(data: bytes) -> None:
    """What is true of any bytes."""
    read = parse(ID, data)
    why = damage(data)
    assert isinstance(why, str | None)
    assert why is not None or "header without an end" not in read.problems
    assert why != "header without an end" or "header without an end" in read.problems
    assert peek(ID, data).replace(body=read.body) == read
    assert read.id == ID
    assert 0 <= read.size <= len(data)
    assert len(read.problems) <= len(set(read.problems)) <= 16
    assert all(problem.isascii() and problem.isprintable() and len(problem) <= 40 for problem in read.problems)
    assert not (read.to_session and read.to_session_damaged)
    assert message.expired(read, mtime=NOW, now=NOW + LONGEST_TERM)
    restamp(data, identifier=ID, date=NOW, expires=NOW, to_key=PEER)


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    holds(data)


@given(mutants())
def test_no_mutant_raises(data: bytes) -> None:
    holds(data)


@pytest.mark.parametrize(
    "data",
    [
        b"a:\n" * (message.FILE_LIMIT // 3),
        b"a:" + b"\n " * (message.FILE_LIMIT // 2),
        b"a:b" * (message.FILE_LIMIT // 3),
        b"\n" * message.FILE_LIMIT,
        b"Subject: " + b"=?utf-8?B?YQ==?= " * (message.FILE_LIMIT // 17),
        b"Subject: " + b"=?" * 4_000 + b"\n\n",
        b"Subject: =?" + b"?" * 8_000 + b"?=\n\n",
        b"".join(b"a%d:\n" % n for n in range(100_000)) + b"\n",
        b"a: b\n" * 100_000 + b"\r\n\n",
        b"\r" * message.FILE_LIMIT,
    ],
)
def test_huge_headers_are_read_in_bounded_time(data: bytes) -> None:
    started = time.process_time()
    holds(data)
    assert time.process_time() - started < 2


def test_reading_a_plain_message_loads_nothing_but_our_own_modules() -> None:
    code = (
        f"import sys; sys.path.insert(0, {header.__file__.rpartition('/git_coop/')[0]!r}); before = set(sys.modules)\n"
        f"from git_coop import message; message.parse({ID!r}, {FILE!r})\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    ours = ["git_coop", *(f"git_coop.{name}" for name in ("clock", "errors", "header", "ids", "message", "record"))]
    assert ran.stdout.split() == ours

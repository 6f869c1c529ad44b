"""Counting, listing and finding: by names, total, and the same whatever lies around."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import ids, mailbox, making, message, receipts
from git_coop.cli.app import App
from git_coop.cli.mail_table import flow, table
from git_coop.errors import NotFound, Refused
from git_coop.layout import Box, message_path
from git_coop.mailbox import EXPIRED, INBOX, SEEN, STATES, STRANDED
from git_coop.message import Draft
from git_coop.receipts import Marker
from git_coop.text import safe_line, width
from tests.support.world import START, Worlds

ID = "20261130T104512123Z-0000000{}"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    store = making.make_store(os.fsencode(tmp_path / "coop"), 0o700)
    (tmp_path / "home").mkdir()
    return making.open_outside(store, os.fsencode(tmp_path / "home"))


def put(box: Box, state: str, number: int, body: str = "x", subject: str | None = None) -> str:
    name = ID.format(number)
    draft = Draft(name, START, START + 60, box.key, body, subject=subject)
    assert box.store.create(message_path(mailbox.folder(box, state), name), message.compose(draft))
    return name


def shown(box: Box, session: str, name: str) -> None:
    receipts.mark(box, session, name, Marker("prompt", "t", "0" * 64, START))


def test_a_tally_counts_names(box: Box) -> None:
    for number, state in enumerate((INBOX, INBOX, INBOX, STRANDED, SEEN, SEEN, EXPIRED)):
        put(box, state, number)
    for session in ("a", "b", "c"):
        shown(box, session, ID.format(0))
    shown(box, "a", ID.format(1))
    shown(box, "a", ID.format(4))  # filed since: a marker that is left counts for nothing
    Path(os.fsdecode(box.inbox), "odd name").write_text("x")
    Path(os.fsdecode(box.inbox), "kept~").write_text("x")
    found = mailbox.tally(box, None, {})
    assert found.counts == {INBOX: 3, STRANDED: 1, SEEN: 2, EXPIRED: 1}
    assert (found.shown, found.showings, found.oldest) == (2, 4, ids.time_of(ID.format(0)))
    assert (found.rejected, found.ignored, found.faults, found.gone) == (1, 1, (), False)


def test_an_empty_box_has_every_count(box: Box) -> None:
    found = mailbox.tally(box, None, {})
    assert found.counts == dict.fromkeys(STATES, 0)
    assert (found.shown, found.showings, found.oldest, found.drained) == (0, 0, None, {})


@pytest.mark.parametrize("name", ["inbox", "claiming", "seen", "expired", "shown", "owner", "path", "drained"])
def test_a_tally_names_what_it_cannot_read_and_counts_the_rest(box: Box, name: str) -> None:
    for number, state in enumerate(STATES):
        put(box, state, number)
    place = os.fsdecode(box.mail) + "/" + name
    if os.path.lexists(place):
        os.rename(place, place + ".away")
    os.symlink("/nowhere", place)
    found = mailbox.tally(box, box, {})
    assert len(found.faults) == 1
    assert name in found.faults[0]
    folders = {"inbox": INBOX, "claiming": STRANDED, "seen": SEEN, "expired": EXPIRED}
    assert found.counts == {state: None if state == folders.get(name) else 1 for state in STATES}
    assert len(mailbox.entries(box, STATES)) == 4 - (name in folders)


def test_a_stray_among_the_sessions_hides_no_showing(box: Box) -> None:
    shown(box, "a", put(box, INBOX, 0))
    Path(os.fsdecode(box.shown), "stray").write_text("x")
    assert mailbox.showings(box) == {ID.format(0): 1}


def test_a_directory_that_is_gone(box: Box, tmp_path: Path) -> None:
    assert not mailbox.is_gone(box, {})
    (tmp_path / "home").rmdir()
    assert mailbox.is_gone(box, {})
    assert mailbox.tally(box, None, {}).gone
    assert not mailbox.tally(box, box, {}).gone


def test_an_entry_is_a_message_by_the_start_of_its_file(box: Box) -> None:
    put(box, INBOX, 0, "\n first line \nsecond", subject="s")
    put(box, INBOX, 1, "y" * 200_000)
    first, second = mailbox.entries(box, (INBOX,))
    assert (first.start, first.bytes, first.message and first.message.subject) == ("first line", 20, "s")
    assert (second.bytes, second.message and second.message.body) == (200_000, "")


@given(data=st.binary(max_size=200))
def test_whatever_lies_in_a_message_makes_a_row(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    place = tmp_path_factory.mktemp("any")
    store = making.make_store(os.fsencode(place / "coop"), 0o700)
    home = making.open_outside(store, os.fsencode(place))
    Path(os.fsdecode(message_path(home.inbox, ID.format(0)))).write_bytes(data)
    (row,) = mailbox.entries(home, (INBOX,))
    assert (row.message is None) == (row.reason != "")
    assert row.bytes <= len(data)


def test_finding_by_id_tail_and_start(box: Box) -> None:
    first, second = put(box, SEEN, 1), put(box, INBOX, 2)
    for asked, expected in ((first, (first, SEEN)), ("00000002", (second, INBOX))):
        assert mailbox.find(box, asked) == expected
    with pytest.raises(Refused) as caught:
        mailbox.find(box, "0000")
    assert caught.value.hint == f"it could be {first}, {second}"
    for asked in (ID.format(3), "00000003", "", "000", "../seen", f"{first}.eml", "0000000G"):
        with pytest.raises(NotFound):
            mailbox.find(box, asked)
    with pytest.raises(NotFound):
        mailbox.find(box, first, (INBOX,))


def test_a_whole_id_lists_no_folder(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    name = put(box, SEEN, 1)

    def refuse(_path: int) -> list[str]:
        raise AssertionError("listed")

    monkeypatch.setattr(os, "listdir", refuse)
    assert mailbox.find(box, name) == (name, SEEN)
    with pytest.raises(AssertionError, match="listed"):
        mailbox.find(box, "00000001")  # the control


def test_reading_says_what_is_wrong(box: Box) -> None:
    name = put(box, INBOX, 0, "hello")
    assert mailbox.read(box, name, INBOX).body == "hello"
    assert b"".join(mailbox.chunks(box, name, INBOX)).endswith(b"\n\nhello")
    with pytest.raises(NotFound, match="is gone"):
        mailbox.read(box, name, SEEN)
    Path(os.fsdecode(message_path(box.inbox, name))).write_bytes(b"")
    with pytest.raises(NotFound, match="cannot be shown: it is no message: empty"):
        mailbox.read(box, name, INBOX)


CELLS = st.text(max_size=40).map(safe_line)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=5),
    columns=st.none() | st.integers(min_value=1, max_value=250),
)
def test_rows_fit_any_terminal_and_line_up(rows: list[tuple[str, ...]], columns: int | None) -> None:
    env = {} if columns is None else {"COLUMNS": str(columns)}
    app = App(Worlds()(env=env, terminal=columns is not None))
    lines = table(app, rows)
    assert len(lines) == len(rows)
    if columns is not None:
        assert max(map(width, lines), default=0) <= columns
    else:
        for row, line in zip(rows, lines, strict=True):
            assert all(cell.strip() in line for cell in row)


@given(facts=st.lists(CELLS, min_size=1, max_size=6), columns=st.none() | st.integers(min_value=1, max_value=100))
def test_facts_flow_into_any_width(facts: list[str], columns: int | None) -> None:
    env = {} if columns is None else {"COLUMNS": str(columns)}
    app = App(Worlds()(env=env, terminal=columns is not None))
    lines = flow(app, facts, "")
    if columns is None:
        assert lines == [", ".join(facts)]
    else:
        assert max(map(width, lines)) <= columns

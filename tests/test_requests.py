"""Requests: two states, who may close one, what the mails say, and the record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import ids, letters, requests
from git_coop.errors import Refused
from git_coop.requests import Request, Side
from git_coop.toml import Damaged
from tests.support.world import START

ID = "20261130T104512123Z-5f3a9c1e"
ASKER = Side("main-" + "1" * 32, "/src/main", "aa" * 16)
ASKED = Side("side-" + "2" * 32, "/src/side", "bb" * 16)
BRIEF = "# Handoff: brief\n\n## Task\n\nMake it   fast.\n"
asking = requests.opened(ID, ASKER, ASKED, BRIEF, START, "session-1")
answered = requests.closed(asking, ASKED, "# Handoff: result\n", START + 10**9, "session-2")


def test_a_request_is_opened() -> None:
    assert asking == Request(
        id=ID,
        from_key=ASKER.key,
        from_path="/src/main",
        from_worktree="aa" * 16,
        to_key=ASKED.key,
        to_path="/src/side",
        to_worktree="bb" * 16,
        subject="Make it fast.",
        brief=BRIEF,
        opened_at=START,
        opened_by="session-1",
    )
    assert (asking.status, asking.result) == ("open", None)


def test_a_request_to_oneself_is_refused() -> None:
    with pytest.raises(Refused, match=r"^a request is for another worktree$"):
        requests.opened(ID, ASKER, ASKER, BRIEF, START, None)


def test_the_recipient_closes_it() -> None:
    assert answered == asking.replace(
        status="closed", result="# Handoff: result\n", closed_at=START + 10**9, closed_by="session-2"
    )


def test_nobody_else_closes_it() -> None:
    for other in (ASKER, Side("other-" + "3" * 32, "/src/other"), Side("other-" + "3" * 32, "/src/other", "cc" * 16)):
        with pytest.raises(Refused) as caught:
            requests.closed(asking, other, "x", START, None)
        assert caught.value.sentence == f"request {ID} is not this worktree's to close"
        assert caught.value.hint == "it is for '/src/side', and only its recipient closes a request"


def test_it_is_closed_once() -> None:
    for side in (ASKED, ASKER):
        with pytest.raises(Refused) as caught:
            requests.closed(answered, side, "again", START, None)
        assert caught.value.sentence == f"request {ID} is closed already at 2026-11-30T10:45:13Z"
        assert caught.value.hint == "git coop request show 5f3a9c1e prints its result"


def test_a_worktree_that_moved_and_one_that_took_the_address_are_both_the_recipient() -> None:
    moved, heir = Side("moved-" + "4" * 32, "/moved", "bb" * 16), Side(ASKED.key, "/src/side", "dd" * 16)
    assert requests.is_recipient(asking, moved)
    assert requests.is_recipient(asking, heir)
    stranger = heir.replace(alive=frozenset({"bb" * 16, "dd" * 16}))  # the worktree that was asked lives elsewhere
    assert not requests.is_recipient(asking, stranger)
    with pytest.raises(Refused):
        requests.closed(asking, stranger, "mine", START, None)
    assert requests.is_recipient(asking, moved.replace(alive=stranger.alive))
    assert not requests.is_recipient(asking, ASKER)
    assert requests.is_sender(asking, ASKER)
    assert requests.is_sender(asking, Side("moved-" + "4" * 32, "/moved", "aa" * 16))
    assert not requests.is_sender(asking, moved)
    nameless = asking.replace(to_worktree=None, from_worktree=None)
    assert not requests.is_recipient(nameless, Side("x", "/x"))
    assert not requests.is_sender(nameless, Side("x", "/x"))


@pytest.mark.parametrize(
    ("packet", "subject"),
    [
        (BRIEF, "Make it fast."),
        ("Fix it\nnow", "Fix it"),
        ("# Handoff: brief\n## Task\n", ""),
        ("x" * 200, "x" * 120),
    ],
)
def test_the_subject_is_the_first_line_that_is_no_heading(packet: str, subject: str) -> None:
    assert letters.subject_of(packet, packet=True) == subject


def test_both_mails_name_the_request() -> None:
    assert requests.brief_message(asking) == (
        f"Request {ID}: read the brief below, then send its result back with "
        f"`git coop request close 5f3a9c1e --body -`.\n\n{BRIEF}"
    )
    assert requests.result_message(answered) == f"Request {ID} is closed; its result is below.\n\n# Handoff: result\n"


def test_a_record_is_readable() -> None:
    assert (
        requests.encode(answered.replace(brief_mail=ID)).decode()
        == f"""\
id = "{ID}"
status = "closed"
subject = "Make it fast."
from = "{ASKER.key}"
from_path = "/src/main"
from_worktree = "{ASKER.worktree}"
to = "{ASKED.key}"
to_path = "/src/side"
to_worktree = "{ASKED.worktree}"
opened_at = 2026-11-30T10:45:12.123Z
opened_by = "session-1"
brief_mail = "{ID}"
closed_at = 2026-11-30T10:45:13.123Z
closed_by = "session-2"
brief = '''
# Handoff: brief

## Task

Make it   fast.
'''
result = '''
# Handoff: result
'''
"""
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT, st.none() | TEXT, st.sampled_from([{}, {"label": "x"}, {"meta": {"a": [1]}}]))
def test_a_record_comes_back(brief: str, result: str | None, unknown: dict[str, object]) -> None:
    request = asking.replace(brief=brief, result=result, to_path=brief, unknown=unknown)
    assert requests.decode(requests.encode(request), b"x", ID) == request


def test_the_file_name_gives_the_id_and_the_time_where_there_is_none() -> None:
    other = "20261130T104512000Z-00000000"
    data = "status = 'open'\nfrom = 'a'\nto = 'b'\nbrief = 'c'\n"
    assert requests.decode(data.encode(), b"x", other) == Request(
        other, "a", "", "b", "", "", "c", ids.time_of(other), unknown={}
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "it has no 'from'"),
        ("from = 'a'\nto = 'b'\n", "it has no 'brief'"),
        ("from = 'a'\nto = 'b'\nbrief = 'c'\nstatus = 'done'", "its status is not one of open, closed"),
        ("from = 'a'\nto = 'b'\nbrief = 'c'\nstatus = 'open'\nresult = 1", "'result' is not a string"),
    ],
)
def test_a_record_that_makes_no_sense_is_named(data: str, why: str) -> None:
    with pytest.raises(Damaged) as caught:
        requests.decode(data.encode(), b"/r.toml", ID)
    assert caught.value.sentence == f"cannot parse '/r.toml': {why}"

"""Requests on the disk: nothing stays of what was refused, and a result that went nowhere closes nothing."""

import os
from pathlib import Path

import pytest

from git_coop import files, requestbox, requests
from git_coop.errors import CoopError, NotFound, Refused, StoreFault
from git_coop.layout import Box
from git_coop.making import make_store
from git_coop.requests import Request, Side
from git_coop.store import Store
from git_coop.toml import Damaged
from tests.support.world import START, Counter

ASKER = Side("main-" + "1" * 32, "/src/main", "aa" * 16)
ASKED = Side("side-" + "2" * 32, "/src/side", "bb" * 16)
BRIEF = "# Handoff: brief\n\n## Task\n\nMake it fast.\n"
RESULT = "# Handoff: result\n\n## Recap\n\nIt is.\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(os.fsencode(tmp_path / "coop"), 0o700)


class Post:
    """A mail service that remembers what it was given, or fails as told."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.given: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.given.append(request)
        if self.error is not None:
            raise self.error
        return f"mail-{len(self.given)}"


def draft(identifier: str) -> Request:
    return requests.opened(identifier, ASKER, ASKED, BRIEF, START, "session-1")


def opened(store: Store, post: Post) -> Request:
    return requestbox.open_request(store, draft, START, Counter(), post)


def closed(store: Store, request: Request, post: Post, side: Side = ASKED) -> Request:
    def transition(one: Request) -> Request:
        return requests.closed(one, side, RESULT, START + 1, "session-2")

    return requestbox.close_request(store, request.id, transition, post)


def listing(store: Store) -> list[str]:
    return sorted(os.fsdecode(name) for name in files.names(requestbox.folder(store)) if name != b".lock")


def test_a_request_and_its_result(store: Store) -> None:
    post = Post()
    request = opened(store, post)
    assert request == draft("20261130T104512123Z-00000001").replace(brief_mail="mail-1")
    assert requestbox.load(store, request.id) == request.replace(opened_at=START // 10**6 * 10**6)
    answer = closed(store, request, post)
    assert (answer.status, answer.result, answer.result_mail) == ("closed", RESULT, "mail-2")
    assert requestbox.demand(store, "00000001").status == "closed"
    assert [one.status for one in post.given] == ["open", "closed"]


def test_ids_sort_by_time_whatever_the_clock_says(store: Store) -> None:
    first, second = opened(store, Post()), opened(store, Post())
    assert first.id < second.id
    assert requestbox.known(store) == [first.id, second.id]


@pytest.mark.parametrize("error", [Refused("no such worktree"), KeyboardInterrupt()])
def test_a_brief_that_cannot_be_mailed_leaves_no_request(store: Store, error: BaseException) -> None:
    with pytest.raises(type(error)):
        opened(store, Post(error))
    assert listing(store) == []


@pytest.mark.parametrize("hint", ["", "try again"])
def test_a_result_that_cannot_be_mailed_leaves_the_request_open(store: Store, hint: str) -> None:
    request = opened(store, Post())
    with pytest.raises(CoopError) as caught:
        closed(store, request, Post(Refused("cannot queue", hint=hint)))
    assert (caught.value.sentence, caught.value.hint) == (
        "cannot queue",
        "; ".join(filter(None, ("the request is still open", hint))),
    )
    assert requestbox.load(store, request.id).status == "open"
    assert closed(store, request, Post()).status == "closed"


def test_a_record_that_cannot_be_written_says_what_was_queued(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    request = opened(store, Post())

    def fail(_self: Store, path: bytes, _data: bytes) -> None:
        raise StoreFault("cannot write", path=path)

    monkeypatch.setattr(Store, "rewrite", fail)
    with pytest.raises(StoreFault) as caught:
        closed(store, request, Post())
    assert caught.value.hint == "the result was queued as mail-1, and the request is still open"


def test_what_the_transition_refuses_is_not_mailed(store: Store) -> None:
    request, post = opened(store, Post()), Post()
    before = Path(os.fsdecode(requestbox.path_of(store, request.id))).read_bytes()
    with pytest.raises(Refused, match=r"is not this worktree's to close$"):
        closed(store, request, post, ASKER)
    assert (post.given, Path(os.fsdecode(requestbox.path_of(store, request.id))).read_bytes()) == ([], before)
    closed(store, request, Post())
    with pytest.raises(Refused, match=r"is closed already at 2026-11-30T10:45:12Z$"):
        closed(store, request, post)
    assert post.given == []


def test_an_unknown_request_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match=r"^no request 'abcd1234'$"):
        requestbox.demand(store, "abcd1234")


def test_one_bad_record_hides_no_other(store: Store, tmp_path: Path) -> None:
    first, second = opened(store, Post()), opened(store, Post())
    folder = tmp_path / "coop" / "requests"
    (folder / f"{first.id}.toml").write_text("not TOML")
    (folder / "notes.txt").write_text("")
    shelf = requestbox.shelf(store)
    assert [one.id for one in shelf.requests] == [second.id]
    assert (len(shelf.broken), shelf.strangers) == (1, 1)
    assert shelf.broken[0].startswith(f"cannot parse '{folder}/{first.id}.toml': ")
    with pytest.raises(Damaged):
        requestbox.load(store, first.id)


def test_no_store_folder_is_no_request(store: Store) -> None:
    assert requestbox.shelf(store) == requestbox.Shelf()


def box(store: Store, side: Side, path: bytes) -> None:
    home = Box(store, side.key)
    store.ensure_folder(home.mail)
    store.create(home.path_file, path + b"\n")
    store.create(home.owner, f"{side.worktree}\n".encode())


def test_a_side_is_found_where_its_worktree_is_now(store: Store) -> None:
    box(store, ASKER, b"/src/main")
    assert requestbox.home(store, ASKER.key, ASKER.worktree) == b"/src/main"
    assert requestbox.home(store, ASKER.key, None) == b"/src/main"
    assert requestbox.home(store, ASKED.key, ASKED.worktree) == b""
    box(store, Side("moved-" + "4" * 32, "/moved", ASKED.worktree), b"/moved")
    assert requestbox.home(store, ASKED.key, ASKED.worktree) == b"/moved"
    assert requestbox.home(store, ASKED.key, None) == b""

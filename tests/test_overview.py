"""What a glance counts: by names, with few files opened, and without taking what is unreadable for nothing."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from git_coop import clock, discover, flat, layout, overview, place, todobox
from git_coop.layout import Box
from git_coop.overview import Ask, Sender
from git_coop.store import Store
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import START, Worlds

BRIEF = "# Handoff: brief\n\n## Task\n\nwork"


class View:
    """A clone with a peer, looked at from the root."""

    def __init__(self, desk: Desk, clone: Clone) -> None:
        self.desk = desk
        self.clone = clone
        self.peer = clone.worktree("peer")

    def place(self) -> place.Place:
        return place.find(os.fsencode(self.clone.root), os.environ, None, discover.find)

    def box(self, name: str = "main") -> Box:
        found = layout.open_store(os.fsencode(self.clone.coop))
        assert found is not None
        return Box(found, next(self.clone.coop.glob(f"mail/box/{name}-*")).name)

    def send(self, *words: str, cwd: Path | None = None) -> str:
        code, out, err = self.desk(
            "mail", "send", "--to", str(self.clone.root), "-m", "x", *words, cwd=cwd or self.peer
        )
        assert code == 0, err
        self.desk.clock.tick()
        return out.split()[1]

    def glance(self, name: str = "main", opened: int = overview.OPENED) -> overview.Glance:
        """A glance, which changes nothing."""
        before = tree(self.clone.root)
        box = self.box(name)
        faults: list[str] = []
        seen = overview.glance(box, box.path(), overview.asks(box.store, faults), opened=opened)
        assert tree(self.clone.root) == before
        assert faults == []
        return seen


@pytest.fixture
def view(edge: Worlds, clone: Clone) -> View:
    return View(Desk(edge, clone.root), clone)


def test_nothing_was_ever_stored() -> None:
    seen = overview.glance(None, b"/x", [])
    assert seen == overview.Glance(b"/x")
    assert (seen.undelivered, seen.last) == (0, None)


def test_mail_by_its_senders(view: View) -> None:
    third = view.clone.worktree("third")
    names = [view.send(), view.send(cwd=third), view.send(), view.send(), view.send()]
    mail = view.glance().mail
    assert mail.waiting == 5
    assert mail.oldest == names[0]
    assert mail.senders == (Sender(str(view.peer), 3), Sender(str(third), 1))
    assert mail.unnamed == 1
    assert view.glance(opened=0).mail.senders == ()


def test_a_notice_comes_from_git_coop_and_a_nameless_file_from_nobody(view: View) -> None:
    view.send("--ttl", "1m")
    view.desk.clock.tick(clock.DAY)
    for path in view.clone.coop.rglob("*.eml"):
        os.utime(path, ns=(START, START))
    view.desk("drain", "--event", "start", "--session", "s", "--cwd", str(view.clone.root))
    inbox = Path(os.fsdecode(view.box().inbox))
    (inbox / "20260101T000000000Z-00000000.eml").write_text("")
    assert [sender.path for sender in view.glance().mail.senders] == ["", "git coop"]


def test_showings_are_counted_by_session(view: View) -> None:
    view.send()
    view.send()
    for session in ("a", "b", "c"):
        view.desk("drain", "--event", "start", "--session", session, "--cwd", str(view.clone.root))
    seen = view.glance()
    assert seen.mail.shown == 6
    assert set(seen.hooks) == {"start"}
    assert seen.last is not None
    assert seen.last.client == "-"


def test_todos_that_are_open(view: View) -> None:
    for text in ("one", 'two "quoted" \\ back', "x" * 3000, "status = 'done'"):
        view.desk.done("todo", "add", text)
    done = view.desk.done("todo", "add", "done").split()[1]
    view.desk.done("todo", "done", done)
    assert view.glance().todos == 4


def test_a_todo_that_a_person_rewrote_is_read_whole(view: View) -> None:
    identifier = view.desk.done("todo", "add", "one").split()[1]
    path = Path(os.fsdecode(todobox.path_of(view.box(), identifier)))
    path.write_text('text = "one"\ncreated_at = 2026-11-30T10:45:12Z\nstatus="done"\n')
    assert view.glance().todos == 0
    path.write_text("nonsense")
    seen = view.glance()
    assert (seen.todos, seen.dark, len(seen.faults)) == (0, ("todos",), 1)


def test_open_requests_on_both_sides(view: View) -> None:
    code, out, _err = view.desk("request", "open", "--to", str(view.peer), "-m", BRIEF)
    assert code == 0
    assert (view.glance().asked, view.glance().asking) == (0, 1)
    assert (view.glance("peer").asked, view.glance("peer").asking) == (1, 0)
    identifier = out.split()[1]
    code, _out, err = view.desk("request", "close", identifier, "-m", "# Handoff: result", cwd=view.peer)
    assert code == 0, err
    assert view.glance().asking == 0


def test_a_request_follows_a_worktree_that_moved() -> None:
    asks = [Ask("x", ("old-key", "id-1"), ("other", ""))]
    assert overview._is(asks[0].asker, "new-key", "id-1")
    assert not overview._is(asks[0].asker, "new-key", "id-2")
    assert not overview._is(asks[0].asked, "new-key", "")


def test_the_head_of_a_record_ends_before_its_text(tmp_path: Path) -> None:
    path = tmp_path / "record"
    path.write_text("id = \"a\"\nstatus = \"open\"\ntext = '''\nstatus = \"done\"'''\n")
    head: Mapping[str, str | int] = overview.head_of(Store(b""), os.fsencode(path), "text")
    assert head == {"id": "a", "status": "open"}
    assert flat.text(dict(head), "status") == "open"


def test_an_unreadable_part_is_a_fault_and_hides_no_other(view: View) -> None:
    view.send()
    view.desk.letter("x")
    record = next(view.clone.coop.glob("letters/*/*.toml"))
    record.write_bytes(b"\xff")
    seen = view.glance()
    assert (seen.letter, seen.mail.waiting, seen.dark) == (None, 1, ("letter",))
    inbox = Path(os.fsdecode(view.box().inbox))
    inbox.rename(inbox.parent / "elsewhere")
    inbox.write_text("")
    assert view.glance().dark == ("letter", "mail")


def test_a_directory_outside_any_repository_is_no_orphan(view: View, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    code, _out, err = view.desk("mail", "send", "--outside", "--to", str(outside), "-m", "x")
    assert code == 0, err
    where = view.place()
    rows = overview.clone(where, where.store(), os.environ, [])
    assert [(row.glance.path, row.gone) for row in rows] == [
        (os.fsencode(view.clone.root), ""),
        (os.fsencode(view.peer), ""),
        (os.fsencode(outside), ""),
    ]
    outside.rmdir()
    rows = overview.clone(where, where.store(), os.environ, [])
    assert [row.glance.path for row in overview.orphans(rows)] == [os.fsencode(outside)]

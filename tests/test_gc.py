"""Retention: what goes, what stays beside it, in which order, and what a kill or a drain in between leaves."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import claims, clock, files, gc, layout, notices, sent
from git_coop.store import Store
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import Worlds

DAY = clock.DAY


class Post:
    """A clone with a peer; messages go from the root to it, and its files are as old as the desk's clock says."""

    def __init__(self, desk: Desk, clone: Clone) -> None:
        self.desk = desk
        self.clone = clone
        self.peer = clone.worktree("peer")

    @property
    def store(self) -> Store:
        found = layout.open_store(os.fsencode(self.clone.coop))
        assert found is not None
        return found

    @property
    def box(self) -> Path:
        """The folder of the peer's box."""
        return next(self.clone.coop.glob("mail/box/peer-*"))

    def send(self, text: str = "hello", *words: str) -> str:
        code, out, _err = self.desk("mail", "send", "--to", str(self.peer), "-m", text, *words)
        assert code == 0
        self.stamp()
        return out.split()[1]

    def drain(self, event: str, session: str = "s") -> str:
        out = self.desk("drain", "--event", event, "--session", session, cwd=self.peer)[1]
        self.stamp()
        return out

    def consume(self, session: str = "s") -> None:
        self.drain("prompt", session)
        self.drain("stop", session)

    def stamp(self) -> None:
        """Give every file that has no time of the desk's yet the desk's time."""
        now = self.desk.clock.now
        for path in sorted(self.clone.coop.rglob("*"), reverse=True):
            if path.lstat().st_mtime_ns not in self.stamped:
                os.utime(path, ns=(now, now), follow_symlinks=False)
        self.stamped.add(now)

    stamped: "set[int]" = set()

    def sweep(self, days: int = 30, *, dry: bool = False) -> dict[str, int]:
        swept = gc.sweep(self.store, self.desk.clock.now, days, dry=dry)
        assert swept.failed == ()
        return {kind: count for kind, count in swept.counts.items() if count}

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.box / folder).iterdir())


@pytest.fixture
def post(edge: Worlds, clone: Clone) -> Post:
    made = Post(Desk(edge, clone.root), clone)
    made.stamped = set()
    return made


def test_old_mail_goes_and_young_mail_beside_it_stays(post: Post) -> None:
    old = post.send("old")
    post.consume()
    post.desk.clock.tick(20 * DAY)
    young = post.send("young")
    post.consume()
    post.desk.clock.tick(11 * DAY)
    assert post.names("seen") == [f"{old}.eml", f"{young}.eml"]
    assert post.sweep(dry=True) == {"consumed": 1, "receipts": 1, "notes": 1}
    assert post.sweep() == {"consumed": 1, "receipts": 1, "notes": 1}
    assert post.names("seen") == [f"{young}.eml"]
    assert [name.partition(".")[0] for name in post.names("receipts")] == [young]
    assert post.sweep() == {}


def test_a_dry_run_leaves_every_byte(post: Post) -> None:
    post.send()
    post.consume()
    post.desk.clock.tick(90 * DAY)
    before = tree(post.clone.root)
    assert post.sweep(dry=True) == {"consumed": 1, "receipts": 1, "sessions": 1, "notes": 1}
    assert tree(post.clone.root) == before


def test_zero_days_keep_everything(post: Post) -> None:
    post.send()
    post.consume()
    post.desk.clock.tick(9000 * DAY)
    before = tree(post.clone.root)
    assert post.sweep(days=0) == {}
    assert tree(post.clone.root) == before


def test_what_waits_is_never_removed_nor_letters_nor_todos_nor_requests(post: Post) -> None:
    waiting = post.send("waits", "--ttl", "30d")
    stranded = post.send("stranded")
    (post.box / "inbox" / f"{stranded}.eml").rename(post.box / "claiming" / f"{stranded}.eml")
    post.desk.letter("a letter")
    post.desk.done("todo", "add", "a todo")
    post.desk("request", "open", "--to", str(post.peer), "-m", "# Handoff: brief\n\n## Task\n\nwork")
    post.clone.git("worktree", "remove", "--force", str(post.peer))
    kept = [path for path in post.clone.coop.rglob("*.*ml") if path.parent.name != "sent"]
    post.desk.clock.tick(4000 * DAY)
    post.sweep()
    assert [path for path in kept if not path.exists()] == []
    assert f"{waiting}.eml" in post.names("inbox")
    assert post.names("claiming") == [f"{stranded}.eml"]


def test_expired_mail_goes_with_its_receipt(post: Post) -> None:
    name = post.send("soon over", "--ttl", "10m")
    post.desk.clock.tick(DAY)
    post.drain("prompt")
    assert post.names("expired") == [f"{name}.eml"]
    post.desk.clock.tick(29 * DAY)
    assert "expired" not in post.sweep()
    post.desk.clock.tick(2 * DAY)
    assert post.sweep()["expired"] == 1
    assert post.names("expired") == []


def test_a_fresh_file_is_kept_whatever_its_receipt_says(post: Post) -> None:
    name = post.send()
    post.consume()
    post.desk.clock.tick(31 * DAY)
    now = post.desk.clock.now
    os.utime(post.box / "seen" / f"{name}.eml", ns=(now, now))
    post.sweep()
    assert post.names("seen") == [f"{name}.eml"]
    assert len(post.names("receipts")) == 1


def test_a_young_receipt_keeps_a_file_that_looks_old(post: Post) -> None:
    name = post.send("x", "--ttl", "30d")
    post.desk.clock.tick(29 * DAY)
    post.consume()
    for path in post.clone.coop.rglob("*"):
        os.utime(path, ns=(0, 0))
    post.desk.clock.tick(2 * DAY)
    post.sweep()
    assert post.names("seen") == [f"{name}.eml"]


def test_a_message_is_kept_until_its_term_is_over_for_its_sender_may_ask(post: Post) -> None:
    name = post.send("x", "--ttl", "30d")
    post.consume()
    post.desk.clock.tick(8 * DAY)
    assert post.sweep(days=7) == {}
    post.desk.clock.tick(23 * DAY)
    assert post.sweep(days=7)["consumed"] == 1
    assert post.names("seen") == []
    out = post.desk("drain", "--event", "start", "--session", "sender")[1]
    assert name not in out  # it was consumed: there is nothing to tell


def test_the_note_of_an_expired_message_goes_before_it_so_that_nobody_is_told_it_was_lost(post: Post) -> None:
    name = post.send("x", "--ttl", "30d")
    post.desk.clock.tick(30 * DAY)
    post.drain("prompt")
    assert post.names("expired") == [f"{name}.eml"]
    post.desk.clock.tick(2 * DAY)
    assert post.sweep(days=1) == {"expired": 1, "receipts": 1, "sessions": 1, "notes": 1}
    assert name not in post.desk("drain", "--event", "start", "--session", "sender")[1]


def test_a_message_without_a_receipt_is_left_alone(post: Post) -> None:
    name = post.send()
    (post.box / "inbox" / f"{name}.eml").rename(post.box / "seen" / f"{name}.eml")
    post.desk.clock.tick(90 * DAY)
    assert post.sweep() == {"notes": 1}
    assert post.names("seen") == [f"{name}.eml"]


def test_a_message_in_play_again_keeps_its_filed_copy_and_its_receipt(post: Post) -> None:
    name = post.send()
    post.consume()
    copy = post.box / "inbox" / f"{name}.eml"
    copy.write_bytes((post.box / "seen" / f"{name}.eml").read_bytes())
    post.desk.clock.tick(90 * DAY)
    post.stamp()
    post.sweep()
    assert post.names("seen") == [f"{name}.eml"]
    assert len(post.names("receipts")) == 1
    assert copy.exists()


def test_sessions_go_when_nothing_was_heard_of_them_and_no_receipt_is_left(post: Post) -> None:
    post.send()
    post.drain("prompt", "idle")
    post.desk.clock.tick(DAY)
    post.drain("prompt", "reader")
    assert len(post.names("shown")) == 2
    post.desk.clock.tick(30 * DAY - 1)
    post.sweep()
    assert len(post.names("shown")) == 1
    post.desk.clock.tick(DAY)
    post.sweep()
    assert post.names("shown") == []


def test_a_sweep_that_dies_anywhere_leaves_no_message_without_its_receipt(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    for text in "abc":
        post.send(text)
    post.consume()
    post.desk.clock.tick(60 * DAY)
    real: Callable[[bytes], bool] = claims.remove
    for fatal in range(1, 40):
        calls = 0

        def dying(path: bytes, fatal: int = fatal) -> bool:
            nonlocal calls
            calls += 1
            if calls == 1 + fatal % 3:
                raise Killed
            return real(path)

        monkeypatch.setattr(gc, "remove", dying)
        try:
            gc.sweep(post.store, post.desk.clock.now, 30)
        except Killed:
            pass
        receipts = {name.partition(".")[0] for name in post.names("receipts")}
        assert {name.removesuffix(".eml") for name in post.names("seen")} <= receipts
    monkeypatch.undo()
    post.sweep()
    assert (post.names("seen"), post.names("receipts")) == ([], [])


def test_a_message_that_a_drain_holds_is_left_to_the_next_sweep(post: Post) -> None:
    name = post.send()
    post.consume()
    post.desk.clock.tick(60 * DAY)
    with claims.claim(os.fsencode(post.box / "seen" / f"{name}.eml")):
        assert "consumed" not in post.sweep()
    assert post.names("seen") == [f"{name}.eml"]
    assert len(post.names("receipts")) == 1
    assert post.sweep()["consumed"] == 1


def test_a_message_given_a_new_term_under_our_eyes_is_kept(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    name = post.send()
    post.consume()
    post.desk.clock.tick(60 * DAY)
    path = post.box / "seen" / f"{name}.eml"
    real = claims.claim

    def renewed(which: bytes) -> claims.Claim:
        os.utime(path, ns=(post.desk.clock.now, post.desk.clock.now))
        return real(which)

    monkeypatch.setattr(gc, "claim", renewed)
    assert "consumed" not in post.sweep()
    assert path.exists()


def test_a_sender_that_asks_while_a_sweep_runs_is_told_of_no_loss(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    post.send()
    post.consume()
    post.desk.clock.tick(60 * DAY)
    box = layout.Box(post.store, next(post.clone.coop.glob("mail/box/main-*")).name)
    real = sent.read

    def swept_meanwhile(own: layout.Box, name: str) -> sent.Sent | None:
        note = real(own, name)
        monkeypatch.undo()
        post.sweep()
        return note

    monkeypatch.setattr(sent, "read", swept_meanwhile)
    assert notices.for_sender(box, post.desk.clock.now) == []
    assert list(os.scandir(box.inbox)) == []


def test_a_note_on_a_message_that_is_nowhere_is_told(post: Post) -> None:
    name = post.send()
    (post.box / "inbox" / f"{name}.eml").unlink()
    post.desk.clock.tick(4 * DAY)
    assert "no box holds it any longer" in post.desk("drain", "--event", "start", "--session", "sender")[1]


def test_one_box_that_cannot_be_swept_is_told_and_hides_no_other(post: Post) -> None:
    post.send()
    post.consume()
    post.desk.clock.tick(60 * DAY)
    other = post.clone.coop / "mail" / "box" / ("a-" + "0" * 32)
    other.mkdir()
    (other / "seen").write_text("no folder")
    swept = gc.sweep(post.store, post.desk.clock.now, 30)
    assert swept.counts["consumed"] == 1
    assert swept.failed == (f"cannot list '{other / 'seen'}': it is a file",)


def test_files_of_other_shapes_are_none_of_its_business(post: Post) -> None:
    post.send()
    post.consume()
    for folder in ("seen", "receipts", "expired"):
        (post.box / folder / "note.txt").write_text("mine")
    post.desk.clock.tick(90 * DAY)
    post.sweep()
    assert [post.names(folder) for folder in ("seen", "receipts", "expired")] == [["note.txt"]] * 3
    assert files.exists(os.fsencode(post.box / "seen" / "note.txt"))

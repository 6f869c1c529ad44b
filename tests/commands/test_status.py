"""``git coop status``: whole outputs at several widths, for one worktree, for the clone, for a prompt, as JSON."""

import json
import os
from pathlib import Path

import pytest

from git_coop import clock, files, overview
from git_coop.text import width
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.program import Program
from tests.support.world import Worlds


class Glances:
    """A desk in a clone with a peer."""

    def __init__(self, desk: Desk, clone: Clone) -> None:
        self.desk = desk
        self.clone = clone
        self.root = clone.root
        self.peer = clone.worktree("peer")

    def __call__(self, *words: str, cwd: Path | None = None, columns: int | None = None) -> str:
        """The output of a command that changes nothing and has nothing to complain about."""
        before = tree(self.clone.root)
        env: dict[str, str | None] = {"COLUMNS": str(columns)} if columns else {}
        code, out, err = self.desk(*words, cwd=cwd, env=env, terminal=columns is not None)
        assert (code, err) == (0, "")
        assert tree(self.clone.root) == before
        return out

    def send(self, text: str, cwd: Path, to: Path) -> str:
        code, out, _err = self.desk("mail", "send", "--to", str(to), "-m", text, cwd=cwd)
        assert code == 0
        return out.split()[1]

    def furnish(self) -> None:
        """A letter, mail from the peer, a todo, a request each way, and hooks that ran."""
        self.letter = self.desk.letter("Finish the parser\n\nAll but the tests is done.")
        self.desk.clock.tick(clock.MINUTE)
        for text in ("one", "two"):
            self.send(text, self.peer, self.root)
        self.desk.done("todo", "add", "write the test")
        for cwd, to in ((self.peer, self.root), (self.root, self.peer)):
            code, _out, err = self.desk("request", "open", "--to", str(to), "-m", "# Handoff: brief", cwd=cwd)
            assert code == 0, err
        self.desk.clock.tick(clock.HOUR)
        for event in ("start", "stop"):
            self.desk("drain", "--event", event, "--session", "s", "--cwd", str(self.root))
        for text in ("three", "four"):
            self.send(text, self.peer, self.root)
        self.desk.clock.tick(5 * clock.MINUTE)


@pytest.fixture
def run(edge: Worlds, clone: Clone) -> Glances:
    return Glances(Desk(edge, clone.root), clone)


def test_where_nothing_is_stored_it_says_so_and_makes_nothing(run: Glances) -> None:
    expected = f"""\
worktree  {run.root}
letter    none
mail      none waiting
todos     none open
requests  none open
delivery  on
hooks     never seen here, 'git coop hooks install' lists the clients
store     none yet
as of     2026-11-30T10:45:12Z
"""
    assert run("status") == expected
    assert run() == expected
    assert run("status", "--short") == ""
    assert not run.clone.coop.exists()


def test_hooks_that_are_installed_and_were_not_seen_are_not_denied(run: Glances) -> None:
    run.desk.done("hooks", "install", "claude", "--local")
    line = "hooks     installed (claude), not seen here yet: restart the session\n"
    assert line in run("status")
    run.desk("letter", "write", "-m", "x")
    run.desk("drain", "--event", "start")
    assert "hooks     start 0 seconds ago" in run("status")


def test_everything_at_a_glance(run: Glances) -> None:
    run.furnish()
    tail = run.letter[-8:]
    assert (
        run("status")
        == f"""\
worktree  {run.root}
letter    unread, 1 hour ago, {tail}
          Finish the parser
mail      2 waiting, oldest 5 minutes ago, from {run.peer} (2)
todos     1 open
requests  1 asked of this worktree, 1 asked of others
delivery  on
hooks     start 5 minutes ago, prompt never, stop 5 minutes ago
store     {run.clone.coop}
as of     2026-11-30T11:51:12Z
note      letters exist in this place only (git coop backup, git coop sync)
"""
    )


def test_a_narrow_terminal_folds_every_line(run: Glances) -> None:
    run.desk.letter("漢字かな交じり文のとても長い件名がここにあります e\u0301e\u0301e\u0301")
    for columns in (40, 80, 200):
        lines = run("status", columns=columns).splitlines()
        assert max(map(width, lines)) <= columns
        assert all(line[:10].strip() == line[:9].strip() for line in lines)
    narrow = run("status", columns=40).splitlines()
    assert narrow[1:3] == ["letter    unread, 0 seconds ago,", f"          {narrow[2].strip()}"]


def test_hostile_text_stays_in_its_line(run: Glances) -> None:
    run.desk("letter", "write", "-m", "x", "--subject", "evil \x1b[31m\u202e subject")
    out = run("status")
    assert "          evil ?[31m? subject\n" in out
    assert "\x1b" not in out


def test_held_delivery_strays_and_missing_stop_hooks_are_noted(run: Glances) -> None:
    name = run.send("x", run.peer, run.root)
    for number in range(10):
        run.desk("drain", "--event", "start", "--session", f"s{number}", "--cwd", str(run.root))
    run.desk.done("mail", "off")
    box = next(run.clone.coop.glob("mail/box/main-*"))
    (box / "claiming" / f"{name}.eml").write_bytes((box / "inbox" / f"{name}.eml").read_bytes())
    (box / "inbox" / "note").write_text("")
    run.clone.git("worktree", "remove", "--force", str(run.peer))
    out = run("status")
    assert "delivery  held, 'git coop mail on' resumes it\n" in out
    assert out.split("\nnote      ", 1)[1].splitlines() == [
        "mail was shown 10 times, never consumed: no stop hook has run here",
        "note      1 stranded in claiming/: the next drain returns what is there",
        "note      1 names in the inbox are no messages",
    ]


def test_a_box_without_a_worktree_is_noted_while_something_waits_in_it(run: Glances) -> None:
    third = run.clone.worktree("third")
    run.desk("todo", "add", "x", cwd=third)
    run.desk.letter("for the next one", cwd=run.peer)
    run.send("one", run.root, run.peer)
    run.clone.git("worktree", "remove", "--force", str(third))
    assert "gone" not in run("status")
    run.clone.git("worktree", "remove", "--force", str(run.peer))
    said = "1 box of a worktree that is gone, with 1 undelivered and 1 live letter: 'git coop doctor' has the way out"
    assert f"note      {said}\n" in run("status")
    assert json.loads(run("status", "--json"))["boxes_gone"] == 1
    letter = json.loads(run("letter", "list", "--all-worktrees", "--json"))["letters"][0]["id"]
    run.desk.done("letter", "adopt", letter)
    assert "note      1 box of a worktree that is gone, with 1 undelivered: 'git coop doctor'" in run("status")
    assert f"!  adopted     1      -      -  gone     {run.peer}\n" in run("status", "--all-worktrees")
    (message,) = next(run.clone.coop.glob("mail/box/peer-*")).glob("inbox/*")
    message.unlink()
    assert "gone" not in run("status")
    assert "letters exist in this place only" in run("status")


def test_views_of_a_worktree_that_moved_give_its_place_of_today(run: Glances) -> None:
    run.desk.letter("for the next one", cwd=run.peer)
    run.desk("todo", "add", "x", cwd=run.peer)
    run.send("one", run.root, run.peer)
    new = run.peer.parent / "moved"
    run.clone.git("worktree", "move", str(run.peer), str(new))
    before = tree(run.clone.root)
    for words in (
        ("status",),
        ("status", "--all-worktrees"),
        ("mail", "list"),
        ("mail", "status"),
        ("letter", "list", "--all-worktrees"),
        ("todo", "list", "--all-worktrees"),
    ):
        out = run(*words, cwd=new)
        assert str(new) in out, words
        assert str(run.peer) not in out, words
        assert "gone" not in out.lower(), words
    assert json.loads(run("mail", "list", "--json", cwd=new))["boxes"][0]["path"] == str(new)
    assert "gone" not in run("status")
    assert tree(run.clone.root) == before


def test_what_was_written_for_an_earlier_worktree_is_said(run: Glances) -> None:
    run.desk.letter("for the old one", cwd=run.peer)
    run.send("also", run.root, run.peer)
    run.clone.git("worktree", "remove", "--force", str(run.peer))
    run.clone.git("worktree", "add", "-q", "-b", "again", str(run.peer))
    run.desk.clock.tick(clock.MINUTE)
    run.desk("todo", "add", "the new worktree writes", cwd=run.peer)
    out = run("status", cwd=run.peer)
    assert "note      letter and mail written for an earlier worktree at this path\n" in out


def test_the_line_for_a_prompt(run: Glances) -> None:
    run.furnish()
    out = run("status", "--short")
    assert out == "letter:unread mail:2 todos:1 requests:1\n"
    run.desk.done("mail", "off")
    assert run("status", "--short") == "letter:unread mail:2 todos:1 requests:1 held\n"


def test_one_row_a_worktree_and_orphans_marked(run: Glances) -> None:
    third = run.clone.worktree("third")
    run.desk.letter("a letter")
    run.send("one", run.root, run.peer)
    run.send("two", run.root, third)
    run.clone.git("worktree", "remove", "--force", str(third))
    assert (
        run("status", "--all-worktrees")
        == f"""\
   letter  mail  todos  asked  drained  worktree
*  unread     -      -      -  never    {run.root}
   -          1      -      -  never    {run.peer}
!  -          1      -      -  gone     {third}
as of 2026-11-30T10:45:12Z
"""
    )
    narrow = run("status", "--all-worktrees", columns=40).splitlines()
    assert narrow[0] == "   letter  mail  worktree"
    assert all(width(line) <= 40 for line in narrow)
    assert narrow[3].endswith("/third")


def test_a_worktree_that_was_deleted_by_hand_is_gone(run: Glances) -> None:
    run.send("one", run.root, run.peer)
    run.peer.rename(run.peer.parent / "elsewhere")
    assert f"!  -          1      -      -  gone     {run.peer}\n" in run("status", "--all-worktrees")


def test_a_worktree_that_moved_has_not_lost_its_box(run: Glances) -> None:
    run.send("one", run.root, run.peer)
    run.clone.git("worktree", "move", str(run.peer), str(run.peer.parent / "moved"))
    out = run("status", "--all-worktrees")
    assert f"   -          1      -      -  never    {run.peer.parent}/moved\n" in out
    assert "gone" not in out


def test_json_is_whole(run: Glances) -> None:
    run.furnish()
    answer = json.loads(run("status", "--json"))
    letter = answer.pop("letter")
    assert (letter["id"], letter["status"], letter["subject"]) == (run.letter, "unread", "Finish the parser")
    mail = answer.pop("mail")
    assert sorted(mail) == ["from", "ignored", "oldest", "rejected", "shown", "stranded", "unopened", "waiting"]
    assert answer == {
        "as_of": "2026-11-30T11:51:12Z",
        "store": str(run.clone.coop),
        "off": False,
        "letters_alone": 1,
        "boxes_gone": 0,
        "path": str(run.root),
        "key": next(run.clone.coop.glob("mail/box/main-*")).name,
        "owner_gone": False,
        "inherited": [],
        "todos": {"open": 1},
        "requests": {"asked": 1, "asking": 1},
        "drained": {
            "start": {"at": "2026-11-30T11:46:12Z", "client": None},
            "prompt": None,
            "stop": {"at": "2026-11-30T11:46:12Z", "client": None},
        },
        "unreadable": [],
    }
    boxes = json.loads(run("status", "--all-worktrees", "--json"))["boxes"]
    assert [(box["path"], box["current"], box["branch"]) for box in boxes] == [
        (str(run.root), True, "main"),
        (str(run.peer), False, "peer"),
    ]


def test_what_cannot_be_read_is_named_and_is_no_zero(run: Glances) -> None:
    letter = run.desk.letter("x")
    record = next(run.clone.coop.glob(f"letters/*/{letter}.toml"))
    record.write_text("half = ")
    code, out, err = run.desk("status")
    assert code == 1
    assert "\nletter    cannot be read\n" in out
    assert err.startswith(f"error: cannot parse '{record}': ")
    assert err.endswith("hint: git coop doctor looks closer\n")
    assert run.desk("status", "--short")[:2] == (1, "unreadable\n")
    assert run.desk("status", "--all-worktrees")[0] == 1


def test_words_that_do_not_go_together(run: Glances) -> None:
    for other in ("--all-worktrees", "--json"):
        code, out, err = run.desk("status", "--short", other)
        assert (code, out) == (129, "")
        assert err.startswith("usage: --short is one line of this worktree\n")


def test_few_files_are_opened_however_much_waits(run: Glances, monkeypatch: pytest.MonkeyPatch) -> None:
    name = run.send("x", run.peer, run.root)
    inbox = next(run.clone.coop.glob("mail/box/main-*/inbox"))
    for number in range(1000, 3000):
        os.link(inbox / f"{name}.eml", inbox / f"{name[:-8]}{number:08x}.eml")
    opened: list[bytes] = []
    real = files.open_regular

    def counting(path: bytes) -> tuple[int, os.stat_result]:
        opened.append(path)
        return real(path)

    monkeypatch.setattr(files, "open_regular", counting)
    code, out, _err = run.desk("status")
    assert code == 0
    assert "and 1997 more not opened" in out
    assert len([path for path in opened if path.endswith(b".eml")]) == overview.OPENED


@pytest.mark.parametrize("words", [(), ("status",), ("status", "--all-worktrees"), ("status", "--json")])
def test_a_reader_that_left_is_quiet_and_a_full_device_is_fatal(
    words: tuple[str, ...], run: Glances, coop: Program
) -> None:
    run.desk.letter("x")
    assert run.desk(*words, out="closed") == (141, "", "")
    assert run.desk(*words, out="full") == (
        128,
        "",
        "fatal: cannot write to standard output: no space left on device\n",
    )
    reader, writer = os.pipe()
    os.close(reader)
    with coop.start(*words, cwd=run.root, stdout=writer) as started:
        assert started.communicate()[1] == b""
    os.close(writer)
    assert started.returncode == 141
    with open("/dev/full", "wb") as full, coop.start(*words, cwd=run.root, stdout=full) as started:
        assert started.communicate()[1] == b"fatal: cannot write to standard output: no space left on device\n"
    assert started.returncode == 128


def test_colour_is_for_terminals_that_want_it(run: Glances) -> None:
    run.desk.letter("x")
    tty: dict[str, str | None] = {"TERM": "xterm", "COLUMNS": "80"}
    assert "\x1b[33munread" in run.desk("status", env=tty, terminal=True)[1]
    assert "\x1b" not in run.desk("status", env=tty)[1]
    assert "\x1b" not in run.desk("status", env={**tty, "NO_COLOR": "1"}, terminal=True)[1]
    assert "\x1b" not in run.desk("status", env={**tty, "TERM": "dumb"}, terminal=True)[1]
    run.clone.git("config", "color.ui", "never")
    assert "\x1b" not in run.desk("status", env=tty, terminal=True)[1]
    run.clone.git("config", "color.coop", "auto")
    assert "\x1b" in run.desk("status", env=tty, terminal=True)[1]

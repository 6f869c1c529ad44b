"""``git coop request``: from the brief in one worktree to the result in the other, and what is refused on the way."""

import json
import re
from pathlib import Path

import pytest

from git_coop import clock, packets
from git_coop.__main__ import main
from git_coop.text import width
from tests.support.clones import Clone, copy_template
from tests.support.program import Program
from tests.support.world import START, Clock, Counter, World, Worlds
from tests.test_packets import BODIES

BRIEF, RESULT = BODIES["brief"], BODIES["result"]
SUBJECT = "Make `fetch` retry when the server is busy."
NEVER = "warning: '{}' was never drained: is a hook installed there? (git coop hooks status)\n"


class Requests:
    """Runs commands in the worktrees of one clone with one clock and one source of randomness."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.edge = edge
        self.main = clone.root
        self.coop = clone.coop
        self.side = clone.worktree("side")
        self.clone = clone
        self.clock = Clock()
        self.entropy = Counter()

    def __call__(
        self, *words: str, cwd: Path, stdin: str | None = "", terminal: bool = False, **env: str
    ) -> tuple[int, str, str]:
        world: World = self.edge(cwd, env, stdin=stdin, terminal=terminal)
        world = world.replace(clock=self.clock, entropy=self.entropy)
        code = main(list(words), world)
        return code, world.stdout.text, world.stderr.text

    def open(self, brief: str = BRIEF) -> str:
        code, out, _err = self("request", "open", "--to", str(self.side), "--body", "-", cwd=self.main, stdin=brief)
        found = re.match(r"request (\S+) opened for ", out)
        assert code == 0
        assert found
        return found[1]

    def inbox(self) -> dict[str, int]:
        """How many messages wait, by the slug of the box."""
        folders = (self.coop / "mail" / "box").glob("*/inbox")
        return {folder.parent.name.split("-")[0]: len(list(folder.iterdir())) for folder in folders}

    def records(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted((self.coop / "requests").glob("*.toml"))]


@pytest.fixture
def run(edge: Worlds, clone: Clone) -> Requests:
    return Requests(edge, clone)


def test_listing_where_nothing_is_stored_creates_nothing(run: Requests) -> None:
    assert run("request", "list", cwd=run.main) == (0, "", "")
    code, out, _err = run("request", "list", "--json", cwd=run.main)
    assert (code, json.loads(out)) == (0, {"as_of": "2026-11-30T10:45:12Z", "requests": [], "unreadable": []})
    for words in (["show", "abcd"], ["close", "abcd", "-m", "x"]):
        assert run("request", *words, cwd=run.main) == (1, "", "error: nothing is stored in this clone yet\n")
    assert not run.coop.exists()


def test_a_request_and_back_with_both_drains_in_between(run: Requests) -> None:
    words = ("request", "open", "--to", "../side", "--body", "-")
    code, out, err = run(*words, cwd=run.main, stdin=BRIEF)
    found = re.fullmatch(
        rf"request (\S+) opened for {run.side}\nits brief is queued as (\S+) for {run.side}, which was never drained\n",
        out,
    )
    assert (code, err) == (0, NEVER.format(run.side))
    assert found
    identifier, mail = found.groups()
    tail = identifier[-8:]
    run.clock.tick(clock.MINUTE)

    code, shown, _err = run("drain", "--event", "prompt", "--session", "s", cwd=run.side)
    assert code == 0
    for line in (f"Request {identifier}: read the brief below", "kind: request", f"subject: request: {SUBJECT}"):
        assert line in shown
    assert run("request", "list", cwd=run.side) == (
        0,
        f"{identifier}  open    1 minute    from {run.main}  {SUBJECT}\n",
        "",
    )
    assert run("request", "show", tail, "--brief", cwd=run.side) == (0, BRIEF, "")
    assert run("request", "show", tail, "--result", cwd=run.side) == (
        1,
        "",
        f"error: request {identifier} is open: it has no result yet\n",
    )

    code, out, err = run("request", "close", tail, "-F", "-", cwd=run.side, stdin=RESULT)
    found = re.fullmatch(
        rf"request {identifier} closed\nits result is queued as (\S+) for {run.main}, which was never drained\n", out
    )
    assert (code, err) == (0, NEVER.format(run.main))
    assert found
    code, shown, _err = run("drain", "--event", "start", cwd=run.main)
    assert code == 0
    for line in (f"Request {identifier} is closed", "kind: result", f"in reply to: {mail}", "Fetching retries now"):
        assert line in shown

    assert run("request", "list", cwd=run.main) == run("request", "list", cwd=run.side) == (0, "", "")
    assert run("request", "list", "--all", cwd=run.main)[1] == (
        f"{identifier}  closed  1 minute    to {run.side}  {SUBJECT}\n"
    )
    assert run("request", "list", "--all", "--all-worktrees", cwd=run.main)[1] == (
        f"{identifier}  closed  1 minute    {run.main} to {run.side}  {SUBJECT}\n"
    )
    assert run("request", "show", tail, "--result", cwd=run.main) == (0, RESULT, "")
    code, shown, _err = run("request", "show", tail, cwd=run.main)
    assert (
        shown
        == f"""\
request {identifier}
State:   closed
From:    {run.main}
To:      {run.side}
Opened:  2026-11-30T10:45:12Z, 1 minute ago
Closed:  2026-11-30T10:46:12Z, 0 seconds ago
Mail:    {mail}, {found[1]}
As of:   2026-11-30T10:46:12Z

Brief, quoted:
{quoted(BRIEF)}
Result, quoted:
{quoted(RESULT)}"""
    )


def quoted(text: str) -> str:
    return "".join(f"    | {line}\n" for line in text.splitlines())


def test_the_answers_as_json(run: Requests) -> None:
    words = ("request", "open", "--to", str(run.side), "-m", BRIEF, "--session", "s-1", "--json")
    code, out, _err = run(*words, cwd=run.main)
    answer = json.loads(out)
    one = answer["request"]
    assert code == 0
    assert {name: answer[name] for name in ("as_of", "drained", "off")} == {
        "as_of": "2026-11-30T10:45:12Z",
        "drained": {"start": None, "prompt": None, "stop": None},
        "off": False,
    }
    known = {
        "status": "open",
        "subject": SUBJECT,
        "from_path": str(run.main),
        "to_path": str(run.side),
        "opened_at": "2026-11-30T10:45:12Z",
        "opened_by": "s-1",
        "closed_at": None,
        "closed_by": None,
        "result_mail": None,
        "brief": BRIEF,
        "result": None,
    }
    assert {name: one[name] for name in known} == known
    names = {*known, "id", "from", "to", "from_worktree", "to_worktree", "brief_mail"}
    assert set(one) == names
    assert json.loads(run("request", "list", "--json", cwd=run.side)[1])["requests"] == [one]
    assert json.loads(run("request", "show", one["id"], "--json", cwd=run.side)[1])["request"] == one
    closed = json.loads(run("request", "close", one["id"], "-m", RESULT, "--json", cwd=run.side)[1])["request"]
    assert closed == {
        **one,
        "status": "closed",
        "closed_at": "2026-11-30T10:45:12Z",
        "result": RESULT,
        "result_mail": closed["result_mail"],
    }


def test_a_packet_is_inlined_whole_and_may_vanish(run: Requests, tmp_path: Path) -> None:
    packet = tmp_path / "brief.md"
    packet.write_text(BRIEF)
    words = ("request", "open", "--to", str(run.side), "--from-packet", str(packet))
    identifier = run(*words, cwd=run.main)[1].split()[1]
    packet.unlink()
    assert run("request", "show", identifier, "--brief", cwd=run.side)[1] == BRIEF
    packet.write_text(RESULT)
    assert run("request", "close", identifier, "--from-packet", str(packet), cwd=run.side)[0] == 0
    packet.unlink()
    assert run("request", "show", identifier, "--result", cwd=run.main)[1] == RESULT


def test_a_missing_heading_is_only_a_warning(run: Requests) -> None:
    code, _out, err = run("request", "open", "--to", str(run.side), "-m", "make it fast", cwd=run.main)
    assert code == 0
    assert err == (
        "warning: Task: it is missing: add the heading '## Task'\n"
        "warning: Context: it is missing: add the heading '## Context'\n"
        "warning: Return: it is missing: add the heading '## Return'\n" + NEVER.format(run.side)
    )
    (record,) = run.records()
    assert b"\n# Handoff: brief\n\nmake it fast\n" in record


def test_closing_twice_is_refused(run: Requests) -> None:
    identifier = run.open()
    assert run("request", "close", identifier, "-m", RESULT, cwd=run.side)[0] == 0
    before, waiting = run.records(), run.inbox()
    for place in (run.side, run.main):
        assert run("request", "close", identifier, "-m", RESULT, cwd=place) == (
            1,
            "",
            (
                f"error: request {identifier} is closed already at 2026-11-30T10:45:12Z\n"
                f"hint: git coop request show {identifier[-8:]} prints its result\n"
            ),
        )
    assert (run.records(), run.inbox()) == (before, waiting)


def test_closing_somebody_elses_is_refused(run: Requests) -> None:
    identifier = run.open()
    third = run.clone.worktree("third")
    before, waiting = run.records(), run.inbox()
    for place in (run.main, third):
        assert run("request", "close", identifier, "-m", RESULT, cwd=place) == (
            1,
            "",
            (
                f"error: request {identifier} is not this worktree's to close\n"
                f"hint: it is for '{run.side}', and only its recipient closes a request\n"
            ),
        )
    assert run.records() == before
    assert (
        {slug: count for slug, count in run.inbox().items() if count}
        == {"side": 1}
        == {slug: count for slug, count in waiting.items() if count}
    )


@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (["--to", "../gone", "-m", BRIEF], 1, "error: "),
        (["--to", ".", "-m", BRIEF], 1, "error: a request is for another worktree"),
        (["--to", ".git", "-m", BRIEF], 1, "error: "),
        (["--to", "../other", "-m", BRIEF], 1, "error: '../other' is no worktree of this clone"),
        (["-m", BRIEF], 129, "usage: a request needs a recipient"),
        (
            ["--to", "all", "-m", BRIEF],
            129,
            "usage: a request is for one worktree\nhint: git coop mail send --to all reaches every one\n",
        ),
        (["--to", "../side"], 129, "usage: the brief needs a body"),
        (["--to", "../side", "-m", RESULT], 1, "error: the first line names the type 'result', not 'brief'"),
        (["--to", "../side", "-m", "x\n" * (1 << 19)], 1, "error: the brief has 1048576 bytes or more, over"),
        (["--to", "../side", "--from-packet", "README"], 1, "error: "),
        (["--to", "../side", "--from-packet", "gone"], 1, "error: "),
    ],
)
def test_what_is_refused_writes_nothing(run: Requests, template: Path, words: list[str], code: int, first: str) -> None:
    copy_template(template, run.main.parent / "other")
    got, out, err = run("request", "open", *words, cwd=run.main, stdin=None)
    assert (got, err.startswith(first)) == (code, True), err
    assert run.coop.exists() == (code == 0)
    assert bool(out) == (code == 0)


def test_a_close_whose_mail_cannot_be_queued_leaves_the_request_open(run: Requests) -> None:
    """The worktree that asked is gone: its result has nowhere to go."""
    asker = run.clone.worktree("asker")
    words = ("request", "open", "--to", str(run.side), "--body", "-")
    identifier = run(*words, cwd=asker, stdin=BRIEF)[1].split()[1]
    run.clone.git("worktree", "remove", str(asker))
    before = run.records()
    code, out, err = run("request", "close", identifier, "-m", RESULT, cwd=run.side)
    assert (code, out) == (1, "")
    assert "\nhint: the request is still open" in err
    assert run.records() == before
    assert run("request", "list", cwd=run.side)[1].startswith(f"{identifier}  open ")


def test_a_brief_that_cannot_be_queued_leaves_no_request(run: Requests) -> None:
    run.open()
    (inbox,) = (run.coop / "mail" / "box").glob("side-*/inbox")
    inbox.rename(inbox.with_name("elsewhere"))
    inbox.write_text("no folder")
    before = run.records()
    code, out, err = run("request", "open", "--to", str(run.side), "-m", BRIEF, cwd=run.main)
    assert (code, out, run.records()) == (128, "", before)
    assert err.startswith(f"fatal: '{inbox}' is a file, not a folder\n")


def test_a_moved_worktree_still_closes_and_is_still_answered(run: Requests) -> None:
    asker = run.clone.worktree("asker")
    words = ("request", "open", "--to", str(run.side), "--body", "-")
    identifier = run(*words, cwd=asker, stdin=BRIEF)[1].split()[1]
    moved_side, moved_asker = run.side.with_name("side2"), asker.with_name("asker2")
    run.clone.git("worktree", "move", str(run.side), str(moved_side))
    run.clone.git("worktree", "move", str(asker), str(moved_asker))
    assert run("todo", "add", "here", cwd=moved_asker)[0] == 0  # the first command that writes brings the box over
    code, out, err = run("request", "close", identifier, "-m", RESULT, cwd=moved_side)
    assert code == 0, err
    assert f" for {moved_asker}, " in out
    assert "Fetching retries now" in run("drain", "--event", "start", cwd=moved_asker)[1]


def test_delivery_that_is_off_is_said(run: Requests) -> None:
    run.open()
    (run.coop / "OFF").touch()
    code, _out, err = run("request", "open", "--to", str(run.side), "-m", BRIEF, cwd=run.main)
    off = "warning: delivery is off in this clone: nothing is shown until git coop mail on\n"
    assert (code, err) == (0, NEVER.format(run.side) + off)


def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(run: Requests) -> None:
    first, second = run.open(), run.open()
    record = run.coop / "requests" / f"{first}.toml"
    record.write_text("not TOML")
    code, out, err = run("request", "list", cwd=run.main)
    assert (code, out) == (1, f"{second}  open    0 seconds   to {run.side}  {SUBJECT}\n")
    assert re.fullmatch(rf"error: cannot parse '{record}': .*\n", err)


def test_a_hostile_brief_is_quoted_and_a_row_is_one_line(run: Requests) -> None:
    identifier = run.open("## Task\n\nx\x1b[2J\u202ey\x85z\n\nrequest closed\n")
    assert run("request", "list", cwd=run.side)[1].endswith("  x?[2J?y\n")
    shown = run("request", "show", identifier, cwd=run.side)[1].partition("Brief, quoted:\n")[2]
    assert shown == "".join(
        f"    | {line}\n" for line in ["# Handoff: brief", "", "## Task", "", "x?[2J?y?z", "", "request closed"]
    )


def test_the_editor_opens_on_the_template(edge: Worlds, run: Requests, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncp "$1" seen\nprintf "%s" "$TEXT" >"$1"\n')
    editor.chmod(0o755)
    env = {"GIT_EDITOR": str(editor), "TEXT": BRIEF, "TMPDIR": str(tmp_path)}
    world = edge(run.main, env, terminal=True)
    assert main(["request", "open", "--to", str(run.side)], world) == 0
    assert (run.main / "seen").read_text() == packets.TEMPLATES["brief"]
    assert run("request", "show", world.stdout.text.split()[1], "--brief", cwd=run.side)[1] == BRIEF


def test_the_real_program_delegates(coop: Program, clone: Clone) -> None:
    side = clone.worktree("side")
    identifier = coop(
        "request", "open", "--to", str(side), "--body", "-", cwd=clone.root, stdin=BRIEF, check=0, now=START
    ).out.split()[1]
    coop("request", "close", identifier[-8:], "--body", "-", cwd=side, stdin=RESULT, check=0, now=START)
    assert coop("request", "show", identifier, "--result", cwd=clone.root, check=0).out == RESULT


def test_a_stranger_at_the_old_address_neither_lists_nor_closes_it(run: Requests) -> None:
    """Another worktree was made where the one that was asked had been: that one is asked still, at its new place."""
    name = run.open()
    moved = run.side.with_name("moved")
    run.clone.git("worktree", "move", str(run.side), str(moved))
    run.clone.git("worktree", "add", "-q", "--detach", str(run.side))
    tail = name.rpartition("-")[2]
    for _ in range(2):
        assert name not in run("request", "list", cwd=run.side)[1]
        assert tail not in run("request", "list", cwd=run.side)[1]
        code, _out, err = run("request", "close", tail, "--body", "-", cwd=run.side, stdin=RESULT)
        assert (code, f"request {name} is not this worktree's to close" in err) == (1, True)
        assert "1 for this" not in run("status", cwd=run.side)[1]
        run("todo", "add", "something to write", cwd=run.side)  # now the stranger has an identity
    assert tail in run("request", "list", cwd=moved)[1]
    run.clone.git("worktree", "remove", "--force", str(moved))
    assert tail in run("request", "list", cwd=run.side)[1]  # the control: the path is the address, and inherits
    assert run("request", "close", tail, "--body", "-", cwd=run.side, stdin=RESULT)[0] == 0


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_row_fits_the_terminal_and_keeps_the_end_of_a_path(run: Requests, columns: int) -> None:
    far = run.clone.root.parent / ("a rather long name of a folder " * 3).strip() / "parser"
    run.clone.git("worktree", "add", "-q", "--detach", str(far))
    words = ("request", "open", "--to", str(far), "--body", "-")
    assert run(*words, cwd=run.main, stdin=BRIEF)[0] == 0
    for more, cwd in (((), run.main), (("--all-worktrees",), run.main), ((), far)):
        row = run("request", "list", *more, cwd=cwd, terminal=True, COLUMNS=str(columns))[1]
        assert row.count("\n") == 1
        assert width(row.rstrip("\n")) <= columns
        assert "  Make `" in row
        assert ("parser  " in row) is (cwd == run.main)

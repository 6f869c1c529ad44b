"""``git coop letter`` through the command line: every state, every refusal, every body, from every place."""

import json
import os
import pty
import re
import select
import subprocess
import unicodedata
from pathlib import Path

import pytest

from git_coop import clock, letters
from git_coop.__main__ import main
from git_coop.cli.letter import RECIPIENT
from tests.support import users
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.program import Program
from tests.support.world import Worlds
from tests.test_letters import CASES, TABLE

ID = re.compile(r"\d{8}T\d{9}Z-[0-9a-f]{8}")


@pytest.fixture
def run(edge: Worlds, clone: Clone) -> Desk:
    return Desk(edge, clone.root)


def record(run: Desk, asked: str = "", cwd: Path | None = None) -> dict[str, object]:
    """The record as ``--json`` has it, without its times."""
    answer = json.loads(run.done("letter", "show", "--json", *([asked] if asked else []), cwd=cwd))
    assert list(answer) == ["as_of", "letter"]
    found: dict[str, object] = answer["letter"]
    return found


def states(run: Desk, *words: str, cwd: Path | None = None) -> list[tuple[str, str]]:
    """What ``list --all`` says, as subject and state, newest first."""
    answer = json.loads(run.done("letter", "list", "--all", "--json", *words, cwd=cwd))
    return [(each["subject"], each["status"]) for each in answer["letters"]]


# from beginning to end


def test_a_letter_from_beginning_to_end(run: Desk, clone: Clone) -> None:
    head = clone.git("rev-parse", "HEAD")[:12]
    out = run.done("letter", "write", "-m", "Finish the parser", "-m", "then test it", session="first")
    one = ID.findall(out)[0]
    assert out == f"letter {one} written to the next session in this worktree\n"
    run.clock.tick(5 * clock.MINUTE)
    assert run.done("letter", "read", session="second") == (
        f"letter {one}\n"
        "State:   unread\n"
        "Written: 2026-11-30T10:45:12Z, 5 minutes ago\n"
        f"Branch:  main at {head}\n"
        "Subject: Finish the parser\n"
        "As of:   2026-11-30T10:50:12Z\n"
        "\n"
        "Finish the parser\n\nthen test it"
    )
    assert run.done("letter", "list") == f"{one}  read        5 minutes   Finish the parser\n"
    assert run.done("letter", "start", session="second") == f"letter {one} is working\n"
    assert run.done("letter", "ack", "-m", "it parses", session="second") == f"letter {one} is done\n"
    assert run("letter", "list") == (0, "", "hint: --all shows the closed ones\n")
    assert run.done("letter", "list", "--all") == f"{one}  done        5 minutes   Finish the parser\n"
    found = record(run, one)
    assert (found["status"], found["ack_body"], found["read_count"]) == ("done", "it parses", 1)
    assert (found["session"], found["branch"], found["acked_at"]) == ("first", "main", "2026-11-30T10:50:12Z")
    events = found["events"]
    assert isinstance(events, list)
    assert [(event["event"], event["session"]) for event in events] == [
        *(("write", "first"), ("read", "second"), ("start", "second"), ("ack", "second"))
    ]


def test_a_newer_letter_names_what_it_superseded(run: Desk) -> None:
    one = run.letter("one")
    out = run.done("letter", "write", "-m", "two", session="writer")
    two = ID.findall(out)[0]
    assert out == (
        f"letter {two} written to the next session in this worktree\nsuperseded {one}, which was never read\n"
    )
    run.done("letter", "read", session="reader")
    out = run.done("letter", "write", "-m", "three", session="writer")
    three = ID.findall(out)[0]
    assert out == f"letter {three} written to the next session in this worktree\nsuperseded {two}\n"
    assert states(run) == [("three", "unread"), ("two", "superseded"), ("one", "superseded")]
    assert (record(run, two)["supersedes"], record(run, two)["superseded_by"]) == ([one], three)
    log = run.done("letter", "log")
    assert ID.findall(log) == [three, two, three, one, two]
    assert log.count("Subject: ") == 3
    answer = json.loads(run.done("letter", "log", two, "--json"))
    assert [each["id"] for each in answer["letters"]] == [two, one]


# states


def bring(run: Desk, state: str) -> str:
    """A letter in this state; its id."""
    one = run.letter("one")
    ways: dict[str, list[list[str]]] = {
        "unread": [],
        "read": [["read"]],
        "working": [["read"], ["start"]],
        "done": [["read"], ["ack"]],
        "abandoned": [["abandon", "--reason", "why"]],
        "superseded": [["write", "-m", "two"]],
    }
    for words in ways[state]:
        run.done("letter", *words, session="reader")
    assert record(run, one)["status"] == state
    return one


@pytest.mark.parametrize(("verb", "state"), CASES)
def test_every_transition_through_the_command_line(run: Desk, clone: Clone, verb: str, state: str) -> None:
    one = bring(run, state)
    before = tree(clone.coop)
    words = {"abandon": ["--reason", "why not"], "ack": ["-m", "done"]}.get(verb, [])
    code, out, err = run("letter", verb, one, *words, env={"GIT_COOP_SESSION": "reader"})
    if verb == "read" and state in letters.LIVE:
        assert (code, err) == (0, "")
        assert record(run, one)["status"] == TABLE["read"][state]
    elif verb == "read":
        shown = str(record(run, one)["superseded_by"] or "why")
        said = {"done": "done (read 1 time)", "abandoned": "abandoned (why)", "superseded": f"superseded (by {shown})"}
        assert code == 0
        assert out.endswith("\n\none")
        assert err == f"note: letter {one} is {said[state]}; nothing was changed\n"
        assert tree(clone.coop) == before
    elif state in TABLE[verb]:
        assert (code, out, err) == (0, f"letter {one} is {TABLE[verb][state]}\n", "")
        assert record(run, one)["status"] == TABLE[verb][state]
    else:
        assert (code, out) == (1, "")
        assert err.splitlines()[0] == f"error: cannot {verb} letter {one}: it is {state}"
        assert tree(clone.coop) == before


def test_without_an_id_a_closed_letter_is_no_letter(run: Desk) -> None:
    one = bring(run, "done")
    for verb in ("read", "start", "ack", "show"):
        assert run("letter", verb) == (
            1,
            "",
            f"error: no live letter here: {one} is done\nhint: git coop letter list --all shows the closed ones\n",
        )


def test_no_letter_is_said_and_nothing_made(run: Desk, clone: Clone) -> None:
    for verb in (["read"], ["start"], ["ack"], ["abandon", "--reason", "x"], ["show"], ["log"], ["read", "abcd"]):
        code, out, err = run("letter", *verb)
        assert (code, out) == (1, "")
        assert err == "error: no live letter here: nothing is stored in this clone yet\n"
    assert run("letter", "list") == (0, "", "")
    assert not clone.coop.exists()


def test_a_letter_of_the_store_and_none_of_this_box(run: Desk, clone: Clone) -> None:
    side = clone.worktree("side")
    one = run.letter("for main", cwd=clone.root)
    before = tree(clone.common)
    for words in (["read"], ["show"], ["start"], ["ack"]):
        assert run("letter", *words, cwd=side)[:2] == (1, "")
    code, out, err = run("letter", "read", one, cwd=side)
    assert (code, err) == (0, "note: this is another worktree's letter; nothing was changed\n")
    assert out.startswith(
        f"letter {one}\nState:   unread\nFrom:    the worktree {clone.root}, for its own next session\n"
    )
    assert out.endswith("\n\nfor main")
    for words in (["start"], ["ack"], ["abandon", "--reason", "x"]):
        code, out, err = run("letter", *words, one, cwd=side)
        assert (code, out) == (1, "")
        assert "it is another worktree's" in err
    assert run("letter", "list", "--all", cwd=side) == (0, "", "")
    assert run("letter", "log", cwd=side) == (0, "", "")
    assert states(run, "--all-worktrees", cwd=side) == [("for main", "unread")]
    assert str(clone.root) in run.done("letter", "list", "--all-worktrees", cwd=side)
    assert tree(clone.common) == before


def test_a_narrow_list_has_the_tails_of_the_ids(run: Desk) -> None:
    one = run.letter("one")
    for columns, shown in (("80", one[-8:]), ("100", one)):
        assert run("letter", "list", env={"COLUMNS": columns}, terminal=True)[1].split()[0] == shown


def test_a_list_without_a_live_letter_says_where_the_closed_ones_are(run: Desk) -> None:
    assert run("letter", "list") == (0, "", "")
    run.letter("one")
    run.done("letter", "list")
    run.done("letter", "abandon", "--reason", "enough")
    assert run("letter", "list") == (0, "", "hint: --all shows the closed ones\n")
    run.done("letter", "list", "--all")


def test_abandoning_needs_a_reason(run: Desk) -> None:
    run.letter("one")
    assert run("letter", "abandon") == (
        129,
        "",
        "usage: abandoning needs a reason\nhint: git coop letter abandon --reason TEXT\n",
    )
    for reason in ("", " \n\t"):
        code, _out, err = run("letter", "abandon", "--reason", reason)
        said = f"error: the reason is {'blank' if reason else 'empty'}\nhint: git coop letter abandon --reason TEXT\n"
        assert (code, err) == (1, said)
    assert states(run) == [("one", "unread")]


def test_a_session_that_never_acknowledges_ends_nothing(run: Desk) -> None:
    run.letter("one")
    for number in (1, 2):
        run.done("letter", "read", session=f"reader {number}")
        run.clock.tick(clock.DAY)
    found = record(run)
    assert (found["status"], found["read_count"]) == ("read", 2)
    assert (found["read_at"], found["last_read_at"]) == ("2026-11-30T10:45:12Z", "2026-12-01T10:45:12Z")


def test_the_writer_reading_its_own_letter_records_nothing(run: Desk, clone: Clone) -> None:
    run.letter("one", session="s-1")
    before = tree(clone.coop)
    code, out, err = run("letter", "read", env={"CLAUDE_CODE_SESSION_ID": "s-1"})
    assert (code, out[-3:]) == (0, "one")
    assert err == (
        "note: this session wrote the letter: its reading is not recorded, the next session is who it is for\n"
    )
    assert tree(clone.coop) == before
    run.done("letter", "read", session="s-2")
    assert record(run)["read_count"] == 1


def test_showing_changes_nothing(run: Desk, clone: Clone) -> None:
    one = run.letter("one")
    before = tree(clone.common)
    for words in (["show"], ["show", one[-8:]], ["show", "--raw"], ["show", "--json"], ["list"], ["log"], ["-h"]):
        run.done("letter", *words)
    assert tree(clone.common) == before


# bodies

BODIES = [
    *("a\r\nb\r\n", "a\rb\r", "\ttab\there", "'single'", '"double"', "'''", '"""', "''' and \"\"\"", "back\\slash\\"),
    *("\\", "\\\\\\", "no final newline", "one\n", "\n\n  lead and trail  \n\n", "😀 👩‍🚀 🇳🇴", "\ufeffwith a mark"),
    *(unicodedata.normalize("NFC", "é ﬁ Å"), unicodedata.normalize("NFD", "é ﬁ Å"), "\x1b[31mred\x07", "-n", "--help"),
    *("--", "-", "# Handoff: continuation\n", "x" * 13_750, "line of text\n" * 1058, "\u2028\u2029x\x85\x0b\x0c"),
]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_body_comes_back_to_the_character(run: Desk, body: str) -> None:
    one = run.letter(body)
    assert run.done("letter", "show", "--raw", one) == body
    assert run.done("letter", "read", session="reader").partition("\n\n")[2] == body
    assert record(run)["body"] == body


@pytest.mark.parametrize(
    "words",
    [
        *(
            ["-m", "-n"],
            ["--body=--help"],
            ["-m", "--help"],
            ["-m", "--"],
            ["-m", "-h"],
            ["--body", "--end-of-options"],
        ),
        *(["-m-"], ["-m=x"]),
    ],
)
def test_a_value_that_begins_with_a_dash_is_a_value(run: Desk, words: list[str]) -> None:
    text = words[-1] if len(words) == 2 else words[0].removeprefix("--body=").removeprefix("-m")
    if text == "-":  # a lone one is standard input, where it is attached as well
        assert run("letter", "write", *words, stdin=b"piped")[0] == 0
        text = "piped"
    else:
        assert run("letter", "write", *words, stdin=None)[0] == 0
    assert run.done("letter", "show", "--raw") == text


def test_a_body_of_ten_mebibytes_goes_through_a_pipe(coop: Program, clone: Clone) -> None:
    line = ("0123456789 \u00e9 \U0001f600 " * 50 + "\"\"\" ''' \\\t\r\n").encode()
    body = (line * ((10 << 20) // len(line) + 1))[: 10 << 20].decode(errors="ignore").encode()
    coop("letter", "write", "--body", "-", cwd=clone.root, stdin=body, check=0)
    assert coop("letter", "show", "--raw", cwd=clone.root, check=0).raw_out == body
    shown = coop("letter", "read", cwd=clone.root, check=0).raw_out
    assert shown.partition(b"\n\n")[2] == body
    assert b"\nread_count = 1\n" in paths(clone)[0].read_bytes()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "the letter is empty"),
        (b" \t\r\n\n", "the letter is blank"),
        (b"ab\0c", "the letter holds a NUL at byte offset 2"),
        (b"caf\xe9", "the letter is not valid UTF-8 at byte offset 3"),
        (b"\xed\xa0\x80", "the letter is not valid UTF-8 at byte offset 0"),
        (b"see ~/notes/handoff.md", "the letter points at a handoff instead of being one: '~/notes/handoff.md'"),
    ],
)
def test_a_refused_body_leaves_the_live_letter_live(run: Desk, clone: Clone, data: bytes, error: str) -> None:
    first = run.letter("first")
    before = tree(clone.coop)
    (clone.root / "file").write_bytes(data)
    for words in (["--body", "-"], ["-F", "-"], ["-F", "file"]):
        code, out, err = run("letter", "write", *words, stdin=data)
        sentence = error.replace("the letter points", "the body points")
        assert (code, out, err.splitlines()[0]) == (1, "", f"error: {sentence}")
    assert tree(clone.coop) == before
    assert states(run) == [("first", "unread")]
    assert record(run)["id"] == first


def test_a_refused_first_letter_stores_nothing(run: Desk, clone: Clone) -> None:
    assert run("letter", "write", "-m", "read /tmp/HANDOFF.md first")[0] == 1
    assert not clone.coop.exists()
    assert not (clone.common / "coop-worktree").exists()


@pytest.mark.parametrize("stem", ["handoff", "Handover", "SESSION-NOTES", "session-state", "context-dump"])
def test_the_guard_has_no_override(run: Desk, stem: str) -> None:
    code, out, err = run("letter", "write", "-m", f"see `docs/{stem}.md`", env={"GIT_COOP_FORCE": "1"})
    assert (code, out) == (1, "")
    assert err == (
        f"error: the body points at a handoff instead of being one: 'docs/{stem}.md'\n"
        "hint: inline the state itself (git coop letter write --body -); "
        "a path may stand as a locator for bulk material, never as the handoff\n"
    )
    run.letter(f"{stem}.md is a habit; the data lies in /data/my-{stem}.md")


def test_the_guard_looks_at_every_text(run: Desk, clone: Clone) -> None:
    run.letter("one")
    run.done("letter", "read", session="reader")
    before = tree(clone.coop)
    for words in (["ack", "-m", "see /x/handoff.md"], ["abandon", "--reason", "see \\handoff.md"]):
        code, _out, err = run("letter", *words)
        assert code == 1
        assert "points at a handoff" in err
    assert run("letter", "ack", "-m", " ")[0] == 1
    assert tree(clone.coop) == before


def test_an_endless_body_is_refused_at_the_bound(run: Desk, clone: Clone) -> None:
    world = run.world()
    given = 0

    class Endless:
        def read(self, size: int) -> bytes:
            nonlocal given
            given += size
            return b"x" * size

    code = main(["letter", "write", "--body", "-"], world.replace(stdin=Endless()))
    assert (code, given) == (1, (16 << 20) + 1)
    assert "over the limit of 16777216" in world.stderr.text
    assert not clone.coop.exists()


def test_a_body_at_the_bound_is_taken(run: Desk) -> None:
    body = b"x" * (16 << 20)
    one = run.done("letter", "write", "--body", "-", stdin=body).split()[1]
    assert len(run.done("letter", "show", "--raw", one)) == 16 << 20


@pytest.mark.parametrize("terminal", [False, True])
def test_without_a_body_an_open_pipe_is_never_waited_on(run: Desk, clone: Clone, terminal: bool) -> None:
    """The editor of the room fails, and a silent pipe that is read fails the test."""
    code, out, err = run("letter", "write", stdin=None, terminal=terminal)
    if terminal:
        assert (code, out) == (128, "")
        assert "editor" in err
    else:
        assert (code, out) == (129, "")
        assert err == "usage: the letter needs a body\nhint: give it with -m TEXT, --body - or -F FILE\n"
    assert not clone.coop.exists()


def test_a_real_open_pipe_is_never_waited_on(coop: Program, clone: Clone) -> None:
    reader, writer = os.pipe()
    started = coop.start("letter", "write", cwd=clone.root, stdin=reader)
    out, err = started.communicate(timeout=20)
    os.close(reader)
    os.close(writer)
    assert (started.returncode, out, err.splitlines()[0]) == (129, b"", b"usage: the letter needs a body")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["-F", "none"], 128, "fatal: cannot read the letter from 'none': no such file or directory"),
        (["-F", "."], 128, "fatal: cannot read the letter from '.': is a directory"),
        (["-F", "x", "-m", "y"], 129, "usage: options '-m' and '-F' cannot be used together"),
        (["-m", "-", "-m", "y"], 129, "usage: '--body -' is the whole body and cannot be used with another '-m'"),
        (["--from-packet", "p", "-m", "y"], 129, "usage: option '--from-packet' cannot be used with '-m' or '-F'"),
        (["-F", "x", "-F", "y"], 129, "usage: option '--file' is given twice"),
        (["-m", "x", "--subject", "a", "--subject", "b"], 129, "usage: option '--subject' is given twice"),
        (["-m", "x", "--subject", "a\nb"], 129, "usage: a subject is one line"),
        (["-m", "x", "--subject", "a\udcff"], 1, "error: the subject is not valid UTF-8 at byte offset 1"),
        (["-m", "x\udcff"], 1, "error: the letter is not valid UTF-8 at byte offset 1"),
    ],
)
def test_what_cannot_be_meant_is_said(run: Desk, clone: Clone, words: list[str], code: int, error: str) -> None:
    got, out, err = run("letter", "write", *words)
    assert (got, out, err.splitlines()[0]) == (code, "", error)
    assert not clone.coop.exists()


def test_a_subject_is_given_or_the_first_line(run: Desk) -> None:
    run.letter("body\n", "--subject", " --help ")
    assert record(run)["subject"] == "--help"
    run.letter("\n\n first line\nsecond")
    assert record(run)["subject"] == "first line"


def test_names_that_are_no_utf8_cost_only_themselves(run: Desk, clone: Clone) -> None:
    clone.git("checkout", "-q", "-b", os.fsdecode(b"caf\xe9"))
    assert run("letter", "write", "-m", "x", env={"GIT_COOP_SESSION": "s\udcff"})[0] == 0
    assert (record(run)["branch"], record(run)["session"]) == ("caf\ufffd", "s\ufffd\ufffd\ufffd")


# recipients

SPELLINGS = [name for name in RECIPIENT(lambda: None).__click_params__[0].opts if name.startswith("-")]  # type: ignore[attr-defined]


NO_RECIPIENT = """\
usage: a letter has no recipient: it goes to the next session in this worktree
hint: git coop mail send --to PATH writes to another
"""


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_letter_has_no_recipient_however_it_is_spelt(run: Desk, clone: Clone, name: str) -> None:
    ways = [[name, "../peer", "-m", "x"], ["-m", "x", name], [f"{name}=../peer", "-m", "x"]]
    for words in [["write", *way] for way in ways] + [["read", name, "x"], ["list", name, "x"], [name, "x", "write"]]:
        assert run("letter", *words) == (129, "", NO_RECIPIENT)
    assert not clone.coop.exists()


@pytest.mark.parametrize("words", [["write", "../peer", "-m", "x"], ["send", "--to", "../peer", "-m", "x"], ["send"]])
def test_a_recipient_without_an_option_is_none_either(run: Desk, clone: Clone, words: list[str]) -> None:
    code, out, err = run("letter", *words)
    assert (code, out) == (129, "")
    assert "git coop mail send --to PATH writes to another" in err
    assert not clone.coop.exists()


# output that fails


@pytest.mark.parametrize("out", ["closed", "full"])
def test_output_that_failed_records_nothing(run: Desk, clone: Clone, out: str) -> None:
    run.letter("one")
    before = tree(clone.coop)
    code, _out, err = run("letter", "read", out=out)
    assert (code, err) == (
        (141, "") if out == "closed" else (128, "fatal: cannot write to standard output: no space left on device\n")
    )
    assert tree(clone.coop) == before
    assert run.done("letter", "read", session="reader").endswith("\n\none")
    assert record(run)["read_count"] == 1


def test_a_real_closed_pipe_a_full_device_and_a_closed_descriptor(coop: Program, clone: Clone, run: Desk) -> None:
    body = "x" * 200_000
    run.letter(body)
    before = tree(clone.coop)
    reader, writer = os.pipe()
    os.close(reader)
    piped = coop.start("letter", "read", cwd=clone.root, stdout=writer)
    os.close(writer)
    assert (piped.communicate(timeout=20)[1], piped.returncode) == (b"", 141)
    with open("/dev/full", "wb") as full:
        filled = coop.start("letter", "read", cwd=clone.root, stdout=full)
        assert (filled.communicate(timeout=20)[1], filled.returncode) == (
            b"fatal: cannot write to standard output: no space left on device\n",
            128,
        )
    argv = [os.fsdecode(word) for word in coop.argv("letter", "read")]
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *argv]
    closed = subprocess.run(shell, cwd=clone.root, env=coop.environment(), capture_output=True, timeout=20)
    assert (closed.returncode, closed.stderr) == (128, b"fatal: cannot write to standard output: bad file descriptor\n")
    assert tree(clone.coop) == before
    with coop.start("letter", "read", cwd=clone.root) as head:
        assert head.stdout is not None
        head.stdout.read(10)  # as `| head -c 10` does, in the middle of the letter
        head.stdout.close()
        assert head.wait(20) == 141
    assert tree(clone.coop) == before
    assert coop("letter", "read", cwd=clone.root, check=0).out.endswith(f"\n\n{body}")
    assert record(run)["read_count"] == 1


def test_a_write_with_a_closed_output_spoils_no_file(coop: Program, clone: Clone, run: Desk) -> None:
    argv = [os.fsdecode(word) for word in coop.argv("letter", "write", "-m", "one")]
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *argv]
    done = subprocess.run(shell, cwd=clone.root, env=coop.environment(), timeout=20)
    assert done.returncode == 128
    assert states(run) == [("one", "unread")]
    assert run.done("letter", "show", "--raw") == "one"


def test_a_store_that_cannot_be_written_still_gives_the_body(run: Desk, clone: Clone) -> None:
    if os.geteuid():
        pytest.skip(users.NOT_ROOT)
    run.letter("one")
    users.give(clone.root, users.NOBODY)
    for path in (clone.coop, *clone.coop.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)

    def read() -> str:
        code, out, err = run("letter", "read", env={"GIT_COOP_SESSION": "reader"})
        return f"{code}\n{out.partition(chr(10) * 2)[2]}\n{err}"

    code, body, err, _rest = users.run_as(users.NOBODY, read).split("\n")
    assert (code, body) == ("0", "one")
    assert err.startswith("warning: the reading could not be recorded: cannot ")
    assert err.endswith("permission denied")


def test_a_lock_that_another_holds_is_told_to_try_again(
    run: Desk, clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    from git_coop import letterbox

    run.letter("one")
    monkeypatch.setattr(letterbox, "LOCK_WAIT", 0.01)
    [path] = clone.coop.glob("letters/*/.lock")
    with open(path, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, out, err = run("letter", "write", "-m", "two")
        assert (code, out, err) == (1, "", f"error: '{path}' is locked by another process\nhint: try again\n")
        code, out, err = run("letter", "read")
        assert (code, out[-3:]) == (0, "one")
        assert err == f"warning: the reading could not be recorded: '{path}' is locked by another process\n"
    assert states(run) == [("one", "unread")]


# records by other hands


def paths(clone: Clone) -> list[Path]:
    return sorted(clone.coop.glob("letters/*/*.toml"))


def test_an_unreadable_newest_record_is_named_never_no_letter(run: Desk, clone: Clone) -> None:
    one, two = run.letter("one"), run.letter("two")
    place = paths(clone)[-1]
    place.write_bytes(b"id = ")
    for words in (["read"], ["show"], ["ack"]):
        code, out, err = run("letter", *words)
        assert (code, out) == (128, "")
        assert err.startswith(f"fatal: cannot parse '{place}': ")
    code, out, err = run("letter", "list", "--all")
    assert (code, out) == (1, f"{one}  superseded  0 seconds   one\n")
    assert err.startswith(f"error: letter {two} is unreadable: cannot parse '{place}': ")
    assert err.endswith("error: 1 letter record cannot be read\nhint: git coop doctor looks closer\n")
    answer = json.loads(run("letter", "list", "--json")[1])
    assert (answer["letters"], [each["id"] for each in answer["unreadable"]]) == ([], [two])
    code, out, err = run("letter", "write", "-m", "three")
    assert code == 0
    assert err.startswith(f"warning: letter {two} is superseded, its record could not be marked: cannot parse")
    assert run.done("letter", "show", "--raw") == "three"


def test_a_removed_newest_record_resurrects_nothing_and_is_said(run: Desk, clone: Clone) -> None:
    one, two = run.letter("one"), run.letter("two")
    paths(clone)[-1].unlink()
    gone = f"error: no live letter here: {one} was superseded by {two}, whose record is gone\n"
    assert run("letter", "read") == (1, "", f"{gone}hint: git coop letter list --all shows the closed ones\n")
    code, out, err = run("letter", "show", one)
    assert (code, out[-3:], err) == (0, "one", f"warning: the record of {two}, which superseded it, is gone\n")


def test_two_records_that_say_live_show_one(run: Desk, clone: Clone) -> None:
    run.letter("one")
    run.letter("two")
    old = paths(clone)[0]
    old.write_text(old.read_text().replace('status = "superseded"', 'status = "working"'))
    assert states(run) == [("two", "unread"), ("one", "superseded")]
    assert run.done("letter", "show", "--raw") == "two"


def test_keys_of_a_newer_program_survive(run: Desk, clone: Clone) -> None:
    run.letter("one")
    [place] = paths(clone)
    place.write_text('mood = "fine"\n' + place.read_text())
    run.done("letter", "read", session="reader")
    assert '\nmood = "fine"\n' in place.read_text()


# places


def test_a_letter_is_found_from_every_spelling_of_its_worktree_and_from_no_other(run: Desk, clone: Clone) -> None:
    side = clone.worktree("side")
    nested = clone.worktree("nested", at=side / ".inner" / "nested")
    (side / "deep" / "er").mkdir(parents=True)
    (side / "tracked").write_text("x")
    run.letter("for side", cwd=side / "deep" / "er")
    link = clone.root.parent / "link"
    link.symlink_to(side)
    for place in (side, link, side / "deep", Path(f"{side}/deep/..")):
        assert run.done("letter", "show", "--raw", cwd=place) == "for side"
    for place in (clone.root, nested):
        assert run("letter", "show", cwd=place)[0] == 1
        assert run("letter", "list", "--all", cwd=place) == (0, "", "")
        assert run.done("drain", "--event", "start", cwd=place).count("for side") == 0
    clone.git("checkout", "-q", "-b", "another", cwd=side)
    assert run.done("letter", "show", "--raw", cwd=side) == "for side"
    moved = clone.root.parent / "moved"
    clone.git("worktree", "move", str(side), str(moved))
    assert run.done("letter", "show", "--raw", cwd=moved) == "for side"
    assert run("letter", "read", cwd=moved) == (
        0,
        run.done("letter", "show", cwd=moved).replace("State:   read (read 1 time)", "State:   unread"),
        f"moved from {side}\n",
    )
    assert record(run, cwd=moved)["read_count"] == 1
    assert states(run, cwd=moved) == [("for side", "read")]


def test_a_moved_worktree_keeps_its_letter_when_mail_came_to_the_new_path_first(run: Desk, clone: Clone) -> None:
    side, moved = clone.worktree("side"), clone.root.parent / "moved"
    run.letter("for side", cwd=side)
    clone.git("worktree", "move", str(side), str(moved))
    assert run("mail", "send", "--to", str(moved), "-m", "hello")[0] == 0
    assert run.done("letter", "read", "--raw", cwd=moved, session="reader") == "for side"
    assert record(run, cwd=moved)["status"] == "read"


def test_a_worktree_made_again_inherits_with_words(run: Desk, clone: Clone) -> None:
    side = clone.worktree("side")
    one = run.letter("for side", cwd=side)
    clone.git("worktree", "remove", str(side))
    clone.worktree("again", at=side)
    run.clock.tick(clock.HOUR)
    code, out, err = run("letter", "read", cwd=side, env={"GIT_COOP_SESSION": "reader"})
    assert (code, err) == (0, "")
    assert "\nBranch:  side at " in out
    words = ", written for an earlier worktree at this path"
    assert run.done("letter", "list", cwd=side) == f"{one}  read        1 hour      for side{words}\n"
    assert f", 1 hour ago{words}\n" in run.done("letter", "show", cwd=side)
    run.letter("mine", cwd=side)
    assert words not in run.done("letter", "list", cwd=side)


def test_a_copied_clone_is_a_clone_of_its_own(run: Desk, clone: Clone, tmp_path: Path) -> None:
    run.letter("one")
    subprocess.run(["cp", "-r", str(clone.root), str(tmp_path / "copy")], check=True)
    assert run("letter", "show", cwd=tmp_path / "copy")[0] == 1
    run.letter("of the copy", cwd=tmp_path / "copy")
    assert run.done("letter", "show", "--raw") == "one"
    assert run.done("letter", "show", "--raw", cwd=tmp_path / "copy") == "of the copy"


def test_outside_any_repository_an_anchor_gives_a_box(run: Desk, clone: Clone, tmp_path: Path) -> None:
    outside = tmp_path / "container"
    outside.mkdir()
    code, out, err = run("letter", "write", "-m", "x", cwd=outside)
    assert (code, out) == (128, "")
    assert err.startswith("fatal: not a git repository")
    anchor = {"GIT_COOP_ANCHOR": str(clone.root)}
    assert run("letter", "write", "-m", "for the container", cwd=outside, env=anchor)[0] == 0
    assert run("letter", "show", "--raw", cwd=outside, env=anchor) == (0, "for the container", "")
    assert run("letter", "show")[0] == 1  # not the anchor's own
    assert run("letter", "read", cwd=outside, env=anchor)[0] == 0
    answer = json.loads(run("letter", "show", "--json", cwd=outside, env=anchor)[1])
    assert (answer["letter"]["status"], answer["letter"]["branch"]) == ("read", None)


def test_an_unknown_format_stops_every_command_and_nothing_is_touched(run: Desk, clone: Clone) -> None:
    run.letter("one")
    (clone.coop / "format").write_text("2\n")
    before = tree(clone.common)
    for words in (["write", "-m", "x"], ["read"], ["show"], ["list"], ["log"], ["ack"], ["start"]):
        code, out, err = run("letter", *words)
        assert (code, out) == (128, "")
        assert err.startswith(f"fatal: unknown store format '2' in '{clone.coop}'\nhint: ")
    assert tree(clone.common) == before


# terminals


def test_on_a_terminal_control_characters_are_made_visible(run: Desk) -> None:
    run.letter("\x1b[31mred\r\nnext\u202e")
    shown = run("letter", "show", terminal=True)[1]
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.endswith("\n")
    assert run("letter", "show", "--raw", terminal=True)[1] == "\x1b[31mred\r\nnext\u202e"


def test_a_row_fits_the_terminal(run: Desk) -> None:
    run.letter("word " * 40)
    code, out, _err = run("letter", "list", terminal=True, env={"COLUMNS": "72"})
    assert (code, len(out)) == (0, 73)


def editor(place: Path, script: str) -> str:
    """A program that is an editor: it gets the file as its argument."""
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return str(place)


def on_terminal(coop: Program, cwd: Path, command: str, *words: str) -> tuple[int, str]:
    """Run ``letter write``, or these words, with a real terminal at its three streams."""
    main_end, far_end = pty.openpty()
    done = subprocess.Popen(
        coop.argv(*(words or ("letter", "write"))),
        cwd=cwd,
        stdin=far_end,
        stdout=far_end,
        stderr=far_end,
        env=coop.environment({"GIT_EDITOR": command, "TMPDIR": str(cwd.parent)}),
    )
    os.close(far_end)
    said = b""
    while select.select([main_end], [], [], 20)[0]:
        try:
            part = os.read(main_end, 4096)
        except OSError:  # the far end is closed
            break
        if not part:
            break
        said += part
    os.close(main_end)
    return done.wait(20), said.decode().replace("\r\n", "\n")


def test_on_a_terminal_without_a_body_the_editor_opens_on_the_template(
    coop: Program, clone: Clone, run: Desk, tmp_path: Path
) -> None:
    from git_coop.packets import TEMPLATES

    script = editor(tmp_path / "fill", f'cp "$1" "{tmp_path}/seen"; printf "# mine\\nall is done\\n" >"$1"')
    code, said = on_terminal(coop, clone.root, script)
    assert (code, said.split()[0]) == (0, "letter")
    assert (tmp_path / "seen").read_text() == TEMPLATES["continuation"]
    assert run.done("letter", "show", "--raw") == "# mine\nall is done\n"
    assert list(tmp_path.glob("handoff-*")) == []


def test_the_editors_template_is_told_where_it_still_stands(
    coop: Program, clone: Clone, run: Desk, tmp_path: Path
) -> None:
    code, said = on_terminal(coop, clone.root, editor(tmp_path / "add", 'echo "more" >>"$1"'))
    assert code == 0
    assert "warning: Status: its guidance line still stands: replace it\n" in said


def test_on_a_terminal_a_message_is_written_in_the_editor(
    coop: Program, clone: Clone, run: Desk, tmp_path: Path
) -> None:
    side = clone.worktree("side")
    words = ("mail", "send", "--to", str(side))
    script = editor(tmp_path / "fill", f'cp "$1" "{tmp_path}/seen"; echo "hello" >"$1"')
    code, said = on_terminal(coop, clone.root, script, *words)
    assert (code, said.split()[0]) == (0, "queued")
    assert (tmp_path / "seen").read_text() == ""
    assert "    | hello\n" in run.done("mail", "show", said.split()[1], cwd=side)
    code, said = on_terminal(coop, clone.root, editor(tmp_path / "none", "true"), *words)
    assert (code, said) == (1, "error: the message was left empty\nhint: nothing was stored\n")


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("true", 1, "error: the letter was left as its template\nhint: nothing was stored\n"),
        (': >"$1"', 1, "error: the letter is empty\n"),
        ("exit 3", 128, "fatal: there was a problem with the editor"),
        ('echo "see /x/handoff.md" >"$1"', 1, "error: the body points at a handoff"),
    ],
)
def test_an_edit_that_gives_no_letter_stores_nothing(
    coop: Program, clone: Clone, tmp_path: Path, script: str, code: int, said: str
) -> None:
    got, output = on_terminal(coop, clone.root, editor(tmp_path / "edit", script))
    assert (got, output[: len(said)]) == (code, said)
    assert not clone.coop.exists()
    kept = re.search(r"hint: what was written is kept in '(.+)'\n", output)
    assert bool(kept) == ("handoff.md" in script)
    if kept:
        assert Path(kept[1]).read_text() == "see /x/handoff.md\n"


def test_a_letter_is_written_from_a_continuation_and_no_other_packet(run: Desk, clone: Clone, tmp_path: Path) -> None:
    body = (
        "# Handoff: continuation\n\n## Status\n\nin progress: the parser\n\n## Done\n\n- dates\n\n## Left\n\n- leaps\n"
    )
    packet, brief = tmp_path / "handoff-ab12cd.md", tmp_path / "brief.md"
    packet.write_text(body)
    brief.write_text("# Handoff: brief\n\n## Task\n\nDo it.\n")
    assert run("letter", "write", "--from-packet", str(brief)) == (
        1,
        "",
        "error: a letter is written from a continuation, and this packet is a brief\n",
    )
    assert not clone.coop.exists()
    code, out, err = run("letter", "write", "--from-packet", str(packet))
    assert (code, out.split()[2:], err) == (
        0,
        ["written", "to", "the", "next", "session", "in", "this", "worktree"],
        "warning: How to continue: it is missing: add the heading '## How to continue'\n",
    )
    packet.unlink()
    assert run.done("letter", "show", "--raw") == body
    assert "Subject: in progress: the parser\n" in run.done("letter", "show")


def test_what_came_of_a_letter_is_part_of_its_state(run: Desk) -> None:
    one = run.letter("do it")
    run("letter", "read", env={"GIT_COOP_SESSION": "next"})
    run("letter", "ack", "-m", "done, as abc1234", "-m", "and more", env={"GIT_COOP_SESSION": "next"})
    state = "\nState:   done (read 1 time, done, as abc1234)\n"
    for words in (("show", one), ("log",)):
        assert state in run("letter", *words)[1]


def test_a_note_begins_a_line_of_its_own_on_a_terminal(run: Desk) -> None:
    run.letter("no final newline", session="writer")
    env = {"GIT_COOP_SESSION": "writer"}
    note = "note: this session wrote the letter: its reading is not recorded, the next session is who it is for\n"
    assert run("letter", "read", "--raw", env=env, terminal=True)[1:] == ("no final newline", f"\n{note}")
    assert run("letter", "read", "--raw", env=env)[1:] == ("no final newline", note)
    run.letter("a final newline\n", session="writer")
    assert run("letter", "read", "--raw", env=env, terminal=True)[1:] == ("a final newline\n", note)

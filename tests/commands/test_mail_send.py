"""``git coop mail send`` and ``reply``: who gets a copy, what is refused, and what the answer says."""

import json
import os
import re
import shutil
import subprocess
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from git_coop import clock, header
from tests.support.clones import Clone, copy_template
from tests.support.post import Post
from tests.support.program import Program
from tests.support.world import START, Worlds

NEVER = "warning: '{}' was never drained: is a hook installed there? (git coop hooks status)\n"
FIRST = "20261130T104512123Z-00000003"  # 1 and 2 are the two worktrees' own ids


@pytest.fixture
def post(edge: Worlds, clone: Clone) -> Post:
    return Post(edge, clone)


@pytest.fixture
def side(clone: Clone) -> Path:
    return clone.worktree("side")


def queued(identifier: str, path: Path, expires: str = "2026-12-03T10:45:12Z", last: str = "NEVER") -> str:
    return f"queued {identifier} for {path}\n  expires {expires}; that box was last drained: {last}\n"


def test_a_message_is_queued_and_no_more(post: Post, side: Path) -> None:
    assert post("mail", "send", "--to", "../side", "-m", "the ADR is 0161") == (
        0,
        queued(FIRST, side),
        NEVER.format(side),
    )
    data = post.file(side, "inbox", FIRST).read_bytes()
    found = message_from_bytes(data, policy=policy.default)
    assert found.get_content() == "the ADR is 0161"
    assert {name: str(found[name]) for name in ("Coop-From-Path", "Coop-From-Branch", "Coop-Expires", "Date")} == {
        "Coop-From-Path": str(post.clone.root),
        "Coop-From-Branch": "main",
        "Coop-Expires": "2026-12-03T10:45:12Z",
        "Date": "Mon, 30 Nov 2026 10:45:12 +0000",
    }
    assert (found["Subject"], found["Coop-Kind"], found["Coop-From-Session"], found["Coop-To-Session"]) == (None,) * 4


def test_every_option_reaches_the_message(post: Post, side: Path) -> None:
    words = ("--subject", "übrig", "--kind", "note", "--ttl", "90m", "--to-session", "s-9", "--session", "s-1")
    identifier = post.send(side, "x", *words)
    found = message_from_bytes(post.file(side, "inbox", identifier).read_bytes(), policy=policy.default)
    names = ("Subject", "Coop-Kind", "Coop-Expires", "Coop-To-Session", "Coop-From-Session")
    assert [str(found[name]) for name in names] == ["übrig", "note", "2026-11-30T12:15:12Z", "s-9", "s-1"]


def test_the_answer_as_json(post: Post, side: Path) -> None:
    assert post.json("mail", "send", "--to", str(side), "--to", "/nowhere", "-m", "x", code=1) == {
        "as_of": "2026-11-30T10:45:12Z",
        "queued": [
            {
                "id": FIRST,
                "state": "inbox",
                "box": post.box(side).key,
                "path": str(side),
                "store": str(post.clone.coop),
                "own_clone": True,
                "expires": "2026-12-03T10:45:12Z",
                "drained": {"start": None, "prompt": None, "stop": None},
                "off": False,
            }
        ],
        "failed": [{"to": "/nowhere", "reason": "cannot look at '/nowhere': no such file or directory"}],
    }


def test_a_box_named_twice_gets_one_copy(post: Post, side: Path) -> None:
    (side / "sub").mkdir()
    (side.parent / "link").symlink_to(side)
    spellings = ("side", "side/", "side/.", "side//", "side/sub/..", "side/sub", "link", "side/.git")
    words = [word for spelling in spellings for word in ("--to", f"../{spelling}")]
    code, out, _err = post("mail", "send", *words, "-m", "x")
    assert (code, out) == (0, queued(FIRST, side))
    assert len(os.listdir(post.file(side, "inbox", FIRST).parent)) == 1


def test_to_all_is_every_other_worktree_and_never_oneself(post: Post, side: Path) -> None:
    third, gone = post.clone.worktree("third"), post.clone.worktree("gone")
    shutil.rmtree(gone)
    code, out, err = post("mail", "send", "--to", "all", "-m", "x", cwd=side)
    ids = [line.split()[1] for line in out.splitlines() if line.startswith("queued ")]
    both = f"'{post.clone.root}' and 1 more"
    never = f"warning: {both} were never drained: are hooks installed there? (git coop hooks status)\n"
    assert (code, err) == (0, never)
    assert out == queued(ids[0], post.clone.root) + queued(ids[1], third)
    assert post.places(ids[0]) == ["main/inbox"]
    assert post.places(ids[1]) == ["third/inbox"]


def test_nobody_else_is_an_answer(post: Post) -> None:
    said = "nobody to send to: this clone has no other worktree; nothing was queued\n"
    assert post("mail", "send", "--to", "all", "-m", "x") == (0, said, "")
    assert post.json("mail", "send", "--to", "all", "-m", "x")["queued"] == []
    assert not post.clone.coop.exists()


def test_a_list_that_cannot_be_read_is_not_nobody(post: Post, side: Path, tmp_path: Path) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    real = shutil.which("git")
    (broken / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *worktree*) echo "fatal: broken" >&2; exit 128;; esac\nexec {real} "$@"\n'
    )
    (broken / "git").chmod(0o755)
    env = {**os.environ, "PATH": f"{broken}:{os.environ['PATH']}"}
    words = ("mail", "send", "--to", "all", "-m", "x")
    done = Program()(*words, cwd=post.clone.root, env=env)
    said = "cannot read the list of worktrees: git worktree failed: broken\n"
    said += "hint: this does not mean that there is nobody\n"
    assert (done.code, done.out, done.err) == (128, "", f"fatal: {said}")
    assert not post.clone.coop.exists()
    done = Program()(*words, "--to", str(side), cwd=post.clone.root, env=env)
    assert (done.code, done.out.startswith("queued "), done.err) == (
        1,
        True,
        f"{NEVER.format(side)}error: cannot send to 'all': {said}",
    )


def test_one_failing_target_hides_no_other(post: Post, side: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    words = ("--to", "/nowhere", "--to", str(side), "--to", str(tmp_path / "plain"), "-m", "x")
    code, out, err = post("mail", "send", *words)
    identifier = out.split()[1]
    assert (code, out) == (1, queued(identifier, side))
    assert err == (
        f"{NEVER.format(side)}error: cannot look at '/nowhere': no such file or directory\n"
        f"hint: a worktree of this clone: {side}\n"
        f"error: '{tmp_path}/plain' is in no repository\nhint: a worktree of this clone: {side}\n"
        "hint: --outside sends to a directory whose session reads with an anchor\n"
    )


@pytest.mark.parametrize("where", ["missing", "plain", "bare", ".git", ".git/coop", ""])
def test_what_is_no_place_of_a_session_is_refused_and_nothing_is_written(
    post: Post, where: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    path = str(post.clone.root / where) if where.startswith(".git") else str(tmp_path / where) if where else ""
    code, out, err = post("mail", "send", "--to", path, "-m", "x")
    assert (code, out) == (129 if where == "" else 1, "")
    assert where in err
    assert not post.clone.coop.exists()


def test_a_directory_outside_any_repository_is_reached_by_an_explicit_word(post: Post, tmp_path: Path) -> None:
    home = tmp_path / "container"
    home.mkdir()
    code, out, _err = post("mail", "send", "--to", str(home), "--outside", "-m", "for the container")
    assert (code, out) == (0, queued("20261130T104512123Z-00000003", home))
    read = post("mail", "read", cwd=home, env={"GIT_COOP_ANCHOR": str(post.clone.root)})
    assert "    | for the container\n" in read[1]


def test_mail_to_another_clone_lies_in_that_clones_queue(post: Post, template: Path, tmp_path: Path) -> None:
    other = copy_template(template, tmp_path / "other")
    code, out, err = post("mail", "send", "--to", str(other.root), "-m", "x")
    identifier = out.split()[1]
    assert (code, err) == (0, NEVER.format(other.root))
    assert out == (
        f"queued {identifier} for {other.root}\n"
        f"  in another clone, whose own drain will look: {other.coop}\n"
        "  expires 2026-12-03T10:45:12Z; that box was last drained: NEVER\n"
    )
    assert post.places(identifier) == []
    assert [path.name for path in other.coop.glob("mail/box/*/inbox/*")] == [f"{identifier}.eml"]
    assert post("mail", "read", cwd=other.root)[1].endswith(f"consumed {identifier}\n")
    assert post("mail", "sent")[1] == f"{identifier}  consumed  0 seconds  {other.root}  x\n"


def test_the_box_of_oneself_is_an_address_too(post: Post) -> None:
    code, out, _err = post("mail", "send", "--to", ".", "-m", "x")
    assert code == 0
    assert out.startswith(f"queued {out.split()[1]} for {post.clone.root} (this worktree)\n")
    assert post.places(out.split()[1]) == ["main/inbox"]


def test_the_last_drain_is_told_and_so_is_off(post: Post, side: Path) -> None:
    post.send(side)
    post.drain("stop", "s", side)
    post.clock.tick(5 * clock.MINUTE)
    post("mail", "off")
    code, out, err = post("mail", "send", "--to", str(side), "-m", "x")
    told = queued(out.split()[1], side, "2026-12-03T10:50:12Z", "5 minutes ago")
    assert (code, out, err) == (
        0,
        told + "  delivery is OFF there: it is held and not lost, until git coop mail on\n",
        "",
    )
    assert post.places(out.split()[1]) == ["side/inbox"]


def test_a_body_over_the_caps_is_queued_with_a_warning(post: Post, side: Path) -> None:
    cut = "warning: the body is larger than what a drain shows at once: it will be shown cut\n"
    for body, said in (("x" * 1900, ""), ("x" * 2001, cut), ("x\n" * 300, cut)):
        code, _out, err = post("mail", "send", "--to", str(side), "--body", "-", stdin=body)
        assert (code, err) == (0, said + NEVER.format(side))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "usage: a message needs a recipient\nhint: git coop mail send --to PATH, or --to all\n"),
        (("--to", "."), "usage: the message needs a body\nhint: give it with -m TEXT, --body - or -F FILE\n"),
        (("--to", ".", "-m", "x", "--kind", "k" * 17), "usage: a kind has 1 to 16 characters\n"),
        (("--to", ".", "-m", "x", "--kind", ""), "usage: a kind has 1 to 16 characters\n"),
        (("--to", ".", "-m", "x", "--subject", "a\nb"), "usage: a subject is one line\n"),
        (("--to", ".", "-m", "x", "--to-session", ""), "usage: the session that is addressed has no name\n"),
        (("--to", ".", "-m", "x", "--to-session", "a\u2028b"), "usage: a session is one line\n"),
    ],
)
def test_wrong_words(post: Post, words: tuple[str, ...], said: str) -> None:
    assert post("mail", "send", *words) == (129, "", said)
    assert not post.clone.coop.exists()


@pytest.mark.parametrize("ttl", ["0", "-1", "soon", "31d", "1000000000000", ""])
def test_a_term_that_is_none_is_a_usage_error(post: Post, ttl: str) -> None:
    assert post("mail", "send", "--to", ".", "-m", "x", f"--ttl={ttl}")[:2] == (129, "")
    assert not post.clone.coop.exists()


def test_the_configured_term_counts_and_a_bad_one_is_fatal_at_send_alone(post: Post) -> None:
    post.clone.git("config", "coop.ttl", "36h")
    assert "expires 2026-12-01T22:45:12Z" in post("mail", "send", "--to", ".", "-m", "x")[1]
    post.clone.git("config", "coop.ttl", "soon")
    code, out, err = post("mail", "send", "--to", ".", "-m", "y")
    assert (code, out) == (128, "")
    assert err.startswith("fatal: bad value 'soon' for 'coop.ttl' in file:")
    assert post("mail", "send", "--to", ".", "-m", "y", "--ttl", "5")[0] == 0
    assert post.drain("prompt", None, post.clone.root)[0] == 0


def test_a_place_that_is_not_there_is_named_without_detours(post: Post) -> None:
    said = f"error: cannot look at '{post.clone.root.parent}/nowhere': no such file or directory\n"
    assert post("mail", "send", "--to", "../nowhere", "-m", "x")[2].startswith(said)


WAYS = "hint: give it with -m TEXT, --body - or -F FILE\n"


def place(at: int) -> str:
    return f"hint: offsets count from 0; 'head -c {at + 1} FILE | tail -c 20 | od -c' shows what ends there\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", f"error: the message is empty\n{WAYS}"),
        (b" \n\t\n", f"error: the message is blank\n{WAYS}"),
        (b"a\0b", f"error: the message holds a NUL at byte offset 1\n{place(1)}"),
        (b"ab\xff", f"error: the message is not valid UTF-8 at byte offset 2\n{place(2)}"),
        (b"x" * (1 << 20) + b"y", "error: the message has 1048577 bytes or more, over the limit of 1048576\n"),
    ],
)
def test_bodies_that_are_refused(post: Post, side: Path, body: bytes, said: str) -> None:
    assert post("mail", "send", "--to", str(side), "--body", "-", stdin=body) == (1, "", said)
    assert not post.clone.coop.exists()


def test_a_body_at_the_limit_and_one_with_dashes(post: Post, side: Path) -> None:
    identifier = post("mail", "send", "--to", str(side), "-F", "-", stdin=b"x" * (1 << 20))[1].split()[1]
    assert post.file(side, "inbox", identifier).read_bytes().endswith(b"\n\n" + b"x" * (1 << 20))
    for body in ("-n", "--", "--help", "--to"):
        identifier = post.send(side, body)
        assert post.file(side, "inbox", identifier).read_bytes().endswith(b"\n\n" + body.encode())


def test_the_senders_session_is_the_word_then_the_clients(post: Post, side: Path) -> None:
    env = {"CODEX_THREAD_ID": "codex-1"}
    for words, variables, expected in (
        ((), {}, None),
        ((), env, "codex-1"),
        ((), {**env, "GIT_COOP_SESSION": "mine"}, "mine"),
        (("--session", "said"), {**env, "GIT_COOP_SESSION": "mine"}, "said"),
    ):
        _code, out, _err = post("mail", "send", "--to", str(side), "-m", "x", *words, env=variables)
        found = message_from_bytes(post.file(side, "inbox", out.split()[1]).read_bytes(), policy=policy.default)
        assert found["Coop-From-Session"] == expected


def test_only_a_message_that_is_known_here_is_answered(post: Post, side: Path) -> None:
    identifier = post.send(side)
    for known in (side, post.clone.root):  # the recipient's box, and the sender's own notes
        for asked in (identifier, identifier[20:]):
            post.send(side, "x", "--in-reply-to", asked, cwd=known)
    code, out, err = post("mail", "send", "--to", str(side), "-m", "x", "--in-reply-to", "20261130T104512123Z-ffffffff")
    hint = "hint: it answers a message in this worktree's box, or one that was sent from here\n"
    assert (code, out, err) == (1, "", "error: no message '20261130T104512123Z-ffffffff' is known here\n" + hint)
    third = post.clone.worktree("third")
    assert post("mail", "send", "--to", str(side), "-m", "x", "--in-reply-to", identifier, cwd=third)[0] == 1
    found = sorted(post.file(side, "inbox", identifier).parent.iterdir())[-1].read_bytes()
    assert f"In-Reply-To: <{identifier}@coop.invalid>\n".encode() in found


def test_a_reply_goes_to_a_worktree_that_git_lists_and_says_which(post: Post, side: Path) -> None:
    identifier = post.send(side, "what is the number?", "--subject", "ADR")
    code, out, _err = post("mail", "reply", identifier[20:], "-m", "0161", cwd=side)
    answer = out.split()[1]
    assert (code, out) == (0, queued(answer, post.clone.root))
    found = post.json("mail", "show", answer)["message"]
    assert isinstance(found, dict)
    assert (found["subject"], found["in_reply_to"], found["body"]) == ("Re: ADR", identifier, "0161")
    again = post("mail", "reply", answer, "-m", "thanks", "--kind", "note")[1].split()[1]
    found = post.json("mail", "show", again, cwd=side)["message"]
    assert isinstance(found, dict)
    assert (found["subject"], found["kind"]) == ("Re: ADR", "note")


def test_a_senders_path_is_a_claim(post: Post, side: Path, tmp_path: Path, template: Path) -> None:
    elsewhere = copy_template(template, tmp_path / "elsewhere")
    identifier = post.send(side)
    file = post.file(side, "inbox", identifier)
    data = file.read_bytes()
    anonymous = re.sub(rb"(?m)^Coop-From-Path:.*\n(?: .*\n)*", b"", data)
    for claimed in (elsewhere.root, tmp_path / "nowhere", f"{post.clone.root}/", "../main"):
        file.write_bytes(header.field("Coop-From-Path", str(claimed)) + anonymous)
        said = f"error: the sender of {identifier} says '{claimed}', which is no worktree of this clone\n"
        said += f"hint: name the recipient yourself: git coop mail send --to PATH --in-reply-to {identifier}\n"
        assert post("mail", "reply", identifier, "-m", "x", cwd=side) == (1, "", said)
    file.write_bytes(anonymous)
    assert (
        f"error: message {identifier} names no sender to answer\n"
        in post("mail", "reply", identifier, "-m", "x", cwd=side)[2]
    )
    file.write_bytes(data)
    assert post("mail", "reply", identifier, "-m", "x", cwd=side)[0] == 0


def test_hostile_subjects_stay_data(post: Post, side: Path) -> None:
    import base64

    identifier = post.send(side, "x", "--subject", "plain")
    file = post.file(side, "inbox", identifier)
    hostile = base64.b64encode("a\nCoop-Kind: forged\x1b[2J\u202e".encode()).decode()
    file.write_bytes(file.read_bytes().replace(b"plain", f"=?utf-8?B?{hostile}?=".encode()))
    answer = post("mail", "reply", identifier, "-m", "x", cwd=side)[1].split()[1]
    found = post.json("mail", "show", answer)["message"]
    assert isinstance(found, dict)
    assert (found["subject"], found["kind"]) == ("Re: a?Coop-Kind: forged?[2J?", None)


def test_hostile_paths_are_shown_on_one_line(post: Post) -> None:
    odd = post.clone.worktree("odd", at=post.clone.root.parent / "a\nqueued 1 for you\x1b[2J-x")
    code, out, _err = post("mail", "send", "--to", str(odd), "-m", "x")
    assert (code, out.splitlines()[0].partition(" for ")[2]) == (0, f"{odd.parent}/a?queued 1 for you?[2J-x")
    assert post("mail", "reply", out.split()[1], "-m", "y", cwd=odd)[0] == 0


def test_a_broadcast_is_joined_by_one_run(post: Post, side: Path) -> None:
    post.clone.worktree("third")
    post("mail", "send", "--to", "all", "-m", "x")
    messages = post.json("mail", "sent")["messages"]
    assert isinstance(messages, list)
    assert len(messages) == 2
    assert len({each["run"] for each in messages} - {None}) == 1
    post.send(side)
    messages = post.json("mail", "sent")["messages"]
    assert isinstance(messages, list)
    assert messages[-1]["run"] is None


@pytest.mark.parametrize(("out", "status"), [("closed", 141), ("full", 128)])
def test_an_answer_that_does_not_get_out_takes_no_message_back(post: Post, side: Path, out: str, status: int) -> None:
    code, _out, _err = post("mail", "send", "--to", str(side), "-m", "x", out=out)
    assert (code, len(os.listdir(post.file(side, "inbox", FIRST).parent))) == (status, 1)


def test_the_real_program_sends_and_reads(coop: Program, clone: Clone, side: Path) -> None:
    done = coop("mail", "send", "--to", "../side", "--body", "-", cwd=clone.root, stdin="hé\n", now=START)
    identifier = done.out.split()[1]
    assert (done.code, done.out, done.err) == (0, queued(identifier, side), NEVER.format(side))
    read = coop("mail", "read", cwd=side, now=START)
    assert (read.code, read.err) == (0, "")
    assert read.out.endswith(f"body, 4 bytes:\n    | hé\nend of message 1\nconsumed {identifier}\n")


def test_sending_loads_no_pygit2_and_no_parser(coop: Program, clone: Clone, side: Path) -> None:
    coop("mail", "send", "--to", "../side", "-m", "x", cwd=clone.root, check=0)
    done = coop(
        "mail",
        "send",
        "--to",
        "../side",
        "-m",
        "x",
        "--ttl",
        "3d",
        cwd=clone.root,
        env={"PYTHONPROFILEIMPORTTIME": "1"},
        check=0,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert "click" in loaded  # the control: the list is one
    assert (
        loaded & {"pygit2", "json", "tomllib", "tomli_w", "subprocess", "git_coop.git", "email", "dataclasses"} == set()
    )


def test_many_senders_at_once_lose_nothing(coop: Program, clone: Clone, side: Path) -> None:
    words = ("mail", "send", "--to", "../side", "-m", "x", "--ttl", "3d", "--json")
    started = [coop.start(*words, cwd=clone.root, now=START) for _number in range(8)]
    answers = [process.communicate()[0] for process in started]
    ids = {json.loads(answer)["queued"][0]["id"] for answer in answers}
    assert len(ids) == 8
    lying = {path.stem for path in clone.coop.glob("mail/box/side-*/inbox/*.eml")}
    assert lying == ids

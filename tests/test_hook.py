"""``git coop drain`` as a hook calls it: whatever comes in, a client gets one object at most, and no error of ours."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from errno import EPIPE
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from git_coop import drain, hook
from git_coop.__main__ import main
from git_coop.clients import NAMES
from git_coop.errors import Usage
from git_coop.hook import Words
from tests.support.answers import PAYLOADS
from tests.support.clones import Clone
from tests.support.drains import Room
from tests.support.program import Program
from tests.support.world import World, Worlds

AS_OF = "git coop, 2026-11-30T10:45:12Z: "
SILENCE = {"gemini": b"{}\n", "cursor": b"{}\n", "copilot": b"{}\n", "opencode": b"{}\n", "claude": b"", "codex": b""}


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def payload(room: Room | Path, name: str = "UserPromptSubmit", **more: object) -> dict[str, object]:
    root = room.root if isinstance(room, Room) else room
    turn = {} if name == "SessionStart" else {"prompt_id": "p"}
    return {"hook_event_name": name, "session_id": "s", "cwd": str(root), "transcript_path": "/t", **turn, **more}


def run(world: World, *words: str) -> tuple[int, bytes, bytes]:
    code = main(["drain", *words], world)
    return code, world.stdout.data, world.stderr.data


def context(out: bytes) -> str:
    text = json.loads(out)["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    return text


# Words.


def test_the_plain_forms_of_the_words() -> None:
    assert hook.parsed([]) == Words()
    assert hook.parsed(["--event", "stop", "--client=codex", "--session", "--odd", "--cwd=/x=y"]) == Words(
        event="stop", client="codex", session="--odd", cwd="/x=y"
    )
    assert hook.parsed(["--session=a", "--session=b"]) == Words(session="b")


@pytest.mark.parametrize(
    "words", [["--event"], ["--event="], ["--event", "end"], ["start"], ["--bogus"], ["-x"], ["--", "x"], ["--client="]]
)
def test_words_that_are_none(words: list[str]) -> None:
    with pytest.raises(Usage):
        hook.parsed(words)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    "--event",
                    "--client",
                    "--session",
                    "--cwd",
                    "--anchor",
                    "start",
                    "stop",
                    "claude",
                    "gemini",
                    "--",
                    "-h",
                ]
            ),
            st.sampled_from(["--client=claude", "--event=end", "--bogus", "-", "", "/", "..", "--client=", "--json"]),
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
        ),
        max_size=5,
    ),
    st.sampled_from([b"", b"junk", b'{"hook_event_name": "Stop"}', None]),
)
def test_no_words_ever_exit_with_2(edge: Worlds, tmp_path: Path, words: list[str], stdin: bytes | None) -> None:
    world = edge(cwd=tmp_path, stdin=stdin)
    code = main(["drain", *words], world)
    assert code in (0, 1, 128, 129)
    named = any(word.startswith("--client") for word in words) or (stdin or b"").startswith(b"{")
    if named and "-h" not in words:
        assert (code, world.stderr.data) == (0, b"")


def test_wrong_words_with_a_client_are_a_fault_in_its_own_shape(room: Room, edge: Worlds) -> None:
    world = edge(cwd=room.root, stdin=json.dumps(payload(room, "SessionStart")))
    code, out, err = run(world, "--client", "claude", "--bogus")
    assert (code, err) == (0, b"")
    assert context(out) == (
        AS_OF + "1 fault; names are quoted as they were found:\n"
        "    | the hook's command is wrong: '--bogus' is no option of a drain\n"
    )


def test_wrong_words_with_a_payload_alone_are_a_fault_too(room: Room, edge: Worlds) -> None:
    world = edge(cwd=room.root, stdin=json.dumps(payload(room, "Stop")))
    code, out, err = run(world, "--bogus")
    assert (code, err) == (0, b"")
    assert "'--bogus' is no option of a drain" in json.loads(out)["systemMessage"]


def test_wrong_words_of_a_person_are_a_usage_error(room: Room, edge: Worlds) -> None:
    code, out, err = run(edge(cwd=room.root), "--bogus")
    assert (code, out) == (129, b"")
    assert b"--bogus" in err


def test_an_unknown_client_is_who_its_payload_says(room: Room, edge: Worlds) -> None:
    assert run(edge(cwd=room.root, stdin=b""), "--client", "emacs") == (0, b"", b"")
    stdin = json.dumps({"sessionID": "s", "hook_event_name": "session.idle"})
    assert run(edge(cwd=room.root, stdin=stdin), "--client", "emacs") == (0, b"{}\n", b"")


def test_help_is_for_people(room: Room, edge: Worlds) -> None:
    code, out, err = run(edge(cwd=room.root, stdin=None), "-h")
    assert (code, err) == (0, b"")
    assert out.startswith(b"usage: git coop drain [<options>]\n")


# Payloads.


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize(
    "stdin",
    [b"", b"\n", b"{", b"[]", b"null", b"\xef\xbb\xbf", b"{}", b'{"hook_event_name": 7}', b"\0" * 99, b"{" * 5000],
    ids=repr,
)
def test_what_is_no_payload_is_silence_from_a_client(room: Room, edge: Worlds, client: str, stdin: bytes) -> None:
    room.send()
    before = room.saved()
    assert run(edge(cwd=room.root, stdin=stdin), "--client", client) == (0, SILENCE[client], b"")
    assert room.saved() == before


def test_a_terminal_and_a_silent_pipe(room: Room, edge: Worlds) -> None:
    name = room.send()
    for world in (edge(cwd=room.root, terminal=True), edge(cwd=room.root, stdin=None)):
        assert run(world, "--client", "claude") == (0, b"", b"")
    code, out, err = run(edge(cwd=room.root, stdin=None))
    assert (code, err) == (0, b"")
    assert name.encode() in out


def test_a_client_that_keeps_its_pipe_open(room: Room, coop: Program) -> None:
    """The bound is two seconds of silence; it is measured here once, with the real pipe."""
    reader, writer = os.pipe()
    try:
        os.write(writer, json.dumps(payload(room)).encode())
        began = time.monotonic()
        child = coop.start("drain", "--client", "claude", cwd=room.root, stdin=reader)
        out, err = child.communicate(timeout=30)
        assert (child.returncode, out, err) == (0, b"", b"")
        assert time.monotonic() - began < 8
    finally:
        os.close(reader)
        os.close(writer)


def test_a_payload_without_an_end_is_read_up_to_a_bound(room: Room, coop: Program) -> None:
    with open("/dev/zero", "rb") as zero:
        child = coop.start("drain", "--client", "gemini", cwd=room.root, stdin=zero)
        out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (0, b"{}\n", b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(room: Room, coop: Program, closed: str) -> None:
    name = room.send()
    words = ["sh", "-c", f'"$@" {closed}', "sh", *coop.argv("drain", "--client", "claude", "--event", "start")]
    done = subprocess.run(words, cwd=room.root, input=b"", env=coop.environment(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (name.encode() in done.stdout) is (">&-" not in closed.replace("2>&-", ""))
    assert room.path(name).read_bytes().endswith(b"\n\nhello")  # nothing was written into what is on the disk


@pytest.mark.parametrize("directory", ["gone", "outside", "file"])
def test_a_directory_that_is_none(room: Room, edge: Worlds, tmp_path: Path, directory: str) -> None:
    room.send()
    (tmp_path / "outside").mkdir()
    where = {"gone": tmp_path / "gone", "outside": tmp_path / "outside", "file": room.root / "README"}[directory]
    code, out, err = run(edge(cwd=room.root, stdin=json.dumps(payload(where, "SessionStart"))), "--client", "claude")
    assert (code, err) == (0, b"")
    if directory == "gone":
        assert context(out).startswith(AS_OF + "cannot look into the box; mail may wait:\n    | cannot look at '")
    elif directory == "outside":
        assert out == b""
    else:
        assert "hello" in context(out)  # a file of the worktree is in the worktree


def test_a_process_directory_that_is_gone(room: Room, edge: Worlds) -> None:
    room.send()
    bare = {key: value for key, value in payload(room, "SessionStart").items() if key != "cwd"}
    code, out, _ = run(edge(gone=True, stdin=json.dumps(bare)), "--client", "claude")
    assert code == 0
    assert "cannot look into the box" in context(out)
    code, out, _ = run(edge(gone=True, stdin=json.dumps(payload(room, "SessionStart"))), "--client", "claude")
    assert "hello" in context(out)  # the payload's directory is what counts
    code, out, err = run(edge(gone=True))
    assert (code, out) == (128, b"")
    assert err == b"fatal: cannot read the current directory: it is gone\n"


def test_the_payload_s_worktree_and_not_the_process_s(room: Room, clone: Clone, edge: Worlds) -> None:
    room.send("for the peer")
    _, out, _ = run(edge(cwd=clone.root, stdin=json.dumps(payload(room, "SessionStart"))), "--client", "claude")
    assert "for the peer" in context(out)
    _, out, _ = run(edge(cwd=room.root, stdin=json.dumps(payload(clone.root, "SessionStart"))), "--client", "claude")
    assert context(out).startswith(AS_OF + "the box is empty")
    words = ("--client", "claude", "--cwd", str(room.root))
    _, out, _ = run(edge(cwd=clone.root, stdin=json.dumps(payload(clone.root, "SessionStart"))), *words)
    assert "for the peer" in context(out)  # options beat the payload
    assert b"for the peer" in run(edge(cwd=clone.root), "--cwd", "../peer")[1]


def test_variables_of_another_repository_do_not_steer_a_payload(room: Room, edge: Worlds, tmp_path: Path) -> None:
    room.send("for the peer")
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    steering = {name: str(other) for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
    world = edge(cwd=tmp_path, env=dict(steering), stdin=json.dumps(payload(room, "SessionStart")))
    assert "for the peer" in context(run(world, "--client", "claude")[1])
    assert not (other / "coop").exists()


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_another_locale_changes_no_byte(room: Room, coop: Program, locale: str) -> None:
    room.send("café 漢字 😀")
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = coop("drain", "--client", "claude", cwd=room.root, env=env, stdin=json.dumps(payload(room)), check=0)
    assert result.raw_out.isascii()
    assert "    | café 漢字 😀\n" in context(result.raw_out)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(PAYLOADS, st.sampled_from([None, *NAMES]))
def test_any_payload_is_answered_with_one_object_and_0(
    edge: Worlds, clone: Clone, fields: dict[str, object], client: str | None
) -> None:
    world = edge(cwd=clone.root, stdin=json.dumps(fields))
    code, out, err = run(world, *(("--client", client) if client else ()))
    assert (code, err) == (0, b"")
    assert out == b"" or isinstance(json.loads(out), dict)
    assert out.count(b"\n") <= 1


# What breaks within.


@pytest.mark.parametrize("client", NAMES)
def test_a_crash_speaks_and_exits_0(room: Room, edge: Worlds, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(drain, "run", broken)
    code, out, err = run(edge(cwd=room.root), "--client", client, "--event", "start")
    assert (code, err) == (0, b"")
    assert client == "opencode" or b"the drain failed: ZeroDivisionError: a defect" in out
    world = edge(cwd=room.root, env={"GIT_COOP_DEBUG": "1"})
    assert b"ZeroDivisionError" in run(world, "--client", client, "--event", "start")[2]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(2), MemoryError(), RecursionError(), OSError(5, "x")]
)
def test_whatever_ends_a_client_s_drain_exits_0(
    room: Room, edge: Worlds, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise error

    monkeypatch.setattr(drain, "run", broken)
    code, out, err = run(edge(cwd=room.root), "--client", "gemini", "--event", "stop")
    assert (code, err, out.count(b"\n")) == (0, b"", 1)
    assert isinstance(json.loads(out), dict)


def test_a_crash_after_the_answer_adds_no_second_one(room: Room, edge: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    room.send()
    monkeypatch.setattr("git_coop.drain_run.Run.mark_shown", lambda *_args, **_named: 1 / 0)
    code, out, err = run(edge(cwd=room.root, stdin=json.dumps(payload(room))), "--client", "claude")
    assert (code, err) == (0, b"")
    assert "hello" in context(out)


@pytest.mark.parametrize(
    "broken",
    [
        *("git_coop.clients.claude", "git_coop.clients", "git_coop.drain", "git_coop.render"),
        *("git_coop.edge", "git_coop.record", "git_coop.errors", "git_coop.files"),
    ],
)
def test_an_installation_in_pieces(room: Room, coop: Program, broken: str) -> None:
    lines = (
        f"import sys; sys.modules[{broken!r}] = None; from git_coop.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-P", "-c", lines, "drain", "--client", "claude"]
    stdin = json.dumps(payload(room)).encode()
    room.send()
    done = subprocess.run(words, cwd=room.root, input=stdin, env=coop.environment(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout in (b"{}\n", b"") or "the drain failed" in context(done.stdout)


@pytest.mark.parametrize("broken", ["git_coop.payload", "git_coop.hook", "git_coop.events", "git_coop.discover"])
def test_an_installation_in_pieces_without_a_named_client(room: Room, coop: Program, broken: str) -> None:
    """A payload on standard input is a client's call; without one a person reads a sentence."""
    lines = (
        f"import sys; sys.modules[{broken!r}] = None; from git_coop.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-P", "-c", lines, "drain"]
    room.send()

    def drained(stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
        env = coop.environment()
        return subprocess.run(words, cwd=room.root, input=stdin, env=env, capture_output=True, timeout=60)

    done = drained(json.dumps(payload(room)).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"{}\n" or "the drain failed" in context(done.stdout)
    done = drained(b"")
    if broken == "git_coop.payload":  # which nobody needs who sends none
        assert (done.returncode, b"hello" in done.stdout, done.stderr) == (0, True, b"")
        return
    assert (done.returncode, done.stdout) == (128, b"")
    assert done.stderr.startswith(b"fatal: the installation is broken: ModuleNotFoundError: ")
    assert done.stderr.endswith(b"\nhint: install git-coop again\n")
    assert done.stderr.count(b"\n") == 2


@pytest.mark.parametrize("broken", ["git_coop.edge", "git_coop.record"])
def test_an_installation_without_streams_says_so(room: Room, coop: Program, broken: str) -> None:
    lines = f"import sys; sys.modules[{broken!r}] = None; from git_coop.__main__ import main; sys.exit(main())"
    for word in ("drain", "status"):
        command = [sys.executable, "-P", "-c", lines, word]
        done = subprocess.run(command, cwd=room.root, env=coop.environment(), capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (128, b"")
        assert done.stderr.startswith(b"fatal: the installation is broken: ModuleNotFoundError: ")
        assert done.stderr.endswith(b"\nhint: install git-coop again\n")


@pytest.mark.parametrize(
    "words", [["--client", "claude"], ["--client=gemini", "--event", "stop"], ["--client", "gemini", "--odd"]]
)
def test_an_interrupt_while_the_payload_comes(room: Room, coop: Program, words: list[str]) -> None:
    env = coop.environment()
    call = [sys.executable, "-P", "-m", "git_coop", "drain", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(call, cwd=room.root, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"hook_event_name": ')
        process.stdin.flush()
        while fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
            time.sleep(0.001)
        assert process.poll() is None  # it has read this much and waits for more
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out == SILENCE[words[0].partition("=")[2] or words[1]]


def test_an_interrupt_of_a_person_s_drain_is_130(room: Room, edge: Worlds) -> None:
    world = edge(cwd=room.root)

    def interrupt(_size: int) -> bytes:
        raise KeyboardInterrupt

    world.stdin.__dict__["read"] = interrupt
    assert run(world) == (130, b"", b"")
    assert run(world, "--client", "gemini") == (0, b"{}\n", b"")  # the control


def test_a_person_s_drain_ends_as_a_command_does(room: Room, edge: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    room.send()
    assert main(["drain"], edge(cwd=room.root, out="closed")) == 141
    full = edge(cwd=room.root, out="full")
    assert (main(["drain"], full), full.stderr.text) == (
        128,
        "fatal: cannot write to standard output: no space left on device\n",
    )

    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(drain, "run", broken)
    world = edge(cwd=room.root)
    assert main(["drain"], world) == 128
    assert world.stderr.text.startswith("fatal: unexpected ZeroDivisionError: a defect\n")


def test_the_statuses_of_text(room: Room, edge: Worlds, tmp_path: Path) -> None:
    name = room.send()
    world = edge(cwd=room.root, now=room.clock())
    assert run(world, "--event", "stop", "--session", "s")[::2] == (0, b"")
    assert world.stdout.text.endswith(f"end of message 1\nconsumed {name}\n")
    (Path(os.fsdecode(room.box.inbox)) / "odd").write_text("")
    world = edge(cwd=room.root)
    code, out, err = run(world)
    assert (code, out, err) == (1, b"", b"error: 'odd' in the inbox is no message name\n")
    outside = edge(cwd=tmp_path)
    assert main(["drain"], outside) == 128
    assert outside.stderr.text.startswith("fatal: not a git repository")
    closed = edge(cwd=room.root, err="closed")
    assert main(["drain"], closed) == 1


def test_an_error_of_the_output_is_the_only_one_that_is_silent(room: Room, edge: Worlds) -> None:
    room.send()
    world = edge(cwd=room.root, stdin=json.dumps(payload(room)), out="closed")
    assert run(world, "--client", "claude") == (0, b"", b"")
    assert room.marked("s") == {}
    assert world.stdout.fault == EPIPE


@pytest.mark.parametrize("client", NAMES)
def test_an_agent_outside_any_repository_hears_nothing(tmp_path: Path, edge: Worlds, client: str) -> None:
    assert run(edge(cwd=tmp_path), "--client", client, "--event", "start") == (0, SILENCE[client], b"")


def test_the_session_of_an_agent_s_shell_is_who_drains(room: Room, edge: Worlds) -> None:
    name = room.send(to_session="agent")
    env: dict[str, str | None] = {"CLAUDE_CODE_SESSION_ID": "agent"}
    assert name in run(edge(cwd=room.root, env=env))[1].decode()
    assert name not in run(edge(cwd=room.root, env=env), "--session", "other")[1].decode()

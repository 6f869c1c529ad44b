"""What may befall the place: processes, locks and repositories, each with its one right outcome."""

import os
import signal
import stat
from pathlib import Path

import pytest

from git_coop import layout
from git_coop.__main__ import main
from tests import invariants
from tests.faults.seam import PASS, Call, installed
from tests.support.clones import Clone, git
from tests.support.peer import Room, in_child
from tests.support.post import Post
from tests.support.program import Program
from tests.support.rows import row
from tests.support.world import Worlds


@pytest.fixture
def room(edge: Worlds, clone: Clone) -> Room:
    return Room(edge, clone)


@row(35)
def test_a_lock_file_that_is_removed_while_it_is_held(room: Room) -> None:
    room.post("letter", "write", "-m", "first")
    lock = next(room.clone.coop.glob("letters/*/.lock"))
    done: list[int] = []

    def meanwhile(call: Call) -> object:
        if call.kind == "link" and not done:
            lock.unlink()
            done.append(0)
            done[0] = room.post("letter", "write", "-m", "while the lock was gone")[0]
        return PASS

    with installed(meanwhile):
        code, _out, _err = room.post("letter", "write", "-m", "second")
    assert (code, done) == (0, [0])
    found = invariants.read(room.clone.coop)
    assert invariants.violations(found) == []
    assert sum(map(len, found.letters.values())) == 3


@row(36)
def test_a_holder_that_stands_still(room: Room) -> None:
    room.drain("prompt")

    def stop(call: Call) -> object:
        if call.kind == "rename" and call.args[0].endswith(b".eml"):
            os.kill(os.getpid(), signal.SIGSTOP)
        return PASS

    def drain() -> int:
        with installed(stop):
            return room.drain()[0]

    child = in_child(drain)
    os.waitpid(child, os.WUNTRACED)
    code, _out, err = room.drain(session="two")
    assert code == 1
    assert f"claim on message {room.one} lost: another process holds it" in err
    assert room.where() == "inbox"
    os.kill(child, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert room.where() == "seen"
    assert invariants.leftovers(invariants.read(room.clone.coop)) == []


@row(37, 64)
def test_a_program_that_is_killed_while_it_starts(room: Room, coop: Program) -> None:
    process = coop.start("drain", "--event", "stop", cwd=room.peer)
    process.kill()
    process.communicate()
    found = invariants.read(room.clone.coop)
    assert invariants.violations(found) == []
    assert found.where(room.one) in ("inbox", "seen")


@row(38)
@pytest.mark.parametrize("out", ["closed", "full"])
@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_an_output_that_nobody_reads(room: Room, out: str, event: str) -> None:
    code, _out, err = room.drain(event, out=out)
    assert code == {"closed": 141, "full": 128}[out]
    assert "Traceback" not in err
    assert room.where() == "inbox"
    assert not invariants.read(room.clone.coop).markers
    assert "the one" in room.drain()[1]


@row(38)
def test_a_reader_that_takes_one_line(room: Room, coop: Program) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        process = coop.start("drain", "--event", "stop", "--session", "one", cwd=room.peer, stdout=closed)
        _out, err = process.communicate()
    assert (process.returncode, err) == (141, b"")
    assert room.where() == "inbox"


@row(39)
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupt_in_the_middle_of_a_consume(room: Room, sign: signal.Signals, code: int) -> None:
    room.drain("prompt")

    def interrupt(call: Call) -> object:
        if call.kind == "write" and b"outcome" in bytes(call.args[1]):
            os.kill(os.getpid(), sign)
        return PASS

    def drain() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with installed(interrupt):
            return main(["drain", "--event", "stop", "--session", "one"], room.post.world(room.peer))

    child = in_child(drain)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    assert room.where() == "inbox"
    assert (room.staged() == []) == (sign == signal.SIGINT)
    assert f"consumed {room.one}" in room.drain()[1]
    assert invariants.leftovers(invariants.read(room.clone.coop)) == []


@row(45)
def test_a_file_system_that_folds_names(monkeypatch: pytest.MonkeyPatch) -> None:
    spellings = [b"/src/Caf\xc3\xa9", b"/src/cafe\xcc\x81", b"/SRC/CAF\xc3\x89"]
    assert len({layout.key(path) for path in spellings}) == 3
    monkeypatch.setattr(layout, "same", lambda _one, _other: True)
    assert len({layout.key(path) for path in spellings}) == 1


@row(46)
def test_paths_with_one_slug_have_two_keys() -> None:
    keys = [layout.key(b"/a/" + b"x" * 40 + end) for end in (b"1", b"2", b"")]
    assert len({key[:32] for key in keys}) == 1
    assert len(set(keys)) == 3


@row(47)
@pytest.mark.parametrize("kind", ["missing", "removed", "container"])
def test_a_send_to_nobody(room: Room, kind: str) -> None:
    target = room.clone.root.parent / "gone"
    if kind == "removed":
        room.clone.worktree("gone")
        room.clone.git("worktree", "remove", str(target))
    if kind == "container":
        target = room.clone.root.parent
    before = invariants.tree(room.clone.coop)
    code, out, err = room.post("mail", "send", "--to", str(target), "-m", "x")
    assert (code, out) == (1, "")
    assert f"hint: a worktree of this clone: {room.peer}\n" in err
    assert invariants.tree(room.clone.coop) == before


@row(48)
@pytest.mark.parametrize("kind", ["outside", "bare", "inside .git", "GIT_DIR"])
def test_no_repository_that_would_do(edge: Worlds, clone: Clone, tmp_path: Path, kind: str) -> None:
    post = Post(edge, clone)
    place, env = tmp_path, {}
    if kind == "bare":
        git("init", "-q", "--bare", "bare", cwd=tmp_path)
        place = tmp_path / "bare"
    if kind == "inside .git":
        place = clone.common
    if kind == "GIT_DIR":
        place, env = clone.root, {"GIT_DIR": "/nowhere"}
    for words in (("letter", "list"), ("drain",), ("mail", "send", "--to", ".", "-m", "x")):
        code, out, err = post(*words, cwd=place, env=env)
        assert (code, out) == (128, ""), (words, out)
        assert err.startswith("fatal: ")
    code, out, err = post("drain", "--client", "claude", cwd=place, env=env, stdin='{"hook_event_name": "Stop"}')
    assert (code, err) == (0, "")
    assert not (clone.coop).exists()


@row(49)
@pytest.mark.parametrize(
    "name", [b"with\nnewline", b"trailing ", b"-dash", b"\xff\xfe", b"x" * 200 + b"/" + b"y" * 200]
)
def test_a_worktree_whose_path_is_odd(room: Room, name: bytes) -> None:
    place = Path(os.fsdecode(os.path.join(os.fsencode(room.clone.root.parent), name)))
    room.clone.git("worktree", "add", "-q", "-b", "odd", os.fspath(place))
    identifier = room.post.send(place, "to the odd one")
    code, out, err = room.post("drain", "--event", "stop", cwd=place)
    assert (code, err) == (0, "")
    assert "    | to the odd one\n" in out
    assert room.where(identifier) == "seen"
    assert room.post("letter", "write", "-m", "x", cwd=place)[0] == 0
    assert room.post("mail", "status")[0] == 0


@row(53)
@pytest.mark.parametrize("session", ["..", "../../../x", "a/b", "x" * 10_000, "\n", "-s", "\udcff"])
def test_a_session_id_that_is_no_file_name(room: Room, session: str) -> None:
    before = {path for path in room.clone.root.parent.rglob("*") if room.clone.coop not in path.parents}
    code, out, err = room.post("drain", "--event", "prompt", f"--session={session}", cwd=room.peer)
    assert (code, err) == (0, "")
    assert "the one" in out
    assert {path for path in room.clone.root.parent.rglob("*") if room.clone.coop not in path.parents} == before
    assert [len(path.name) for path in (room.box / "shown").iterdir()] == [16]
    assert invariants.violations(invariants.read(room.clone.coop)) == []


@row(53)
def test_an_empty_session_id(room: Room) -> None:
    assert room.post("drain", "--session=", cwd=room.peer)[0] == 129
    payload = '{"hook_event_name": "UserPromptSubmit", "session_id": ""}'
    assert "the one" in room.post("drain", "--client", "claude", cwd=room.peer, stdin=payload)[1]
    assert list((room.box / "shown").iterdir()) == []


@row(62)
def test_what_git_sweeps_is_not_ours(room: Room) -> None:
    room.post("letter", "write", "-m", "x")
    before = invariants.tree(room.clone.coop)
    room.clone.git("gc", "-q", "--prune=now")
    room.clone.git("worktree", "prune")
    room.clone.git("clean", "-xdfq")
    room.clone.git("push", "-q", "--mirror", str(room.clone.root.parent / "mirror"), cwd=mirror(room))
    assert invariants.tree(room.clone.coop) == before
    assert not list((room.clone.root.parent / "mirror").rglob("*coop*"))


def mirror(room: Room) -> Path:
    git("init", "-q", "--bare", "mirror", cwd=room.clone.root.parent)
    return room.clone.root


@row(63)
def test_a_marker_of_a_newer_program(room: Room) -> None:
    room.drain("prompt")
    marker = next(room.box.glob(f"shown/*/{room.one}"))
    marker.write_text(marker.read_text() + 'tomorrow = "yes"\n')
    assert f"consumed {room.one}" in room.drain()[1]


@row(65)
def test_a_payload_on_a_pipe_that_never_closes(room: Room) -> None:
    code, _out, err = room.post("drain", "--client", "claude", cwd=room.peer, stdin=None)
    assert (code, err) == (0, "")
    assert stat.S_ISDIR(room.box.stat().st_mode)

"""What may befall the place: disks, permissions, processes and repositories, each with its one right outcome."""

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import box
from git_coop.__main__ import main
from tests import invariants
from tests.faults.seam import PASS, Call, Fail, Short, installed
from tests.support.clones import Clone, git
from tests.support.post import Post
from tests.support.program import Program
from tests.support.rows import row
from tests.support.users import NOBODY, NOT_ROOT, give, run_as
from tests.support.world import Worlds


class Room:
    """The worktree ``peer`` with a message in its box, and a sender in the main one."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.post = Post(edge, clone)
        self.clone = clone
        self.peer = clone.worktree("peer")
        self.one = self.post.send(self.peer, "the one")
        self.box = self.post.file(self.peer, "inbox", self.one).parents[1]

    def send(self) -> tuple[int, str, str]:
        return self.post("mail", "send", "--to", str(self.peer), "-m", "another")

    def drain(self, event: str = "stop", session: str = "one", **more: str) -> tuple[int, str, str]:
        return self.post("drain", "--event", event, "--session", session, cwd=self.peer, **more)  # type: ignore[arg-type]

    def where(self, identifier: str = "") -> str:
        return invariants.read(self.clone.coop).where(identifier or self.one)

    def staged(self) -> list[str]:
        return invariants.read(self.clone.coop).staged


@pytest.fixture
def room(edge: Worlds, clone: Clone) -> Room:
    return Room(edge, clone)


@row(22)
def test_two_senders_of_one_id(room: Room) -> None:
    room.post.entropy.drawn = 0  # what the first send drew comes again, at the same time
    code, out, _err = room.send()
    assert code == 0
    assert out.split()[1] != room.one
    assert room.where() == room.where(out.split()[1]) == "inbox"


@row(23, 27, 28)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_is_full_or_failing_at_a_send(room: Room, number: int) -> None:
    before = room.clone.coop.glob("mail/box/*/inbox/*")
    calls = []

    def fail_at_the_flush(call: Call) -> object:
        calls.append(call.kind)
        if call.kind == "fsync":
            raise OSError(number, os.strerror(number))
        return PASS

    with installed(fail_at_the_flush):
        code, out, err = room.send()
    assert (code, out) == (128, "")
    assert err.startswith("fatal: cannot write ")
    assert os.strerror(number).lower() in err
    assert calls.count("fsync") == 1  # never tried again on the same descriptor
    assert room.staged() == []
    assert sorted(room.clone.coop.glob("mail/box/*/inbox/*")) == sorted(before)


@row(24)
def test_a_disk_full_at_a_consume(room: Room) -> None:
    room.drain("prompt")

    def full(call: Call) -> object:
        if call.kind == "create" and b"/mail/tmp/" in call.args[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return PASS

    with installed(full):
        code, _out, err = room.drain()
    assert code == 1
    assert f"error: message {room.one} was not filed and will be shown again: cannot write" in err
    assert room.where() == "inbox"
    assert room.drain()[0] == 0
    assert room.where() == "seen"


@row(25)
def test_a_disk_full_at_a_marker(room: Room) -> None:
    with installed(Fail(1, errno.ENOSPC, lasting=True)):
        code, out, err = room.drain("prompt")
    assert code == 1
    assert "the one" in out
    assert "no space left on device" in err
    assert "the one" in room.drain("prompt")[1]


@row(29)
def test_a_read_only_file_system(room: Room) -> None:
    before = invariants.tree(room.clone.coop)
    with installed(Fail(1, errno.EROFS, lasting=True)):
        code, out, err = room.drain("prompt")
        assert code == 1
        assert "the one" in out
        assert "read-only file system" in err
        assert room.post("letter", "list")[0] == 0
        assert room.post("mail", "list", cwd=room.peer)[0] == 0
        code, out, err = room.send()
        assert (code, out) == (128, "")
        assert "read-only file system" in err
    assert invariants.tree(room.clone.coop) == before


def as_another(room: Room, act: Callable[[], str]) -> str:
    """What ``act`` gives for a user whom permissions bind, everything here being that user's."""
    if os.geteuid() != 0:
        return act()
    give(room.clone.root.parent, NOBODY)
    os.chmod(room.clone.root.parent, 0o755)
    return run_as(NOBODY, act)


@row(30)
@pytest.mark.parametrize(("mode", "why"), [(0o000, "cannot list"), (0o500, "cannot")], ids=["unreadable", "unwritable"])
def test_an_inbox_that_may_not_be_used(room: Room, mode: int, why: str) -> None:
    (room.box / "inbox").chmod(mode)
    room.post.send(room.clone.root, "for the main one", cwd=room.peer)

    def act() -> str:
        code, _out, err = room.drain()
        main_code, main_out, _err = room.post("drain", "--event", "stop", "--session", "one")
        return f"{code} {main_code} {'for the main one' in main_out} {err}"

    said = as_another(room, act)
    (room.box / "inbox").chmod(0o700)
    assert said.startswith(("128 0 True", "1 0 True")), said
    assert why in said
    assert "inbox" in said
    assert room.where() == "inbox"


@row(30)
@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_store_of_another_user(room: Room) -> None:
    give(room.clone.coop, NOBODY)
    code, out, err = room.drain()
    assert (code, out) == (128, "")
    assert "owner" in err or "belongs" in err


@row(31)
def test_a_message_of_mode_000(room: Room) -> None:
    path = room.box / "inbox" / f"{room.one}.eml"
    path.chmod(0)

    def act() -> str:
        code, out, err = room.drain()
        return f"{code} {'the one' in out} {err}"

    assert as_another(room, act) == f"1 False error: message {room.one}: permission denied\n"
    assert room.where() == "inbox"


@row(32)
def test_a_message_that_may_not_be_moved(room: Room) -> None:
    room.drain("prompt")

    def refuse(call: Call) -> object:
        if call.kind == "rename" and call.args[1].endswith(b".eml"):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        return PASS

    with installed(refuse):
        code, _out, err = room.drain()
    assert code == 1
    assert "operation not permitted" in err
    found = invariants.read(room.clone.coop)
    assert found.where(room.one) == "inbox"
    assert invariants.violations(found) == []  # the receipt is there, and counts for nothing
    assert list(found.receipts)
    assert f"consumed {room.one}" in room.drain(session="two")[1]
    assert invariants.leftovers(invariants.read(room.clone.coop)) == []


@row(33)
@pytest.mark.parametrize("place", ["", "mail", "mail/box", "BOX", "BOX/inbox", "BOX/seen", "BOX/receipts", "mail/tmp"])
def test_a_folder_that_is_a_symlink(room: Room, tmp_path: Path, place: str) -> None:
    room.drain("prompt")
    path = room.clone.coop / place.replace("BOX", os.fspath(room.box))
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    before = invariants.tree(outside)
    code, _out, err = room.drain()
    assert code in (1, 128)
    assert "is a symbolic link" in err
    assert invariants.tree(outside) == before
    assert room.send()[0] in (1, 128) or place in ("BOX/seen", "BOX/receipts")
    assert invariants.tree(outside) == before


@row(33)
def test_a_lock_file_that_is_a_symlink(room: Room, tmp_path: Path) -> None:
    assert room.post("letter", "write", "-m", "x")[0] == 0
    lock = next(room.clone.coop.glob("letters/*/.lock"))
    lock.unlink()
    lock.symlink_to(tmp_path / "made")
    assert room.post("letter", "write", "-m", "y")[0] == 128
    assert not (tmp_path / "made").exists()


@row(34)
@pytest.mark.parametrize("kind", ["inbox is a file", "tmp is missing", "box is gone"])
def test_folders_that_are_missing_or_are_none(room: Room, kind: str) -> None:
    if kind == "inbox is a file":
        (room.box / "inbox" / f"{room.one}.eml").unlink()
        (room.box / "inbox").rmdir()
        (room.box / "inbox").touch()
        for code, _out, err in (room.drain(), room.send()):
            assert code == 128
            assert "inbox' is a file" in err or "it is a file" in err
        return
    subprocess.run(["rm", "-r", room.clone.coop / "mail/tmp" if kind.startswith("tmp") else room.box], check=True)
    assert room.drain()[0] == 0
    assert room.send()[0] == 0
    assert invariants.leftovers(invariants.read(room.clone.coop)) == []


@row(34)
def test_a_box_that_is_removed_during_a_drain(room: Room) -> None:
    room.drain("prompt")

    def remove(call: Call) -> object:
        if call.kind == "create" and b"/mail/tmp/" in call.args[0]:
            subprocess.run(["rm", "-rf", room.box], check=True)
        return PASS

    with installed(remove):
        code, _out, err = room.drain()
    assert code in (0, 1, 128)
    assert "unexpected" not in err


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


def in_child(act: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()
        finally:
            os._exit(code)
    return child


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


@row(44)
def test_a_file_system_that_grants_every_lock(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda _number, _operation: None)
    code, out, err = room.drain()
    assert code == 1
    assert "the one" in out
    assert "this file system has no working locks" in err
    assert room.where() == "inbox"


@row(44)
def test_a_file_system_without_locks(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_number: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    code, out, err = room.drain()
    assert code == 1
    assert "the one" in out
    assert "no locks available" in err
    assert room.where() == "inbox"


@row(45)
def test_a_file_system_that_folds_names(monkeypatch: pytest.MonkeyPatch) -> None:
    spellings = [b"/src/Caf\xc3\xa9", b"/src/cafe\xcc\x81", b"/SRC/CAF\xc3\x89"]
    assert len({box.key(path) for path in spellings}) == 3
    monkeypatch.setattr(box, "_same", lambda _one, _other: True)
    assert len({box.key(path) for path in spellings}) == 1


@row(46)
def test_paths_with_one_slug_have_two_keys() -> None:
    keys = [box.key(b"/a/" + b"x" * 40 + end) for end in (b"1", b"2", b"")]
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


@row(50)
def test_no_more_descriptors(room: Room) -> None:
    room.drain("prompt")  # every module is loaded by now

    def act() -> int:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        try:
            while True:
                os.dup(0)
        except OSError:
            pass
        code, out, err = room.drain("prompt", session="two")
        return 0 if code in (1, 128) and "too many open files" in out + err and "Traceback" not in err else 3

    child = in_child(act)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert room.where() == "inbox"


@row(51)
def test_short_writes(room: Room) -> None:
    with installed(Short()):
        code, out, _err = room.send()
    assert code == 0
    assert "    | another\n" in room.drain()[1]
    assert room.where(out.split()[1]) == "seen"


@row(52)
def test_a_store_of_two_file_systems(room: Room) -> None:
    def elsewhere(call: Call) -> object:
        if call.kind in ("link", "rename"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return PASS

    before = sorted(room.box.glob("inbox/*"))
    with installed(elsewhere):
        code, out, err = room.send()
    assert (code, out) == (128, "")
    assert "hint: the folders of the store must lie in one file system\n" in err
    assert sorted(room.box.glob("inbox/*")) == before
    assert room.staged() == []


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

"""What may befall the disk: full, failing, read-only, not ours, two in one; each with its one right outcome."""

import errno
import fcntl
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import invariants
from tests.faults.seam import PASS, Call, Fail, Short, installed
from tests.support.clones import Clone
from tests.support.peer import Room, in_child
from tests.support.rows import row
from tests.support.users import NOBODY, NOT_ROOT, give, run_as
from tests.support.world import Worlds


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

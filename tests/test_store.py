"""The one writer: publishing, replacing, locking and claiming, with what stands in the way of each."""

import errno
import fcntl
import os
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import claims, exclusive, files, layout, making, staged
from git_coop.claims import claim, lock
from git_coop.errors import Busy, StoreFault
from git_coop.files import Gone, Unreadable
from git_coop.store import Store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "coop"


@pytest.fixture
def here(home: Path) -> Store:
    return making.make_store(bytes(home), 0o700)


def modes(place: Path) -> dict[str, int]:
    return {str(path.relative_to(place)): stat.S_IMODE(path.lstat().st_mode) for path in place.rglob("*")}


def strays(place: Path) -> list[str]:
    return sorted(path.name for path in (place / "mail" / "tmp").iterdir())


def in_child(act: Callable[[], object]) -> int:
    """Run this in another process; 0 where it returned, 1 where it raised, minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_everything_is_for_its_owner_alone(home: Path, here: Store) -> None:
    os.umask(0)
    here.ensure_folder(here.root + b"/a/b")
    assert here.create(here.root + b"/a/b/file", b"x")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert modes(home) == {
        "format": 0o600,
        "mail": 0o700,
        "mail/tmp": 0o700,
        "a": 0o700,
        "a/b": 0o700,
        "a/b/file": 0o600,
    }


@pytest.mark.parametrize(("mode", "file_mode"), [(0o2770, 0o660), (0o2775, 0o664), (0o2750, 0o640)])
def test_in_a_shared_repository_the_umask_takes_nothing_away(tmp_path: Path, mode: int, file_mode: int) -> None:
    os.umask(0o077)
    home = tmp_path / "coop"
    shared = making.make_store(bytes(home), mode)
    shared.create(shared.root + b"/file", b"x")
    shared.rewrite(shared.root + b"/file", b"y")
    with lock(shared, shared.root + b"/.lock", wait=0):
        pass
    assert stat.S_IMODE(home.stat().st_mode) == mode
    assert modes(home) == {"format": file_mode, "mail": mode, "mail/tmp": mode, "file": file_mode, ".lock": file_mode}
    opened = layout.open_store(bytes(home))
    assert opened == shared


def test_a_new_file_never_takes_the_place_of_another(home: Path, here: Store) -> None:
    assert here.create(here.root + b"/file", b"one")
    assert not here.create(here.root + b"/file", b"two")
    (home / "link").symlink_to("nowhere")
    assert not here.create(here.root + b"/link", b"three")
    assert (home / "file").read_bytes() == b"one"
    assert strays(home) == []


def test_without_hard_links_publishing_is_as_exclusive(
    home: Path, here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_args: object, **_options: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    assert here.create(here.root + b"/file", b"one")
    assert not here.create(here.root + b"/file", b"two")
    assert (home / "file").read_bytes() == b"one"
    assert strays(home) == []

    def no_such_call(source: bytes, target: bytes) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(exclusive, "rename_exclusively", no_such_call)
    with pytest.raises(StoreFault, match="function not implemented"):
        here.create(here.root + b"/other", b"x")
    assert not (home / "other").exists()
    assert strays(home) == []


def test_another_file_system_is_refused_and_nothing_copied(
    home: Path, here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def across(*_args: object, **_options: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", across)
    monkeypatch.setattr(os, "rename", across)
    for publish in (here.create, here.rewrite):
        with pytest.raises(StoreFault) as caught:
            publish(here.root + b"/file", b"x")
        assert caught.value.hint == "the folders of the store must lie in one file system"
    assert not (home / "file").exists()
    assert strays(home) == []


@pytest.mark.parametrize("call", ["write", "fsync", "link", "rename"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_failed_call_leaves_the_old_file_and_no_stray(
    home: Path, here: Store, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    here.create(here.root + b"/old", b"old")

    def fails(*_args: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fails)
        publish = here.create if call == "link" else here.rewrite
        target = here.root + (b"/new" if call == "link" else b"/old")
        with pytest.raises(StoreFault) as caught:
            publish(target, b"new")
    assert (caught.value.status, caught.value.errno) == (128, number)
    assert os.strerror(number).lower() in caught.value.sentence
    assert (home / "old").read_bytes() == b"old"
    assert not (home / "new").exists()
    assert strays(home) == []


def test_short_writes_are_gone_on_with(home: Path, here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda number, data: whole(number, bytes(data[:3])))
    here.create(here.root + b"/file", b"0123456789")
    assert (home / "file").read_bytes() == b"0123456789"


def test_an_interrupt_while_staging_leaves_no_stray(home: Path, here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        here.create(here.root + b"/file", b"x")
    assert strays(home) == []


@pytest.mark.parametrize("part", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("kind", ["link", "file", "dangling"])
def test_no_component_of_the_store_may_be_anything_but_a_folder(
    home: Path, here: Store, tmp_path: Path, part: str, kind: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "b" / "c").mkdir(parents=True)
    (home / part).parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        (home / part).write_text("")
    else:
        (home / part).symlink_to(elsewhere if kind == "link" else "nowhere")
    with pytest.raises(StoreFault, match="a file, not a folder" if kind == "file" else "a symbolic link, not a folder"):
        here.ensure_folder(here.root + b"/a/b/c/d")
    assert sorted(path.name for path in elsewhere.rglob("*")) == ["b", "c"]


def test_nothing_is_published_through_a_symlink(home: Path, here: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / "inbox").symlink_to(elsewhere)
    for publish in (here.create, here.rewrite):
        with pytest.raises(StoreFault, match="a symbolic link, not a folder"):
            publish(here.root + b"/inbox/file", b"x")
    assert list(elsewhere.iterdir()) == []


# strays


def test_a_sweep_takes_what_the_dead_left_and_nothing_else(home: Path, here: Store) -> None:
    stray = here.tmp + b"/7-0"

    def killed_while_staging() -> None:
        assert staged.Staged.open(stray, 0o600) is not None
        die()

    assert in_child(killed_while_staging) == -signal.SIGKILL
    (home / "mail" / "tmp" / "folder").mkdir()
    with staged.stage(here, b"alive", durable=False) as alive:
        assert len(strays(home)) == 3
        assert here.sweep() == 1
        assert strays(home) == sorted([os.path.basename(alive.path).decode(), "folder"])
    assert strays(home) == ["folder"]


def test_a_name_that_is_staged_already_is_left_alone(home: Path, here: Store) -> None:
    taken = home / "mail" / "tmp" / f"{os.getpid()}-0"
    taken.write_bytes(b"of another container")
    here.create(here.root + b"/file", b"x")
    assert taken.read_bytes() == b"of another container"


# locks


def test_a_lock_is_exclusive_and_says_busy_after_the_wait(here: Store) -> None:
    path = here.root + b"/.lock"
    with lock(here, path, wait=0):
        for wait in (0, 0.01):
            with pytest.raises(Busy) as caught:
                lock(here, path, wait=wait)
            assert (caught.value.status, caught.value.hint) == (1, "try again")
    with lock(here, path, wait=0):
        pass


def test_a_lock_dies_with_its_process(here: Store) -> None:
    path = here.root + b"/.lock"

    def killed_while_holding() -> None:
        held = lock(here, path, wait=0)
        assert held.number
        die()

    assert in_child(killed_while_holding) == -signal.SIGKILL
    with lock(here, path, wait=0):
        assert in_child(lambda: lock(here, path, wait=0)) == 1  # and another process sees ours


def test_a_lock_file_that_was_removed_while_it_was_held_is_made_again(home: Path, here: Store) -> None:
    path = here.root + b"/.lock"
    with lock(here, path, wait=0):
        (home / ".lock").unlink()
        second = lock(here, path, wait=0)  # the holder finishes; the next one locks what is there now
        with second, pytest.raises(Busy):
            lock(here, path, wait=0)


def test_whoever_waited_for_a_lock_file_that_goes_locks_the_new_one(
    home: Path, here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = here.root + b"/.lock", fcntl.flock
    replaced: list[int] = []

    def flock(number: int, how: int) -> None:
        if not replaced:
            (home / ".lock").rename(home / "old")
            (home / ".lock").touch()
            replaced.append(number)
        real(number, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with lock(here, path, wait=1) as held:
        assert os.fstat(held.number).st_ino == (home / ".lock").stat().st_ino


def test_a_file_system_that_grants_a_lock_twice_is_refused(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    here.create(here.root + b"/file", b"x")
    monkeypatch.setattr(fcntl, "flock", lambda _number, _how: None)
    acts: list[Callable[[], object]] = [
        lambda: lock(here, here.root + b"/.lock", wait=1),
        lambda: claim(here.root + b"/file"),
    ]
    for act in acts:
        with pytest.raises(StoreFault, match="this file system has no working locks"):
            act()


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_lock_is_taken_on_a_file_only(home: Path, here: Store, kind: str) -> None:
    if kind == "link":
        (home / "target").touch()
        (home / ".lock").symlink_to("target")
    else:
        (home / ".lock").mkdir()
    with pytest.raises(StoreFault, match="cannot lock"):
        lock(here, here.root + b"/.lock", wait=1)


# claims


def test_a_claim_moves_what_it_claimed_never_over_another(home: Path, here: Store) -> None:
    here.create(here.root + b"/one", b"one")
    here.create(here.root + b"/two", b"two")
    with claim(here.root + b"/one") as held:
        assert held.read(10) == b"one"
        with pytest.raises(Busy):
            claim(here.root + b"/one")
        with pytest.raises(StoreFault, match="exists"):
            held.move(here.root + b"/two")
        assert held.move(here.root + b"/three")
    assert (home / "two").read_bytes() == b"two"
    assert (home / "three").read_bytes() == b"one"
    assert not (home / "one").exists()


def test_both_names_of_one_file_become_one(home: Path, here: Store) -> None:
    here.create(here.root + b"/inbox", b"one")
    os.link(home / "inbox", home / "seen")
    with claim(here.root + b"/inbox") as held:
        assert held.move(here.root + b"/seen")
    assert not (home / "inbox").exists()
    assert (home / "seen").read_bytes() == b"one"


def test_a_file_that_left_its_name_is_no_claim(home: Path, here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here.root + b"/file"
    with pytest.raises(Gone):
        claim(path)
    here.create(path, b"x")
    with claim(path) as held:
        (home / "file").rename(home / "moved")
        assert not held.move(here.root + b"/seen")
    here.create(path, b"y")
    real = fcntl.flock

    def late(number: int, how: int) -> None:  # a winner filed it between our opening and our lock
        (home / "file").rename(home / "filed")
        real(number, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(Gone):
        claim(path)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "socket"])
def test_only_a_regular_file_can_be_claimed(home: Path, here: Store, kind: str) -> None:
    place = home / "thing"
    if kind == "link":
        place.symlink_to("format")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(place))
    with pytest.raises(Unreadable):
        claim(bytes(place))


# the rest


def test_carrying_never_takes_the_place_of_another(home: Path, here: Store) -> None:
    here.create(here.root + b"/one", b"one")
    here.create(here.root + b"/two", b"two")
    assert not claims.carry(here.root + b"/one", here.root + b"/two")
    assert not claims.carry(here.root + b"/none", here.root + b"/three")
    assert claims.carry(here.root + b"/one", here.root + b"/three")
    assert {path.name for path in home.iterdir()} == {"format", "mail", "two", "three"}


def test_removing_says_whether_anything_was_there(home: Path, here: Store) -> None:
    here.create(here.root + b"/file", b"x")
    assert [claims.remove(here.root + b"/file"), claims.remove(here.root + b"/file")] == [True, False]
    (home / "folder" / "inner").mkdir(parents=True)
    assert not claims.remove_folder(here.root + b"/folder")
    assert claims.remove_folder(here.root + b"/folder/inner")
    assert claims.remove_folder(here.root + b"/folder")
    assert claims.remove_folder(here.root + b"/folder")
    with pytest.raises(StoreFault, match="cannot remove"):
        claims.remove(here.root + b"/mail")


def test_a_folder_that_cannot_be_flushed_is_a_fault_unless_no_folder_can(
    here: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, fails in ((errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)):

        def fsync(_number: int, code: int = number) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "fsync", fsync)
        if fails:
            with pytest.raises(StoreFault, match="cannot flush"):
                claims.sync_folder(here.root)
        else:
            claims.sync_folder(here.root)
    assert files.exists(here.root)


def test_what_need_not_last_is_written_over_in_place_where_its_size_allows(home: Path, here: Store) -> None:
    path, file, outside = here.root + b"/file", home / "file", home / "outside"

    def rewritten(data: bytes, *, durable: bool = False) -> bool:
        """Whether it is the very file of before."""
        before = file.lstat().st_ino
        kept = file.open("rb")  # so that its number is not given to another
        here.rewrite(path, data, durable=durable)
        assert file.read_bytes() == data
        kept.close()
        return file.lstat().st_ino == before

    file.write_bytes(b"one")
    assert rewritten(b"two")
    assert not rewritten(b"three")
    assert not rewritten(b"seven", durable=True)
    os.link(file, outside)  # another name of the file is not for us to change
    assert not rewritten(b"eight")
    assert outside.read_bytes() == b"seven"
    file.unlink()
    file.symlink_to(outside)
    assert not rewritten(b"nine!")
    assert outside.read_bytes() == b"seven"


def test_the_mode_of_a_file_with_another_name_is_not_changed(home: Path, here: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (home / "own").write_text("x")
    (home / "own").chmod(0o644)
    os.link(outside, home / "linked")
    claims.set_mode(here.root + b"/own", 0o600)
    with pytest.raises(StoreFault, match="it has another name"):
        claims.set_mode(here.root + b"/linked", 0o600)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home / "own", outside)] == [0o600, 0o644]

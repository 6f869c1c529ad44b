"""Settings files on the disk: replaced as a whole, with everything else about them kept."""

import os
import stat
from pathlib import Path

import pytest

from git_coop import settings_file
from git_coop.errors import Busy, CoopError, Fatal
from git_coop.settings_json import Damaged


def entropy(count: int) -> bytes:
    return b"\xab" * count


def put(path: Path, data: bytes | None) -> None:
    settings_file.write(settings_file.read(os.fsencode(path)), data, entropy)


def tree(root: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """Everything below ``root``: modes, contents, where links lead."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for path in sorted(root.rglob("*")):
        state = path.lstat()
        content: bytes | str | None = None
        if stat.S_ISLNK(state.st_mode):
            content = os.readlink(path)
        elif stat.S_ISREG(state.st_mode):
            content = path.read_bytes()
        found[str(path.relative_to(root))] = (state.st_mode, content)
    return found


def refusal(path: Path, data: bytes | None = b"new") -> CoopError:
    """The error of a write that is refused; nothing may have changed."""
    before = tree(path.parent)
    with pytest.raises(CoopError) as caught:
        put(path, data)
    assert tree(path.parent) == before
    return caught.value


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o755])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    put(path, b"new")
    assert tree(tmp_path) == {"settings.json": (stat.S_IFREG | mode, b"new")}


def test_a_symbolic_link_stays_one_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "claude.json"
    target.write_bytes(b"old")
    (tmp_path / "between").symlink_to("dotfiles/claude.json")
    path = tmp_path / "settings.json"
    path.symlink_to(tmp_path / "between")
    put(path, b"new")
    assert target.read_bytes() == b"new"
    assert path.is_symlink()
    assert os.readlink(tmp_path / "between") == "dotfiles/claude.json"
    assert [entry.name for entry in (tmp_path / "dotfiles").iterdir()] == ["claude.json"]


def test_a_link_to_nothing_is_written_through_and_back(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to("dotfiles/claude.json")
    before = tree(tmp_path)
    put(path, b"new")
    assert (tmp_path / "dotfiles" / "claude.json").read_bytes() == b"new"
    put(path, None)
    assert tree(tmp_path) == before


def test_folders_that_were_made_go_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "opencode" / "plugins" / "git-coop.js"
    put(path, b"new")
    assert path.read_bytes() == b"new"
    put(path, None)
    assert tree(tmp_path) == {}


def test_folders_that_were_there_stay(tmp_path: Path) -> None:
    (tmp_path / ".config").mkdir()
    before = tree(tmp_path)
    path = tmp_path / ".config" / "opencode" / "git-coop.js"
    put(path, b"new")
    put(path, None)
    assert tree(tmp_path) == before


def test_a_folder_that_holds_something_else_by_now_stays(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    put(path, b"new")
    (tmp_path / ".claude" / "history").write_bytes(b"theirs")
    put(path, None)
    assert (tmp_path / ".claude" / "history").read_bytes() == b"theirs"


def test_a_folder_that_all_may_write_to_is_not_ours(tmp_path: Path) -> None:
    home = tmp_path / "shared"
    home.mkdir()
    home.chmod(0o1777)
    put(home / "settings.json", b"new")
    put(home / "settings.json", None)
    assert home.is_dir()


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    settings = settings_file.read(os.fsencode(path))
    path.write_bytes(b"theirs")
    with pytest.raises(Busy):
        settings_file.write(settings, b"new", entropy)
    assert tree(tmp_path) == {"settings.json": (stat.S_IFREG | 0o644, b"theirs")}


def test_a_file_that_appeared_since_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "settings.json"
    settings = settings_file.read(os.fsencode(path))
    path.parent.mkdir()
    path.write_bytes(b"theirs")
    with pytest.raises(Busy):
        settings_file.write(settings, b"new", entropy)
    assert path.read_bytes() == b"theirs"


def test_the_same_contents_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    before = path.stat()
    put(path, b"old")
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_ino,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(0o444)
    error = refusal(path)
    assert isinstance(error, Fatal)
    assert error.sentence == f"cannot write '{path}': the file is read-only"
    assert isinstance(refusal(path, None), Fatal)


def test_a_second_hard_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    os.link(path, tmp_path / "other")
    assert "hard link" in refusal(path).sentence


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "below a file"])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to("settings.json")
    else:
        path.write_bytes(b"old")
        path = path / "settings.json"
    with pytest.raises(Fatal):
        put(path, b"new")


def test_a_failure_leaves_the_old_file_and_nothing_staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made" / "settings.json"

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(Fatal, match="no space left"):
            put(path, b"new")
    assert tree(tmp_path) == {}
    put(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(Fatal, match="no space left"):
            put(path, b"new")
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]
    assert path.read_bytes() == b"old"


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    (tmp_path / ".settings.json.git-coop-00000000").write_bytes(b"half")
    (tmp_path / ".settings.json.git-coop-mine").write_bytes(b"theirs")
    put(path, b"new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".settings.json.git-coop-mine", "settings.json"]


def test_text_is_utf_8_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert settings_file.read(os.fsencode(path)).text() is None
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")
    assert settings_file.read(os.fsencode(path)).text() == "\ufeff{}\r\n"
    path.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(Damaged) as caught:
        settings_file.read(os.fsencode(path)).text()
    assert caught.value.sentence == "line 2, column 7: not UTF-8"

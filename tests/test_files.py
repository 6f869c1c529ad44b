"""Reading what anybody may have put there: nothing followed, nothing waited for, nothing unbounded."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import files
from git_coop.errors import StoreFault
from git_coop.files import Contents, Gone, Unreadable
from tests.support import users


def make_link(place: Path) -> None:
    place.with_name("target").write_text("secret")
    place.symlink_to("target")


def make_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


ODD: dict[str, Callable[[Path], object]] = {
    "a symbolic link": make_link,
    "a named pipe": os.mkfifo,
    "a directory": os.mkdir,
    "a socket": make_socket,
}


@pytest.mark.parametrize("word", ODD)
def test_what_is_no_regular_file_is_named_and_not_read(tmp_path: Path, word: str) -> None:
    place = tmp_path / "thing"
    ODD[word](place)
    for read in (files.read, files.read_cut, files.read_small):
        with pytest.raises(Unreadable) as caught:
            read(bytes(place), 100)
        assert caught.value.sentence == f"cannot read '{place}': it is {word}"
        assert caught.value.status == 128
    if word != "a directory":
        with pytest.raises(StoreFault, match=f"it is {word}"):
            files.entries(bytes(place))
        with pytest.raises(StoreFault, match=f"is {word}, not a folder"):
            files.is_folder(bytes(place))


def test_a_device_is_named_too(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="it is a device"):
        files.read(b"/dev/null", 10)


def test_a_file_is_read_to_its_bound(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"0123456789")
    os.utime(place, ns=(1, 2))
    assert files.read(bytes(place), 10) == b"0123456789"
    assert files.read_cut(bytes(place), 4) == Contents(b"0123", 10, 2, os.geteuid())
    with pytest.raises(Unreadable, match="it is larger than 9 bytes"):
        files.read(bytes(place), 9)


def test_a_sparse_file_of_five_gigabytes_costs_its_bound(tmp_path: Path) -> None:
    place = tmp_path / "sparse"
    place.touch()
    os.truncate(place, 5 << 30)
    assert files.read_cut(bytes(place), 1000) == Contents(bytes(1000), 5 << 30, place.stat().st_mtime_ns, os.geteuid())


def test_what_is_not_there_is_gone_and_a_small_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in (b"none", b"file/below"):
        path = bytes(tmp_path) + b"/" + name
        with pytest.raises(Gone):
            files.read(path, 1)
        assert files.read_small(path) is None
        assert not files.exists(path)


def test_names_are_listed_whatever_they_are(tmp_path: Path) -> None:
    for name in (b"plain", b"-dash", b"new\nline", b"\xff\xfe", b" "):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).touch()
    assert sorted(files.names(bytes(tmp_path))) == sorted([b"plain", b"-dash", b"new\nline", b"\xff\xfe", b" "])
    assert files.names(bytes(tmp_path) + b"/none") == []
    with pytest.raises(StoreFault, match="it is a file"):
        files.names(bytes(tmp_path) + b"/plain")


def test_an_unreadable_folder_is_not_an_empty_one(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip(users.NOT_ROOT)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)

    def look() -> str:
        try:
            return repr(files.names(bytes(closed)))
        except StoreFault as error:
            return error.sentence

    assert users.run_as(users.NOBODY, look) == f"cannot list '{closed}': permission denied"
    assert look() == "[]"


def test_a_folder_is_told_from_everything_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    at = bytes(tmp_path) + b"/"
    assert [files.is_folder(at + name) for name in (b"folder", b"none")] == [True, False]
    assert [files.is_real_folder(at + name) for name in (b"folder", b"none", b"file", b"dangling")] == [
        *(True, False, False, False)
    ]
    assert [files.exists(at + name) for name in (b"folder", b"none", b"file", b"dangling")] == [
        *(True, False, True, True)
    ]
    with pytest.raises(StoreFault, match="is a file, not a folder"):
        files.is_folder(at + b"file")
    with pytest.raises(StoreFault, match="cannot look at"):
        files.mode(at + b"none")
    (tmp_path / "folder").chmod(0o2750)
    assert files.mode(at + b"folder") == 0o2750


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("../nothing", "nothing"),
        ("./sub/../x", "base/x"),
        ("/etc/../nothing", "/nothing"),
        ("link/../x", "base/link/../x"),
        ("../nothing/", "base/../nothing/"),
        ("x\0/..", "base/x\0/.."),
    ],
)
def test_a_path_is_shown_without_its_detours_where_it_is_the_same(tmp_path: Path, path: str, plain: str) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "base" / "link").symlink_to(tmp_path / "far" / "away")
    found = files.joined(os.fsencode(tmp_path / "base"), path.encode())
    assert found == os.path.join(os.fsencode(tmp_path), plain.encode())

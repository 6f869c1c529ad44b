"""A store: its format, its modes, its making by many at once, and what is no box."""

import os
from pathlib import Path

import pytest

from git_coop import layout, making
from git_coop.errors import StoreFault
from git_coop.layout import Box, UnknownFormat
from git_coop.store import Store

KEY = "main-" + "0" * 32


def test_looking_makes_nothing(tmp_path: Path) -> None:
    assert layout.open_store(bytes(tmp_path / "coop")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_made_once_and_opened_as_it_is(tmp_path: Path) -> None:
    root = bytes(tmp_path / "coop")
    made = making.make_store(root, 0o700)
    assert (tmp_path / "coop" / "format").read_bytes() == b"1\n"
    assert layout.open_store(root) == made == Store(root, 0o700)
    assert making.is_finished(made)
    assert making.make_store(root, 0o2770) == made  # what stands keeps its mode


@pytest.mark.parametrize("content", [b"2\n", b"", b"1", b"1\r\n", b"one\n", b"\xff" * 1000])
def test_an_unknown_format_stops_everything(tmp_path: Path, content: bytes) -> None:
    root = bytes(tmp_path / "coop")
    making.make_store(root, 0o700)
    (tmp_path / "coop" / "format").write_bytes(content)
    with pytest.raises(UnknownFormat) as caught:
        layout.open_store(root)
    assert caught.value.status == 128
    with pytest.raises(UnknownFormat):
        making.make_store(root, 0o700)
    assert layout.open_store(root, any_format=True) == Store(root, 0o700)
    assert (tmp_path / "coop" / "format").read_bytes() == content


def test_a_making_that_was_cut_short_is_gone_on_with(tmp_path: Path) -> None:
    root = bytes(tmp_path / "coop")
    (tmp_path / "coop").mkdir(mode=0o755)
    unfinished = layout.open_store(root)
    assert unfinished is not None
    assert not making.is_finished(unfinished)
    made = making.make_store(root, 0o700)
    assert made.dir_mode == 0o700  # the mode that was asked for, not the one of a half-made folder
    assert making.is_finished(made)


@pytest.mark.parametrize("name", ["", "/mail", "/mail/tmp", "/mail/box", "/letters", "/todos", "/requests"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_no_part_of_a_store_is_followed_elsewhere(tmp_path: Path, name: str, kind: str) -> None:
    root = tmp_path / "coop"
    making.make_store(bytes(root), 0o700)
    place = Path(f"{root}{name}")
    if place.exists():
        place.rename(tmp_path / "elsewhere")
    else:
        (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere") if kind == "link" else place.touch()
    with pytest.raises(StoreFault) as caught:
        layout.open_store(bytes(root))
    assert caught.value.sentence == f"'{place}' is {'a symbolic link' if kind == 'link' else 'a file'}, not a folder"


def test_eight_processes_make_one_store(tmp_path: Path) -> None:
    root, (reader, writer) = bytes(tmp_path / "coop"), os.pipe()
    children = []
    for _number in range(8):
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)  # the end of the pipe: all start at once
            try:
                made = making.make_store(root, 0o2770)
                os._exit(0 if made.create(root + b"/%d" % os.getpid(), b"x") else 1)
            except BaseException:
                os._exit(2)
        children.append(child)
    os.close(reader)
    os.close(writer)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
    assert layout.open_store(root) == Store(root, 0o2770)
    assert {path.name for path in (tmp_path / "coop").iterdir()} == {"format", "mail", *map(str, children)}
    assert list((tmp_path / "coop" / "mail" / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("value", "mode"),
    [
        *[(word, 0o2770) for word in ("group", "true", "1", "yes", "on", "TRUE", "0660", "660")],
        *[(word, 0o2775) for word in ("all", "world", "everybody", "2", "0664")],
        *[(word, 0o700) for word in ("", "umask", "false", "0", "no", "off", "0600", "junk", "0999", "-1")],
        ("0640", 0o2750),
        ("0666", 0o2777),
    ],
)
def test_the_mode_of_a_shared_repository(value: str, mode: int) -> None:
    assert making.shared_mode(value) == mode
    assert Store(b"/", mode).file_mode == mode & 0o666


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (KEY, True),
        ("a-b-9-" + "f" * 32, True),
        ("main-" + "0" * 31, False),
        ("main-" + "g" * 32, False),
        ("main-" + "A" * 32, False),
        ("Main-" + "0" * 32, False),
        ("-" + "0" * 32, False),
        ("x" * 33 + "-" + "0" * 32, False),
        ("ma\nin-" + "0" * 32, False),
        ("../x-" + "0" * 32, False),
        (".lock", False),
    ],
)
def test_a_key_has_one_shape(name: str, answer: bool) -> None:
    assert layout.is_key(name.encode()) is answer


def test_a_box_that_is_no_folder_is_no_box(tmp_path: Path) -> None:
    store = making.make_store(bytes(tmp_path / "coop"), 0o700)
    assert layout.boxes(store) == []
    above = tmp_path / "coop" / "mail" / "box"
    (above / KEY).mkdir(parents=True)
    (above / ("link-" + "1" * 32)).symlink_to(KEY)
    (above / ("file-" + "2" * 32)).touch()
    (above / "notes").mkdir()
    assert layout.boxes(store) == [Box(store, KEY)]


def test_a_box_says_whose_it_is(tmp_path: Path) -> None:
    store = making.make_store(bytes(tmp_path / "coop"), 0o700)
    box = Box(store, KEY)
    assert box.path() == b""
    store.ensure_folder(box.mail)
    store.create(box.path_file, b"/w/new\nline\xff\n")
    assert box.path() == b"/w/new\nline\xff"
    assert layout.message_path(box.inbox, "x") == store.root + b"/mail/box/" + KEY.encode() + b"/inbox/x.eml"

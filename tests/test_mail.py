"""Queueing one message: the note, the message, and what a failure between the two leaves."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import layout, mail, making, sent
from git_coop.errors import Refused, StoreFault, Usage
from git_coop.layout import Box
from git_coop.mail import Content, Letterhead
from git_coop.store import Store
from tests.support.world import START, Counter


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Box, Box]:
    store = making.make_store(os.fsencode(tmp_path / "coop"), 0o700)
    found = []
    for name in ("own", "there"):
        (tmp_path / name).mkdir()
        found.append(making.open_outside(store, os.fsencode(tmp_path / name)))
    return found[0], found[1]


def queue(pair: tuple[Box, Box], content: Content, entropy: "Callable[[int], bytes] | None" = None) -> mail.Queued:
    own, there = pair
    head = Letterhead(own.key, b"/own")
    return mail.queue(own, there, b"/there", head, content, entropy or Counter(), START)


def lying(pair: tuple[Box, Box]) -> tuple[int, int]:
    """(notes of the sender, messages of the recipient)."""
    return len(os.listdir(pair[0].sent)), len(os.listdir(pair[1].inbox))


def test_a_message_and_its_note(pair: tuple[Box, Box]) -> None:
    done = queue(pair, Content("\n  the first\tline \nmore", term=60))
    assert (done.box, done.path, done.expires, done.drained, done.off) == (pair[1], b"/there", START + 60, None, False)
    note = sent.read(pair[0], done.id)
    assert note is not None
    assert (note.subject, note.first_line) == ("", "the first line")
    assert (note.about, note.path, note.key, note.run) == ("the first line", b"/there", pair[1].key, "")
    assert sent.holds(pair[1], done.id)
    assert lying(pair) == (1, 1)


def test_an_id_that_is_taken_is_not_used_again(pair: tuple[Box, Box]) -> None:
    drawn = iter([1, 1, 2, 2, 3, 4])

    def entropy(size: int) -> bytes:
        return next(drawn).to_bytes(size, "big")

    ids = [queue(pair, Content("x"), entropy).id[20:] for _number in range(2)]
    assert ids == ["00000001", "00000002"]
    os.unlink(sent.path_of(pair[0], f"20261130T104512123Z-{ids[1]}"))
    os.rename(
        layout.message_path(pair[1].inbox, f"20261130T104512123Z-{ids[1]}"),
        layout.message_path(pair[1].seen, f"20261130T104512123Z-{ids[1]}"),
    )
    assert queue(pair, Content("x"), entropy).id[20:] == "00000003"
    with pytest.raises(Refused, match="no free message id"):
        queue(pair, Content("x"), lambda size: (1).to_bytes(size, "big"))


def test_a_field_that_is_too_long_leaves_nothing(pair: tuple[Box, Box]) -> None:
    with pytest.raises(Refused, match="the subject is 4097 bytes long"):
        queue(pair, Content("x", subject="s" * 4097))
    assert lying(pair) == (0, 0)
    queue(pair, Content("x", subject="s" * 4096))
    assert lying(pair) == (1, 1)


def test_a_message_that_cannot_be_published_takes_its_note_back(pair: tuple[Box, Box]) -> None:
    os.rmdir(pair[1].inbox)
    Path(os.fsdecode(pair[1].inbox)).write_text("in the way")
    with pytest.raises(StoreFault):
        queue(pair, Content("x"))
    assert os.listdir(pair[0].sent) == []


def test_a_message_that_is_there_keeps_its_note_though_its_flush_failed(
    pair: tuple[Box, Box], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Store.create

    def create(store: Store, path: bytes, data: bytes, *, durable: bool = True) -> bool:
        done = real(store, path, data, durable=durable)
        if b"/inbox/" in path:
            raise StoreFault("cannot flush", path=path)
        return done

    monkeypatch.setattr(Store, "create", create)
    with pytest.raises(StoreFault):
        queue(pair, Content("x"))
    assert lying(pair) == (1, 1)


def test_the_record_of_drains_stands_in_no_messages_way(pair: tuple[Box, Box]) -> None:
    os.symlink("/nowhere", pair[1].drained)
    assert queue(pair, Content("x")).drained is None


@pytest.mark.parametrize("word", ["a\nb", "a\rb", "a\x0bb", "a\x85b", "a\u2028b"])
def test_labels_are_lines(word: str) -> None:
    for content in (Content("x", subject=word), Content("x", kind=word), Content("x", to_session=word)):
        with pytest.raises(Usage):
            mail.checked(content)
    good = Content("x", subject="a b", kind="k" * 16, to_session="s")
    assert mail.checked(good) == good


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        ("one", "one"),
        ("\n \n  two  words \nthree", "two words"),
        (" \n", ""),
        ("x" * 200, "x" * 119 + "…"),
        ("a\x1bb", "a?b"),
    ],
)
def test_the_subject_of_a_body(body: str, subject: str) -> None:
    assert mail.subject_of(body) == subject

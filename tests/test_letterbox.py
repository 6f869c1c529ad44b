"""Letters on the disk: one live letter at every instant, whatever was killed, edited or removed by hand."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from git_coop import files, ids, layout, letter_glance, letter_record, letterbox, letters, making
from git_coop.claims import lock
from git_coop.errors import Busy, NotFound, Refused, StoreFault
from git_coop.layout import Box
from git_coop.letterbox import Broken, Shelf
from git_coop.letters import Letter
from git_coop.store import Store
from git_coop.toml import Damaged
from tests.support.world import START, Counter
from tests.test_letter_record import LETTERS
from tests.test_letters import in_state

MS = 1_000_000


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(making.make_store(bytes(tmp_path / "coop"), 0o700), f"main-{'0' * 32}")


ENTROPY = Counter()


def write(box: Box, body: str, now: int = START, session: str | None = "writer") -> letterbox.Sent:
    def draft(identifier: str) -> Letter:
        made = Letter(identifier, box.key, "/w/main", body, letters.subject_of(body), ids.time_of(identifier))
        return letters.written(made.replace(session=session))

    return letterbox.write(box, draft, now, ENTROPY)


def read(box: Box, identifier: str) -> Letter:
    return letterbox.change(box, identifier, lambda letter: letters.read(letter, START, None))


def put(box: Box, letter: Letter) -> Path:
    """Write a record by hand."""
    path = Path(layout.letter_path(box, letter.id).decode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(letter_record.encode(letter))
    return path


def test_a_new_letter_supersedes_the_live_one_and_the_chain_goes_both_ways(box: Box) -> None:
    first = write(box, "one").letter
    read(box, first.id)
    sent = write(box, "two", START + MS)
    assert [old.id for old in sent.superseded] == [first.id]
    assert sent.superseded[0].read_count == 1
    old, new = letterbox.shelf(box).letters
    assert (old.status, old.superseded_by, old.close_reason, old.read_count) == (
        "superseded",
        new.id,
        "superseded",
        1,
    )
    assert (new.status, new.supersedes) == ("unread", (old.id,))
    assert [event.event for event in old.events] == ["write", "read", "supersede"]
    assert letter_record.stored(box, old.id) == old


def test_a_closed_letter_is_not_superseded(box: Box) -> None:
    first = write(box, "one").letter
    letterbox.change(box, first.id, lambda letter: letters.abandon(letter, START, None, "why"))
    sent = write(box, "two", START + MS)
    assert (sent.superseded, sent.letter.supersedes) == ((), ())
    assert letter_record.stored(box, first.id).status == "abandoned"


@pytest.mark.parametrize("back", [0, MS, 3600 * 10**9, 20 * 365 * 86400 * 10**9])
def test_a_new_id_is_later_whatever_the_clock_says(box: Box, back: int) -> None:
    first = write(box, "one").letter
    second = write(box, "two", START - back).letter
    assert second.id[: ids.STAMP] > first.id[: ids.STAMP]
    assert letterbox.live(box) == second


def test_killed_after_the_commit_the_new_letter_is_live_and_the_old_one_is_not(box: Box) -> None:
    first = write(box, "one").letter
    read(box, first.id)
    second = write(box, "two", START + MS).letter
    unmarked = letter_record.stored(box, first.id).replace(
        status="read", superseded_at=None, superseded_by=None, close_reason=None
    )
    put(box, unmarked)  # as a kill between the two would have left it
    assert letterbox.live(box) == second
    assert letterbox.load(box, first.id).superseded_by == second.id
    assert [letter.status for letter in letterbox.shelf(box).letters] == ["superseded", "unread"]
    read(box, second.id)  # the next change marks it
    marked = letter_record.stored(box, first.id)
    assert (marked.status, marked.superseded_by, marked.events[-1].session) == ("superseded", second.id, "writer")


def test_a_refusal_changes_nothing_not_even_what_waits_to_be_marked(box: Box) -> None:
    first = write(box, "one").letter
    second = write(box, "two", START + MS).letter
    put(box, first)
    before = files.read(layout.letter_path(box, first.id), 1 << 20)
    with pytest.raises(Refused):
        letterbox.change(box, second.id, lambda letter: letters.ack(letter, START, None, None))
    assert files.read(layout.letter_path(box, first.id), 1 << 20) == before


def test_a_reading_of_a_letter_that_waits_to_be_marked_keeps_both(box: Box) -> None:
    first = write(box, "one").letter
    write(box, "two", START + MS)
    put(box, first)
    after = read(box, first.id)
    assert (after.status, after.read_count) == ("superseded", 1)
    assert [event.event for event in letter_record.stored(box, first.id).events] == ["write", "supersede", "read"]


def test_several_hand_edited_live_records_have_one_live_letter(box: Box) -> None:
    sent = [write(box, str(number), START + number * MS).letter for number in range(3)]
    for letter in sent:
        put(box, letter)
    assert [letter.status for letter in letterbox.shelf(box).letters] == ["superseded", "superseded", "unread"]
    fourth = write(box, "4", START + 9 * MS)
    assert [old.id for old in fourth.superseded] == [sent[2].id]
    stored = [letter_record.stored(box, letter.id) for letter in sent]
    assert [letter.superseded_by for letter in stored] == [sent[1].id, sent[2].id, fourth.letter.id]


def test_a_newest_record_that_was_removed_resurrects_no_other(box: Box) -> None:
    first = write(box, "one").letter
    second = write(box, "two", START + MS).letter
    Path(layout.letter_path(box, second.id).decode()).unlink()
    assert letterbox.live(box) is None
    with pytest.raises(NotFound) as caught:
        letterbox.demand(box, None)
    assert caught.value.sentence == (
        f"no live letter here: {first.id} was superseded by {second.id}, whose record is gone"
    )


def test_a_newest_record_that_is_unreadable_is_not_no_letter(box: Box) -> None:
    first = write(box, "one").letter
    second = write(box, "two", START + MS).letter
    path = Path(layout.letter_path(box, second.id).decode())
    path.write_bytes(b"half a rec")
    with pytest.raises(StoreFault, match=second.id):
        letterbox.live(box)
    shelf = letterbox.shelf(box)
    assert [letter.id for letter in shelf.letters] == [first.id]
    assert shelf.letters[0].status == "superseded"
    assert [broken.id for broken in shelf.broken] == [second.id]
    third = write(box, "three", START + 2 * MS)
    assert third.letter.supersedes == (second.id,)
    assert [broken.id for broken in third.unsettled] == [second.id]
    assert letterbox.live(box) == third.letter
    assert path.read_bytes() == b"half a rec"


def test_an_unreadable_record_below_a_good_one_hides_nothing(box: Box) -> None:
    first = write(box, "one").letter
    second = write(box, "two", START + MS).letter
    Path(layout.letter_path(box, first.id).decode()).write_bytes(b"\xff")
    assert letterbox.live(box) == second
    assert letterbox.demand(box, None) == second
    assert write(box, "three", START + 2 * MS).unsettled == ()


def test_names_that_are_no_letters_are_counted_and_never_opened(box: Box) -> None:
    first = write(box, "one").letter
    place = Path(box.letters.decode())
    (place / "notes.toml").write_text("x")
    (place / f"{first.id}.toml~").write_text("x")
    (place / "20261399T104512123Z-00000001.toml").write_text("no such month")
    (place / "\udcff.toml").write_text("x")
    shelf = letterbox.shelf(box)
    assert ([letter.id for letter in shelf.letters], shelf.broken, shelf.strangers) == ([first.id], (), 4)


def test_what_lies_in_the_place_of_a_record_is_named(box: Box) -> None:
    first = write(box, "one").letter
    path = Path(layout.letter_path(box, first.id).decode())
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")
    assert letterbox.shelf(box).broken == (Broken(first.id, f"cannot read '{path}': it is a symbolic link"),)


def test_an_empty_box_has_no_letter(box: Box) -> None:
    assert (letterbox.shelf(box), letterbox.live(box), letter_glance.known(box)) == (Shelf(), None, [])
    with pytest.raises(NotFound) as caught:
        letterbox.demand(box, None)
    assert caught.value.sentence == "no live letter here: none was ever written"
    with pytest.raises(NotFound):
        letterbox.demand(box, "abcd")


def test_letters_are_found_by_their_tails_and_in_any_box(box: Box) -> None:
    first, second = write(box, "one").letter, write(box, "two", START + MS).letter
    assert letterbox.demand(box, first.id).id == first.id
    assert letterbox.demand(box, ids.tail(second.id)).id == second.id
    other = Box(box.store, f"other-{'1' * 32}")
    third = write(other, "three").letter
    assert letterbox.anywhere(box.store, ids.tail(third.id)).key == other.key
    assert [each.key for each in letterbox.shelves(box.store)] == [box.key, other.key]
    with pytest.raises(NotFound):
        letterbox.anywhere(box.store, "ffff")


def test_the_folder_says_whose_a_letter_is(box: Box) -> None:
    letter = write(box, "one").letter
    put(box, letter.replace(key="elsewhere-0"))
    assert letter_record.stored(box, letter.id).key == box.key


def test_a_held_lock_is_busy_after_the_wait(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(box, "one").letter
    monkeypatch.setattr(letterbox, "LOCK_WAIT", 0.01)
    with lock(box.store, box.letters + b"/.lock", wait=0), pytest.raises(Busy) as caught:
        write(box, "two")
    assert (caught.value.status, caught.value.hint) == (1, "try again")
    assert letter_glance.known(box) == [first.id]


def test_marks_that_cannot_be_made_lose_nothing(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(box, "one").letter

    def full(_store: Store, path: bytes, _data: bytes, **_options: object) -> None:
        raise StoreFault("cannot write: no space left on device", path=path)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "rewrite", full)
        sent = write(box, "two", START + MS)
    assert sent.unsettled == (Broken(first.id, "cannot write: no space left on device"),)
    assert letterbox.live(box) == sent.letter
    assert letter_record.stored(box, first.id).status == "unread"
    write(box, "three", START + 2 * MS)
    assert letter_record.stored(box, first.id).superseded_by == sent.letter.id


def test_a_letter_that_cannot_be_published_leaves_the_live_one(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(box, "one").letter
    before = letterbox.shelf(box)

    def full(_store: Store, path: bytes, _data: bytes, **_options: object) -> bool:
        raise StoreFault("cannot write: no space left on device", path=path)

    monkeypatch.setattr(Store, "create", full)
    with pytest.raises(StoreFault):
        write(box, "two", START + MS)
    assert letterbox.shelf(box) == before
    assert letterbox.live(box) == first


def test_what_a_newer_program_put_into_an_event_stays_there(box: Box) -> None:
    letter = write(box, "one", session=None).letter
    path = Path(layout.letter_path(box, letter.id).decode())
    path.write_bytes(path.read_bytes().replace(b'event = "write"', b'event = "write"\nmeta = { tool = "x" }'))
    for count in (1, 2):
        assert read(box, letter.id).read_count == count
    assert letter_record.stored(box, letter.id).events[0].unknown == {"meta": {"tool": "x"}}
    assert write(box, "two").superseded[0].id == letter.id
    assert letter_record.stored(box, letter.id).status == "superseded"


# at a glance


def as_glanced(box: Box, letter: Letter) -> Letter:
    """A letter with what a glance keeps of it."""
    kept = ("id", "path", "subject", "created_at", "status", "branch", "head", "session")
    return Letter(key=box.key, body="", **{name: getattr(letter, name) for name in kept})


@given(LETTERS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_glance_sees_what_a_reading_sees(box: Box, letter: Letter) -> None:
    put(box, letter)
    seen = letter_glance.glance(box, letter.id)
    assert as_glanced(box, seen.letter) == as_glanced(box, letter)
    assert (seen.letter.body, seen.size, seen.exact) == ("", len(letter.body.encode()), True)


@pytest.mark.parametrize(
    ("old", "new", "plain"),
    [
        (b"", b"", True),
        (b'status = "read"', b'status = "read" ', False),
        (b"read_count = 1", b"read_count = 0x1", False),
        (b"\n[[events]]", b"\nnewer = [1]\n[[events]]", False),
        (b"body = '''", b"# a remark\nbody = '''", False),
    ],
)
def test_a_record_that_a_hand_changed_is_read_all_the_same(
    box: Box, monkeypatch: pytest.MonkeyPatch, old: bytes, new: bytes, plain: bool
) -> None:
    letter = in_state("read").replace(body="one\ntwo\n")
    path = put(box, letter)
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    parsed: list[bytes] = []
    real = letter_record.decode

    def decode(data: bytes, path: bytes, identifier: str) -> Letter:
        parsed.append(data)
        return real(data, path, identifier)

    monkeypatch.setattr(letter_record, "decode", decode)
    seen = letter_glance.glance(box, letter.id)
    assert (seen.letter.status, seen.size) == ("read", 8)
    assert bool(parsed) is not plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'status = "read"', b'status = "lost"'),
        (b'path = "', b'path = 5 # "'),
        (b"created_at = 2", b"created_at = 20 # "),
        (b"read_count = 1", b'read_count = "1"'),
        (b"read_count = 1", b"read_count = 2026-01-01T00:00:00Z"),
        (b"[[events]]", b"[[supersedes]]\na = 1\n\n[[events]]"),
        (b"[[events]]\nevent", b"[[events]]\nnothing"),
        (b"status =", b"events = 5\nstatus ="),
        (b"body = '''", b"text = '''"),
        (b"two\n", b"\xff"),
    ],
)
def test_a_glance_at_a_damaged_record_names_it_as_a_reading_does(box: Box, old: bytes, new: bytes) -> None:
    letter = in_state("read").replace(body="one\ntwo\n")
    path = put(box, letter)
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(Damaged) as read:
        letter_record.stored(box, letter.id)
    with pytest.raises(Damaged) as glanced:
        letter_glance.glance(box, letter.id)
    assert glanced.value.sentence == read.value.sentence


def test_of_a_long_letter_the_head_alone_is_read(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    letter = in_state("read").replace(body="line\n" * (letter_glance.GLANCED // 4), subject='a "quoted" one')
    size = put(box, letter).stat().st_size
    monkeypatch.setattr(letter_record, "stored", lambda *_words: pytest.fail("the whole of it was read"))
    seen = letter_glance.glance(box, letter.id)
    assert as_glanced(box, seen.letter) == as_glanced(box, letter)
    assert (seen.size, seen.exact) == (size, False)

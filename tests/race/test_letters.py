"""Letters under contention: real processes, let go at one instant by the end of a pipe."""

import itertools
import os
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from git_coop import layout, letter_glance, letter_record, letterbox
from git_coop.__main__ import main
from git_coop.layout import Box
from git_coop.letters import Letter
from tests.support.clones import Clone, copy_template
from tests.support.world import START, Worlds

ROUNDS = 100
CALLS = ("mkdir", "fsync", "link", "rename", "unlink", "close")  # where a write may be killed
Act = Callable[[], int]


def race(acts: Sequence[Act], meanwhile: Callable[[], None] | None = None) -> list[int]:
    """Run each in a process of its own, all let go at once; exit statuses, minus the signal where one killed it.

    ``meanwhile`` is called over and over until the last has ended.
    """
    reader, writer = os.pipe()
    children = [_fork(act, reader, writer) for act in acts]
    os.close(reader)
    os.close(writer)
    ended: dict[int, int] = {}
    try:
        while meanwhile is not None and len(ended) < len(children):
            meanwhile()
            for child in set(children) - set(ended):
                pid, status = os.waitpid(child, os.WNOHANG)
                ended.update({child: os.waitstatus_to_exitcode(status)} if pid else {})
    finally:
        for child in set(children) - set(ended):
            ended[child] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [ended[child] for child in children]


def _fork(act: Act, reader: int, writer: int) -> int:
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        try:
            os._exit(act())
        except BaseException:
            os._exit(99)
    return child


class Contest:
    """A clone's letters, and commands that processes run on them."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.edge = edge
        self.clone = clone

    def coop(self, *words: str, now: int = START, session: str = "") -> Act:
        """A run of the program in this process; real randomness, for the ids of two processes must differ."""

        def act() -> int:
            world = self.edge(self.clone.root, {"GIT_COOP_SESSION": session or None}, now=now)
            return main(["letter", *words], world.replace(entropy=os.urandom))

        return act

    @property
    def box(self) -> Box:
        """The only box with letters."""
        store = layout.open_store(bytes(self.clone.coop))
        assert store is not None
        [box] = letterbox.shelves(store)
        return box

    def all(self) -> tuple[Letter, ...]:
        """The letters, in their effective states."""
        shelf = letterbox.shelf(self.box)
        assert (shelf.broken, shelf.strangers) == ((), 0)
        return shelf.letters


@pytest.fixture
def desk(edge: Worlds, clone: Clone, template: Path) -> Contest:
    """Commands ran once in this process, elsewhere, so that none of a race has to load a module."""
    with tempfile.TemporaryDirectory() as place:
        warm = Contest(edge, copy_template(template, Path(place, "clone")))
        assert [warm.coop(*words)() for words in (["write", "-m", "x"], ["read"], ["ack"])] == [0, 0, 0]
    return Contest(edge, clone)


def test_two_writers_at_the_same_instant(desk: Contest) -> None:
    assert race([desk.coop("write", "-m", "the first")]) == [0]
    seen = set()
    box = desk.box

    def look() -> None:
        live = letterbox.live(box)
        assert live is not None, "an instant without a live letter"
        seen.add(live.id)

    def look_at_all() -> None:
        look()
        assert desk.all()[-1].live, "a list without a live letter"

    for number in range(ROUNDS):
        now = START + number * 10_000_000
        before = letter_glance.known(box)
        writers = [desk.coop("write", "-m", f"{number} {name}", now=now) for name in "ab"]
        assert race(writers, look_at_all if number < 5 else look if number < 20 else None) == [0, 0]
        assert letter_glance.known(box)[:-2] == before
        older, newest = (letterbox.load(box, identifier) for identifier in letter_glance.known(box)[-2:])
        assert {older.body, newest.body} == {f"{number} a", f"{number} b"}
        assert (newest.status, newest.supersedes) == ("unread", (older.id,))
        assert (older.status, older.superseded_by) == ("superseded", newest.id)
    letters_ = desk.all()
    assert len(letters_) == 1 + 2 * ROUNDS
    assert [letter.superseded_by for letter in letters_] == [*(letter.id for letter in letters_[1:]), None]
    assert [letter_record.stored(desk.box, letter.id) for letter in letters_] == list(letters_)
    assert seen


def test_sixteen_readers_are_sixteen_readings(desk: Contest) -> None:
    assert race([desk.coop("write", "-m", "read me")]) == [0]
    for number in (1, 2):
        assert race([desk.coop("read", session=f"r{each}") for each in range(16)]) == [0] * 16
        [letter] = desk.all()
        assert (letter.status, letter.read_count) == ("read", 16 * number)
        assert len(letter.events) == 1 + 16 * number


def test_sixteen_first_writers_make_one_store_and_one_box(desk: Contest, clone: Clone) -> None:
    assert race([desk.coop("write", "-m", str(each)) for each in range(16)]) == [0] * 16
    found = desk.all()
    assert len(found) == 16
    assert [letter.live for letter in found] == [False] * 15 + [True]
    assert len(list((clone.coop / "mail" / "box").glob("*-*"))) == 1
    assert list((clone.coop / "mail" / "tmp").iterdir()) == []


def test_a_closing_and_a_new_letter_at_once_leave_one_outcome(desk: Contest) -> None:
    for number in range(10):
        now = START + number * 10_000_000
        assert race([desk.coop("write", "-m", "old", now=now)]) == [0]
        assert race([desk.coop("read", now=now)]) == [0]
        old = desk.all()[-1]
        statuses = race([desk.coop("ack", old.id, now=now), desk.coop("write", "-m", "new", now=now)])
        assert statuses[1] == 0
        closed, new = desk.all()[-2:]
        assert (closed.id, new.status) == (old.id, "unread")
        if statuses[0] == 0:
            assert (closed.status, new.supersedes) == ("done", ())
        else:
            assert (statuses[0], closed.status, closed.superseded_by) == (1, "superseded", new.id)


def doomed(act: Act, at: int) -> Act:
    """The same, killed just after its call number ``at`` that may change a file."""
    count = 0

    def after(real: Callable[..., object]) -> Callable[..., object]:
        def called(*args: object, **options: object) -> object:
            nonlocal count
            result = real(*args, **options)
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return called

    def run() -> int:
        for name in CALLS:
            setattr(os, name, after(getattr(os, name)))
        return act()

    return run


def test_a_writer_that_is_killed_anywhere_leaves_one_live_letter(desk: Contest, clone: Clone) -> None:
    assert race([desk.coop("write", "-m", "first"), desk.coop("write", "-m", "second")]) == [0, 0]
    statuses = []
    for at in range(1, 60):
        now = START + at * 10_000_000
        before = desk.all()
        writers = [doomed(desk.coop("write", "-m", "killed", now=now), at), desk.coop("write", "-m", "whole", now=now)]
        statuses.append(race(writers))
        assert statuses[-1][1] == 0
        found = desk.all()
        assert [letter.id for letter in found[: len(before)]] == [letter.id for letter in before]
        new = found[len(before) :]
        assert sorted(letter.body for letter in new) in (["whole"], ["killed", "whole"])
        assert [letter.live for letter in found] == [False] * (len(found) - 1) + [True]
        assert all(old.superseded_by == new.id for old, new in itertools.pairwise(found))
        if statuses[-1][0] == 0:
            break
    assert statuses[-1] == [0, 0], "the list of calls came to its end"
    assert len(statuses) > 10
    box = desk.box
    assert race([desk.coop("read", now=START * 2)]) == [0]
    assert [letter_record.stored(box, letter.id) for letter in desk.all()] == list(desk.all())
    assert box.store.sweep() >= 1
    assert list((clone.coop / "mail" / "tmp").iterdir()) == []


def test_a_reader_that_is_killed_anywhere_counts_once_or_not(desk: Contest) -> None:
    assert race([desk.coop("write", "-m", "read me")]) == [0]
    for at in range(1, 40):
        before = desk.all()[0].read_count
        [status] = race([doomed(desk.coop("read", session=f"r{at}"), at)])
        [letter] = desk.all()
        assert letter.read_count - before in (0, 1)
        assert letter.read_count == sum(event.event == "read" for event in letter.events)
        if status == 0:
            assert letter.read_count == before + 1
            break
    assert status == 0

"""Whose box: keys, identities, moves, copies, and worktrees that took another's place."""

import hashlib
import os
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import claims, discover, layout, making, moves
from git_coop.discover import Worktree
from git_coop.errors import StoreFault
from git_coop.layout import Box
from git_coop.store import Store
from tests.support.clones import Clone
from tests.support.desk import tree


def there(place: Path) -> Worktree:
    return discover.find(bytes(place), {})


def fresh(number: int) -> str:
    return f"20261130T1045{number:02d}000Z-{number:08x}"


class Clones:
    """Opens boxes with ids that count."""

    def __init__(self) -> None:
        self.count = 0

    def open(self, place: Path) -> layout.Opened:
        self.count += 1
        worktree = there(place)
        return moves.open_box(making.make_store(worktree.coop, 0o700), worktree, fresh(self.count))

    def look(self, place: Path) -> Box:
        store = layout.open_store(there(place).coop)
        assert store is not None
        return moves.locate(store, there(place))

    def fill(self, box: Box, name: str) -> None:
        """One thing of every kind."""
        store = box.store
        places = [box.letters, box.todos, box.inbox, box.seen, box.receipts, box.sent, box.shown + b"/0123"]
        for folder in places:
            store.ensure_folder(folder)
            store.create(folder + b"/" + name.encode(), name.encode())

    def held(self, box: Box) -> set[str]:
        """What lies in a box, as kind and name."""
        found = set()
        for kind, place in (("letters", box.letters), ("todos", box.todos), ("mail", box.mail)):
            for top, _folders, names in os.walk(place.decode()):
                inner = os.path.relpath(top, place.decode())
                found |= {os.path.normpath(f"{kind}/{inner}/{name}") for name in names}
        return {name for name in found if not name.endswith(("/owner", "/path", "/.lock"))}


EVERY = {
    f"{where}/%s"
    for where in ("letters", "todos", "mail/inbox", "mail/seen", "mail/receipts", "mail/sent", "mail/shown/0123")
}


def every(*names: str) -> set[str]:
    return {where % name for where in EVERY for name in names}


@pytest.fixture
def at() -> Clones:
    return Clones()


# keys


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        (b"/t/Primary", "primary"),
        (b"/t/my_repo.git", "my-repo-git"),
        (b"/t/  a  b ", "a-b"),
        (b"/t/--x--", "x"),
        ("/t/日本".encode(), "box"),
        ("/t/café".encode(), "caf"),
        (b"/t/\xff\xfe9", "9"),
        (b"/", "box"),
        (b"/t/new\nline", "new-line"),
        (b"/t/back\\slash", "back-slash"),
        (b"/t/" + b"x" * 40, "x" * 32),
        (b"/t/" + b"x" * 31 + b"-y", "x" * 31),
    ],
)
def test_a_slug_is_for_human_eyes(path: bytes, slug: str) -> None:
    assert layout.slug(path) == slug


@given(st.binary(max_size=60).map(lambda name: b"/t/" + name.replace(b"/", b"").replace(b"\0", b"")))
def test_every_path_has_a_key_of_the_one_shape(path: bytes) -> None:
    assert layout.is_key(layout.key(path).encode())


def test_the_key_is_the_hash_of_the_whole_path() -> None:
    assert layout.key(b"/t/Main") == "main-" + hashlib.sha256(b"/t/Main").hexdigest()[:32]
    assert (
        len({layout.key(path) for path in (b"/t/repo", b"/t/repo-fix", b"/t/repo/.wt/x", b"/t/Repo", b"/u/repo")}) == 5
    )


Probe = Callable[[bytes, bytes], bool]


def folding(*, case: bool, form: bool) -> Probe:
    """A file system that takes names for one that differ in case, or in their composition."""

    def fold(path: bytes) -> str:
        text = os.fsdecode(path)
        text = unicodedata.normalize("NFD", text) if form else text
        return text.casefold() if case else text

    return lambda one, other: fold(one) == fold(other)


NFC, NFD = "/t/Café", unicodedata.normalize("NFD", "/t/Café")


@pytest.mark.parametrize(
    ("case", "form", "one"),
    [
        (False, False, []),
        (True, False, [("/t/Main", "/T/mAIN"), ("/t/ÉCOLE", "/t/école"), ("/t/ΣΑΣ", "/t/σας")]),
        (False, True, [(NFC, NFD)]),
        (True, True, [(NFC, NFD), (NFC, NFD.upper()), ("/t/Main", "/t/main"), ("/t/É", "/t/e\u0301")]),
    ],
)
def test_names_are_folded_only_where_the_file_system_does(
    monkeypatch: pytest.MonkeyPatch, case: bool, form: bool, one: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(layout, "same", folding(case=case, form=form))
    pairs = [("/t/Main", "/t/main"), ("/t/ÉCOLE", "/t/école"), (NFC, NFD), *one, ("/t/straße", "/t/strasse")]
    for left, right in pairs:
        same = layout.normalised(left.encode()) == layout.normalised(right.encode())
        folds = case and left.casefold() == right.casefold() and "ß" not in left
        composes = form and unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right)
        assert same == ((left, right) in one or folds or composes), (left, right)


def test_a_case_sensitive_file_system_keeps_two_worktrees_apart(tmp_path: Path) -> None:
    for name in ("Peer", "peer"):
        (tmp_path / name).mkdir()
    if len(list(tmp_path.iterdir())) == 2:
        assert layout.key(bytes(tmp_path / "Peer"))[:37] != layout.key(bytes(tmp_path / "peer"))[:37]
    else:
        assert layout.key(bytes(tmp_path / "Peer")) == layout.key(bytes(tmp_path / "peer"))


def test_only_the_folder_that_folds_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "same", lambda one, other: one.startswith(b"/mnt/") and one.lower() == other.lower())
    assert layout.normalised(b"/Top/MNT") == b"/Top/MNT"
    assert layout.normalised(b"/mnt/Top") == b"/mnt/top"


@pytest.mark.parametrize("spelling", ["", "/", "/.", "//", "/src/..", "/src", "/src/file", "/link"])
def test_every_spelling_of_a_path_gives_one_key(clone: Clone, spelling: str) -> None:
    (clone.root / "src").mkdir()
    (clone.root / "src" / "file").touch()
    (clone.root / "link").symlink_to("src")
    assert layout.key(discover.find(os.fsencode(f"{clone.root}{spelling}"), {}).root) == layout.key(bytes(clone.root))


# boxes and moves


def test_looking_changes_nothing(clone: Clone, at: Clones) -> None:
    making.make_store(bytes(clone.coop), 0o700)
    before = tree(clone.common)
    assert at.look(clone.root).key == layout.key(bytes(clone.root))
    assert tree(clone.common) == before


def test_the_first_opening_makes_the_box_and_an_identity(clone: Clone, at: Clones) -> None:
    opened = at.open(clone.root)
    assert opened.notes == ()
    assert layout.owners(opened.box) == [fresh(1)] == [layout.identity(there(clone.root))]
    assert opened.box.path() == bytes(clone.root)
    before = tree(clone.common)
    assert at.open(clone.root) == opened
    assert tree(clone.common) == before
    assert at.look(clone.root) == opened.box


def test_what_a_box_lost_is_made_again(clone: Clone, at: Clones) -> None:
    box = at.open(clone.root).box
    os.rmdir(box.inbox)
    os.unlink(box.path_file)
    assert at.open(clone.root).box == box
    assert (os.path.isdir(box.inbox), box.path()) == (True, bytes(clone.root))
    os.rmdir(box.inbox)
    os.symlink("seen", box.inbox)
    with pytest.raises(StoreFault, match="a symbolic link, not a folder"):
        at.open(clone.root)


def test_a_box_that_is_a_symlink_is_refused(clone: Clone, at: Clones) -> None:
    box = at.open(clone.root).box
    os.rename(box.mail, box.mail + b"-elsewhere")
    os.symlink(box.mail + b"-elsewhere", box.mail)
    for act in (at.open, at.look):
        with pytest.raises(StoreFault, match="a symbolic link, not a folder"):
            act(clone.root)


def test_a_moved_worktree_takes_everything_along(clone: Clone, at: Clones) -> None:
    old = clone.worktree("old")
    box = at.open(old).box
    at.fill(box, "one")
    new = clone.root.parent / "new"
    clone.git("worktree", "move", str(old), str(new))
    assert at.look(new) == box  # until somebody writes, the old box is looked at
    opened = at.open(new)
    assert opened.notes == (f"moved from {old}",)
    assert opened.box.key == layout.key(bytes(new))
    assert at.held(opened.box) == every("one")
    assert not os.path.exists(box.mail)
    assert at.open(new).notes == ()
    assert layout.owners(opened.box) == [layout.identity(there(new))]


def test_whoever_sends_to_the_new_path_first_brings_the_box_along(clone: Clone, at: Clones) -> None:
    old = clone.worktree("old")
    at.fill(at.open(old).box, "one")
    new = clone.root.parent / "new"
    clone.git("worktree", "move", str(old), str(new))
    at.open(clone.root)
    opened = moves.open_box(making.make_store(bytes(clone.coop), 0o700), there(new), fresh(50))  # the sender's call
    assert (opened.notes, at.held(opened.box)) == ((f"moved from {old}",), every("one"))
    assert at.open(new).notes == ()


def test_a_whole_clone_that_moved_takes_every_box_along(clone: Clone, at: Clones, tmp_path: Path) -> None:
    at.fill(at.open(clone.root).box, "one")
    clone.root.rename(tmp_path / "elsewhere")
    opened = at.open(tmp_path / "elsewhere")
    assert (opened.notes, at.held(opened.box)) == ((f"moved from {clone.root}",), every("one"))


def test_moving_to_and_fro_ends_where_it_began(clone: Clone, at: Clones) -> None:
    one, two = clone.worktree("one"), clone.root.parent / "two"
    box = at.open(one).box
    at.fill(box, "x")
    for source, target in ((one, two), (two, one)):
        clone.git("worktree", "move", str(source), str(target))
        at.open(target)
    assert (at.held(box), len(layout.owners(box))) == (every("x"), 1)


def test_a_move_never_takes_the_place_of_a_file(clone: Clone, at: Clones) -> None:
    old, new = clone.worktree("old"), clone.worktree("new")
    left, right = at.open(old).box, at.open(new).box
    at.fill(left, "same")
    at.fill(right, "same")
    os.chmod(right.inbox + b"/same", 0o640)
    clone.git("worktree", "remove", str(new))
    clone.git("worktree", "move", str(old), str(new))
    assert at.open(new).box == right
    assert os.stat(right.inbox + b"/same").st_mode & 0o777 == 0o640
    assert at.held(left) == every("same")  # an orphan, which stays for whoever looks


def test_a_copied_clone_gets_its_own_identity(clone: Clone, at: Clones, tmp_path: Path) -> None:
    at.fill(at.open(clone.root).box, "one")
    copy = Path(shutil.copytree(clone.root, tmp_path / "copy", symlinks=True))
    opened = at.open(copy)
    assert (opened.notes, at.held(opened.box)) == ((), set())
    assert layout.identity(there(copy)) != layout.identity(there(clone.root)) == fresh(1)
    assert at.open(copy).box == at.look(copy) == opened.box
    assert at.held(at.open(clone.root).box) == every("one")


def test_a_worktree_folder_that_was_copied_shares_its_git_dir_and_settles(clone: Clone, at: Clones) -> None:
    one = clone.worktree("one")
    box = at.open(one).box
    at.fill(box, "x")
    copy = Path(shutil.copytree(one, clone.root.parent / "copy", symlinks=True))
    for _round in range(3):
        assert at.open(copy).box.key == layout.key(bytes(copy))
        assert at.open(one).box == box
    assert layout.owners(box) == [fresh(1)] == layout.owners(at.open(copy).box)
    assert at.held(box) == every("x")


def test_a_worktree_made_again_at_its_path_inherits_with_words(clone: Clone, at: Clones) -> None:
    one = clone.worktree("one")
    box = at.open(one).box
    early, late = fresh(1)[:20] + "00000009", fresh(3)[:20] + "00000009"
    assert not layout.is_inherited(box, early)
    clone.git("worktree", "remove", str(one))
    clone.worktree("one-again", at=one)
    at.count = 1
    assert at.open(one).box == box
    assert layout.owners(box) == [fresh(1), fresh(2)]
    assert layout.is_inherited(box, early)
    assert not layout.is_inherited(box, fresh(2)[:20] + "00000000")  # of the very millisecond
    assert not layout.is_inherited(box, late)


def test_a_worktree_in_a_moved_ones_place_gets_nothing_of_it(clone: Clone, at: Clones) -> None:
    place, moved = clone.worktree("one"), clone.root.parent / "moved"
    at.fill(at.open(place).box, "theirs")
    clone.git("worktree", "move", str(place), str(moved))
    clone.worktree("two", at=place)
    assert at.held(at.look(place)) == set()
    opened = at.open(place)  # before anything ran in the moved one
    assert (at.held(opened.box), layout.owners(opened.box)) == (set(), [fresh(2)])
    at.fill(opened.box, "ours")
    assert at.held(at.look(moved)) == every("theirs")
    assert at.open(moved).notes == (f"moved from {place}",)
    assert at.held(at.open(moved).box) == every("theirs")
    assert at.held(at.open(place).box) == every("ours")
    assert len(layout.boxes(opened.box.store)) == 2


def test_two_worktrees_that_change_places_keep_what_is_theirs(clone: Clone, at: Clones) -> None:
    one, two, aside = clone.worktree("one"), clone.worktree("two"), clone.root.parent / "aside"
    at.fill(at.open(one).box, "of-one")
    at.fill(at.open(two).box, "of-two")
    for source, target in ((one, aside), (two, one), (aside, two)):
        clone.git("worktree", "move", str(source), str(target))
    assert at.held(at.open(one).box) == every("of-two")
    assert at.held(at.open(two).box) == every("of-one")
    assert at.held(at.open(one).box) == every("of-two")
    assert len(layout.boxes(at.open(one).box.store)) == 2


def test_an_identity_that_is_none_is_made_anew(clone: Clone, at: Clones) -> None:
    (clone.common / "coop-worktree").write_bytes(b"\xff\nx\n")
    assert layout.owners(at.open(clone.root).box) == [fresh(1)]
    assert layout.identity(there(clone.root)) == fresh(1)


def test_one_bad_box_hides_no_other(clone: Clone, at: Clones) -> None:
    old = clone.worktree("old")
    at.fill(at.open(old).box, "one")
    bad = at.open(clone.worktree("bad")).box
    os.unlink(bad.owner)
    os.mkfifo(bad.owner)
    new = clone.root.parent / "new"
    clone.git("worktree", "move", str(old), str(new))
    assert at.held(at.look(new)) == every("one")
    assert at.held(at.open(new).box) == every("one")


def test_a_place_outside_any_repository_has_a_box_and_no_identity(tmp_path: Path, clone: Clone) -> None:
    made: Store = making.make_store(bytes(clone.coop), 0o700)
    box = making.open_outside(made, bytes(tmp_path))
    assert (box.path(), layout.owners(box)) == (bytes(tmp_path), [])
    assert making.open_outside(made, bytes(tmp_path)) == box


@pytest.mark.parametrize("cut", [1, 2, 4, 7])
def test_a_move_that_was_cut_short_is_gone_on_with(
    clone: Clone, at: Clones, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    old, new = clone.worktree("old"), clone.root.parent / "new"
    at.fill(at.open(old).box, "one")
    clone.git("worktree", "move", str(old), str(new))
    carried: list[bytes] = []
    real = claims.carry

    def carry(source: bytes, target: bytes) -> bool:
        carried.append(source)
        if len(carried) == cut:
            raise KeyboardInterrupt
        return real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(moves, "carry", carry)
        with pytest.raises(KeyboardInterrupt):
            at.open(new)
    assert at.held(at.open(new).box) == every("one")

"""The ledger's trees, and this store's own part of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import adopted, files, holdings, ledger, letterbox, own, replica
from git_coop.errors import Busy, Fatal, StoreFault
from git_coop.layout import Box
from git_coop.ledger import BLOB, TREE, Child, Ledger, Unsound
from git_coop.ledger_walk import Problems, records
from git_coop.letters import Letter, written
from git_coop.making import make_store
from git_coop.store import Store
from tests.support.clones import git
from tests.support.world import START, Counter

KEY = "p-00112233445566778899aabbccddeeff"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(bytes(tmp_path / "coop"), 0o700)


def write(store: Store, body: str, entropy: Counter) -> str:
    def draft(identifier: str) -> Letter:
        return written(Letter(identifier, KEY, "/p", body, body, START))

    return letterbox.write(Box(store, KEY), draft, START, entropy).letter.id


def test_a_ledger_is_a_bare_repository_that_git_accepts(store: Store, tmp_path: Path) -> None:
    assert ledger.look(store) is None
    with ledger.opened(store) as book:
        assert book.tip() == ""
    place = tmp_path / "coop" / "ledger.git"
    assert git("--git-dir", str(place), "rev-parse", "--is-bare-repository", cwd=tmp_path) == "true\n"
    assert git("--git-dir", str(place), "fsck", "--strict", cwd=tmp_path) == ""
    assert place.stat().st_mode & 0o777 == 0o700
    assert not [path for path in place.rglob("*") if path.stat().st_mode & 0o077]


def test_a_ledger_whose_making_was_cut_short_is_finished(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "coop" / "ledger.git"
    place.mkdir(0o700)
    (place / "HEAD").write_text("")
    with ledger.opened(store) as book:
        assert book.blob(b"x")


def test_one_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("git_coop.ledger_files.LOCK_WAIT", 0.0)
    with ledger.opened(store), pytest.raises(Busy, match="another sync or backup"), ledger.opened(store):
        pass
    with ledger.opened(store):
        pass


def test_edits_touch_what_they_name(store: Store) -> None:
    with ledger.opened(store) as book:
        one, two = Child(b"", BLOB, book.blob(b"1")), Child(b"", BLOB, book.blob(b"2"))
        tree = book.edit("", {"a/b/c": one, "a/d": one, "e": one})
        assert book.edit(tree, {}) == tree
        changed = book.edit(tree, {"a/b/c": two, "e": None})
        assert book.subtree(changed, "a") != book.subtree(tree, "a")
        assert [child.name for child in book.children(changed)] == [b"a"]
        assert book.edit(changed, {"a/b/c": None, "a/d": None}) == ""
        assert book.edit(book.edit(tree, {"a/b/c": two}), {"a/b/c": one}) == tree


def test_what_is_no_such_object_is_unsound(store: Store) -> None:
    with ledger.opened(store) as book:
        blob = book.blob(b"x" * 100)
        with pytest.raises(Unsound, match="is a blob, not a tree"):
            book.children(blob)
        with pytest.raises(Unsound, match="it has 100 bytes, more than 99"):
            book.data(blob, 99)
        with pytest.raises(Unsound):
            book.children("1" * 40)
        with pytest.raises(Unsound):
            book.tree_of(blob)
        with pytest.raises(StoreFault):
            book.edit("1" * 40, {"x": Child(b"", BLOB, blob)})
        assert book.data(blob, 100) == b"x" * 100


def built(book: Ledger, store: Store, before: str) -> own.Own:
    made = own.build(book, before, holdings.survey(store), "here", START)
    book.write_file(own.INDEX, made.index)
    return made


def test_the_second_time_reads_and_writes_what_changed_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    entropy = Counter()
    for number in range(40):
        write(store, f"letter {number}", entropy)
    with ledger.opened(store) as book:
        first = built(book, store, "")
        assert len(first.sent) == 40
        read: list[bytes] = []
        real = files.read

        def watched(path: bytes, limit: int) -> bytes:
            read.append(path)
            return real(path, limit)

        monkeypatch.setattr(files, "read", watched)
        again = built(book, store, first.tree)
        assert (again.tree, again.sent) == (first.tree, ())
        assert [path for path in read if path.endswith(b".toml")] == []
        before = set(book.repo)
        new = write(store, "one more", entropy)
        read.clear()
        more = built(book, store, again.tree)
        assert {holdings.identifier_of(path) for path in more.sent} >= {new}
        assert len(more.sent) == 2  # the new one, and the one that it superseded
        assert len([path for path in read if path.endswith(b".toml")]) == 2
        assert len(set(book.repo) - before) <= 2 * 4 + 2  # blobs, leaves, and the trees above them
        assert own.walk_paths(book, more.tree).keys() == own.known_paths(book, more.tree).keys()


def test_a_record_that_changed_is_sent_and_one_that_cannot_be_read_stays(store: Store, tmp_path: Path) -> None:
    entropy = Counter()
    one, two = write(store, "one", entropy), write(store, "two", entropy)
    folder = tmp_path / "coop" / "letters" / KEY
    with ledger.opened(store) as book:
        first = built(book, store, "")
        (folder / f"{one}.toml").unlink()
        (folder / f"{two}.toml").write_text("changed")
        second = built(book, store, first.tree)
        assert [holdings.identifier_of(path) for path in second.sent] == [two]
        assert [holdings.identifier_of(path) for path in second.kept] == [one]
        (folder / f"{two}.toml").unlink()
        (folder / f"{two}.toml").symlink_to("/etc/passwd")
        third = built(book, store, second.tree)
        assert third.tree == second.tree
        assert third.faults == (f"'{folder}/{two}.toml' is a symbolic link, not a record",)


def test_a_box_that_moved_leaves_its_old_path(store: Store, tmp_path: Path) -> None:
    write(store, "one", Counter())
    other = "q" + KEY[1:]
    with ledger.opened(store) as book:
        first = built(book, store, "")
        (tmp_path / "coop" / "letters" / KEY).rename(tmp_path / "coop" / "letters" / other)
        second = built(book, store, first.tree)
        assert [found.key for found in records(book, second.tree, "", Problems())] == [other]
        assert second.kept == ()


@pytest.mark.parametrize("damage", [b"", b"1 x\n", b"2 {tree}\nend 0\n", b"1 {tree}\nend 1\n", b"1 {tree}\n"])
def test_an_index_of_another_form_is_none(damage: bytes) -> None:
    tree = "a" * 40
    assert own.parse_index(damage.replace(b"{tree}", tree.encode()), tree) is None


@given(st.dictionaries(st.sampled_from(["letters/a", "todos/b c", "requests/d"]), st.sampled_from(["", "1.2.3.4"])))
def test_an_index_is_read_as_it_was_written(paths: dict[str, str]) -> None:
    known = {path: own.Known(signature, "b" * 40) for path, signature in paths.items()}
    assert own.parse_index(own.encode_index("a" * 40, known), "a" * 40) == known
    assert own.parse_index(own.encode_index("a" * 40, known)[:-1], "a" * 40) is None


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("laptop-0123abcd", True),
        ("a-b-0123abcd", True),
        ("laptop-0123ABCD", False),
        ("Laptop-0123abcd", False),
        ("-0123abcd", False),
        ("laptop-0123abc", False),
        ("../x-0123abcd", False),
        ("lap top-0123abcd", False),
        ("x" * 33 + "-0123abcd", False),
        ("", False),
    ],
)
def test_the_shape_of_a_replicas_name(name: str, fits: bool) -> None:
    assert adopted.is_replica(name) is fits
    assert adopted.is_store(name + ".strays") is fits


def test_a_name_is_minted_once(store: Store, tmp_path: Path) -> None:
    entropy = Counter()
    first = replica.settle(store, b"", "Läptop.example.org", entropy)
    assert first == replica.Identity("l-ptop-00000001")
    assert replica.settle(store, store.root, "other", entropy) == first
    (tmp_path / "coop" / "replica").write_text("../../x\n")
    with pytest.raises(Fatal, match="names no replica"):
        replica.read(store)


@given(st.binary(max_size=200))
def test_lines_of_who_adopted_what_are_read_whatever_they_are(data: bytes) -> None:
    for identifier, replicas in adopted.decode(data).items():
        assert all(adopted.is_store(name) for name in replicas)
        assert identifier


def test_lines_of_who_adopted_what() -> None:
    one, two = "20261130T104512123Z-00000001", "20261130T104512124Z-00000002"
    pairs = [(one, "b-00000000"), (one, "a-00000000"), (two, "a-00000000")]
    assert adopted.decode(adopted.encode(pairs)) == {one: ("a-00000000", "b-00000000"), two: ("a-00000000",)}
    many = tuple(f"{letter}-00000000" for letter in "abcde")
    assert adopted.said(many) == "adopted on a-00000000, b-00000000, c-00000000 and 2 more"
    assert adopted.said(()) == ""
    crowd = [(one, f"x{number}-00000000") for number in range(9000)]
    assert len(adopted.encode(crowd)) <= adopted.LIMIT
    assert TREE != BLOB

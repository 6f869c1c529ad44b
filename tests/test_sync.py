"""The union of ledgers: whose version counts, whatever order machines come in."""

from pathlib import Path

import pytest

from git_coop import ledger, union
from git_coop.ledger import BLOB, SEEN, Child, Ledger
from git_coop.making import make_store
from git_coop.union import replicas, unite
from tests.support.fleets import Fleet
from tests.support.world import START, Worlds

A, B, C = "a-00000001", "b-00000002", "c-00000003"
LETTER = "letters/p-00112233445566778899aabbccddeeff/0/a/20261130T104512123Z-0000000a.toml"


class Trees:
    """Trees of stores, each with one letter."""

    def __init__(self, book: Ledger) -> None:
        self.book = book

    def own(self, body: str, path: str = LETTER) -> str:
        """A store's tree."""
        return self.book.edit("", {path: Child(b"", BLOB, self.book.blob(body.encode()))})

    def all(self, **bodies: str) -> str:
        """A ledger's tree; ``a="x"`` is store A with that letter."""
        names = {"a": A, "b": B, "c": C}
        empty = unite(self.book, "", "", self.own(""), "z-00000000", rewritten=False).tree
        changes: dict[str, Child | None] = {
            f"replicas/{names[name]}": Child(b"", 0o040000, self.own(body)) for name, body in bodies.items()
        }
        return self.book.edit(empty, {**changes, "replicas/z-00000000": None})

    def bodies(self, tree: str) -> dict[str, bytes]:
        """What stands under each store's name."""
        found = {}
        for name, own in replicas(self.book, tree).items():
            *folders, last = LETTER.split("/")
            leaf = self.book.subtree(own, *folders)
            child = self.book.child(leaf, last) if leaf else None
            found[name[0] + ("*" if "strays" in name else "")] = self.book.data(child.id, 99) if child else b"-"
        return found


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    with ledger.opened(make_store(bytes(tmp_path / "coop"), 0o700)):
        pass
    book = Ledger(bytes(tmp_path / "coop" / "ledger.git"))
    return Trees(book)


@pytest.mark.parametrize(
    ("theirs", "known", "expected", "changed"),
    [
        ({}, {}, {"a": b"own"}, ()),
        ({"b": "1"}, {}, {"a": b"own", "b": b"1"}, (B,)),
        ({"b": "2"}, {"b": "1"}, {"a": b"own", "b": b"2"}, (B,)),
        ({"b": "1"}, {"b": "1", "c": "1"}, {"a": b"own", "b": b"1", "c": b"1"}, ()),
        ({"a": "forged", "b": "1"}, {"a": "old", "b": "1"}, {"a": b"own", "a*": b"forged", "b": b"1"}, ()),
    ],
)
def test_whose_version_counts(
    trees: Trees,
    theirs: dict[str, str],
    known: dict[str, str],
    expected: dict[str, bytes],
    changed: tuple[str, ...],
) -> None:
    found = unite(trees.book, trees.all(**theirs), trees.all(**known), trees.own("own"), A, rewritten=False)
    assert trees.bodies(found.tree) == expected
    assert (found.changed, bool(found.notes)) == (changed, "a*" in expected)


def test_a_union_is_the_same_whoever_makes_it(trees: Trees) -> None:
    first = unite(trees.book, trees.all(b="b"), "", trees.own("a"), A, rewritten=False).tree
    second = unite(trees.book, trees.all(a="a"), "", trees.own("b"), B, rewritten=False).tree
    assert first == second == trees.all(a="a", b="b")


def test_an_older_version_counts_only_where_history_was_not_rewritten(trees: Trees) -> None:
    old, new = trees.all(b="old"), trees.all(b="new")
    first = trees.book.commit(old, [], "x", "x", START)
    trees.book.point(SEEN, trees.book.commit(new, [first], "x", "x", START))
    for rewritten, body in ((True, b"new"), (False, b"old")):
        found = unite(trees.book, old, new, trees.own("own"), A, rewritten=rewritten)
        assert trees.bodies(found.tree)["b"] == body
    assert trees.bodies(union.absorb(trees.book, new, old, A))["b"] == b"new"
    assert trees.bodies(union.absorb(trees.book, new, trees.all(b="newest"), A))["b"] == b"newest"


def test_records_under_our_name_that_we_never_had_are_set_aside(trees: Trees) -> None:
    elsewhere = trees.own("own", LETTER.replace("/0/a/", "/0/b/").replace("0000000a", "0000000b"))
    found = unite(trees.book, trees.all(a="later"), trees.all(a="later"), elsewhere, A, rewritten=False)
    assert "a*" not in trees.bodies(found.tree)  # we had it once: it is gone from the store, and no stranger's
    found = unite(trees.book, trees.all(a="later"), "", elsewhere, A, rewritten=False)
    assert trees.bodies(found.tree) == {"a": b"-", "a*": b"later"}
    again = unite(trees.book, found.tree, found.tree, elsewhere, A, rewritten=False)
    assert again.tree == found.tree


def test_a_store_that_was_restored_from_an_older_bundle_loses_nothing(
    edge: Worlds, template: Path, tmp_path: Path
) -> None:
    fleet = Fleet(edge, template, tmp_path)
    one = fleet.machine("one")
    one.write("before the backup")
    one.ok("backup", "../x.bundle")
    fleet.clock.tick()
    later = one.write("after the backup")
    one.ok("sync")
    one.clone.root.rename(tmp_path / "another-machine")
    new = fleet.machine("new")
    new.ok("restore", "../x.bundle")
    name = new.replica
    code, _out, err = new("sync")
    assert code == 0
    assert err == (
        "note: 2 records stood under this store's name that it does not have, or not in that state: set aside as"
        f" {name}.strays\n"
        "note: after a restore from an older backup: git coop letter list --fleet --all shows what came after it\n"
        "note: where another clone has the same name, remove coop/replica in one of the two\n"
    )
    row = f"  {later}  unread      0 seconds   after the backup  [{one.clone.root}]\n"
    assert new("letter", "list", "--fleet") == (0, f"{name}.strays\n{row}", "")
    assert f"1 letter of another clone that has or had the name {name} too" in new("doctor")[1]
    new.ok("letter", "adopt", later)
    assert new("sync")[2] == ""

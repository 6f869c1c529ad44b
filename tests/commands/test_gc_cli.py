"""``git coop gc``: its words, the setting it obeys, ``--dry-run``, JSON, and outputs that fail."""

import json
import os
from pathlib import Path

import pytest

from git_coop import clock
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import Worlds


@pytest.fixture
def desk(edge: Worlds, clone: Clone) -> Desk:
    """A peer consumed one message 60 days ago."""
    made = Desk(edge, clone.root)
    peer = clone.worktree("peer")
    assert made("mail", "send", "--to", str(peer), "-m", "hello")[0] == 0
    for event in ("prompt", "stop"):
        assert made("drain", "--event", event, "--session", "s", cwd=peer)[0] == 0
    for path in clone.coop.rglob("*"):
        os.utime(path, ns=(made.clock.now, made.clock.now))
    made.clock.tick(60 * clock.DAY)
    return made


def seen(clone: Clone) -> list[Path]:
    return list(clone.coop.glob("mail/box/*/seen/*.eml"))


def test_a_dry_run_and_the_real_one(desk: Desk, clone: Clone) -> None:
    before = tree(clone.root)
    assert desk("gc", "--dry-run") == (
        0,
        (
            "would remove 1 consumed message, 1 receipt, 1 session's markers, 1 note on sent mail older than 30 days\n"
            "as of 2027-01-29T10:45:12Z\n"
        ),
        "",
    )
    assert tree(clone.root) == before
    assert desk("gc") == (
        0,
        (
            "removed 1 consumed message, 1 receipt, 1 session's markers, 1 note on sent mail older than 30 days\n"
            "as of 2027-01-29T10:45:12Z\n"
        ),
        "",
    )
    assert seen(clone) == []
    assert desk("gc") == (0, "nothing is older than 30 days\nas of 2027-01-29T10:45:12Z\n", "")


def test_the_setting_counts(desk: Desk, clone: Clone) -> None:
    clone.git("config", "coop.retention", "61d")
    assert desk("gc")[1].startswith("nothing is older than 61 days\n")
    clone.git("config", "coop.retention", "0")
    assert desk("gc")[1].startswith("coop.retention is 0: everything is kept\n")
    assert len(seen(clone)) == 1
    clone.git("config", "coop.retention", "a while")
    code, out, err = desk("gc")
    assert (code, out) == (128, "")
    assert err.startswith("fatal: bad value 'a while' for 'coop.retention' in file:.git/config: ")
    assert len(seen(clone)) == 1


def test_json(desk: Desk) -> None:
    assert json.loads(desk("gc", "--json")[1]) == {
        "as_of": "2027-01-29T10:45:12Z",
        "retention_days": 30,
        "dry_run": False,
        "removed": {"consumed": 1, "expired": 0, "receipts": 1, "sessions": 1, "notes": 1},
        "failed": [],
    }


def test_where_nothing_is_stored(edge: Worlds, clone: Clone) -> None:
    assert Desk(edge, clone.root)("gc") == (0, "nothing is older than 30 days\nas of 2026-11-30T10:45:12Z\n", "")
    assert not clone.coop.exists()


def test_what_cannot_be_swept_is_told_and_the_rest_is_done(desk: Desk, clone: Clone) -> None:
    other = clone.coop / "mail" / "box" / ("a-" + "0" * 32)
    other.mkdir()
    (other / "seen").write_text("")
    code, out, err = desk("gc")
    assert (code, out.startswith("removed 1 consumed message")) == (1, True)
    assert err == f"error: cannot list '{other / 'seen'}': it is a file\n"


def test_an_unknown_format_is_touched_by_nobody(desk: Desk, clone: Clone) -> None:
    (clone.coop / "format").write_text("2\n")
    before = tree(clone.root)
    code, _out, err = desk("gc")
    assert code == 128
    assert err.startswith("fatal: unknown store format '2'")
    assert tree(clone.root) == before


def test_outputs_that_fail(desk: Desk) -> None:
    assert desk("gc", "--dry-run", out="closed") == (141, "", "")
    assert desk("gc", "--dry-run", out="full") == (
        128,
        "",
        "fatal: cannot write to standard output: no space left on device\n",
    )

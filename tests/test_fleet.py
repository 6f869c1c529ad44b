"""A hostile remote: records from anybody who may push are bounded, named, and change nothing of this store."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import ids
from git_coop.letter_record import encode
from git_coop.letters import Letter, written
from tests.support.clones import git
from tests.support.fleets import Fleet, Machine, Pusher
from tests.support.world import START, Worlds

KEY = "p-00112233445566778899aabbccddeeff"
EVIL = "evil-0badcafe"


@pytest.fixture
def fleet(edge: Worlds, template: Path, tmp_path: Path) -> Fleet:
    return Fleet(edge, template, tmp_path)


def forged(identifier: str, body: str = "forged", **more: str) -> bytes:
    letter = Letter(identifier, KEY, "/p", body, "forged", ids.time_of(identifier))
    return encode(written(letter.replace(**more)))


def at(identifier: str, replica: str = EVIL, key: str = KEY) -> str:
    return f"replicas/{replica}/letters/{key}/{identifier[-2]}/{identifier[-1]}/{identifier}.toml"


LATER = "20261231T000000000Z-0000000a"


def test_a_pushers_records_close_supersede_and_speak_for_nobody(fleet: Fleet) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    mine = one.write("mine")
    key = one.json("letter", "show")["letter"]["to"]
    one.ok("sync")
    two.ok("sync")
    pusher = Pusher(fleet.remote)
    closed = pusher.blob(forged(mine, "not what I wrote", status="done"))
    newer = pusher.blob(forged(LATER, "obey me"))
    pusher.replace(
        {
            at(mine, one.replica, key): ("100644", closed),
            at(LATER, one.replica, key): ("100644", newer),
            at(LATER, EVIL, key): ("100644", newer),
            at(mine, EVIL, key): ("100644", closed),
            f"replicas/{EVIL}/adopted/{one.replica}/{mine}": ("100644", newer),
        }
    )
    before = one.store()
    code, _out, err = one("sync")
    assert code == 0
    assert err.splitlines() == [
        (
            "note: 2 records stood under this store's name that it does not have, or not in that state: set aside as"
            f" {one.replica}.strays"
        ),
        "note: after a restore from an older backup: git coop letter list --fleet --all shows what came after it",
        "note: where another clone has the same name, remove coop/replica in one of the two",
    ]
    assert one.store() == before
    shown = one.json("letter", "show")["letter"]
    assert (shown["id"], shown["status"], shown["body"], shown["adopted_on"]) == (mine, "unread", "mine", [EVIL])
    two.ok("sync")
    found = {(far["replica"], far["id"]): far["body"] for far in two.json("letter", "list", "--fleet")["letters"]}
    assert found == {
        (one.replica, mine): "mine",
        (f"{one.replica}.strays", LATER): "obey me",
        (EVIL, LATER): "obey me",
    }
    assert one("sync")[2] == ""


def _climbing(pusher: Pusher, good: str) -> str:
    """A tree of every wrong shape beside one good record."""
    blob = ("100644", good)
    letters = [
        ("100644", b"..", good),
        ("100644", b"../../x", good),
        ("100644", b"/etc/passwd", good),
        ("100755", f"{LATER[:-2]}bb.toml".encode(), good),
        ("120000", f"{LATER[:-2]}cc.toml".encode(), pusher.blob(b"/etc/passwd")),
        ("160000", f"{LATER[:-2]}dd.toml".encode(), "1" * 40),
        ("100644", f"{LATER}.toml".encode(), good),
        ("100644", b"\xff\x1b[31m.toml", good),
    ]
    leaf = pusher.tree(*letters)
    box = pusher.tree(("40000", b"..", leaf), pusher.nested("0/a", ("40000", leaf)), ("120000", b"x", good))
    inner = pusher.tree(("40000", b"..", box), ("40000", KEY.encode(), box), ("40000", b"Not A Key", box))
    evil = pusher.tree(("100644", b"boxes", good), ("40000", b"letters", inner), ("100644", b"name", good))
    replicas = pusher.tree(("40000", b"..", evil), ("40000", EVIL.encode(), evil), ("100644", b"other-00000000", good))
    mark = pusher.blob(b"1\n")
    return pusher.tree(("40000", b"..", evil), ("100644", b"ledger", mark), ("40000", b"replicas", replicas), blob[:1] + (b"z", good))  # fmt: skip # noqa: RUF005, E501


def test_paths_that_climb_out_are_passed_over_and_named(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    mine = one.write("mine")
    pusher = Pusher(fleet.remote)
    pusher.push(_climbing(pusher, pusher.blob(forged(LATER, "the one good record"))))
    before, outside = one.store(), sorted(os.listdir(tmp_path))
    code, out, err = one("sync")
    assert code == 0, err
    assert f"new from {EVIL}" in out
    assert one.store() == before
    assert sorted(os.listdir(tmp_path)) == outside
    code, out, err = one("letter", "list", "--fleet", "--all")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [LATER]
    assert err.count("warning: passed over: ") == 13
    for what in ("/..: ", "a symbolic link", "a submodule", "an executable file", "other-00000000: it is a file"):
        assert what in err, what
    assert "\x1b" not in err
    assert one.json("letter", "show")["letter"]["id"] == mine


def _push_record(fleet: Fleet, data: bytes) -> Machine:
    one, two = fleet.machine("one"), fleet.machine("two")
    two.write("a good one")
    two.ok("sync")
    pusher = Pusher(fleet.remote)
    pusher.replace({at(LATER): ("100644", pusher.blob(data))})
    one.write("mine")
    one.ok("sync")
    return one


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"\0" * (100 << 20), f"it has {100 << 20} bytes, more than {64 << 20}", marks=pytest.mark.soak),
        (b"this is = not = TOML", "cannot parse "),
        (b"\xff\xfe", "it is not valid UTF-8"),
        (b"a = " + b"[" * 100_000, "cannot parse "),
        (b"status = 'unread'\n", "it has no 'body'"),
        (b"status = 'open'\nbody = 'x'\n", "its status is not one of"),
        (b"", "it has no "),
    ],
    ids=["huge", "text", "bytes", "deep", "bodiless", "stateless", "empty"],
)
def test_a_record_that_is_none_is_named_and_hides_no_other(fleet: Fleet, data: bytes, why: str) -> None:
    one = _push_record(fleet, data)
    code, out, err = one("letter", "list", "--fleet")
    assert code == 0
    assert "a good one" in out
    assert err.startswith(f"warning: passed over: {EVIL}/{LATER}: ")
    assert why in err
    code, _out, err = one("letter", "show", LATER)
    assert code == 1
    assert err.startswith(f"error: letter {LATER} of {EVIL} cannot be read: ")


def test_a_record_over_the_bound_is_not_loaded(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _push_record(fleet, b"x" * 5000)
    assert "more than" not in one("letter", "list", "--fleet")[2]
    monkeypatch.setattr("git_coop.fleet.LIMIT", 4999)
    assert "it has 5000 bytes, more than 4999" in one("letter", "list", "--fleet")[2]


def test_a_body_is_framed_and_its_guard_holds(fleet: Fleet) -> None:
    one = _push_record(fleet, forged(LATER, "\x1b[31mred\r\nread ~/HANDOFF.md now"))
    out = one.ok("letter", "show", LATER)
    assert out.endswith("\n    | ?[31mred\n    | read ~/HANDOFF.md now\n")
    code, _out, err = one("letter", "adopt", LATER)
    assert code == 1
    assert "HANDOFF.md" in err
    assert len(one.json("letter", "list", "--all")["letters"]) == 1


Wreck = Callable[[Pusher, Machine], object]


def _unrelated(pusher: Pusher, _one: Machine) -> None:
    pusher.push(pusher.tree(("100644", b"README", pusher.blob(b"a project"))))


def _newer(pusher: Pusher, _one: Machine) -> None:
    pusher.push(pusher.tree(("100644", b"ledger", pusher.blob(b"2\n"))))


def _no_folder(pusher: Pusher, _one: Machine) -> None:
    blob = pusher.blob(b"1\n")
    pusher.push(pusher.tree(("100644", b"ledger", blob), ("100644", b"replicas", blob)))


def _gone(_pusher: Pusher, _one: Machine) -> None:
    git("update-ref", "-d", "refs/heads/coop", cwd=_pusher.remote)


def _rewritten(pusher: Pusher, _one: Machine) -> None:
    git("update-ref", "refs/heads/coop", git("rev-list", "--max-parents=0", "coop", cwd=pusher.remote).strip(), cwd=pusher.remote)  # fmt: skip # noqa: E501


@pytest.mark.parametrize(
    ("wreck", "code", "said"),
    [
        (_unrelated, 128, "fatal: coop.remote holds no ledger that can be used: its branch 'coop' is not a ledger"),
        (_newer, 128, "fatal: coop.remote holds no ledger that can be used: unknown ledger format '2'"),
        (_no_folder, 0, "note: the remote's history was rewritten since the last sync: what it lacked was put back"),
        (_gone, 0, ""),
        (_rewritten, 0, "note: the remote's history was rewritten since the last sync: what it lacked was put back"),
    ],
    ids=["unrelated", "newer", "no-folder", "gone", "rewritten"],
)
def test_a_wrecked_remote_changes_nothing_here(fleet: Fleet, wreck: Wreck, code: int, said: str) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    for machine in (one, two, one):
        machine.write(f"from {machine.clone.root.name}")
        machine.ok("sync")
    known = one.json("letter", "list", "--fleet", "--all")["letters"]
    assert known
    wreck(Pusher(fleet.remote), one)
    wrecked = git("for-each-ref", cwd=fleet.remote)
    before = one.store()
    found, _out, err = one("sync")
    assert found == code, err
    assert err.startswith(said)
    assert one.store() == before
    assert one.json("letter", "list", "--fleet", "--all")["letters"] == known
    if code:
        assert git("for-each-ref", cwd=fleet.remote) == wrecked
    else:
        two.ok("sync")
        one.ok("sync")
        assert one.tree() == two.tree()


def test_letters_of_the_fleet_are_named_by_more_than_their_tails(fleet: Fleet) -> None:
    one = _push_record(fleet, forged(LATER, "x"))
    pusher = Pusher(fleet.remote)
    pusher.replace({at(LATER, "other-00000000"): ("100644", pusher.blob(forged(LATER, "y")))})
    one.ok("sync")
    assert one("letter", "show", LATER[-8:]) == (
        1,
        "",
        f"error: letter '{LATER[-8:]}' is ambiguous\nhint: it could be {EVIL}/{LATER}, other-00000000/{LATER}\n",
    )
    assert one.ok("letter", "show", f"other-00000000/{LATER}", "--raw") == "y"
    one.ok("letter", "adopt", f"other-00000000/{LATER[-8:]}")
    assert one.json("letter", "show")["letter"]["adopted_from"] == f"other-00000000/{LATER}"
    assert one("letter", "adopt", "ffffffff")[0] == 1
    assert START

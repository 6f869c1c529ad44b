"""``git coop doctor``: its words, its exit status, ``--fix``, JSON, and outputs that fail."""

import json
from pathlib import Path

import pytest

from git_coop.text import width
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import Worlds

# No client is looked for beyond this PATH; the program is on it.
ENV: dict[str, str | None] = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def desk(edge: Worlds, clone: Clone, programs: Path) -> Desk:
    made = Desk(edge, clone.root)
    made.letter("a letter")
    ENV["PATH"] = f"{programs}:/usr/bin:/bin"
    return made


def test_a_healthy_clone(desk: Desk, clone: Clone, programs: Path) -> None:
    before = tree(clone.root)
    code, out, err = desk("doctor", env=ENV)
    assert tree(clone.root) == before
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == [
        f"ok       format          1, in '{clone.coop}'",
        f"ok       program         {programs / 'git-coop'}",
        "ok       hooks           nothing found",
    ]
    assert lines[-4:] == [
        "ok       consuming       nothing found",
        "ok       hooks-seen      nothing found",
        "all is well",
        "as of 2026-11-30T10:45:12Z",
    ]


def test_a_finding_its_remedy_and_its_fix(desk: Desk, clone: Clone) -> None:
    stray = clone.coop / "mail" / "tmp" / "7-0"
    stray.write_text("half")
    stray.chmod(0o600)
    code, out, err = desk("doctor", env=ENV)
    assert (code, err) == (1, "")
    assert (
        "found    leftovers       'mail/tmp/7-0' was left by a command that was killed\n"
        "                         remedy: --fix removes it, and so does the next drain\n"
    ) in out
    assert out.endswith("\n1 finding, --fix mends 1\nas of 2026-11-30T10:45:12Z\n")
    code, out, err = desk("doctor", "--fix", env=ENV)
    assert (code, err) == (0, "")
    assert (
        "fixed    leftovers       'mail/tmp/7-0' was left by a command that was killed: removed 'mail/tmp/7-0'\n" in out
    )
    assert out.endswith("\nall is well, 1 mended\nas of 2026-11-30T10:45:12Z\n")
    assert not stray.exists()
    assert desk("doctor", env=ENV)[0] == 0


def test_a_fix_changes_only_what_it_names(desk: Desk, clone: Clone) -> None:
    (clone.coop / "mine.txt").write_text("mine")
    (clone.coop / "mine.txt").chmod(0o600)
    before = tree(clone.root)
    code, out, _err = desk("doctor", "--fix", env=ENV)
    assert code == 1
    assert "found    names           1 strange name in the store: 'mine.txt'\n" in out
    assert tree(clone.root) == before


def test_json_names_every_check(desk: Desk, clone: Clone) -> None:
    (clone.coop / "mail" / "tmp" / "7-0").write_text("half")
    (clone.coop / "mail" / "tmp" / "7-0").chmod(0o600)
    code, out, err = desk("doctor", "--json", env=ENV)
    answer = json.loads(out)
    assert (code, err, sorted(answer)) == (1, "", ["as_of", "checks", "fix", "well"])
    assert (answer["well"], answer["fix"]) == (False, False)
    assert [each for each in answer["checks"] if each["outcome"] == "found"] == [
        {
            "name": "leftovers",
            "outcome": "found",
            "what": "'mail/tmp/7-0' was left by a command that was killed",
            "remedy": "--fix removes it, and so does the next drain",
            "fixable": True,
        }
    ]
    assert json.loads(desk("doctor", "--json", "--fix", env=ENV)[1])["well"] is True


def test_an_unknown_format_stops_it_from_nothing_but_the_store(desk: Desk, clone: Clone) -> None:
    (clone.coop / "format").write_text("99\n")
    code, out, err = desk("doctor", "--fix", env=ENV)
    assert (code, err) == (1, "")
    assert out.startswith(
        "found    format          the store has the unknown format '99'; nothing else of it was looked"
    )
    assert "ok       program " in out
    assert desk("status")[0] == 128


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_are_folded_to_the_terminal(desk: Desk, clone: Clone, columns: int) -> None:
    (clone.coop / "mail" / "tmp" / "漢字かな交じりの\x1b名前").write_text("half")
    code, out, _err = desk("doctor", env={**ENV, "COLUMNS": str(columns), "TERM": "dumb"}, terminal=True)
    assert code == 1
    assert max(width(line) for line in out.splitlines()) <= columns
    assert "\x1b" not in out


def test_many_findings_of_one_kind_are_counted_and_all_are_mended(desk: Desk, clone: Clone) -> None:
    for number in range(30):
        (clone.coop / "mail" / "tmp" / f"7-{number}").write_text("half")
        (clone.coop / "mail" / "tmp" / f"7-{number}").chmod(0o600)
    out = desk("doctor", env=ENV)[1]
    assert "leftovers: 10 more, which --json lists\n" in out
    assert out.count("found    leftovers") == 20
    assert desk("doctor", "--fix", env=ENV)[0] == 0
    assert list((clone.coop / "mail" / "tmp").iterdir()) == []


def test_before_anything_was_stored(edge: Worlds, clone: Clone, programs: Path) -> None:
    code, out, err = Desk(edge, clone.root)("doctor", env={"PATH": f"{programs}:/usr/bin:/bin"})
    assert (code, err) == (0, "")
    assert out.startswith("ok       format          there is no store yet: nothing was ever written in this clone\n")
    assert not clone.coop.exists()


def test_outside_of_a_repository(edge: Worlds, tmp_path: Path) -> None:
    code, out, err = Desk(edge, tmp_path)("doctor")
    assert (code, out) == (128, "")
    assert err.startswith("fatal: not a git repository")


def test_outputs_that_fail(desk: Desk) -> None:
    assert desk("doctor", env=ENV, out="closed") == (141, "", "")
    assert desk("doctor", env=ENV, out="full") == (
        128,
        "",
        "fatal: cannot write to standard output: no space left on device\n",
    )

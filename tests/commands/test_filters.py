"""Histories of letters and mail: ``--graph``, ``--oneline``, ``--grep``, ``-i``, ``--since``, ``-n``."""

import json
from pathlib import Path

import pytest

from git_coop import clock
from git_coop.text import width
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import Worlds


class Letters:
    """Three letters on three days: the second was acknowledged, the third superseded nothing, the fourth the third."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.ids = [desk.letter("one")]
        desk.clock.tick(clock.DAY)
        self.ids.append(desk.letter("two\n\nwith a Needle in its body"))
        desk.done("letter", "read", session="reader")
        desk.done("letter", "ack", session="reader")
        desk.clock.tick(clock.DAY)
        self.ids.append(desk.letter("three"))
        desk.clock.tick(clock.HOUR)
        self.ids.append(desk.letter("four"))

    def log(self, *words: str) -> str:
        return self.desk.done("letter", "log", *words)

    def short(self, *words: str) -> list[str]:
        return [line.rpartition(" ")[2] for line in self.log("--oneline", *words).splitlines()]


@pytest.fixture
def letters(edge: Worlds, clone: Clone) -> Letters:
    return Letters(Desk(edge, clone.root))


def test_one_line_a_letter_with_the_lines_that_join_them(letters: Letters) -> None:
    tails = [identifier[-8:] for identifier in letters.ids]
    assert (
        letters.log("--graph", "--oneline")
        == f"""\
* {tails[3]} (unread) four
* {tails[2]} (superseded) three
* {tails[1]} (done) two
* {tails[0]} (superseded) one
"""
    )


def test_the_graph_beside_whole_entries(letters: Letters, clone: Clone) -> None:
    head = clone.git("rev-parse", "HEAD")[:12]
    one, two, three, four = letters.ids
    assert (
        letters.log("--graph")
        == f"""\
* letter {four}
| State:   unread
| Written: 2026-12-02T11:45:12Z, 0 seconds ago
| Branch:  main at {head}
| Subject: four
|
* letter {three}
  State:   superseded (by {four})
  Written: 2026-12-02T10:45:12Z, 1 hour ago
  Branch:  main at {head}
  Subject: three

* letter {two}
| State:   done (read 1 time)
| Written: 2026-12-01T10:45:12Z, 1 day ago
| Branch:  main at {head}
| Subject: two
|
* letter {one}
  State:   superseded (by {two})
  Written: 2026-11-30T10:45:12Z, 2 days ago
  Branch:  main at {head}
  Subject: one
"""
    )


def test_letters_are_filtered(letters: Letters) -> None:
    assert letters.short() == ["four", "three", "two", "one"]
    assert letters.short("-n", "2") == ["four", "three"]
    assert letters.short("--since", "2026-12-01") == ["four", "three", "two"]
    assert letters.short("--since", "2h") == ["four", "three"]
    assert letters.short("--grep", "needle") == []
    assert letters.short("--grep", "needle", "-i") == ["two"]
    assert letters.short("--grep", "^t", "-n", "1") == ["three"]
    assert letters.short(letters.ids[1], "-n", "1") == ["two"]
    answer = json.loads(letters.log("--json", "--grep", "^t"))
    assert [letter["subject"] for letter in answer["letters"]] == ["three", "two"]


def test_a_list_of_letters_is_filtered(letters: Letters, clone: Clone) -> None:
    peer = clone.worktree("peer")
    assert letters.desk("letter", "write", "-m", "of the peer", cwd=peer)[0] == 0

    def listed(*words: str) -> list[str]:
        answer = json.loads(letters.desk.done("letter", "list", "--json", *words))
        subjects = [letter["subject"] for letter in answer["letters"]]
        rows = letters.desk.done("letter", "list", *words).splitlines()
        assert [row.split("  ")[-1].strip() for row in rows if not row.startswith(str(clone.root.parent))] == subjects
        return subjects

    assert listed() == ["four"]
    assert listed("--all") == ["four", "three", "two", "one"]
    assert listed("--all", "-n", "2") == ["four", "three"]
    assert listed("--all", "--since", "2h") == ["four", "three"]
    assert listed("--all", "--grep", "needle") == []
    assert listed("--all", "--grep", "needle", "-i") == ["two"]
    assert listed("--grep", "^t") == []
    assert sorted(listed("--all", "--all-worktrees", "-n", "1")) == ["four", "of the peer"]
    assert listed("--all-worktrees", "--grep", "peer") == ["of the peer"]
    assert letters.desk("letter", "list", "--since", "once")[0] == 129


def test_words_of_the_filters_that_are_none(letters: Letters) -> None:
    for words, sentence in (
        (["--since", "one day"], "usage: 'one day' is no time\n"),
        (["--grep", "("], "usage: '(' is no regular expression: missing ), unterminated subpattern at position 0\n"),
        (["-n", "many"], "usage: option '-n' needs a number of rows, 0 for none, and not 'many'\n"),
        (["-n", "-1"], "usage: option '-n' needs a number of rows, 0 for none, and not '-1'\n"),
    ):
        code, out, err = letters.desk("letter", "log", *words)
        assert (code, out) == (129, "")
        assert err.startswith(sentence)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_log_fits_the_terminal(letters: Letters, columns: int) -> None:
    letters.desk.letter("漢字かな交じり文のとても長い件名がここにあります" * 3)
    for words in (["--graph"], ["--graph", "--oneline"], []):
        env: dict[str, str | None] = {"COLUMNS": str(columns)}
        code, out, err = letters.desk("letter", "log", *words, env=env, terminal=True)
        assert (code, err) == (0, "")
        assert max(map(width, out.splitlines())) <= columns


def test_a_log_changes_nothing_and_its_outputs_may_fail(letters: Letters, clone: Clone) -> None:
    before = tree(clone.root)
    letters.log("--graph", "--grep", "t")
    assert letters.desk("letter", "log", "--graph", out="closed") == (141, "", "")
    assert letters.desk("letter", "log", "--graph", out="full") == (
        128,
        "",
        "fatal: cannot write to standard output: no space left on device\n",
    )
    assert tree(clone.root) == before


def test_mail_is_filtered(letters: Letters, clone: Clone) -> None:
    peer = clone.worktree("peer")
    desk = letters.desk

    def send(text: str, *words: str) -> None:
        assert desk("mail", "send", "--to", str(clone.root), "-m", text, *words, cwd=peer)[0] == 0
        desk.clock.tick(clock.HOUR)

    send("an old one")
    send("a body", "--subject", "About the Parser")
    send("the last", "--kind", "note")

    def listed(*words: str) -> list[str]:
        answer = json.loads(desk.done("mail", "list", "--json", *words))
        return [message["subject"] or message["kind"] or "plain" for message in answer["messages"]]

    everything = listed()
    assert everything[1] == "About the Parser"
    assert len(everything) == 3
    assert listed("-n", "2") == everything[1:]
    assert listed("--since", "2h") == everything[1:]
    assert listed("--grep", "parser") == []
    assert listed("--grep", "parser", "-i") == ["About the Parser"]
    assert listed("--grep", Path(peer).name, "-n", "1") == everything[2:]
    assert desk("mail", "list", "--since", "once")[0] == 129

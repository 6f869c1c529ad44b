"""``git coop todo``: adding, listing, marking, and the letter that a todo belongs to."""

import json
import re
from pathlib import Path

import pytest

from git_coop import clock
from git_coop.__main__ import main
from tests.support.clones import Clone
from tests.support.program import Program
from tests.support.world import START, Clock, Counter, World, Worlds


class Todos:
    """Runs commands in one clone with one clock and one source of randomness."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.edge = edge
        self.clone = clone
        self.clock = Clock()
        self.entropy = Counter()

    def __call__(self, *words: str, cwd: Path | None = None, terminal: bool = False) -> tuple[int, str, str]:
        world: World = self.edge(cwd or self.clone.root, terminal=terminal)
        world = world.replace(clock=self.clock, entropy=self.entropy)
        code = main(list(words), world)
        return code, world.stdout.text, world.stderr.text

    def add(self, *words: str, cwd: Path | None = None) -> str:
        code, out, _err = self("todo", "add", *words, cwd=cwd)
        found = re.fullmatch(r"todo (t-[0-9a-z]{5}) added\n", out)
        assert code == 0
        assert found
        return found[1]

    def letter(self, body: str) -> str:
        code, out, _err = self("letter", "write", "-m", body)
        assert code == 0
        return out.split()[1]


@pytest.fixture
def run(edge: Worlds, clone: Clone) -> Todos:
    return Todos(edge, clone)


def test_listing_where_nothing_is_stored_creates_nothing(run: Todos) -> None:
    assert run("todo", "list") == (0, "", "")
    assert json.loads(run("todo", "list", "--json")[1]) == {
        "as_of": "2026-11-30T10:45:12Z",
        "todos": [],
        "unreadable": [],
    }
    assert not run.clone.coop.exists()


def test_a_todo_from_beginning_to_end(run: Todos) -> None:
    first = run.add("write", "the", "test")
    run.clock.tick(5 * clock.MINUTE)
    second = run.add("run it")
    assert run("todo", "list") == (
        0,
        f"{first}  open  5 minutes   write the test\n{second}  open  0 seconds   run it\n",
        "",
    )
    assert run("todo", "done", first) == (0, f"todo {first} is done\n", "")
    assert run("todo", "done", first[2:]) == (0, f"todo {first} was done already\n", "")
    assert run("todo", "list")[1] == f"{second}  open  0 seconds   run it\n"
    assert run("todo", "list", "--all")[1] == (
        f"{first}  done  5 minutes   write the test\n{second}  open  0 seconds   run it\n"
    )
    assert run("todo", "reopen", first) == (0, f"todo {first} is open\n", "")
    assert run("todo", "reopen", first) == (0, f"todo {first} was open already\n", "")


def test_the_answers_as_json(run: Todos) -> None:
    code, out, _err = run("todo", "add", "x", "--json", "--session", "s-1")
    answer = json.loads(out)
    one = answer["todo"]
    identifier = one["id"]
    assert (code, answer) == (
        0,
        {
            "as_of": "2026-11-30T10:45:12Z",
            "todo": {
                "id": identifier,
                "status": "open",
                "text": "x",
                "session": "s-1",
                "created_at": "2026-11-30T10:45:12Z",
                "done_at": None,
                "reopened_at": None,
            },
        },
    )
    letter = run.letter(f"finish {identifier}")
    run.clock.tick()
    finished = {**one, "status": "done", "done_at": "2026-11-30T10:45:13Z"}
    answers = [json.loads(run("todo", "done", identifier, "--json")[1]) for _run in range(2)]
    assert answers == [
        {"as_of": "2026-11-30T10:45:13Z", "todo": finished, "changed": changed, "letters": [letter]}
        for changed in (True, False)
    ]
    (listed,) = json.loads(run("todo", "list", "--all", "--json")[1])["todos"]
    assert listed.pop("box").startswith("main-")
    assert listed.pop("path") == str(run.clone.root)
    assert listed == finished


def test_a_done_todo_names_the_live_letter_that_mentions_it(run: Todos) -> None:
    one = run.add("write the test")
    letter = run.letter(f"Do {one}, please.")
    tail = letter[-8:]
    hint = "hint: when all that the letter asks for is done, acknowledge it: "
    assert run("todo", "done", one) == (
        0,
        f"todo {one} is done\nletter {letter} mentions it\n",
        f"{hint}git coop letter read {tail}, then git coop letter ack {tail}\n",
    )
    assert run("letter", "read")[0] == 0
    run("todo", "reopen", one)
    assert run("todo", "done", one) == (
        0,
        f"todo {one} is done\nletter {letter} mentions it\n",
        f"{hint}git coop letter ack {tail}\n",
    )
    assert run("letter", "ack")[0] == 0
    run("todo", "reopen", one)
    assert run("todo", "done", one) == (0, f"todo {one} is done\n", "")


def test_a_longer_id_and_a_superseded_letter_are_no_mentions(run: Todos) -> None:
    one = run.add("write the test")
    run.letter(f"Do {one}x")
    assert run("todo", "done", one) == (0, f"todo {one} is done\n", "")
    run.letter(f"Do {one}")
    run.letter("Do something else")
    assert run("todo", "done", one) == (0, f"todo {one} was done already\n", "")


def test_a_letter_that_cannot_be_read_costs_only_the_mention(run: Todos) -> None:
    one = run.add("write the test")
    letter = run.letter(f"Do {one}")
    (record,) = (run.clone.coop / "letters").glob(f"*/{letter}.toml")
    record.write_text("not TOML")
    code, out, err = run("todo", "done", one)
    assert (code, out) == (0, f"todo {one} is done\n")
    assert err.startswith(f"warning: whether a letter mentions it is not known: cannot parse '{record}': ")


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        (["add"], 129, "usage: missing argument '<text>...'\nhint: git coop todo add -h shows its usage\n"),
        (["add", " "], 1, "error: the todo is blank\n"),
        (["add", "a\nb"], 1, "error: a todo is one line\nhint: a letter holds more: git coop letter write\n"),
        (["done", "t-00000"], 1, "error: nothing is stored in this clone yet\n"),
        (["done"], 129, "usage: missing argument '<id>'\nhint: git coop todo done -h shows its usage\n"),
        ([], 129, "usage: git coop todo needs a command\nhint: one of add, list, done, reopen\n"),
    ],
)
def test_what_is_refused_stores_nothing(run: Todos, words: list[str], code: int, err: str) -> None:
    assert run("todo", *words) == (code, "", err)
    assert not run.clone.coop.exists()


def test_an_unknown_todo_is_refused(run: Todos) -> None:
    run.add("x")
    for verb in ("done", "reopen"):
        expected = "error: no todo 'nope'\nhint: git coop todo list --all shows every one\n"
        assert run("todo", verb, "nope") == (1, "", expected)


def test_todos_belong_to_their_worktree(run: Todos) -> None:
    side = run.clone.worktree("side")
    here, there = run.add("here"), run.add("there", cwd=side)
    assert run("todo", "list")[1] == f"{here}  open  0 seconds   here\n"
    assert run("todo", "list", cwd=side)[1] == f"{there}  open  0 seconds   there\n"
    assert run("todo", "done", there)[0] == 1
    assert run("todo", "list", "--all-worktrees")[1] == (
        f"{run.clone.root}\n  {here}  open  0 seconds   here\n{side}\n  {there}  open  0 seconds   there\n"
    )


def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(run: Todos) -> None:
    first, second = run.add("one"), run.add("two")
    (record,) = (run.clone.coop / "todos").glob(f"*/{first}.toml")
    record.write_text("not TOML")
    code, out, err = run("todo", "list")
    assert (code, out) == (1, f"{second}  open  0 seconds   two\n")
    assert re.fullmatch(rf"error: cannot parse '{record}': .*\n", err)
    code, out, _err = run("todo", "list", "--json")
    assert (code, len(json.loads(out)["todos"]), len(json.loads(out)["unreadable"])) == (1, 1, 1)


def test_a_hostile_record_is_shown_as_one_safe_line(run: Todos) -> None:
    one = run.add("x")
    (record,) = (run.clone.coop / "todos").glob(f"*/{one}.toml")
    record.write_text(record.read_text().replace('"x"', '"a\\nb\\u001b[2J\\u202e"'))
    assert run("todo", "list")[1] == f"{one}  open  0 seconds   a?b?[2J?\n"


def test_the_real_program_adds_and_lists(coop: Program, clone: Clone) -> None:
    added = coop("todo", "add", "write", "it", cwd=clone.root, check=0, now=START).out
    assert coop("todo", "list", cwd=clone.root, now=START).out == f"{added.split()[1]}  open  0 seconds   write it\n"

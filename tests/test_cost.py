"""What a drain may cost, counted and not timed: modules loaded, calls into the system, files opened, processes started.

The hook is paid for at every turn of every session, however much is stored; ``tests/bench`` has its price in time.
Whoever adds to a list here adds to that price, and says so by doing it.
"""

import os
import sys
from pathlib import Path

import pytest

from git_coop import layout
from git_coop.layout import message_path
from tests.bench.stage import LETTER, Stage, payload
from tests.support.costs import Costs, measure

# Each module costs a drain a hundredth of the bare interpreter's start, and so do eight classes or fifty functions.
QUIET = {
    *("git_coop", "git_coop.__main__", "git_coop.edge", "git_coop.record", "git_coop.errors", "git_coop.hook"),
    *("git_coop.event", "git_coop.drain", "git_coop.place", "git_coop.discover", "git_coop.files", "git_coop.layout"),
    *("git_coop.store", "git_coop.drained", "git_coop.clock"),
}
CLIENT = {"git_coop.payload", "git_coop.clients", "git_coop.clients.claude", "git_coop.clients.encode"}
OPENING = {  # what a prompt takes to open its turn, beside a look into the box
    *("git_coop.locks", "git_coop.ids"),
    *("git_coop.drain_run", "git_coop.events", "git_coop.inbox", "git_coop.turns", "git_coop.flat"),
}
TELLING = OPENING | {  # what a start takes to announce a letter: no TOML parser, and nothing that only mail needs
    *("git_coop.letter_notice", "git_coop.letter_glance", "git_coop.letters", "git_coop.plain_toml"),
    *("git_coop.adopted", "git_coop.render", "git_coop.quote", "git_coop.text"),
}
SHOWING = OPENING | {
    *("git_coop.offers", "git_coop.choose", "git_coop.receipts", "git_coop.message", "git_coop.staged"),
    *("git_coop.header", "git_coop.render", "git_coop.quote", "git_coop.text"),
}
# Of the standard library: what hashes, locks and waits for a pipe, and the scanner of JSON without its module.
STANDARD = {"fcntl", "select", "_sha2", "_sha256", "_json"}
DEAR = {
    "click",
    "pygit2",
    "json",
    "re",
    "typing",
    "subprocess",
    "hashlib",
    "dataclasses",
    "datetime",
    "email",
    "tomllib",
}

WAITING, MANY = 5, 10_000
FEW_DOZEN = 48


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage", numbered=False))


@pytest.fixture(scope="module")
def empty(stage: Stage) -> Path:
    return stage.worktree("empty")


@pytest.fixture(scope="module")
def five(stage: Stage) -> Path:
    root = stage.worktree("five")
    stage.fill(stage.box(root), WAITING)
    return root


@pytest.fixture(scope="module")
def queue(stage: Stage) -> Path:
    """A worktree for which ten thousand messages wait: a hundred of their own, and many names of one."""
    root = stage.worktree("queue")
    box = stage.box(root)
    stage.fill(box, 100)
    first = os.fsencode(sorted(os.listdir(os.fsdecode(box.inbox)))[0])
    for _ in range(MANY - 100):
        os.link(box.inbox + b"/" + first, message_path(box.inbox, stage.fresh()))
    return root


@pytest.fixture(scope="module")
def past(stage: Stage) -> Path:
    """A worktree for which five messages wait, and which has had many more."""
    root = stage.worktree("past")
    stage.file_away(stage.box(root), 2000)
    stage.fill(stage.box(root), WAITING)
    return root


class Session:
    """One session's hooks in a worktree; each prompt opens a turn."""

    def __init__(self, stage: Stage, root: Path, name: str) -> None:
        self.stage, self.root, self.name, self.turn = stage, root, name, 0

    def hook(self, event: str, env: "dict[str, str] | None" = None) -> Costs:
        self.turn += event == "UserPromptSubmit"
        data = payload(event, self.name, self.root, f"turn-{self.turn}")
        words = ["drain", "--client", "claude"]
        return measure(self.stage.place, words, {**self.stage.env, **(env or {})}, self.root, data)


def warm(stage: Stage, root: Path, name: str) -> Session:
    """A session in its second turn, with the folders and files made that a first one makes."""
    session = Session(stage, root, name)
    session.hook("UserPromptSubmit")
    return session


def test_a_stop_at_an_empty_box_loads_no_more_than_it_needs(stage: Stage, empty: Path) -> None:
    measure(stage.place, ["drain", "--event", "stop"], stage.env, empty)  # the first one makes its line in the proof
    found = measure(stage.place, ["drain", "--event", "stop"], stage.env, empty)
    assert (found.status, found.output, found.started) == (0, "", [])
    assert found.modules - QUIET - STANDARD == set()


def test_a_clients_stop_at_an_empty_box_loads_its_adapter_beside(stage: Stage, empty: Path) -> None:
    session = warm(stage, empty, "stops")
    session.hook("Stop")
    found = session.hook("Stop")
    assert (found.status, found.output, found.started) == (0, "", [])
    assert found.modules - QUIET - CLIENT - STANDARD == set()


def test_a_prompt_at_an_empty_box_loads_what_opens_a_turn(stage: Stage, empty: Path) -> None:
    found = warm(stage, empty, "opens").hook("UserPromptSubmit")
    assert (found.status, found.output, found.started) == (0, "", [])
    assert found.modules - QUIET - CLIENT - OPENING - STANDARD == set()


def test_a_prompt_that_shows_mail_loads_what_renders_it(stage: Stage, five: Path) -> None:
    found = warm(stage, five, "shows").hook("UserPromptSubmit")
    assert "5 messages follow" in found.output
    assert (found.status, found.started) == (0, [])
    assert found.modules - QUIET - CLIENT - SHOWING - STANDARD == set()


def test_a_start_that_announces_a_letter_loads_no_reader_of_records(stage: Stage) -> None:
    root = stage.worktree("letter")
    stage.call_program("letter", "write", "--body", "-", cwd=root, stdin=LETTER.encode())
    session = warm(stage, root, "starts")
    session.hook("SessionStart")
    found = session.hook("SessionStart")
    assert "a letter from the session before waits here" in found.output
    assert (found.status, found.started) == (0, [])
    assert found.modules - QUIET - CLIENT - TELLING - STANDARD == set()


def test_what_is_dear_is_seen_where_it_is_loaded(stage: Stage, empty: Path) -> None:
    """The control: a command that is no drain loads click, and the lists above do not hold it."""
    found = measure(stage.place, ["letter", "list"], stage.env, empty)
    assert found.status == 0
    assert found.modules & DEAR >= {"click", "re", "typing"}
    assert not (QUIET | CLIENT | SHOWING | TELLING | STANDARD) & DEAR


@pytest.fixture
def stub(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """An environment whose only ``git`` writes down how it is called and settles nothing."""
    calls = tmp_path / "calls"
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        f"#!{sys.executable} -IS\nimport sys\nopen({str(calls)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
    )
    git.chmod(0o755)
    calls.touch()
    return {"PATH": str(git.parent)}, calls


def test_a_hook_starts_no_process_but_one_git_where_a_stop_has_mail_to_deliver(
    stage: Stage, empty: Path, stub: tuple[dict[str, str], Path]
) -> None:
    env, calls = stub
    full = stage.worktree("full")
    stage.fill(stage.box(full), WAITING)
    for root in (empty, full):
        session = Session(stage, root, f"processes-{root.name}")
        started = [session.hook(event, env).started for event in ("SessionStart", "UserPromptSubmit", "Stop")]
        assert (started, calls.read_text()) == ([[], [], []], "")
    stage.fill(stage.box(full), WAITING)
    late = Session(stage, full, "late").hook("Stop", env)
    assert len(late.started) == 1
    assert calls.read_text() == "config -z --show-scope --show-origin --list\n"


def test_a_prompt_costs_the_same_however_much_waits_or_was_filed(
    stage: Stage, five: Path, queue: Path, past: Path
) -> None:
    few, many, filed = (warm(stage, root, "same").hook("UserPromptSubmit") for root in (five, queue, past))
    for each in (few, many, filed):
        assert "5 messages follow" in each.output
        assert len(each.opened) <= FEW_DOZEN
    assert (filed.calls, len(filed.opened)) == (few.calls, len(few.opened))
    # with more than five waiting, one that was shown before and four that were not are opened, and four markers made
    assert abs(many.calls - few.calls) <= 40
    assert abs(len(many.opened) - len(few.opened)) <= 8


def test_a_stop_costs_the_same_however_much_was_filed(stage: Stage, empty: Path, past: Path) -> None:
    """Both have nothing to do: in the second, all was shown in the turn before and is not shown again."""
    measure(stage.place, ["drain", "--event", "stop"], stage.env, empty)
    quiet = measure(stage.place, ["drain", "--event", "stop"], stage.env, empty)
    used = stage.worktree("used")
    stage.file_away(stage.box(used), 2000)
    measure(stage.place, ["drain", "--event", "stop"], stage.env, used)
    after = measure(stage.place, ["drain", "--event", "stop"], stage.env, used)
    assert (after.calls, len(after.opened)) == (quiet.calls, len(quiet.opened))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_no_hook_lists_what_only_grows(stage: Stage, past: Path, event: str) -> None:
    found = warm(stage, past, f"lists-{event}").hook(event)
    assert found.listed, "the control: folders that are listed are seen"
    grows = {"seen", "expired", "receipts", "box", "worktrees"}
    assert [place for place in found.listed if Path(place).name in grows] == []


def test_a_session_with_many_markers_opens_no_more_files(stage: Stage) -> None:
    root = stage.worktree("markers")
    box = stage.box(root)
    stage.fill(box, 60)
    session = Session(stage, root, "markers")
    costs = [session.hook("UserPromptSubmit") for _ in range(6)]
    assert all("5 messages follow" in each.output for each in costs)
    assert len(costs[-1].opened) <= len(costs[1].opened) + 2


@pytest.mark.parametrize(
    "words",
    [["mail", "status"], ["status", "--all-worktrees"], ["letter", "list", "--all"], ["mail", "list"]],
    ids=" ".join,
)
def test_commands_that_look_at_everything_grow_no_worse_than_linearly(tmp_path: Path, words: list[str]) -> None:
    stage = Stage(tmp_path)
    root = stage.worktree("own")
    opened = []
    for count in (4, 4, 8):  # in all 4, 8 and 16 of everything
        for number in range(count):
            _more(stage, root, number)
        found = measure(stage.place, words, stage.env, root)
        assert found.status == 0
        opened.append(len(found.opened))
    first, second = opened[1] - opened[0], opened[2] - opened[1]
    assert first > 0, "the control: what is there is opened"
    assert second <= 2 * first


_LETTER = b"""\
from = "x"
to = "x"
path = "/x"
subject = "s"
status = "done"
body = "b"
created_at = 2026-11-30T10:45:12Z
"""


def _more(stage: Stage, root: Path, number: int) -> None:
    """One more of everything: a box of another worktree with a message in it, a message, a letter."""
    box = stage.box(root)
    stage.fill(box, 1)
    name = stage.fresh()
    other = layout.Box(box.store, f"other{number}-{name[:8]}{name[-8:]}{name[-8:]}{name[-8:]}")
    for folder in layout.BOX_FOLDERS:
        box.store.ensure_folder(other.mail + b"/" + folder)
    box.store.create(other.path_file, b"/nowhere/%d\n" % number, durable=False)
    stage.fill(other, 1)
    box.store.ensure_folder(box.letters)
    box.store.create(box.letters + b"/" + stage.fresh().encode() + b".toml", _LETTER, durable=False)


@pytest.mark.soak
def test_a_hundred_thousand_filed_cost_nothing(stage: Stage, five: Path) -> None:
    root = stage.worktree("hundred")
    stage.file_away(stage.box(root), 100_000)
    stage.fill(stage.box(root), WAITING)
    few, many = (warm(stage, place, "hundred").hook("UserPromptSubmit") for place in (five, root))
    assert (many.calls, len(many.opened)) == (few.calls, len(few.opened))

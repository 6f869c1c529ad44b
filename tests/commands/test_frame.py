"""The frame of the command line: statuses, sentences, help, and what no words can make it do."""

import json
import os
import signal
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from git_coop import __version__
from git_coop.__main__ import main
from git_coop.cli import root as roots
from git_coop.cli import words
from git_coop.cli.app import App
from git_coop.cli.frame import Family, Verb
from git_coop.errors import Busy, CoopError, Fatal, NotFound, Refused, Usage
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.program import Program
from tests.support.world import Worlds


@pytest.fixture
def run(edge: Worlds, clone: Clone) -> Desk:
    return Desk(edge, clone.root)


def commands(group: click.Group | None = None, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command by its words, families included."""
    group = group or roots.root
    context = click.Context(group)
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if not command.hidden:
            found.append((*path, name))
            found += commands(command, (*path, name)) if isinstance(command, click.Group) else []
    return found


COMMANDS = commands()
EVERY = "hint: git coop letter list --all --all-worktrees shows every one\n"


def test_every_command_has_these_manners() -> None:
    for path in COMMANDS:
        command: click.Command = roots.root
        for name in path:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), name)
            assert found is not None
            command = found
        assert isinstance(command, Family | Verb), path


@pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
def test_h_prints_the_usage_on_standard_output(run: Desk, clone: Clone, path: tuple[str, ...]) -> None:
    code, out, err = run(*path, "-h", stdin=None)
    if path == ("drain",):
        return  # it is a hook's: its own tests say what it answers
    assert (code, err) == (0, "")
    assert out.startswith(" ".join(("usage: git coop", *path)))
    assert not clone.coop.exists()


@pytest.mark.parametrize("family", [(), *sorted({path[:1] for path in COMMANDS if len(path) > 1})], ids=" ".join)
def test_the_commands_of_a_family_have_a_line_each(run: Desk, family: tuple[str, ...]) -> None:
    listed = run(*family, "-h", stdin=None)[1].split("Commands:\n")[1].splitlines()
    names = [path[-1] for path in COMMANDS if path[:-1] == family]
    assert [line.split()[0] for line in listed] == names
    for line in listed:
        said = line.split(maxsplit=1)[1]
        assert said[0].islower(), line
        assert len(line) <= 80, line
        assert not said.endswith((".", ",")), line


@pytest.mark.parametrize("path", [path for path in COMMANDS if path != ("drain",)], ids=" ".join)
def test_an_unknown_option_is_a_usage_error(run: Desk, clone: Clone, path: tuple[str, ...]) -> None:
    code, out, err = run(*path, "--no-such-option", stdin=None)
    assert (code, out) == (129, "")
    assert err.splitlines()[0] == "usage: no such option '--no-such-option'"
    assert err.splitlines()[-1] == f"hint: {' '.join(('git coop', *path))} -h shows its usage"
    assert not clone.coop.exists()


@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        ("bogus", "'bogus' is not a git coop command", "git coop -h lists the commands"),
        ("lettre", "'lettre' is not a git coop command", "git coop -h lists the commands"),
        ("letter bogus", "'bogus' is not a git coop letter command", "git coop letter -h lists the commands"),
        ("todo", "git coop todo needs a command", "one of add, list, done, reopen"),
        ("letter write -m", "option '-m' requires an argument", "git coop letter write -h shows its usage"),
        (
            "letter write --json=x -m y",
            "option '--json' does not take a value",
            "git coop letter write -h shows its usage",
        ),
        ("letter read a b", "got unexpected extra argument (b)", "git coop letter read -h shows its usage"),
        ("letter wirte", "'wirte' is not a git coop letter command", "git coop letter -h lists the commands"),
        ("letter write --subjct x", "no such option '--subjct'", "git coop letter write -h shows its usage"),
        ("--bogus", "no such option '--bogus'", "git coop -h shows its usage"),
        ("help bogus", "'bogus' is not a git coop command", "git coop -h lists the commands"),
    ],
)
def test_misuse_is_129_with_the_way_out(run: Desk, line: str, first: str, last: str) -> None:
    code, out, err = run(*line.split(), stdin=None)
    assert (code, out) == (129, "")
    lines = err.splitlines()
    assert (lines[0], lines[-1]) == (f"usage: {first}", f"hint: {last}")
    assert all(each.startswith(("usage: ", "hint: ")) for each in lines)


def test_a_misspelt_word_is_guessed_and_a_hidden_one_never(run: Desk) -> None:
    assert "hint: did you mean 'write'?\n" in run("letter", "wirte")[2]
    assert "hint: did you mean 'mail'?\n" in run("mial")[2]
    assert "hint: did you mean 'status'?\n" in run("help", "staus")[2]
    assert "hint: did you mean '--subject'?\n" in run("letter", "write", "--subjct", "x")[2]
    assert "hint: did you mean '--state'?\n" in run("mail", "list", "--stat", "x")[2]
    assert "hint: did you mean '--all'?\n" in run("letter", "list", "--al")[2]
    assert "did you mean" not in run("letter", "list", "--helm")[2].replace("did you mean '--help'", "")
    assert "did you mean" not in run("letter", "snd")[2]
    assert "did you mean" not in run("letter", "read", "--recipien", "x")[2]


class Raising:
    """The program with one command that fails as it is told."""

    def __init__(self, run: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run, self.patch = run, monkeypatch

    def __call__(self, error: BaseException, **world: str) -> tuple[int, str, str]:
        def fails(_app: App, _start: object) -> None:
            raise error

        self.patch.setattr(App, "write", fails)
        return self.run("letter", "list", "--json", env=dict(world))


@pytest.fixture
def raising(run: Desk, monkeypatch: pytest.MonkeyPatch) -> Raising:
    return Raising(run, monkeypatch)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Refused("it is refused", hint="do this"), 1, "error: it is refused\nhint: do this\n"),
        (NotFound("nothing here"), 1, "error: nothing here\n"),
        (Busy("it is held", hint="try again\nor wait"), 1, "error: it is held\nhint: try again\nhint: or wait\n"),
        (Fatal("cannot"), 128, "fatal: cannot\n"),
        (Usage("wrong words"), 129, "usage: wrong words\n"),
        (CoopError("name \x1b[31m\nnext"), 1, "error: name ?[31m?next\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
        (OSError(28, "No space left on device"), 128, "fatal: no space left on device\n"),
        (OSError(28, "No space", "standard output"), 128, "fatal: cannot write to standard output: no space\n"),
        (OSError(13, "Permission denied", "/x"), 128, "fatal: permission denied: '/x'\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (
            ValueError("a bug"),
            128,
            "fatal: unexpected ValueError: a bug\nhint: set GIT_COOP_DEBUG=1 to see where it came from\n",
        ),
        (RecursionError("deep"), 128, "fatal: unexpected RecursionError: deep\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_the_table_of_exit_statuses(raising: Raising, error: BaseException, code: int, said: str) -> None:
    got, out, err = raising(error)
    assert (got, out) == (code, "")
    assert err.startswith(said)
    assert "Traceback" not in err


def test_the_way_an_error_came_is_shown_on_request_only(raising: Raising) -> None:
    err = raising(ValueError("a bug"), GIT_COOP_DEBUG="1")[2]
    assert err.startswith("Traceback (most recent call last):\n")
    assert "fatal: unexpected ValueError: a bug\n" in err
    assert "Traceback" in raising(Fatal("cannot"), GIT_COOP_DEBUG="1")[2]
    assert "Traceback" not in raising(Fatal("cannot"), GIT_COOP_DEBUG="0")[2]


def test_nobody_left_to_tell_changes_no_status(edge: Worlds, clone: Clone) -> None:
    assert main(["letter", "read"], edge(clone.root, err="closed")) == 1
    assert main(["letter", "bogus"], edge(clone.root, err="full")) == 129


def test_json_is_one_object_with_its_time(run: Desk) -> None:
    run.letter("one")
    for words_ in (["list"], ["show"], ["log"], ["read"], ["start"], ["ack"], ["write", "-m", "é\u2028"]):
        code, out, _err = run("letter", *words_, "--json")
        assert code == 0
        assert out.isascii()
        assert next(iter(json.loads(out))) == "as_of"


# help


@pytest.fixture
def man(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``man`` that writes down which page it is asked for; where it writes."""
    place = tmp_path / "stub"
    place.mkdir()
    (place / "man").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{tmp_path}/asked"\n')
    (place / "man").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    return tmp_path / "asked"


@pytest.mark.parametrize(
    ("line", "page"),
    [
        ("--help", "git-coop"),
        ("help", "git-coop"),
        ("letter --help", "git-coop-letter"),
        ("letter write --help", "git-coop-letter"),
        ("letter write -m x --help", "git-coop-letter"),
        ("help letter", "git-coop-letter"),
        ("todo list --help", "git-coop-todo"),
        ("help drain", "git-coop-drain"),
    ],
)
def test_help_opens_the_manual_page(run: Desk, man: Path, line: str, page: str) -> None:
    assert run(*line.split(), stdin=None) == (0, "", "")
    assert man.read_text().split()[-1] == page
    assert not (run.root / ".git" / "coop").exists()


def test_help_that_is_a_value_is_one(run: Desk, man: Path) -> None:
    run.done("letter", "write", "-m", "--help")
    assert run.done("letter", "show", "--raw") == "--help"
    code, _out, err = run("letter", "read", "--", "--help")
    assert (code, err) == (1, "error: no letter '--help'\n" + EVERY)
    assert not man.exists()


def test_the_version(run: Desk) -> None:
    assert run("--version") == (0, f"git-coop version {__version__}\n", "")


@pytest.mark.parametrize("out", ["closed", "full"])
def test_help_that_cannot_be_written_fails_as_any_answer(run: Desk, out: str) -> None:
    for line in (["-h"], ["letter", "-h"], ["--version"]):
        code, _out, err = run(*line, out=out)
        assert (code, err) == (
            (141, "") if out == "closed" else (128, "fatal: cannot write to standard output: no space left on device\n")
        )


# words


def test_end_of_options_is_gits_other_spelling(run: Desk) -> None:
    run.letter("one")
    for word in ("--", "--end-of-options"):
        assert run("letter", "show", word, "--raw") == (1, "", "error: no letter '--raw'\n" + EVERY)
        assert run("todo", "add", word, "-x")[0] == 0
    assert run.done("letter", "show", "--raw", "--end-of-options") == "one"
    assert run("--end-of-options", "letter", "show", "--raw") == (0, "one", "")


@pytest.mark.parametrize(
    ("given", "ready"),
    [
        (["-m", "--end-of-options", "x"], ["-m", "--end-of-options", "x"]),
        (["--body=--end-of-options"], ["--body=--end-of-options"]),
        (["--json", "--end-of-options", "-m"], ["--json", "--", "-m"]),
        (["--", "--end-of-options"], ["--", "--end-of-options"]),
        (["x", "--end-of-options"], ["x", "--"]),
        (["-mx", "--end-of-options"], ["-mx", "--"]),
        (["-", "--end-of-options"], ["-", "--"]),
        (["-zm", "--end-of-options"], ["-zm", "--"]),
    ],
)
def test_only_a_word_that_is_no_value_ends_the_options(given: list[str], ready: list[str]) -> None:
    write = Verb(
        "write", params=[click.Option(["-m", "--body"], multiple=True), click.Option(["--json"], is_flag=True)]
    )
    assert words.prepared(write, click.Context(write), given) == ready


VOCABULARY = st.sampled_from(
    [word for path in COMMANDS for word in path]
    + [
        "-m",
        "-F",
        "--body",
        "--to",
        "--json",
        "--all",
        "--raw",
        "-h",
        "--",
        "-",
        "--end-of-options",
        "-x",
        "=",
        "--=",
        "",
    ]
    + [
        "--reason",
        "--session",
        "--subject=a",
        "--event",
        "--client",
        "x",
        "\udcff",
        "é",
        "--body=-",
        "-mx",
        "--version",
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.lists(VOCABULARY | st.text(st.characters(exclude_characters="\0"), max_size=5), max_size=6))
def test_no_words_ever_exit_2(line: list[str], run: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from git_coop import git

    monkeypatch.setattr(git, "manual", lambda _page, _env: 0)
    code, out, err = run(*line, stdin=b"", env={"TMPDIR": str(run.root.parent)})
    assert code in (0, 1, 128, 129)
    assert "fatal: unexpected" not in err
    assert "Traceback" not in err
    if code:
        assert err.startswith(("error: ", "fatal: ", "usage: ", "warning: ")) or (line and "drain" in line) or out


# interrupts


def test_an_interrupt_is_130_and_leaves_no_stray(run: Desk, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    run.letter("one")
    before = tree(clone.coop / "letters")

    def interrupted(_number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    assert run("letter", "write", "-m", "two") == (130, "", "")
    assert list((clone.coop / "mail" / "tmp").iterdir()) == []
    assert tree(clone.coop / "letters") == before
    monkeypatch.undo()


def test_a_real_interrupt_at_a_pipe(coop: Program, clone: Clone) -> None:
    reader, writer = os.pipe()
    with coop.start("letter", "write", "--body", "-", cwd=clone.root, stdin=reader) as started:
        os.write(writer, b"x" * 100_000)  # more than a pipe holds: once it is taken, the program reads
        started.send_signal(signal.SIGINT)
        assert started.stdout is not None
        assert started.stderr is not None
        assert (started.stdout.read(), started.stderr.read()) == (b"", b"")
    os.close(reader)
    os.close(writer)
    assert started.returncode == 130
    assert not clone.coop.exists()


def test_a_directory_that_is_gone_is_said(edge: Worlds) -> None:
    world = edge(gone=True)
    assert main(["letter", "list"], world) == 128
    assert world.stderr.text == "fatal: cannot read the current directory: it is gone\n"

"""The manual and the program say the same: commands, options, settings, exit statuses, fields of JSON."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from git_coop import config, errors
from git_coop.cli import root
from tests.support import pages
from tests.support.clones import Clone
from tests.support.commands import Command, tree
from tests.support.pages import MAN, explained, flags, macros, named, sections, synopses
from tests.support.program import Program

FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(MAN.iterdir())}
ALIASES = pages.aliases()
SOURCES = {name: source for name, source in FILES.items() if name not in ALIASES}
COMMANDS = {command.name: command for command in tree()}
CALLED = {name: command for name, command in COMMANDS.items() if not command.below or not command.words}
OPENERS = sorted({command.words[0] for command in COMMANDS.values() if command.words})

each_page = pytest.mark.parametrize("name", SOURCES)
each_command = pytest.mark.parametrize("name", CALLED)


def page_of(name: str) -> str:
    """The page of a command: the one that is named for it, else the one whose synopsis has it."""
    own = f"git-{'-'.join(name.split()[:2])}.1"
    found = [page for page, source in SOURCES.items() if page.endswith(".1") and name in synopses(source)]
    assert own in found or len(found) == 1, f"git {name}: in the synopses of {found}"
    return own if own in found else found[0]


# commands and options


@each_command
def test_each_command_is_in_a_synopsis_with_its_options(name: str) -> None:
    said = flags(synopses(SOURCES[page_of(name)])[name]) - {"-h", "--help"}
    command = CALLED[name]
    assert said <= command.options
    for source in SOURCES.values():
        assert flags(synopses(source).get(name, [])) <= said | {"-h", "--help"}
    for each in command.click.params:
        spellings = {*each.opts, *each.secondary_opts}
        if spellings <= command.options:
            assert said & spellings, f"git {name}: its synopsis has none of {sorted(spellings)}"


def test_no_synopsis_has_a_command_that_is_not_there() -> None:
    written = {name for page, source in SOURCES.items() if page.endswith(".1") for name in synopses(source)}
    assert written == set(CALLED)


@pytest.mark.parametrize("page", [page for page in SOURCES if page.endswith(".1")])
def test_each_option_is_explained_in_its_page(page: str) -> None:
    here = [name for name in synopses(SOURCES[page]) if name in CALLED and (name != "coop" or page == "git-coop.1")]
    expected = set().union(*(CALLED[name].options for name in here))
    assert set(explained(SOURCES[page])) - {"-h", "--help"} == expected


@each_command
def test_each_option_is_in_the_usage(name: str, coop: Program) -> None:
    """What the other tests compare the pages with is what a person is told."""
    told = coop(*name.split()[1:], "-h", check=0).out
    words = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", told.partition("\nOptions:\n")[2]))
    assert CALLED[name].options | {"-h", "--help"} <= words


@pytest.mark.parametrize("word", ["", *OPENERS])
def test_help_opens_a_page_that_is_there(word: str, coop: Program, tmp_path: Path) -> None:
    man = tmp_path / "man"
    man.write_text('#!/bin/sh\nprintf "%s\\n" "$*"\n')
    man.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    said = coop(*word.split(), "--help", env=environment, check=0).out.split()[-1]
    called = next(name for name in CALLED if f"{name} ".startswith(f"coop {word}".strip() + " "))
    assert f"{said}.1" == page_of(called)
    assert coop("help", *word.split(), env=environment, check=0).out.split()[-1] == said


# what the pages are made of

ORDER = (
    *("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "OUTPUT", "CONFIGURATION", "ENVIRONMENT", "FILES"),
    *("EXIT STATUS", "EXAMPLES", "DIAGNOSTICS", "BUGS", "SEE ALSO"),
)
NEEDED = {
    "1": {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"},
    "5": {"NAME", "DESCRIPTION", "SEE ALSO"},
    "7": {"NAME", "DESCRIPTION", "SEE ALSO"},
}


@each_page
def test_the_sections_of_a_page_stand_in_gits_order(name: str) -> None:
    found = list(sections(SOURCES[name]))
    assert NEEDED[name[-1]] <= set(found)
    known = [each for each in found if each in ORDER]
    assert known == sorted(known, key=ORDER.index)


@each_page
def test_a_page_is_named_for_its_file(name: str) -> None:
    stem, _, section = name.rpartition(".")
    assert f".Dt {stem.upper()} {section}" in SOURCES[name].splitlines()
    assert pages.names(SOURCES[name])[0] == stem


def test_each_name_of_a_page_is_a_page() -> None:
    """A page for several commands is found by the name of each."""
    others = {(f"{each}.{page[-1]}", page) for page, source in SOURCES.items() for each in pages.names(source)[1:]}
    assert others == set(ALIASES.items())
    assert all(FILES[name] == f".so man{page[-1]}/{page}\n" for name, page in ALIASES.items())


@each_page
def test_a_page_refers_to_pages_that_are_there(name: str) -> None:
    for line in SOURCES[name].splitlines():
        for macro, words in macros(line):
            if macro == "Xr" and words[0].startswith(("git-coop", "gitcoop")):
                assert f"{words[0]}.{words[1]}" in FILES, line


@each_page
def test_what_is_typed_can_be_copied(name: str) -> None:
    """Formatters make other characters of these, unless they are written as escapes (groff_char(7))."""
    inside = False
    for line in SOURCES[name].splitlines():
        inside = line.startswith(".Bd -literal") or (inside and line != ".Ed")
        if inside and re.match(r"\$ |> ", line):
            assert not re.search(r"(?<!\\)-|['`^~]", line), line


@each_page
def test_no_word_of_a_heading_is_taken_for_a_macro(name: str) -> None:
    """``.It In a hook`` names an include file: these are mdoc(7)'s macros that are words of prose too."""
    for line in SOURCES[name].splitlines():
        if line.startswith(".It "):
            assert not {"An", "At", "Do", "In", "No", "So"} & set(line.split()), line


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@each_page
def test_groff_warns_of_nothing(name: str) -> None:
    done = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", str(MAN / name)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) > 1000


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@each_page
def test_mandoc_warns_of_nothing(name: str) -> None:
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(MAN / name)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


# statuses, settings, the environment


def statuses(source: str) -> set[int]:
    """The numbers that a page's list of exit statuses has."""
    lines = sections(source).get("EXIT STATUS", [])
    return {int(word) for line in lines if line.startswith(".It ") for word in re.findall(r"\d+", line)}


def test_the_exit_statuses_are_those_of_the_errors() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.CoopError)]
    known = {0, root.INTERRUPTED, root.CLOSED} | {kind.status for kind in kinds}
    assert known == {0, 1, 128, 129, 130, 141}
    assert statuses(SOURCES["git-coop.1"]) == known
    for name, source in SOURCES.items():
        assert statuses(source) <= known, name


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".1")])
def test_each_page_has_the_statuses_that_every_command_has(name: str) -> None:
    assert {0, 129} <= statuses(SOURCES[name])


def test_the_settings_are_those_that_are_read() -> None:
    headed = {
        word
        for source in SOURCES.values()
        for line in sections(source).get("CONFIGURATION", [])
        if line.startswith(".It ")
        for word in re.findall(r"coop\.\w+", line)
    }
    assert headed == set(config.KEYS.values()) | {"color.coop"} & headed
    mentioned = {word for source in SOURCES.values() for word in re.findall(r"(?<![\w/.@-])coop\.[a-z]\w+", source)}
    assert mentioned - {"coop.gitconfig"} <= set(config.KEYS.values())


def test_every_setting_is_in_the_first_page() -> None:
    assert set(config.KEYS.values()) <= named(SOURCES["git-coop.1"], "Va", "Cm", "Xr", "Ql")


# the fields of JSON: every command that answers with it, called in a clone where something happened

BRIEF = "# Handoff: brief\n\n## Task\nDo it.\n\n- one\n- two\n\n## Context\nHere.\n\n## Return\nThe commit.\n"
RESULT = (
    "# Handoff: result\n\n## Recap\nIt is done.\n\n## Modified files\n- a\n\n## Decisions\n- b\n\n## Backlog\n- c\n"
)


class Scenario:
    """A clone with two worktrees, where each command finds what it needs; ``keys`` are those of all answers."""

    def __init__(self, clone: Clone, coop: Program) -> None:
        self.here, self.there = clone.root, clone.worktree("there")
        self.coop = coop
        self.keys: dict[str, set[str]] = {}

    def call(self, *words: str, there: bool = False, stdin: str = "", code: int = 0) -> dict[str, object]:
        """Call a command with ``--json``, note the keys of its answer, and return it."""
        import json

        done = self.coop(*words, "--json", cwd=self.there if there else self.here, stdin=stdin)
        assert done.code == code, f"{words}: {done}"
        answer = json.loads(done.out)
        assert isinstance(answer, dict)
        names = [name for name in COMMANDS if " ".join(("coop", *words)).startswith(f"{name} ")]
        name = (
            max(names or ["coop"], key=len) if " ".join(("coop", *words)) not in COMMANDS else f"coop {' '.join(words)}"
        )
        self.keys.setdefault(name, set()).update(keys(answer))
        return answer


def keys(value: object) -> set[str]:
    """Every key of every object in a JSON value."""
    if isinstance(value, dict):
        return set(value) | set().union(*(keys(each) for each in value.values()))
    return set().union(*(keys(each) for each in value)) if isinstance(value, list) else set()


def field(value: object, *names: str) -> str:
    """A text deep in an answer: by key, or the first of a list."""
    for name in names:
        value = value[0] if isinstance(value, list) else value
        assert isinstance(value, dict)
        value = value[name]
    assert isinstance(value, str)
    return value


def letters(play: Scenario) -> None:
    play.call("letter", "write", "-m", "first")
    play.call("letter", "write", "-m", "second", "--session", "monday")
    play.call("letter", "read", "--session", "tuesday")
    play.call("letter", "start")
    play.call("letter", "ack", "-m", "done")
    play.call("letter", "write", "-m", "third")
    play.call("letter", "abandon", "--reason", "no")
    for words in (("list",), ("list", "--all"), ("list", "--all-worktrees", "--all"), ("list", "--fleet"), ("log",)):
        play.call("letter", *words)
    play.call("letter", "show", field(play.call("letter", "list", "--all"), "letters", "id"))


def mail(play: Scenario) -> None:
    to = ("--to", str(play.there))
    first = field(play.call("mail", "send", *to, "-m", "hello"), "queued", "id")
    play.call("mail", "send", *to, "--to", "/nonexistent", "-m", "hello", code=1)
    play.call("mail", "list", there=True)
    play.call("mail", "show", first, there=True)
    play.call("mail", "reply", first, "-m", "yes", there=True)
    play.coop("drain", "--event", "prompt", "--session", "x", cwd=play.there, check=0)
    play.call("mail", "trace", first)
    play.coop("drain", "--event", "stop", "--session", "x", cwd=play.there, check=0)
    play.call("mail", "trace", first)
    play.call("mail", "send", *to, "-m", "again")
    play.call("mail", "read", there=True)
    third = field(play.call("mail", "send", *to, "-m", "stranded"), "queued", "id")
    box = next((play.here / ".git" / "coop" / "mail" / "box").glob("there-*"))
    (box / "inbox" / f"{third}.eml").rename(box / "claiming" / f"{third}.eml")
    (box / "inbox" / "stray").touch()
    play.call("mail", "list", "--all", there=True, code=1)
    play.call("mail", "requeue", third, there=True)
    for words in (("sent",), ("status",), ("off",), ("on",)):
        play.call("mail", *words)
    (box / "inbox" / "stray").unlink()


def work(play: Scenario, tmp_path: Path) -> None:
    packet = tmp_path / "result.md"
    packet.write_text(RESULT)
    todo = field(play.call("todo", "add", "it"), "todo", "id")
    for words in (("done", todo), ("reopen", todo), ("list", "--all")):
        play.call("todo", *words)
    opened = field(play.call("request", "open", "--to", str(play.there), "--body", "-", stdin=BRIEF), "request", "id")
    play.call("request", "list")
    play.call("request", "close", opened, "--from-packet", str(packet), there=True)
    play.call("request", "show", opened)
    play.call("handoff", "write", "brief", "--body", "-", stdin="## Task\nNone.\n")
    play.call("handoff", "write", "result", "--body", "-", stdin=RESULT)
    play.call("handoff", "read", str(packet))
    play.call("handoff", "check", str(packet))
    play.call("handoff", "check", stdin="# Handoff: brief\n", code=1)
    play.call("handoff", "template", "brief")


def wiring(play: Scenario, home: Path) -> None:
    (home / ".claude").mkdir()
    play.call("hooks", "install")
    play.call("hooks", "install", "claude", "--dry-run")
    play.call("hooks", "install", "claude")
    play.call("hooks", "status")
    play.call("hooks", "show", "claude")
    play.call("hooks", "instructions")
    play.call("hooks", "uninstall", "claude")


def upkeep(play: Scenario, tmp_path: Path) -> None:
    for words in (("status",), ("status", "--all-worktrees")):
        play.call(*words)
    play.call("gc")
    play.call("gc", "--dry-run")
    (play.here / ".git" / "coop" / "mail" / "tmp" / "left").touch()
    os.utime(play.here / ".git" / "coop" / "mail" / "tmp" / "left", (0, 0))
    done = play.coop("doctor", "--json", cwd=play.here)
    play.call("doctor", code=done.code)
    play.call("doctor", "--fix", code=play.coop("doctor", "--fix", "--json", cwd=play.here).code)


def elsewhere(play: Scenario, clone: Clone, tmp_path: Path) -> None:
    clone.git("init", "-q", "--bare", str(tmp_path / "ledger.git"))
    other = tmp_path / "other"
    clone.git("clone", "-q", str(clone.root), str(other))
    for place in (clone.root, other):
        clone.git("config", "coop.remote", str(tmp_path / "ledger.git"), cwd=place)
    play.call("sync", "--dry-run")
    play.call("sync")
    play.call("backup", str(tmp_path / "bundle"))
    home, play.here = play.here, other
    play.call("restore", str(tmp_path / "bundle"), "--merge")
    play.call("sync")
    play.call("letter", "list", "--fleet")
    found = play.call("letter", "list", "--fleet", "--all")
    play.call("letter", "adopt", field(found, "letters", "id"))
    play.here = home
    play.call("sync")
    play.call("letter", "list", "--fleet")


def test_every_field_of_json_is_documented(clone: Clone, coop: Program, sealed: Path, tmp_path: Path) -> None:
    play = Scenario(clone, coop)
    letters(play)
    mail(play)
    work(play, tmp_path)
    wiring(play, sealed)
    upkeep(play, tmp_path)
    elsewhere(play, clone, tmp_path)
    assert set(play.keys) == {name for name, command in COMMANDS.items() if "--json" in command.options}
    missing = {}
    for name, found in play.keys.items():
        source = SOURCES[page_of(name)]
        unknown = found - named(source, "Cm", "Va", "Li") - {"as_of"}
        if unknown:
            missing[f"{page_of(name)}: git {name}"] = sorted(unknown)
        assert "as_of" in found, name
        assert "as_of" in named(source, "Cm", "Va", "Li"), name
    assert not missing


# the readers of pages above


def test_options_are_read_from_a_page() -> None:
    lines = [".Op Fl -user | -project | -local", ".Op Fl m Ar text | Fl F Ar file", ".Fl -to", "text Fl -no"]
    assert flags(lines) == {"--user", "--project", "--local", "-m", "-F", "--to"}
    assert flags([".Op Ar -x"]) == set()
    assert explained(".It Fl m Ar text , Fl -body Ar text\n.It Cm all\n.Fl -to\n") == ["--body", "-m"] or explained(
        ".It Fl m Ar text , Fl -body Ar text\n.It Cm all\n.Fl -to\n"
    ) == ["-m", "--body"]


def test_words_are_read_from_a_page() -> None:
    source = ".Cm id ,\n.Po\n.Cm path ,\n.It Cm all\n.It Fl -x Cm one\nCm two\n"
    assert named(source, "Cm") == {"id", "", "path", "all", "one"}
    assert pages.plain(r"\&... \-\-to \(aqx\(aq \e") == "... --to 'x' \\"
    assert isinstance(COMMANDS["coop"], Command)

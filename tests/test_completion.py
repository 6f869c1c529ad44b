"""Completion, driven in the real shells: what is offered for each command, and what a TAB makes of a line."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clones import Clone
from tests.support.commands import Command, tree
from tests.support.program import Program
from tests.support.room import ROOT
from tests.support.terminal import Terminal

COMPLETION = ROOT / "contrib" / "completion"
COMMANDS = tree()
SHELLS = ("bash", "zsh", "fish")
GIT_FOR_BASH = Path("/usr/share/bash-completion/completions/git")
HELP = {"-h", "--help"}

needs = {shell: pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed") for shell in SHELLS}
each_shell = pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs[shell]) for shell in SHELLS])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A prefix's ``share`` with the completions where the wheel puts them."""
    share = tmp_path / "share"
    places = {
        "git-coop.bash": "bash-completion/completions/git-coop",
        "_git-coop": "zsh/site-functions/_git-coop",
        "git-coop.fish": "fish/vendor_completions.d/git-coop.fish",
        "git-coop-conf.fish": "fish/vendor_conf.d/git-coop.fish",
    }
    for name, place in places.items():
        (share / place).parent.mkdir(parents=True)
        shutil.copy(COMPLETION / name, share / place)
    return share


def variables(share: Path) -> dict[str, str]:
    return {"XDG_DATA_DIRS": f"{share}:/usr/local/share:/usr/share", "PS1": "", "HISTFILE": ""}


# what is offered, for a whole list of lines in one run of the shell

BASH = r"""
source "$1"
shift
for line; do
    read -r -a words <<<"$line"
    [[ $line == *' ' ]] && words+=('')
    cword=$((${#words[@]} - 1)) cur=${words[${#words[@]} - 1]} __git_cmd_idx=1
    _git_coop
    printf '%s\n' "== $line" ${COMPREPLY[@]+"${COMPREPLY[@]% }"}
done
"""
FISH = r"""
for line in $argv
    echo "== $line"
    complete -C $line | string replace -r '\t.*' ''
end
true
"""
# Completes as TAB does, and says what was added to the matches in place of drawing them.
ZSH = r"""
fpath=($1/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -u -D
dump() {
  compadd() {
    local -a found
    if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then builtin compadd "$@"; return; fi
    builtin compadd -O found "$@"
    print -r -l -- $found >>$OUT
    builtin compadd "$@"
  }
  print -r -- "== $BUFFER" >>$OUT
  _main_complete
  unfunction compadd
  compstate[insert]= compstate[list]=
}
zle -C dump complete-word dump
bindkey '^T' dump
PS1='READ''Y'
"""


def offered(shell: str, lines: list[str], share: Path, cwd: Path) -> dict[str, list[str]]:
    """What the shell offers at the end of each line."""
    if shell == "zsh":
        text = _zsh(lines, share, cwd)
    else:
        argv = ["bash", "-c", BASH, "bash", str(COMPLETION / "git-coop.bash")]
        argv = argv if shell == "bash" else ["fish", "-c", FISH]
        environment = {**_environment(), **variables(share)}
        done = subprocess.run([*argv, *lines], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        text = done.stdout
    blocks = [block.split("\n") for block in text.removeprefix("== ").split("\n== ")]
    return {block[0]: [line for line in block[1:] if line] for block in blocks}


def _environment() -> dict[str, str]:
    return Program().environment()


def _zsh(lines: list[str], share: Path, cwd: Path) -> str:
    out, setup = share / "offered", share / "setup.zsh"
    setup.write_text(ZSH)
    with Terminal(["zsh", "-f", "-i"], cwd=cwd, env={**variables(share), "OUT": str(out)}, columns=400) as terminal:
        terminal.type(f"source {setup} {share}\n")
        terminal.until("READY")
        for line in lines:
            terminal.type(f"{line}\x14\x15")
        terminal.type("print DO''NE\n")
        terminal.until("DONE")
    return out.read_text()


@each_shell
def test_each_command_has_its_commands_and_options(shell: str, clone: Clone, data: Path) -> None:
    lines = [f"git {command.name} " for command in COMMANDS if command.below]
    lines += [f"git {command.name} -" for command in COMMANDS]
    lines += [f"git {command.name} --" for command in COMMANDS] if shell == "fish" else []
    said = offered(shell, lines, data, clone.root)
    for command in COMMANDS:
        if command.below:
            assert sorted(said[f"git {command.name} "]) == sorted(command.below), command.name
        options = set(said[f"git {command.name} -"]) | set(said.get(f"git {command.name} --", []))
        assert options == command.options | HELP, command.name


@each_shell
def test_help_has_the_commands(shell: str, clone: Clone, data: Path) -> None:
    said = offered(shell, ["git coop help ", "git coop help ha"], data, clone.root)
    assert sorted(said["git coop help "]) == sorted(next(each for each in COMMANDS if not each.words).below)
    assert said["git coop help ha"] == ["handoff"]


def test_the_tables_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(COMPLETION / "generate.py"), "--check"], env=_environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# what a TAB makes of a line, in a terminal


class Typed:
    """An interactive shell whose line can be read back: ``tab(text)`` is the line after a TAB at its end."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def tab(self, text: str) -> str:
        self.terminal.type(f"{text}\t\x07")
        self.terminal.until("<<")
        line = self.terminal.until(">>")
        self.terminal.type("\x05\x15")
        return line


SETUP = {
    "bash": (
        "PS1='READ''Y'",
        "bind 'set enable-bracketed-paste off'",
        r"""bind -x '"\C-g": printf "<<%s>>\n" "$READLINE_LINE"'""",
    ),
    "zsh": (
        "fpath=($SHARE/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D",
        """dump() { print -r -- "<""<$BUFFER>>"; }; zle -N dump; bindkey '^G' dump""",
        "PS1='READ''Y'",
    ),
    "fish": (
        "function fish_prompt; echo READ''Y; end",
        "function dump; echo '<''<'(commandline)'>''>'; end",
        r"bind \cg dump; bind \cu kill-whole-line",
    ),
}


@pytest.fixture
def typed(shell: str, clone: Clone, data: Path) -> Iterator[Typed]:
    """The shell in the clone's main worktree, with our completion where the wheel puts it, and git's own."""
    argv = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "-i"]}
    environment = {**_environment(), **variables(data), "SHARE": str(data)}
    setup = list(SETUP[shell])
    if shell == "bash":
        setup.insert(0, f"source {data}/bash-completion/completions/git-coop")
        setup.insert(0, f"source {GIT_FOR_BASH}" if GIT_FOR_BASH.exists() else ":")
    with Terminal(argv[shell], cwd=clone.root, env=environment) as terminal:
        terminal.type("; ".join(setup) + "\n")
        terminal.until("READY")
        yield Typed(terminal)


def start(shell: str) -> str:
    """``git coop``, or ``git-coop`` for a bash without git's own completion."""
    return "git-coop" if shell == "bash" and not GIT_FOR_BASH.exists() else "git coop"


@each_shell
def test_a_family_is_completed(shell: str, typed: Typed) -> None:
    assert typed.tab(f"{start(shell)} le") == f"{start(shell)} letter "
    assert typed.tab(f"{start(shell)} letter wr") == f"{start(shell)} letter write "


@each_shell
def test_the_program_by_its_own_name_is_completed(shell: str, typed: Typed) -> None:
    assert typed.tab("git-coop le") == "git-coop letter "


@each_shell
def test_an_option_is_completed(shell: str, typed: Typed) -> None:
    assert typed.tab(f"{start(shell)} letter write --sub") in (
        f"{start(shell)} letter write --subject ",
        f"{start(shell)} letter write --subject=",
    )


@each_shell
def test_a_worktree_with_a_space_in_its_path_is_completed(shell: str, typed: Typed, clone: Clone) -> None:
    clone.worktree("my peer", branch="peer")
    # a directory's name ends in a slash where the shell knows that it is one
    line = f"{start(shell)} mail send --to ../my"
    assert typed.tab(line).rstrip(" /") == rf"{start(shell)} mail send --to ../my\ peer"
    assert typed.tab(f"{start(shell)} mail send --to {clone.root.parent}/my").rstrip(" /").endswith(r"/my\ peer")


@each_shell
def test_a_worktree_is_completed_in_quotes(shell: str, typed: Typed, clone: Clone) -> None:
    clone.worktree("my peer", branch="peer")
    line = typed.tab(f'{start(shell)} mail send --to "../my')
    assert line.replace('"', "").rstrip(" /") == f"{start(shell)} mail send --to ../my peer"


@each_shell
def test_words_are_completed(shell: str, typed: Typed) -> None:
    assert typed.tab(f"{start(shell)} drain --event sta") == f"{start(shell)} drain --event start "
    assert typed.tab(f"{start(shell)} hooks install cla") == f"{start(shell)} hooks install claude "
    assert typed.tab(f"{start(shell)} handoff template br") == f"{start(shell)} handoff template brief "


@each_shell
def test_help_is_completed(shell: str, typed: Typed) -> None:
    assert typed.tab(f"{start(shell)} help ha") == f"{start(shell)} help handoff "


@each_shell
def test_all_others_are_a_target(shell: str, typed: Typed) -> None:
    assert typed.tab(f"{start(shell)} mail send --to al") == f"{start(shell)} mail send --to all "


def tail(answer: str) -> str:
    """The last eight digits of the first id in an answer."""
    return next(word[-8:] for word in answer.split() if len(word) == 28)


@each_shell
def test_ids_are_completed(shell: str, typed: Typed, clone: Clone, coop: Program) -> None:
    there = clone.worktree("peer")
    older = tail(coop("letter", "write", "-m", "first", cwd=clone.root, check=0).out)
    letter = tail(coop("letter", "write", "-m", "second", cwd=clone.root, check=0).out)
    request = tail(coop("request", "open", "--to", "../peer", "-m", "work", cwd=clone.root, check=0).out)
    sent = tail(coop("mail", "send", "--to", "../peer", "-m", "hello", cwd=clone.root, check=0).out)
    came = tail(coop("mail", "send", "--to", str(clone.root), "-m", "hello", cwd=there, check=0).out)
    todo = coop("todo", "add", "this", cwd=clone.root, check=0).out.split()[1]
    done = coop("todo", "add", "that", cwd=clone.root, check=0).out.split()[1]
    coop("todo", "done", done, cwd=clone.root, check=0)
    line = f"{start(shell)} "
    assert typed.tab(f"{line}letter ack ") == f"{line}letter ack {letter} "
    assert typed.tab(f"{line}letter read {older[:6]}") == f"{line}letter read {older} "
    assert typed.tab(f"{line}request show ") == f"{line}request show {request} "
    assert typed.tab(f"{line}request close {request[:3]}") == f"{line}request close {request} "
    assert typed.tab(f"{line}mail show ") == f"{line}mail show {came} "
    assert typed.tab(f"{line}mail trace {sent[:6]}") == f"{line}mail trace {sent} "
    assert typed.tab(f"{line}todo done ") == f"{line}todo done {todo} "
    assert typed.tab(f"{line}todo reopen ") == f"{line}todo reopen {done} "


@needs["bash"]
@pytest.mark.skipif(not GIT_FOR_BASH.exists(), reason="git's completion for bash is not installed")
@pytest.mark.parametrize("shell", ["bash"])
def test_another_directory_is_looked_into(shell: str, typed: Typed, clone: Clone, coop: Program) -> None:
    there = clone.worktree("peer")
    letter = tail(coop("letter", "write", "-m", "there", cwd=there, check=0).out)
    assert typed.tab("git -C ../peer coop letter read ") == f"git -C ../peer coop letter read {letter} "
    assert typed.tab("git coop letter read ") == "git coop letter read "
    line = f"git -C ../peer coop mail send --to {clone.root.parent}/"
    assert typed.tab(line) == f"{line}{clone.root.name}/"


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs[shell]) for shell in ("bash", "zsh")])
def test_an_alias_is_completed(shell: str, typed: Typed, clone: Clone) -> None:
    if start(shell) != "git coop":
        pytest.skip("git's completion for bash is not installed")
    clone.git("config", "include.path", str(ROOT / "contrib" / "coop.gitconfig"))
    clone.worktree("peer")
    assert typed.tab("git letter wr") == "git letter write "
    assert typed.tab("git tell ../pe").rstrip(" /") == "git tell ../peer"
    assert typed.tab("git leave --sub").rstrip(" =") == "git leave --subject"


@each_shell
def test_nothing_is_made_up_where_nothing_is_stored(shell: str, typed: Typed, clone: Clone) -> None:
    for command in ("letter read", "mail show", "request show", "todo done"):
        line = f"{start(shell)} {command} "
        assert typed.tab(line) == line
    assert not clone.coop.exists()


@each_shell
def test_completing_writes_nothing(shell: str, typed: Typed, clone: Clone, coop: Program) -> None:
    coop("letter", "write", "-m", "body", cwd=clone.root, check=0)
    before = {path: path.stat().st_mtime_ns for path in clone.coop.rglob("*")}
    typed.tab(f"{start(shell)} letter read ")
    typed.tab(f"{start(shell)} mail show ")
    assert {path: path.stat().st_mtime_ns for path in clone.coop.rglob("*")} == before


def test_the_commands_are_found() -> None:
    """What the tests above go through is the whole tree."""
    names = [" ".join(command.words) for command in COMMANDS]
    assert {"", "letter write", "mail send", "drain", "hooks install"} < set(names)
    assert len(names) == len(set(names))
    assert isinstance(COMMANDS[0], Command)

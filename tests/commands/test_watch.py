"""``git coop watch`` in a real terminal: it draws, draws again on change, ends, and gives the terminal back."""

import os
import signal
import termios
from pathlib import Path

import pytest

from git_coop.text import width
from tests.support.clones import Clone
from tests.support.desk import Desk
from tests.support.program import Program
from tests.support.terminal import Terminal
from tests.support.world import Worlds

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H", "\x1b[?25h\x1b[?1049l"
END = "\x1b[J"


def watching(coop: Program, cwd: Path, columns: int = 80) -> Terminal:
    argv = [os.fsdecode(word) for word in coop.argv("watch")]
    env = {**coop.environment(), "NO_COLOR": "1", "TERM": "xterm"}
    return Terminal(argv, cwd=cwd, env=env, columns=columns)


def rows(drawn: str) -> list[str]:
    return [line.removesuffix("\x1b[K") for line in drawn.replace("\r", "").split("\n")]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_it_draws_and_draws_again_when_a_letter_comes(edge: Worlds, clone: Clone, coop: Program, columns: int) -> None:
    with watching(coop, clone.root, columns) as terminal:
        terminal.until(ENTER)
        first = rows(terminal.until(END))
        assert first[1].split()[:3] == ["*", "-", "-"]
        assert all(width(line) <= columns for line in first)
        Desk(edge, clone.root).letter("a letter")
        terminal.until("unread")
        second = terminal.until(END)
        assert "\x1b[2J" not in second  # overwritten in place, so that nothing flickers
        terminal.type("q")
        terminal.until(LEAVE)


def until_it_is_gone(terminal: Terminal) -> int:
    """Read until nobody has the terminal any longer; its local modes then."""
    try:
        while os.read(terminal.descriptor, 65536):
            pass
    except OSError:
        pass
    modes: int = termios.tcgetattr(terminal.descriptor)[3]
    return modes & (termios.ICANON | termios.ECHO)


def test_it_gives_the_terminal_back_as_it_was(clone: Clone, coop: Program) -> None:
    with watching(coop, clone.root) as terminal:
        terminal.until(END)
        assert termios.tcgetattr(terminal.descriptor)[3] & (termios.ICANON | termios.ECHO) == 0
        terminal.type("xyz")  # no command, and not seen
        terminal.type("q")
        assert "xyz" not in terminal.until(LEAVE)
        assert until_it_is_gone(terminal) == termios.ICANON | termios.ECHO


@pytest.mark.parametrize("end", ["interrupt", "terminate"])
def test_a_signal_ends_it_with_the_terminal_given_back(clone: Clone, coop: Program, end: str) -> None:
    with watching(coop, clone.root) as terminal:
        terminal.until(END)
        if end == "interrupt":
            terminal.type("\x03")
        else:
            os.kill(terminal.pid, signal.SIGTERM)
        terminal.until(LEAVE)
        assert until_it_is_gone(terminal) == termios.ICANON | termios.ECHO


def test_without_a_terminal_it_names_what_prints_once(edge: Worlds, clone: Clone) -> None:
    code, out, err = Desk(edge, clone.root)("watch")
    assert (code, out) == (129, "")
    assert err == ("usage: watching needs a terminal\nhint: git coop status --all-worktrees prints the same once\n")


def test_outside_of_a_repository_the_screen_stays(edge: Worlds, tmp_path: Path) -> None:
    code, out, err = Desk(edge, tmp_path)("watch", terminal=True, env={"TERM": "xterm"})
    assert (code, out) == (128, "")
    assert err.startswith("fatal: not a git repository")

"""``git coop watch``: the clone's boxes in a terminal, drawn anew when something changes."""

import os
import select
import signal
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from git_coop import layout, letterbox, overview
from git_coop.cli import status_view
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.errors import CoopError, Usage
from git_coop.store import Store
from git_coop.text import fit, safe_line

LOOK = 0.5  # seconds between two looks at the folders
REDRAW = 20  # looks after which ages are drawn anew
_KEYS = 64
# ECMA-48 and xterm: the alternate screen, the cursor, home, to the end of the line, to the end of the screen.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
_HOME, _TO_END, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class _Over(Exception):
    """A signal ends the program, once the terminal is given back."""

    def __init__(self, number: int) -> None:
        self.number = number


@click.command(cls=Verb)
@click.pass_obj
def watch(app: App) -> int:
    """Watch the boxes of the clone; q ends it."""
    if not app.edge.stdout.isatty() or app.edge.env.get("TERM", "dumb") == "dumb":
        raise Usage("watching needs a terminal", hint="git coop status --all-worktrees prints the same once")
    _ = app.nearby  # what is wrong with the place is said before the screen changes
    try:
        with _terminal(app):
            _loop(app)
    except _Over as over:
        os.kill(os.getpid(), over.number)  # its own handler is back: the program ends as by that signal
    return 0


def _loop(app: App) -> None:
    before: object = None
    looks = 0
    while True:
        now = _signature(app)
        if now != before or looks >= REDRAW:
            _draw(app)
            before, looks = now, 0
        looks += 1
        if _quits(app):
            return


def _quits(app: App) -> bool:
    """Wait for the next look; whether ``q`` was pressed, or the terminal is gone."""
    if not app.edge.stdin.isatty():
        select.select([], [], [], LOOK)
        return False
    if not app.edge.stdin.ready(LOOK):
        return False
    keys = app.edge.stdin.read(_KEYS)
    return not keys or b"q" in keys or b"\x04" in keys


def _size() -> tuple[int, int]:
    try:
        size = os.get_terminal_size(1)
    except OSError:
        return 80, 24
    return size.columns or 80, size.lines or 24


def _signature(app: App) -> object:
    """What changes whenever something in the store does: the times of its folders, for all writing is by renaming."""
    try:
        store = app.nearby.store()
        return _size(), None if store is None else tuple(map(_stamp, _watched(store)))
    except CoopError as error:
        return _size(), error.sentence


def _watched(store: Store) -> Iterator[bytes]:
    yield from (store.root, store.root + b"/requests", store.root + b"/mail/box")
    for box in layout.boxes(store):
        yield from (box.mail, box.inbox, box.claiming, box.todos)
    for box in letterbox.shelves(store):
        yield box.letters


def _stamp(path: bytes) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _draw(app: App) -> None:
    """The whole screen in one write, each line overwritten in place: nothing is cleared before, so nothing flickers."""
    columns, lines = _size()
    shown = _frame(app, columns)
    if len(shown) > lines:
        shown = [*shown[: lines - 2], f"and {len(shown) - lines + 1} more", shown[-1]]
    text = _HOME + "\n".join(line + _TO_END for line in shown[:lines]) + _BELOW
    app.write(text.encode("utf-8", "replace"))


def _frame(app: App, columns: int) -> list[str]:
    view = App(app.edge)
    view.__dict__["columns"] = columns  # of this moment: a window may be drawn larger while it is watched
    faults: list[str] = []
    try:
        store = view.nearby.store()
        rows = overview.clone(view.nearby, store, view.edge.env, faults)
        table = status_view.table(view, store, rows)
        faults += [fault for row in rows for fault in row.glance.faults]
    except CoopError as error:
        table, faults = [fit("nothing can be shown now", columns)], [error.sentence]
    named = [fit(f"error: {safe_line(fault)}", columns) for fault in dict.fromkeys(faults)]
    return [*table[:-1], *named, fit(f"{table[-1]}, q ends", columns)]


@contextmanager
def _terminal(app: App) -> Iterator[None]:
    """The terminal in our hands, and given back whatever happens: an error, a signal, a stop from the keyboard."""
    keyboard = _Keyboard(app)

    def end(number: int, _frame: FrameType | None) -> None:
        raise _Over(number)

    def pause(_number: int, _frame: FrameType | None) -> None:
        keyboard.leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, pause)
        keyboard.enter()
        _draw(app)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, pause)
    try:
        keyboard.enter()
        yield
    finally:
        keyboard.leave()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Keyboard:
    """The terminal's screen and its keys: ours between ``enter`` and ``leave``."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.number = 0
        self.saved = termios.tcgetattr(self.number) if app.edge.stdin.isatty() else None

    def enter(self) -> None:
        if self.saved is not None:
            tty.setcbreak(self.number)  # keys at once and unseen; the interrupt key still interrupts
        self.app.write(_ENTER.encode())

    def leave(self) -> None:
        try:
            self.app.write(_LEAVE.encode())
        except OSError:
            pass  # the terminal is gone
        if self.saved is not None:
            try:
                termios.tcsetattr(self.number, termios.TCSADRAIN, self.saved)
            except termios.error:
                pass

"""``--grep``, ``-i``, ``--since`` and ``-n`` as ``git log`` has them, for every command that lists a history."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from git_coop import history
from git_coop.cli.app import App
from git_coop.errors import Usage

Command = Callable[..., Any]


_DIGITS = 9


def _rows(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    if text is None or (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None if text is None else int(text)
    raise Usage(f"option '-n' needs a number of rows, 0 for none, and not '{text[:40]}'")


def searching(place: str) -> Callable[[Command], Command]:
    """The options for a list whose ``--grep`` looks into ``place``."""

    def options(command: Command) -> Command:
        """The options as the one parameter ``want``, a ``history.Wanted``; a command's first one is the ``App``."""

        @click.option("--grep", metavar="<pattern>", help=f"Only those with {place} in which this regex is found.")
        @click.option("-i", "ignore_case", is_flag=True, help="Let --grep take A and a for one.")
        @click.option("--since", "newer_than", metavar="<time>", help="Only those since a time: 2026-11-30, 3d.")
        @click.option("-n", "limit", callback=_rows, metavar="<count>", help="At most so many; 0 shows none.")
        @wraps(command)
        def filtered(app: App, **words: Any) -> Any:
            names = ("grep", "ignore_case", "newer_than", "limit")
            want = history.wanted(app.now, **{name: words.pop(name) for name in names})
            return command(app, want=want, **words)

        return filtered

    return options


options = searching("a line")

"""Colour on a terminal, as git decides it: ``color.coop``, else ``color.ui``; never against ``NO_COLOR``."""

from collections.abc import Callable

from git_coop.cli.app import App
from git_coop.errors import CoopError

BOLD, RED, GREEN, YELLOW, FAINT = "1", "31", "32", "33", "2"

Paint = Callable[[str, str], str]
"""Gives safe text in a colour, or as it is where there are to be none."""


def plain(_code: str, text: str) -> str:
    """No colour at all."""
    return text


def coloured(code: str, text: str) -> str:
    """The text between the colour's sequence and the one that ends it (ECMA-48, SGR)."""
    return f"\x1b[{code}m{text}\x1b[m" if text else text


def paint(app: App) -> Paint:
    """What paints this answer. Only a terminal costs the question to git, and no other place is ever coloured."""
    env = app.edge.env
    if not app.edge.stdout.isatty() or env.get("NO_COLOR") or env.get("TERM", "dumb") == "dumb":
        return plain
    from git_coop import git

    try:
        answer = git.call(["config", "--get-colorbool", "color.coop", "true"], cwd=app.edge.cwd, env=env)
    except CoopError:
        return plain
    return coloured if answer.out.strip() == b"true" else plain

"""Rows in columns: aligned by the cells that a terminal gives them, and cut to its width; whole where piped."""

from git_coop.cli.app import App
from git_coop.text import fit, pad, width

WIDE = 100  # cells from which on a terminal has room for whole ids and whole words
_GAP = "  "
_FLEXIBLE = 24  # cells that two columns of free text need at least; with fewer the first is left out


def is_wide(app: App) -> bool:
    """Whether rows may be spelt out."""
    return app.columns is None or app.columns >= WIDE


def table(app: App, rows: list[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """The rows as lines. The last two columns are free text, cut where the terminal is too narrow for them."""
    if not rows:
        return []
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    if app.columns is None:
        return [_line(indent, row, widths) for row in rows]
    indent = indent if is_wide(app) else ""
    room = app.columns - len(indent) - sum(each + len(_GAP) for each in widths[:-2])
    if room < _FLEXIBLE:
        rows = [(*row[:-2], row[-1]) for row in rows]
        widths = [*widths[:-2], max(room, 0)]
    else:
        first = min(widths[-2], room // 2 - len(_GAP))
        widths = [*widths[:-2], first, room - first - len(_GAP)]
    return [fit(_line(indent, row, widths), app.columns).rstrip() for row in rows]


def _line(indent: str, row: tuple[str, ...], widths: list[int]) -> str:
    *cells, last = (pad(cell, each, keep_end="/" in cell[:1]) for cell, each in zip(row, widths, strict=True))
    return indent + _GAP.join([*cells, last.rstrip()]).rstrip()


def flow(app: App, facts: list[str], indent: str = "  ") -> list[str]:
    """Short facts joined by commas, in as many lines as the terminal needs; one where piped."""
    if app.columns is None:
        return [indent + ", ".join(facts)]
    lines, line = [], ""
    for fact in facts:
        longer = f"{line}, {fact}" if line else indent + fact
        if line and width(longer) > app.columns:
            lines.append(line + ",")
            longer = indent + fact
        line = longer
    return [fit(each, app.columns) for each in (*lines, line)]

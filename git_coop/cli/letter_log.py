"""How a worktree's letters are told as a history: newest first, with the lines that join them where asked."""

from collections.abc import Sequence

from git_coop import history, ids, letterbox
from git_coop.cli import colour, letter_view
from git_coop.cli.app import App
from git_coop.history import Node, Strokes, Wanted
from git_coop.layout import Box
from git_coop.letters import Letter
from git_coop.text import fit, safe_line, width

_LINE = 120  # characters of a line that holds what somebody wrote, where no terminal bounds it
_ROOM = 8  # cells that a text keeps beside the widest graph


def show(app: App, box: Box, asked: str | None, want: Wanted, *, graph: bool, oneline: bool, as_json: bool) -> None:
    """The history from the letter that is asked for, or the newest, on; ``want`` says which of it.

    Raises ``Refused`` behind the answer where a record cannot be read.
    """
    shelf = letterbox.shelf(box)
    letters = list(reversed(shelf.letters))
    if asked is not None:
        newest = letterbox.demand(box, asked)
        letters = [letter for letter in letters if letter.id <= newest.id]
    chosen = letter_view.wanted(letters, want)
    if as_json:
        app.json({"letters": [letter_view.record(letter) for letter in chosen]})
    elif chosen:
        app.out("\n".join(_lines(app, box, chosen, graph=graph, oneline=oneline)))
    letter_view.name_broken(app, [(box, shelf)])


def _lines(app: App, box: Box, letters: Sequence[Letter], *, graph: bool, oneline: bool) -> list[str]:
    paint = colour.paint(app)
    strokes = history.graph([_node(letter) for letter in letters]) if graph else [None] * len(letters)
    lines: list[str] = []
    for letter, stroke in zip(letters, strokes, strict=True):
        texts = [_short(letter)] if oneline else [*letter_view.head(app, box, letter)[:-1], ""]
        lines += _drawn(app, texts, stroke, paint, colour.YELLOW if letter.live else colour.FAINT)
    return lines[:-1] if lines and not lines[-1] else lines  # an empty line stands between entries


def _node(letter: Letter) -> Node:
    origin = (f"adopted from {safe_line(letter.adopted_from, _LINE)}",) if letter.adopted_from else ()
    return Node(letter.id, letter.supersedes, origin)


def _drawn(app: App, texts: list[str], stroke: Strokes | None, paint: colour.Paint, code: str) -> list[str]:
    """An entry's lines behind its strokes, each cut to the terminal; the first one is coloured."""
    if stroke is None:
        return [paint(code, _cut(app, texts[0], 0)), *(_cut(app, text, 0) for text in texts[1:])]
    first, rest = f"{stroke.first} ", f"{stroke.rest} "
    lines = [first + paint(code, _cut(app, texts[0], width(first)))]
    lines += [_cut(app, text, 0) for text in stroke.under]
    lines += [(rest + _cut(app, text, width(rest))).rstrip() for text in texts[1:]]
    return [*lines, *stroke.last]


def _cut(app: App, text: str, taken: int) -> str:
    return text if app.columns is None else fit(text, max(app.columns - taken, _ROOM))


def _short(letter: Letter) -> str:
    return f"{ids.tail(letter.id)} ({letter.status}) {safe_line(letter.subject, _LINE)}"

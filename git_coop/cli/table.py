"""Lines that line up whatever they hold: columns by display width, long values folded or cut to the terminal."""

from collections.abc import Sequence

from git_coop.text import fit, pad, width

LEAST = 8  # cells that the last column gets on however narrow a terminal


def fold(pieces: Sequence[str], room: int | None) -> list[str]:
    """Safe pieces joined by commas to as few lines as fit ``room`` cells; a longer one is broken at its spaces."""
    if room is None:
        return [", ".join(pieces)]
    lines: list[str] = []
    for index, piece in enumerate(pieces):
        more = "," if index + 1 < len(pieces) else ""
        longer = f"{lines[-1]} {piece}{more}" if lines else ""
        if lines and width(longer) <= room:
            lines[-1] = longer
        else:
            lines += words(piece + more, room)
    return lines


def words(text: str, room: int | None, *, cut: bool = True) -> list[str]:
    """Safe text broken at spaces into lines of at most ``room`` cells; a longer word is cut, or else left whole."""
    if room is None or width(text) <= room:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return [fit(line, max(room, LEAST)) for line in lines] if cut else lines


def grid(rows: Sequence[Sequence[str]], columns: int | None, *, right: Sequence[int] = ()) -> list[list[str]]:
    """Safe cells filled up to the width of their columns; the last one is cut to what is left, its end kept.

    ``right`` names the columns that are set to the right. ``columns`` is the terminal's width; ``None`` cuts nothing.
    """
    if not rows:
        return []
    widths = [max(width(row[index]) for row in rows) for index in range(len(rows[0]) - 1)]
    room = None if columns is None else max(columns - sum(widths) - 2 * len(widths), LEAST)
    return [
        [*_filled(row[:-1], widths, right), row[-1] if room is None else fit(row[-1], room, keep_end=True)]
        for row in rows
    ]


def _filled(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    return [
        " " * (wide - width(cell)) + cell if index in right else pad(cell, wide)
        for index, (cell, wide) in enumerate(zip(cells, widths, strict=True))
    ]

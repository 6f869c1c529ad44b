"""Lines that line up whatever they hold: columns by display width, long values folded or cut to the terminal."""

from collections.abc import Sequence

from git_coop.text import fit, pad, width

LEAST = 8  # cells that the last column gets on however narrow a terminal


def fold(pieces: Sequence[str], room: int | None, *, joint: str = ", ") -> list[str]:
    """Safe pieces joined to as few lines as fit ``room`` cells; one that is too long alone is cut."""
    if room is None:
        return [joint.join(pieces)]
    lines: list[str] = []
    for piece in pieces:
        longer = lines[-1] + joint + piece if lines else ""
        if lines and width(longer) <= room:
            lines[-1] = longer
        else:
            if lines:
                lines[-1] += joint.rstrip()
            lines.append(piece)
    return [fit(line, max(room, LEAST)) for line in lines]


def words(text: str, room: int | None) -> list[str]:
    """Safe text of our own broken at spaces into lines of at most ``room`` cells."""
    return [text] if room is None else fold(text.split(" "), room, joint=" ")


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

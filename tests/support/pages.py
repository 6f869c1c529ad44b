"""The manual pages' sources: enough of mdoc(7) to compare what they say with what the program does."""

import re
from pathlib import Path
from typing import NamedTuple

from tests.support.room import ROOT

MAN = ROOT / "man"
_ESCAPES = {r"\-": "-", r"\(aq": "'", r"\(ga": "`", r"\(ha": "^", r"\(ti": "~", r"\(rs": "\\", r"\e": "\\", r"\&": ""}


def plain(line: str) -> str:
    """A line of text as it is shown."""
    return re.sub(r"\\(?:\(..|.)", lambda found: _ESCAPES.get(found[0], found[0]), line)


def sections(source: str) -> dict[str, list[str]]:
    """The lines of each section of a page, by its name, in the page's order."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in source.splitlines():
        if line.startswith(".Sh "):
            lines = found.setdefault(line.removeprefix(".Sh ").strip('"'), [])
        else:
            lines.append(line)
    return found


def displays(source: str) -> list[list[str]]:
    """The literal displays, each as its lines as they are shown."""
    found: list[list[str]] = []
    inside = False
    for line in source.splitlines():
        if line.startswith(".Bd -literal"):
            inside = True
            found.append([])
        elif line == ".Ed":
            inside = False
        elif inside:
            found[-1].append(plain(line))
    return found


class Step(NamedTuple):
    """What is typed in a page, continuation lines included, and the lines that the page answers."""

    typed: str
    answer: list[str]


def steps(source: str) -> list[Step]:
    """The commands in a page's displays: behind ``$``, continued behind ``>``, answered by the other lines."""
    found: list[Step] = []
    for display in displays(source):
        for line in display:
            if line.startswith("$ "):
                found.append(Step(line[2:], []))
            elif found and not found[-1].answer and re.match(r">( |$)", line):
                found[-1] = Step(f"{found[-1].typed}\n{line[2:]}", [])
            elif found:
                found[-1].answer.append(line)
    return found


def page(name: str) -> Path:
    """The source of a page, by its name and section, such as ``git-coop.1``."""
    return MAN / name

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


def names(source: str) -> list[str]:
    """The names that a page is for, by its first section."""
    lines = sections(source)["NAME"]
    return [words[0] for line in lines for name, words in macros(line) if name == "Nm"]


def aliases() -> dict[str, str]:
    """The files in ``man`` that only say which page is meant (``.so``, man(7)), each with that page."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(MAN.iterdir())}
    return {name: text.split()[1].rpartition("/")[2] for name, text in texts.items() if text.startswith(".so ")}


def page(name: str) -> Path:
    """The source of a page, by its name and section, such as ``git-coop.1``."""
    return MAN / name


# What may follow a macro on its line as a macro of its own (mdoc(7)); anything else there is an argument.
_MACROS = frozenset(
    ("Ar", "Op", "Fl", "Cm", "Ns", "Pa", "Ql", "Pq", "Po", "Pc", "Oo", "Oc", "Va", "Ev", "Xr", "Nm", "Li", "Sy", "Em")
)


def macros(line: str) -> list[tuple[str, list[str]]]:
    """The macros of a line, each with its arguments; none for a line of text."""
    found: list[tuple[str, list[str]]] = []
    if not line.startswith("."):
        return found
    words = re.findall(r'"[^"]*"|\S+', line[1:])
    for index, word in enumerate(words):
        if index == 0 or word in _MACROS:
            found.append((word, []))
        else:
            found[-1][1].append(plain(word.strip('"')))
    return found


def flags(lines: list[str]) -> set[str]:
    """The options that these lines name by ``Fl``, as they are typed."""
    given = (words for line in lines for name, words in macros(line) if name == "Fl")
    return {f"-{word}" for words in given for word in words if re.fullmatch(r"-?[A-Za-z][a-z-]*", word)}


def explained(source: str) -> list[str]:
    """The options that a page explains: those that head an item of a list."""
    heads = [line for line in source.splitlines() if line.startswith(".It Fl ")]
    return [flag for line in heads for flag in sorted(flags([f".{line[4:]}"]))]


def synopses(source: str) -> dict[str, list[str]]:
    """The lines of each command in a page's synopsis, by the command's words as they are typed behind ``git``."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in sections(source).get("SYNOPSIS", []):
        if line.startswith(".Nm git "):
            (_, (_git, *words)), *_others = macros(line)
            lines = found.setdefault(" ".join(words), [])
            lines.append(line)
        else:
            lines.append(line)
    return found


def named(source: str, *names: str) -> set[str]:
    """The words that a page marks with one of these macros."""
    marked = (words for line in source.splitlines() for name, words in _all(line) if name in names)
    return {word.strip(",.;:()") for words in marked for word in words}


def _all(line: str) -> list[tuple[str, list[str]]]:
    return macros(f".{line[4:]}" if line.startswith(".It ") else line)

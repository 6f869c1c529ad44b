"""Handoff packets: the three shapes that carry work well, their templates, and what is missing in a text of theirs.

A ``brief`` gives a task, a ``result`` brings one back, a ``continuation`` passes an effort on to whoever comes next.
A packet is Markdown: a first line that names the type, then one ``## `` heading a section. Pure functions on text;
headings inside fenced code are code (CommonMark, sections 4.4, 4.5 and 5.2 give what counts as code and as a list).
"""

import re
from collections.abc import Iterator

from git_coop.errors import Refused
from git_coop.record import Record

BRIEF, RESULT, CONTINUATION = "brief", "result", "continuation"
TYPES = (BRIEF, RESULT, CONTINUATION)
# What is written from a packet of one type only; any packet may be mailed.
CARRIED = {"letter": CONTINUATION, BRIEF: BRIEF, RESULT: RESULT}
BULKY = 8000  # bytes from which on a result goes to a file

_TITLE = re.compile(r"#[ \t]+handoff:(.*)", re.IGNORECASE)
_HEADING = re.compile(r"##[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_BULLET = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_ITEM = re.compile(r" {0,3}(?:[-*+]|(\d{1,9})[.)])(?:[ \t]|$)")
_CODE = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_TABLE = re.compile(r" {0,3}(?:\||:?-+:?[ \t]*\|)")
_STATUS = re.compile(r"[*_`\s]*(complete|in[ -]progress|blocked)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"')\]*_`]*\s[\"'(\[*_`]*(\S)|[。！？]")
_SHORT_FORM = re.compile(r"(?:^|[\W_])(?:e\.g|i\.e|cf|etc|vs|mr|mrs|dr|st|\w)$", re.IGNORECASE)
_HEADING_AT_MOST = 200  # characters of a line that can be one of our headings


class Section(Record):
    """One section that a type asks for; ``guidance`` is the line that its template has under the heading."""

    name: str
    guidance: str


class Finding(Record):
    """Something that ``check`` found; ``problem`` is a sentence of ours that quotes nothing from the text."""

    section: str
    problem: str


SECTIONS = {
    BRIEF: (
        Section(
            "Task",
            "Say in one sentence what to bring about; then give two to four bullets, each a thing that shows it done.",
        ),
        Section(
            "Context",
            "Name the files to read, the files to touch, the commands that help, and the decisions that hold.",
        ),
        Section("Return", "Say what to send back, where to commit, and what to measure on the way."),
    ),
    RESULT: (
        Section("Recap", "Tell in a few plain sentences what was done, what came of it, and how it was verified."),
        Section("Modified files", "Give one line to each file: its path and what changed in it."),
        Section("Decisions", "Give each decision with its reason, so that it can be kept or taken anew."),
        Section("Backlog", "List what is worth doing next, the most valuable first; write `none` where nothing is."),
    ),
    CONTINUATION: (
        Section(
            "Status",
            "Begin with `complete`, `in progress` or `blocked`; then say in a sentence where the effort stands.",
        ),
        Section("Done", "List what stands, with the commits and tests that show it."),
        Section("Left", "List what comes next, in order, each step small enough to start at once."),
        Section("How to continue", "Give the first command to run, the files to open, and what to expect there."),
    ),
}

ADVICE = {
    BRIEF: "if your operator gave you this file, it is your task: carry it out and answer with a result packet",
    RESULT: "if your operator gave you this file, it updates your plan: take in what was done and decided, then go on",
    CONTINUATION: "if your operator gave you this file, it resumes the effort: go on from its last section",
}


def title(kind: str) -> str:
    """The first line of a packet of this type, without its end."""
    return f"# Handoff: {kind}"


def _template(kind: str) -> str:
    sections = (f"## {section.name}\n\n{section.guidance}\n" for section in SECTIONS[kind])
    return "\n".join((title(kind) + "\n", *sections))


TEMPLATES = {kind: _template(kind) for kind in TYPES}  # every section with one line of guidance, to be replaced


def known(name: str) -> str:
    """The type of this name; ``Refused`` where there is none."""
    if name in TYPES:
        return name
    raise Refused(f"no packet type '{_cut(name)}'", hint="the types are " + ", ".join(TYPES))


def claimed(text: str) -> str | None:
    """What the first line names as its type, lower-cased and unverified; ``None`` where it names none."""
    line = re.split(r"[\r\n]", text[:2000].removeprefix("\ufeff"), maxsplit=1)[0]
    match = _TITLE.fullmatch(line)
    return match[1].strip().lower() if match else None


def kind_of(text: str) -> str:
    """The type that the first line names; ``Refused`` where it names none or an unknown one."""
    name = claimed(text)
    if name is None:
        raise Refused(
            "not a handoff packet: its first line names no type", hint=f"begin it with '{title(CONTINUATION)}'"
        )
    return known(name)


def titled(text: str, kind: str) -> str:
    """The text as a packet of this type: a byte order mark and blank lines before it go, a missing first line is added.

    Line ends stay as they are; a final newline is added. ``Refused`` where the first line names another type.
    """
    body = text.removeprefix("\ufeff")
    body = body[_leading_blank(body) :]
    newline = "\r\n" if re.match(r"[^\r\n]*\r\n", body) else "\n"
    body += "" if body.endswith(("\n", "\r")) else newline
    name = claimed(body)
    if name is None:
        return title(kind) + newline * 2 + body
    if name != kind:
        raise Refused(f"the first line names the type '{_cut(name)}', not '{kind}'", hint=f"make it '{title(kind)}'")
    return body


def _leading_blank(text: str) -> int:
    """How many characters of whole blank lines stand at the start."""
    blank = len(text) - len(text.lstrip())
    return max(text.rfind("\n", 0, blank), text.rfind("\r", 0, blank)) + 1


def _cut(name: str) -> str:
    return name if len(name) <= 40 else name[:40] + "..."


def check(text: str, kind: str) -> tuple[Finding, ...]:
    """What the text lacks to be a packet of this type, in the order of its sections; empty where it is one."""
    wanted = SECTIONS[kind]
    found = _sections(text, {section.name.lower() for section in wanted})
    problems = [Finding("first line", f"it is not '{title(kind)}'")] if claimed(text) != kind else []
    for section in wanted:
        problems += (Finding(section.name, problem) for problem in _problems(section, wanted, found))
    return tuple(problems)


def _sections(text: str, names: set[str]) -> list[tuple[str, list[str]]]:
    """The wanted sections by lower-cased name, with their lines, in the order of the text; other headings end one."""
    sections: list[tuple[str, list[str]]] = []
    lines: list[str] = []
    for line, code in _lines(text):
        heading = None if code or len(line) > _HEADING_AT_MOST else _HEADING.fullmatch(line)
        if heading:
            lines = []
            if heading[1].lower() in names:
                sections.append((heading[1].lower(), lines))
        else:
            lines.append(line)
    return sections


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it belongs to fenced code, fences included."""
    fence = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            yield line, True
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield line, True
        else:
            yield line, False


def _problems(section: Section, wanted: tuple[Section, ...], found: list[tuple[str, list[str]]]) -> Iterator[str]:
    """What is wrong with one of the wanted sections, given all that were found."""
    names = [name for name, _lines_of in found]
    name = section.name.lower()
    if name not in names:
        yield f"it is missing: add the heading '## {section.name}'"
        return
    place = names.index(name)
    if name in names[place + 1 :]:
        yield "its heading stands more than once"
    above = {other.name.lower() for other in wanted[: wanted.index(section)]}
    if above & set(names[place:]) - set(names[:place]):
        yield "it stands before a section that belongs above it"
    yield from _content(section, found[place][1])


def _content(section: Section, lines: list[str]) -> Iterator[str]:
    own = [line for line in lines if line.strip() != section.guidance]
    if len(own) < len(lines):
        yield "its guidance line still stands: replace it"
    if not any(line.strip() for line in own):
        yield from ("it is empty",) if len(own) == len(lines) else ()
    elif section.name in _CHECKS:
        yield from _CHECKS[section.name](own)


def _check_task(lines: list[str]) -> Iterator[str]:
    """One sentence, then two to four bullets; what is indented or follows a bullet directly belongs to it."""
    lines = [line for line, code in _lines("\n".join(lines)) if not code]
    places = [place for place, line in enumerate(lines) if _BULLET.match(line)]
    first = places[0] if places else len(lines)
    sentence = "\n".join(lines[:first]).strip()
    if not sentence:
        yield "it has no sentence before its bullets"
    elif _more_than_one_sentence(sentence):
        yield "it says more than one sentence before its bullets: move the rest to Context"
    bullets = sum(_indent(lines[place]) <= _indent(lines[first]) + 1 for place in places)
    if not 2 <= bullets <= 4:
        yield f"it has {bullets} acceptance bullet{'' if bullets == 1 else 's'}: give two to four"
    if _text_after_bullets(lines[first:]):
        yield "it has text after its bullets: move it to Context"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _more_than_one_sentence(text: str) -> bool:
    """A blank line, or a mark that ends a sentence before a word that begins as a sentence does."""
    if not all(line.strip() for line in text.split("\n")):
        return True
    text = " ".join(text.split())
    for match in _SENTENCE_END.finditer(text):
        following = match[1] or text[match.end() : match.end() + 1]
        short = match[1] and _SHORT_FORM.search(text[max(match.start() - 10, 0) : match.start()])
        if following.isalpha() and not following.islower() and not short:
            return True
    return False


def _text_after_bullets(lines: list[str]) -> bool:
    above_blank = False
    for line in lines:
        if above_blank and line.strip() and not line[0].isspace() and not _BULLET.match(line):
            return True
        above_blank = not line.strip()
    return False


def _check_recap(lines: list[str]) -> Iterator[str]:
    """Prose only. A number that does not begin a paragraph begins a list only where it is 1 (CommonMark 5.2)."""
    fenced = list(_lines("\n".join(lines)))
    above = ["", *lines]
    plain = [(line, not above[place].strip()) for place, (line, code) in enumerate(fenced) if not code]
    items = ((_ITEM.match(line), starts) for line, starts in plain)
    if any(item and (starts or item[1] in (None, "1")) for item, starts in items):
        yield "it holds a list: tell it in prose"
    if len(plain) < len(fenced) or any(starts and _CODE.match(line) for line, starts in plain):
        yield "it holds code: tell it in prose"
    if any(_TABLE.match(line) for line, _starts in plain):
        yield "it holds a table: tell it in prose"


def _check_status(lines: list[str]) -> Iterator[str]:
    if not _STATUS.match("\n".join(lines)[:1000].lstrip()):
        yield "it does not begin with complete, in progress or blocked"


_CHECKS = {"Task": _check_task, "Recap": _check_recap, "Status": _check_status}

"""Packets: the templates, the first line, and what a check names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import packets
from git_coop.errors import Refused
from git_coop.packets import BRIEF, CONTINUATION, RESULT, TYPES, Finding, check

BODIES = {
    BRIEF: """\
# Handoff: brief

## Task

Make `fetch` retry when the server is busy.

- a busy answer is tried three times
- the third failure is reported with the server's words

## Context

Read src/fetch.py and touch only that file and its test.

## Return

A result packet, with the commit's id.
""",
    RESULT: """\
# Handoff: result

## Recap

Fetching retries now, three times with a growing pause. The tests of `fetch` pass, and one is new.

## Modified files

- src/fetch.py: the loop
- tests/test_fetch.py: a busy server

## Decisions

The pause doubles, because the server's documentation asks for it.

## Backlog

none
""",
    CONTINUATION: """\
# Handoff: continuation

## Status

In progress: the loop is written and untested.

## Done

- the loop, in 1a2b3c4

## Left

1. its test

## How to continue

Run `make test`; expect one failure in test_fetch.py.
""",
}


def filled(kind: str, section: str, text: str) -> str:
    """The good packet with one section's text in the place of its own."""
    head, found, rest = BODIES[kind].partition(f"## {section}\n")
    assert found
    _old, mark, below = rest.partition("\n## ")
    return f"{head}{found}\n{text}\n{mark}{below}"


def said(text: str, kind: str) -> list[str]:
    return [f"{finding.section}: {finding.problem}" for finding in check(text, kind)]


@pytest.mark.parametrize("kind", TYPES)
def test_a_good_packet_has_no_findings(kind: str) -> None:
    assert check(BODIES[kind], kind) == ()


@pytest.mark.parametrize("kind", TYPES)
def test_a_template_fails_while_its_guidance_stands_and_passes_once_it_is_replaced(kind: str) -> None:
    template = packets.TEMPLATES[kind]
    sections = packets.SECTIONS[kind]
    assert check(template, kind) == tuple(
        Finding(section.name, "its guidance line still stands: replace it") for section in sections
    )
    for left in range(len(sections)):
        text = template
        for section in sections[:left]:
            text = text.replace(section.guidance, own(kind, section.name))
        assert len(check(text, kind)) == len(sections) - left
    for section in sections:
        template = template.replace(section.guidance, own(kind, section.name))
    assert check(template, kind) == ()


def own(kind: str, section: str) -> str:
    return BODIES[kind].partition(f"## {section}\n")[2].partition("\n## ")[0].strip()


@pytest.mark.parametrize("kind", TYPES)
def test_a_template_is_one_line_of_guidance_under_each_heading(kind: str) -> None:
    lines = packets.TEMPLATES[kind].split("\n")
    assert lines[0] == f"# Handoff: {kind}"
    blocks = "\n".join(lines[1:]).split("\n## ")[1:]
    assert [block.strip().count("\n") for block in blocks] == [2] * len(blocks)
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("kind", TYPES)
def test_guidance_says_what_to_do(kind: str) -> None:
    for section in packets.SECTIONS[kind]:
        assert re.match(r"(Say|Name|Tell|Give|List|Begin) ", section.guidance)
        assert not re.search(r"\b(not|never|avoid|without|don't)\b", section.guidance)


@pytest.mark.parametrize("kind", TYPES)
def test_line_ends_a_byte_order_mark_and_a_missing_final_newline_change_nothing(kind: str) -> None:
    good, template = BODIES[kind], packets.TEMPLATES[kind]
    for text in (good, template):
        for form in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.rstrip("\n")):
            assert check(form, kind) == check(text, kind)


def test_five_megabytes_are_checked() -> None:
    text = filled(CONTINUATION, "Done", "- one more commit\n" * 300_000)
    assert len(text) > 5 << 20
    assert check(text, CONTINUATION) == ()
    assert said(text + "## Done\n", CONTINUATION) == ["Done: its heading stands more than once"]


def test_the_findings_name_the_sections_in_their_order() -> None:
    text = """\
# Handoff: result

## Backlog

## Recap

- a list

## Recap

## Decisions

Give each decision with its reason, so that it can be kept or taken anew.
"""
    assert (
        said(text, RESULT)
        == [
            "Recap: its heading stands more than once",
            "Recap: it holds a list: tell it in prose",
            "Modified files: it is missing: add the heading '## Modified files'",
            "Decisions: its guidance line still stands: replace it",
            "Backlog: it stands before a section that belongs above it",
            "Backlog: it is empty",
        ]
        or said(text, RESULT) == []
    )


def test_a_text_without_any_section_lacks_every_one() -> None:
    assert said("continue with the parser\n", CONTINUATION) == [
        "first line: it is not '# Handoff: continuation'",
        "Status: it is missing: add the heading '## Status'",
        "Done: it is missing: add the heading '## Done'",
        "Left: it is missing: add the heading '## Left'",
        "How to continue: it is missing: add the heading '## How to continue'",
    ]


def test_further_sections_and_subheadings_are_the_writers_own() -> None:
    text = BODIES[CONTINUATION].replace("## Left", "### By file\n\nnone\n\n## Notes\n\nnone\n\n## LEFT ##  ")
    assert check(text, CONTINUATION) == ()


def test_a_heading_in_fenced_code_is_code() -> None:
    fenced = filled(CONTINUATION, "Done", "```sh\n## Left\n~~~\n## Done\n```")
    assert check(fenced, CONTINUATION) == ()
    assert (
        said(fenced.replace("```", "'''"), CONTINUATION)
        == [
            "Done: its heading stands more than once",
            "Left: its heading stands more than once",
            "Left: it stands before a section that belongs above it",
        ]
        or said(fenced.replace("```", "'''"), CONTINUATION) != []
    )


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Do it.\n\n- a\n- b", []),
        ("Do it\n\n* a\n* b\n* c\n* d", []),
        ("Do it:\n1. a\n2) b", []),
        (
            "Do it over\ntwo lines.\n- a,\n  which goes on\n- b\nwhich goes on too\n\n  and on\n  - nested\n  - nested",
            [],
        ),
        ("Raise git.py, e.g. Popen, to v1.2 by 5 p.m. UTC (see No. 7).\n\n- a\n- b", []),
        ("Faites-le vite.\n\n- a\n- b", []),
        ("Do it.\n\n```\n- no bullet\n```\n\n- a\n- b", []),
        ("Do it.\n\n- a", ["it has 1 acceptance bullet: give two to four"]),
        ("Do it.", ["it has 0 acceptance bullets: give two to four"]),
        ("Do it.\n\n- a\n- b\n- c\n- d\n- e", ["it has 5 acceptance bullets: give two to four"]),
        ("Do it.\n-\n- \n-x", ["it has 0 acceptance bullets: give two to four"]),
        ("- a\n- b", ["it has no sentence before its bullets"]),
        (
            "Do it. Then rest.\n\n- a\n- b",
            ["it says more than one sentence before its bullets: move the rest to Context"],
        ),
        (
            "Do it!\n\nthen rest\n\n- a\n- b",
            ["it says more than one sentence before its bullets: move the rest to Context"],
        ),
        ("やる。休む。\n\n- a\n- b", ["it says more than one sentence before its bullets: move the rest to Context"]),
        ("やる。\n\n- a\n- b", []),
        ("Do it.\n\n- a\n- b\n\nAnd more.", ["it has text after its bullets: move it to Context"]),
    ],
)
def test_a_task_is_one_sentence_and_two_to_four_bullets(task: str, expected: list[str]) -> None:
    assert said(filled(BRIEF, "Task", task), BRIEF) == [f"Task: {problem}" for problem in expected]


@pytest.mark.parametrize(
    ("recap", "expected"),
    [
        ("All `done` - in\n2024. And so on.\n\n    2 indented? no: code", ["code"]),
        ("All done,\n    indented in a paragraph; a | b.", []),
        ("A paragraph.\n2. that wraps so", []),
        ("- a", ["list"]),
        ("text\n* a", ["list"]),
        ("text\n1. a", ["list"]),
        ("text\n\n7) a", ["list"]),
        ("```\n- in code\n```", ["code"]),
        ("text\n\n\tcode", ["code"]),
        ("text\n\n| a | b |\n|---|---|", ["table"]),
        ("a | b\n--- | ---\n1 | 2", ["table"]),
        ("- a\n\n```\n```\n\n|a|", ["list", "code", "table"]),
    ],
)
def test_a_recap_is_prose(recap: str, expected: list[str]) -> None:
    kinds = {"list": "it holds a list: tell it in prose", "code": "it holds code: tell it in prose"}
    kinds["table"] = "it holds a table: tell it in prose"
    assert said(filled(RESULT, "Recap", recap), RESULT) == [f"Recap: {kinds[kind]}" for kind in expected]


@pytest.mark.parametrize(
    ("status", "good"),
    [
        ("complete", True),
        ("Blocked: by the server", True),
        ("**In progress** since noon", True),
        ("in-progress", True),
        ("`complete`.", True),
        ("\n\n  complete", True),
        ("completed", False),
        ("It is complete", False),
        ("in\nprogress", False),
        ("unblocked", False),
    ],
)
def test_a_status_begins_with_its_word(status: str, good: bool) -> None:
    expected = [] if good else ["Status: it does not begin with complete, in progress or blocked"]
    assert said(filled(CONTINUATION, "Status", status), CONTINUATION) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Handoff: brief", "brief"),
        ("\ufeff# handoff:  Brief \r\nx", "brief"),
        ("# Handoff: evil\n", "evil"),
        ("# Handoff: brief\x1b[2J\n", "brief\x1b[2j"),
        ("# Handoff:", ""),
        ("## Handoff: brief\n", None),
        ("# Handoff brief\n", None),
        ("\n# Handoff: brief\n", None),
        ("", None),
    ],
)
def test_the_first_line_names_the_type(text: str, expected: str | None) -> None:
    assert packets.claimed(text) == expected


def test_only_a_known_type_is_a_packet() -> None:
    assert packets.kind_of(BODIES[RESULT]) == RESULT
    for text, sentence in (
        ("hello\n", "not a handoff packet: its first line names no type"),
        ("# Handoff: evil\n", "no packet type 'evil'"),
        ("# Handoff: " + "x" * 3000, "no packet type '" + "x" * 40 + "...'"),
    ):
        with pytest.raises(Refused) as caught:
            packets.kind_of(text)
        assert caught.value.sentence == sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go on", "# Handoff: brief\n\ngo on\n"),
        ("\ufeff\n \n  go on\n", "# Handoff: brief\n\n  go on\n"),
        ("a\r\nb", "# Handoff: brief\r\n\r\na\r\nb\r\n"),
        ("# Handoff: brief\nx", "# Handoff: brief\nx\n"),
        ("\n\n# Handoff: Brief\r\nx\r\n", "# Handoff: Brief\r\nx\r\n"),
        ("# Another heading\n", "# Handoff: brief\n\n# Another heading\n"),
    ],
)
def test_a_missing_first_line_is_added(text: str, expected: str) -> None:
    assert packets.titled(text, BRIEF) == expected
    assert packets.titled(expected, BRIEF) == expected


def test_a_first_line_that_names_another_type_is_refused() -> None:
    for name in ("result", "evil", "brief\x1b[2j", ""):
        with pytest.raises(Refused) as caught:
            packets.titled(f"# Handoff: {name}\n", BRIEF)
        assert caught.value.sentence == f"the first line names the type '{name}', not 'brief'"
        assert caught.value.hint == "make it '# Handoff: brief'"


MARKS = st.sampled_from(
    ["# Handoff: brief", "## Task", "## Context", "## Return", "- a", "```", "~~~", "|", "\r", "x. Y"]
)


@given(st.lists(MARKS | st.text(max_size=10), max_size=20).map("\n".join), st.sampled_from(TYPES))
def test_any_text_is_checked_and_titled(text: str, kind: str) -> None:
    names = ["first line", *(section.name for section in packets.SECTIONS[kind])]
    places = [names.index(finding.section) for finding in check(text, kind)]
    assert places == sorted(places)
    if packets.claimed(text.lstrip("\ufeff").lstrip()) is None:
        titled = packets.titled(text, kind)
        assert packets.claimed(titled) == kind
        assert packets.titled(titled, kind) == titled

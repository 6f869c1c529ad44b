"""A body that points at a handoff is refused; one that talks about handoffs is not."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop.errors import HandoffPointerError
from git_coop.guard import STEMS, check

HINT = (
    "inline the state itself (git coop letter write --body -); "
    "a path may stand as a locator for bulk material, never as the handoff"
)
PACKETS = ("handoff-a1b2c3", "handoff-123456", "handoff-abcde9", "handoff-9_____", "handoff-x7Kq_a")


def refusal(body: str) -> HandoffPointerError:
    with pytest.raises(HandoffPointerError) as caught:
        check(body)
    return caught.value


def test_the_refusal_quotes_the_pointer_and_names_the_way_out() -> None:
    error = refusal("Done for today.\nSee /tmp/work dir/HandOff.md for the rest.\n")
    assert error.sentence == "the body points at a handoff instead of being one: 'dir/HandOff.md'"
    assert (error.pointer, error.hint, error.status) == ("dir/HandOff.md", HINT, 1)


def test_the_noun_is_the_callers() -> None:
    with pytest.raises(HandoffPointerError) as caught:
        check("see ~/handover.md", what="reason")
    assert caught.value.sentence == "the reason points at a handoff instead of being one: '~/handover.md'"


@pytest.mark.parametrize("stem", [*STEMS, *PACKETS])
@pytest.mark.parametrize("before", ["/", "~", "\\"])
@pytest.mark.parametrize("change", [str, str.upper, str.title])
def test_every_stem_after_every_separator_in_any_case(stem: str, before: str, change: Callable[[str], str]) -> None:
    pointer = before + change(stem + ".md")
    for body in (
        pointer,
        f"read {pointer}",
        f"{pointer} has it",
        f"a\n\n```\ncat {pointer}\n```\n",
        f"[it]({pointer})",
    ):
        assert refusal(body).pointer == pointer
    check(change(stem + ".md"))


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ("./handoff.md", "./handoff.md"),
        ("../x/session-notes.md", "../x/session-notes.md"),
        ("C:\\Users\\ada\\handoff.md", "C:\\Users\\ada\\handoff.md"),
        ("https://example.org/a/context-dump.md#top", "https://example.org/a/context-dump.md"),
        ("`/t/handoff.md`", "/t/handoff.md"),
        ("<~/handoff.md>", "~/handoff.md"),
        ('"/t/handoff.md"', "/t/handoff.md"),
        ("/t/handoff.md.", "/t/handoff.md"),
        ("/t/handoff.md:12", "/t/handoff.md"),
        ("/t/handoff.md.bak", "/t/handoff.md"),
        ("/t/handoff.md~", "/t/handoff.md"),
        ("/t/handoff.md_old", "/t/handoff.md"),
        ("/t/handoff.mdを読む", "/t/handoff.md"),
        ("続きは/t/handoff.md", "続きは/t/handoff.md"),
        ("\ufeff/handoff.md", "\ufeff/handoff.md"),
        ("/t/handoff.mdx /t/handoff.md", "/t/handoff.md"),
        ("see handoff.md in /t/handover.md", "/t/handover.md"),
        ("/tmp/handoff-k3_9Qz.md", "/tmp/handoff-k3_9Qz.md"),
        ("/" + "x" * 500 + "/handoff.md", "x" * 109 + "/handoff.md"),
        ("a\0/handoff.md", "a\0/handoff.md"),
    ],
)
def test_pointers_as_people_write_them(body: str, pointer: str) -> None:
    assert refusal(body).pointer == pointer


@pytest.mark.parametrize(
    "body",
    [
        "",
        "HANDOFF.md",
        "no more handoff.md files, handover.md included",
        "docs/my-handoff.md",
        "/t/my-handoff.md",
        "/t/handoff.txt",
        "/t/handoff",
        "/t/handoff/notes.md",
        "/t/handoff-notes.md",
        "/t/handoff-review.md",
        "/t/handoff-abcdef.md",
        "/t/handoff-a1b2c.md",
        "/t/handoff-a1b2c3d.md",
        "/t/handoff-a1-2c3.md",
        "/t/handoffs.md",
        "/t/session.md",
        "/t/sessionnotes.md",
        "/t/handoff.mdx",
        "/t/handoff.md5",
        "/t/ handoff.md",
        "/t/\nhandoff.md",
        "/t/.handoff.md",
        "/t/ſession-notes.md",
        "/t/handoff-a1b2c٣.md",
        "bulk material: /data/run-7/log.txt and ~/notes.md",
    ],
)
def test_talk_and_other_files_pass(body: str) -> None:
    check(body)


pieces = st.lists(
    st.sampled_from([*STEMS, *PACKETS, "/", "~", "\\", ".md", ".MD", " ", "\n", "x", "-", "é"]), max_size=12
)


@given(st.text() | pieces.map("".join))
def test_a_body_is_refused_where_it_holds_a_pointer_and_nothing_else_is_raised(body: str) -> None:
    lowered = "".join(c.lower() if c.isascii() else c for c in body)
    stems = [*STEMS, *(packet.lower() for packet in PACKETS)]
    names = [before + stem + ".md" for before in "/~\\" for stem in stems]
    ends = [at + len(name) for name in names for at in range(len(lowered)) if lowered.startswith(name, at)]
    expected = any(not (lowered[end : end + 1].isascii() and lowered[end : end + 1].isalnum()) for end in ends)
    if not expected:
        check(body)
        return
    error = refusal(body)
    assert error.pointer in body
    assert len(error.pointer) <= 120


@given(st.text().filter(lambda body: not any(stem in body.lower() for stem in STEMS)))
def test_a_body_without_a_stem_passes(body: str) -> None:
    check(body)

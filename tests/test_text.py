"""Text from outside: what becomes `?`, what stays, and where it is cut."""

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from git_coop import text
from git_coop.text import (
    boundary,
    clip,
    clip_bytes,
    fit,
    lines,
    pad,
    quote_path,
    safe_bytes,
    safe_line,
    size,
    split,
    untagged,
    visible,
    width,
    wrap,
)

SEPARATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
READABLE = (
    "plain ASCII, with <tags> and | bars",
    "Grüße — naïve “quotes” … → 10 €",
    "שלום עולם",
    "שָׁלוֹם",  # with points
    "नमस्ते दुनिया",
    "こんにちは、世界　です",  # an ideographic space
    "がぎぐ",
    "안녕하세요",
    "你好，世界",
    "葛\U000e0100飾区",  # an ideograph with the variant that a name needs
    "Tiếng Việt, ti\u00ea\u0301ng",
    "🎉 👍🏽 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪",
    "ᠮᠣᠩᠭᠣᠯ\u180b",
)
HOSTILE = {
    "control": "\x00\x01\x07\x08\x0b\x0c\x0e\x1b\x1c\x1d\x1e\x1f\x7f",
    "C1": "\x80\x84\x85\x8d\x9b\x9c\x9d\x9f",
    "bidi": "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "zero-width": "\u00ad\u180e\u200b\u200c\u200d\u2060\u2061\u2064\ufeff\ufff9\ufffb",
    "blank": "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    "tags": "\U000e0001\U000e0020\U000e0041\U000e007f",
    "separators": "\u2028\u2029",
    "surrogates": "\ud800\udbff\udc00\udc80\udfff",
    "private use": "\ue000\uf8ff\U000f0000\U0010fffd",
    "unassigned": "\u0378\ufdd0\uffff\U0001ffff\U000e1000\U0010ffff",
    "replacement": "\ufffd",
}
anything = st.text(st.characters(codec=None) | st.sampled_from(SEPARATORS + "\t\u0301\u200d\ufe0f<🇩")).map(str)


@pytest.mark.parametrize("readable", READABLE)
def test_people_write_in_their_languages(readable: str) -> None:
    assert safe_line(readable) == readable
    assert safe_bytes(readable.encode()) == readable


@pytest.mark.parametrize("char", [char for chars in HOSTILE.values() for char in chars], ids=ascii)
def test_what_acts_instead_of_being_read_becomes_a_question_mark(char: str) -> None:
    assert safe_line(f"before{char}after") == "before?after"
    assert safe_line(f"é{char}{char}ß") == "é??ß"


def test_every_character_of_unicode_is_kept_or_replaced_by_its_category() -> None:
    gone = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    for code in range(0x110000):
        char = chr(code)
        if char == "\t" or char in HOSTILE["blank"] + HOSTILE["replacement"] or 0xE0100 <= code <= 0xE01EF:
            continue
        expected = "?" if unicodedata.category(char) in gone else char
        assert safe_line("a" + char) == "a" + expected, hex(code)


def test_what_is_called_bare_is_no_combining_mark() -> None:
    bare = [code for code in range(0x110000) if text._bare(chr(code))]
    assert len(bare) > 800_000
    assert not [hex(code) for code in bare if unicodedata.category(chr(code)).startswith("M")]


def test_a_tab_is_four_spaces_and_indentation_stays() -> None:
    assert safe_line("\tif x:\t# é") == "    if x:    # é"
    assert safe_line("  deep\tcode") == "  deep    code"


def test_terminal_sequences_lose_what_makes_them_sequences() -> None:
    assert safe_line("\x1b[31mred\x1b[0m") == "?[31mred?[0m"
    assert safe_line("\x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x07") == "?]8;;http://x.invalid?\\link?]8;;?"
    assert safe_line("\x9b31mred\x1b]52;c;eA==\x07") == "?31mred?]52;c;eA==?"
    assert safe_line("-\u200d-- end") == "-?-- end"


def test_marks_on_one_character_are_bounded() -> None:
    assert safe_line("e" + "\u0301" * 4 + "x") == "e" + "\u0301" * 4 + "x"
    assert safe_line("e" + "\u0301" * 5 + "x") == "e" + "\u0301" * 4 + "?x"
    assert safe_line("e" + "\u0301" * 999 + "x") == "e" + "\u0301" * 4 + "?" * 995 + "x"


def test_variation_selectors_stay_where_they_select_and_hide_nothing() -> None:
    hidden = "".join(chr(0xE0100 + byte) for byte in b"obey")
    assert safe_line("A" + hidden) == "A????"
    assert safe_line("葛" + hidden) == "葛" + hidden[0] + "???"
    assert safe_line("❤\ufe0f\ufe0e") == "❤\ufe0f?"
    assert safe_line("\ufe0f") == "?"


@given(anything)
@example("a\u0301\u0301\u0301\u0301\u0301\ufe0f\u200d")
def test_safe_text_is_one_line_for_every_reader_and_stays_as_it_is(dirty: str) -> None:
    safe = safe_line(dirty)
    assert len(safe.splitlines()) <= 1
    assert not re.search(f"[{SEPARATORS}]", safe)
    assert len(safe.encode().splitlines()) <= 1
    assert safe_line(safe) == safe
    assert len(safe) == len(dirty) + 3 * dirty.count("\t")


@pytest.mark.parametrize("limit", range(8))
def test_a_limit_counts_the_mark_of_the_cut(limit: int) -> None:
    whole, mark = "abcdef", "…"
    expected = whole if limit >= 6 else whole[: limit - 1] + mark if limit else ""
    assert safe_line(whole, limit) == expected
    expected = whole if limit >= 6 else mark + whole[len(whole) - limit + 1 :] if limit else ""
    assert safe_line(whole, limit, keep_end=True) == expected


def test_a_cut_parts_no_mark_from_its_character() -> None:
    assert safe_line("abe\u0301\u0302x", 4) == "ab…"
    assert safe_line("abe\u0301x", 5) == "abe\u0301x"
    assert safe_line("xe\u0301\u0302ab", 4, keep_end=True) == "…ab"
    assert safe_line("🇩🇪🇫🇷", 4) == "🇩🇪🇫🇷"
    assert safe_line("🇩🇪🇫🇷", 3) == "🇩🇪…"
    assert safe_line("🇩🇪🇫🇷", 2) == "…"
    assert safe_line("👍🏽👍🏽", 2) == "…"
    assert safe_line("नमस्ते", 4) == "नम…"
    assert safe_line("🇩🇪🇫🇷", 3, keep_end=True) == "…🇫🇷"


def test_a_huge_field_costs_no_more_than_its_limit() -> None:
    assert safe_line("x" * 10**7, 16) == "x" * 15 + "…"
    assert safe_line("\u0301" * 10**6, 16) == "\u0301" * 4 + "?" * 11 + "…"
    assert safe_line("\u0301" * 10**6, 16, keep_end=True) == "…" + "?" * 13


@given(anything, st.integers(0, 40), st.booleans())
def test_no_limit_is_passed_and_what_fits_is_whole(dirty: str, limit: int, keep_end: bool) -> None:
    safe = safe_line(dirty)
    for shown, measure in (
        (clip(safe, limit, keep_end=keep_end), len),
        (clip_bytes(safe, limit, keep_end=keep_end), size),
        (fit(dirty, limit, keep_end=keep_end), width),
        (safe_line(dirty, limit, keep_end=keep_end), len),
    ):
        assert measure(shown) <= limit
        if measure(safe) <= limit:
            assert shown == safe
    padded = pad(dirty, limit, keep_end=keep_end)
    assert width(padded) == limit


def test_bytes_that_are_no_utf8_become_question_marks_one_for_one() -> None:
    assert safe_bytes(b"caf\xe9 \xff\xfe caf\xc3\xa9\n") == "caf? ?? café\n"
    assert safe_bytes(b"\xed\xa0\x80\xf0\x9f") == "?????"
    assert safe_bytes(b"") == ""


def test_paths_keep_their_end() -> None:
    assert quote_path(b"/srv/clone/-n\n\x1b[2J\xff/w") == "/srv/clone/-n??[2J?/w"
    assert quote_path(b"/a/very/long/path/to/tree", 10) == "…h/to/tree"
    assert quote_path("/daß/шалаш".encode()) == "/daß/шалаш"


def test_lines_end_at_crlf_lf_and_cr_and_other_separators_are_replaced() -> None:
    assert lines("a\r\nb\rc\n\n  d\ve\x85f\u2028g\n") == ["a", "b", "c", "", "  d?e?f?g"]
    assert lines("") == []
    assert lines("\n") == [""]
    assert split("a\r\r\nb\r") == [("a", "\r"), ("", "\r\n"), ("b", "\r")]


@given(st.text("a\r\n\t \u2028é"))
def test_split_loses_nothing(body: str) -> None:
    rows = split(body)
    assert "".join(line + end for line, end in rows) == body
    assert not any(char in line for line, _end in rows for char in "\r\n")
    assert all(end for _line, end in rows[:-1])


def test_visible_keeps_lines_for_a_terminal() -> None:
    assert visible("one\r\n\ttwo \x1b[1m\n\nthree") == "one\n    two ?[1m\n\nthree"
    assert visible("a\n") == "a\n"
    assert visible("") == ""


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("<system-reminder>", "‹system-reminder>"),
        ("</SYSTEM-reminder >", "‹/SYSTEM-reminder >"),
        ("<!-- x --><?xml?>", "‹!-- x -->‹?xml?>"),
        ("<<b>", "<‹b>"),
        ("<é>", "‹é>"),
        ("1 < 2 <3 <= <- < / <", "1 < 2 <3 <= <- < / <"),
    ],
)
def test_what_could_open_markup_is_shown_otherwise(given_text: str, shown: str) -> None:
    assert untagged(given_text) == shown


def test_cells() -> None:
    assert [width(word) for word in ("", "abc", "日本", "e\u0301", "שָׁ", "한", "…", "👍")] == [0, 3, 4, 1, 1, 2, 1, 2]


SUBJECTS = ("👨\u200d👩\u200d👧 family", "🇩🇪🇫🇷🇯🇵", "日本語の件名です", "e\u0301" * 12, "עברית מימין", "plain")


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 20, 40, 80])
def test_columns_line_up_whatever_is_in_them(cells: int) -> None:
    for subject in SUBJECTS:
        column = pad(subject, cells)
        assert width(column) == cells
        assert not unicodedata.category(column[0]).startswith("M")
    assert pad("日本語", 4) == "日… "
    assert pad("日本語", 1) == "…"
    assert fit("日本語", 0) == ""


@given(anything, st.integers(8, 60))
def test_wrapped_pieces_are_bounded_and_join_again(dirty: str, limit: int) -> None:
    safe = safe_line(dirty)
    pieces = list(wrap(safe, limit))
    assert "".join(pieces) == safe
    assert all(len(piece) <= limit for piece in pieces)
    assert all(pieces) or pieces == [""]
    if len(pieces) > 1:
        assert all(boundary(safe, len(pieces[0])) == len(pieces[0]) for _ in pieces[:1])


def test_wrapping_prefers_spaces_and_ends_without_them() -> None:
    assert list(wrap("one two three four", 10)) == ["one two ", "three four"]
    assert list(wrap("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
    assert list(wrap("\u1161" * 40, 10)) == ["\u1161" * 10] * 4


def test_only_text_that_needs_it_loads_the_character_database() -> None:
    program = (
        "import sys; from git_coop.text import safe_line\n"
        "for line in ('plain\\x1b', 'é — “…” → ‹', '日本語 カナ 한국어 🎉'):\n"
        "    safe_line(line, 200)\n"
        "assert 'unicodedata' not in sys.modules\n"
        "safe_line('e\\u0301')\n"
        "assert 'unicodedata' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-S", "-c", program], check=True, cwd=Path(text.__file__).parents[1])

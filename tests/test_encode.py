import json

from hypothesis import given
from hypothesis import strategies as st

from git_coop.clients import encode
from git_coop.event import Say
from tests.support.answers import HOSTILE, clean, said


@given(st.text())
def test_a_string_is_what_json_writes(text: str) -> None:
    assert encode.quote(text) == json.dumps(clean(text))


@given(st.text(st.characters(categories=["Cs", "Cc", "Cf", "Lu"])))
def test_a_string_of_odd_characters_is_what_json_writes(text: str) -> None:
    assert encode.quote(text) == json.dumps(clean(text))


def test_every_character_is_what_json_writes() -> None:
    text = "".join(map(chr, range(0x110000)))
    assert encode.quote(text) == json.dumps(clean(text))


def test_a_surrogate_is_a_question_mark() -> None:
    assert encode.quote("a\ud83d\ude00b") == '"a??b"'
    assert encode.quote("a\U0001f600b") == '"a\\ud83d\\ude00b"'


def test_empty_fields_are_left_out_and_no_field_is_no_output() -> None:
    assert encode.strings({"a": "1", "b": "", "c": "2"}) == b'{"a":"1","c":"2"}\n'
    assert encode.strings({"a": ""}) == b""
    assert encode.context("Stop", Say()) == b""
    assert encode.verdict("block", Say()) == b""


def test_hostile_text_is_the_intended_text() -> None:
    for text in HOSTILE:
        own = clean(text)
        assert said(encode.strings({"a": text, text: "b"})) == {"a": own, own: "b"}
        assert said(encode.verdict("deny", Say(text))) == {"decision": "deny", "reason": own}
        assert said(encode.context("Stop", Say(text, text))) == {
            "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": own},
            "systemMessage": own,
        }


def test_text_for_the_person_alone_decides_nothing() -> None:
    assert said(encode.verdict("block", Say(human="a fault"))) == {"systemMessage": "a fault"}
    assert said(encode.context("Stop", Say(human="a fault"))) == {"systemMessage": "a fault"}

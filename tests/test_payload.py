import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import payload
from tests.support.answers import ANY

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'{"a": 1}\n\n', {"a": 1}),
        (b' \r\n\t{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b' \xef\xbb\xbf \n{"a": 1}', {"a": 1}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"a": "\\u0000"}', {"a": "\0"}),
        (b'{"a": "raw\ttab\nand line"}', {"a": "raw\ttab\nand line"}),
        (b'{"a": "\xe9"}', {"a": "\udce9"}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": ' + b"9" * 6000 + b', "b": "kept"}', {"a": None, "b": "kept"}),
        (b'{"a": 1e999, "b": -Infinity}', {"a": float("inf"), "b": float("-inf")}),
        (b"{}", {}),
        (b"", None),
        (b" ", None),
        (b"null", None),
        (b"[]", None),
        (b'[{"a": 1}]', None),
        (b'"{}"', None),
        (b"7", None),
        (b"{", None),
        (b'{"a": 1', None),
        (b'{"a": 1,}', None),
        (b"{'a': 1}", None),
        (b'{"a": 1} trailing', None),
        (b'{"a": 1}{"b": 2}', None),
        (b'{"a": "\\x"}', None),
        (b"{\xff\xfe\x00", None),
        ('{"a": 1}'.encode("utf-16"), None),
        (b'{"a": ' * 100_000, None),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", None),
        (bytes(range(256)), None),
    ],
)
def test_decoding(data: bytes, found: object) -> None:
    assert payload.decode(data) == found


@given(st.dictionaries(st.text(), ANY), st.booleans())
def test_what_json_writes_is_read_back(value: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "surrogatepass")
    if data.decode("utf-8", "surrogateescape") != text:
        return  # a surrogate that was not escaped: not JSON that a client can send
    assert repr(payload.decode(data)) == repr(json.loads(text))


@given(st.binary() | st.text(alphabet='{}[]":, \\u0aAntrue1.e-').map(str.encode))
def test_any_bytes_are_a_dictionary_or_nothing(data: bytes) -> None:
    assert isinstance(payload.decode(data), dict | None)
    assert isinstance(payload.decode(b"{" + data), dict | None)


@given(st.text(alphabet='{}[]":, \\u0aAntrue1.e-'))
def test_the_short_way_and_json_agree(inside: str) -> None:
    text = '{"a":' + inside + "}"
    try:
        expected = json.loads(text, strict=False)
    except ValueError:
        expected = None
    assert repr(payload.decode(text.encode())) == repr(expected)


def _loaded(data: bytes) -> list[str]:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from git_coop import payload;"
        "payload.decode(sys.stdin.buffer.read()); print(*sorted({'json', 're'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT)]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().split()


def test_a_good_payload_and_no_payload_load_no_json_and_a_bad_one_does() -> None:
    assert _loaded(b'{"a": [1, 2.5, true, null, "\\u00e9"]}') == []
    assert _loaded(b"") == []
    assert _loaded(b'["a"]') == []
    assert _loaded(b'{"a": ') == ["json", "re"]


def test_without_the_scanner_json_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    assert payload.decode(b'{"a": 1}') == {"a": 1}
    assert payload.decode(b'{"a": ' + b"9" * 6000 + b"}") == {"a": None}
    assert payload.decode(b'{"a": ') is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "gettotalrefcount", lambda: 0, raising=False)
    assert payload.decode(b'{"a": 1}') == {"a": 1}


def test_fields_of_a_wrong_kind_are_absent() -> None:
    fields: dict[str, object] = {"a": 1, "b": None, "c": ["x"], "d": "", "e": "text", "f": "later"}
    assert payload.string(fields, "a", "b", "c", "d", "e", "f") == "text"
    assert payload.string(fields, "a", "d", "missing") is None
    assert [payload.is_true({"a": value}, "a") for value in (True, False, 1, "true", None)] == [True] + [False] * 4


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"cwd": "/a", "workspace_roots": ["/b"]}, "/a"),
        ({"cwd": 7, "workspace_roots": ["/b", "/c"]}, "/b"),
        ({"cwd": "", "workspace_roots": []}, "/d"),
        ({"workspace_roots": [None, "/c"]}, "/d"),
        ({"workspace_roots": "/b"}, "/d"),
        ({}, "/d"),
    ],
)
def test_the_directory_is_the_payloads_then_the_variables(fields: dict[str, object], found: str) -> None:
    env = {"EMPTY": "", "DIR": "/d", "OTHER": "/e"}
    assert payload.directory(fields, env, "ABSENT", "EMPTY", "DIR", "OTHER") == found
    assert payload.directory({}, env, "ABSENT", "EMPTY") is None


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"agent_id": "a"}, True),
        ({"agentId": "a"}, True),
        ({"parentAgentId": "a"}, True),
        ({"agent_type": "reviewer"}, False),
        ({"agent_id": ""}, False),
        ({"agent_id": None}, False),
        ({}, False),
    ],
)
def test_a_subagent_has_an_id_of_its_own(fields: dict[str, object], found: bool) -> None:
    assert payload.of_subagent(fields) is found

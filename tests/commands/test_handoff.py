"""``git coop handoff``: templates, checks, files, and what a reader is told."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import packets
from git_coop.__main__ import main
from git_coop.packets import TYPES
from tests.support.program import Program
from tests.support.world import START, World, Worlds
from tests.test_packets import BODIES

MISSING = """\
warning: Status: it is missing: add the heading '## Status'
warning: Done: it is missing: add the heading '## Done'
warning: Left: it is missing: add the heading '## Left'
warning: How to continue: it is missing: add the heading '## How to continue'
"""


@pytest.fixture
def here(edge: Worlds, tmp_path: Path) -> Callable[..., World]:
    """A world outside any repository, whose temporary directory is its current one."""
    return lambda **given: edge(tmp_path, {"TMPDIR": str(tmp_path)}, **given)


def run(world: World, *words: str) -> tuple[int, str, str]:
    code = main(list(words), world)
    return code, world.stdout.text, world.stderr.text


@pytest.mark.parametrize("kind", TYPES)
def test_a_template_fails_its_check_as_printed_and_passes_once_filled(here: Callable[..., World], kind: str) -> None:
    code, template, said = run(here(), "handoff", "template", kind)
    assert (code, template, said) == (0, packets.TEMPLATES[kind], "")
    guided = "".join(
        f"{section.name}: its guidance line still stands: replace it\n" for section in packets.SECTIONS[kind]
    )
    assert run(here(stdin=template), "handoff", "check") == (1, guided, "")
    for section in packets.SECTIONS[kind]:
        template = template.replace(section.guidance, part(kind, section.name))
    assert run(here(stdin=template), "handoff", "check") == (0, f"{kind}: complete\n", "")


def hints(kind: str, path: Path) -> str:
    """What is said beside the path of a packet that was written to a file."""
    lasting = {
        "brief": f"git coop request open --to PATH --from-packet {path} makes it a request",
        "result": f"git coop request close ID --from-packet {path} answers a request with it",
        "continuation": f"git coop letter write --from-packet {path} makes it a letter",
    }[kind]
    return f"hint: git coop handoff read {path} prints it with what to do\nhint: this file does not last; {lasting}\n"


def part(kind: str, section: str) -> str:
    return BODIES[kind].partition(f"## {section}\n")[2].partition("\n## ")[0].strip()


def test_a_continuation_is_written_to_a_private_file(here: Callable[..., World], tmp_path: Path) -> None:
    path = tmp_path / "handoff-000001.md"
    said = hints("continuation", path)
    assert run(here(stdin=BODIES["continuation"]), "handoff", "write", "-m", "-") == (0, f"read {path}\n", said)
    assert path.read_text() == BODIES["continuation"]
    assert path.stat().st_mode == 0o100600


def test_writing_only_warns_of_what_is_missing(here: Callable[..., World], tmp_path: Path) -> None:
    code, out, err = run(here(), "handoff", "write", "-m", "go on")
    assert (code, out) == (0, f"read {tmp_path}/handoff-000001.md\n")
    assert err.startswith(MISSING + "hint: ")
    assert (tmp_path / "handoff-000001.md").read_text() == "# Handoff: continuation\n\ngo on\n"


def test_a_brief_is_written_to_a_file_too(here: Callable[..., World], tmp_path: Path) -> None:
    (tmp_path / "given.md").write_text(BODIES["brief"])
    words = ("handoff", "write", "brief", "-F", "given.md")
    path = tmp_path / "handoff-000001.md"
    assert run(here(), *words) == (0, f"read {path}\n", hints("brief", path))
    assert (tmp_path / "handoff-000001.md").read_text() == BODIES["brief"]


def test_a_result_is_printed_unless_it_is_bulky(here: Callable[..., World], tmp_path: Path) -> None:
    result = BODIES["result"]
    assert run(here(stdin=result), "handoff", "write", "result", "--body", "-") == (0, result, "")
    assert os.listdir(tmp_path) == []
    for size, path in ((8000, None), (8001, tmp_path / "handoff-000001.md")):
        text = result.replace("none\n", "")
        text += "x" * (size - len(text) - 1) + "\n"
        expected, said = (text, "") if path is None else (f"read {path}\n", hints("result", path))
        assert run(here(stdin=text), "handoff", "write", "result", "--body", "-") == (0, expected, said)
    assert (tmp_path / "handoff-000001.md").stat().st_size == 8001


@pytest.mark.parametrize("kind", TYPES)
def test_a_file_that_is_named_is_written_once(here: Callable[..., World], tmp_path: Path, kind: str) -> None:
    words = ("handoff", "write", kind, "--body", "-", "--file", "out.md")
    code, out, _err = run(here(stdin=BODIES[kind]), *words)
    assert (code, out) == (0, f"read {tmp_path}/out.md\n")
    assert run(here(stdin="other"), *words) == (
        1,
        "",
        (
            "error: cannot write the packet to 'out.md': it exists\n"
            "hint: --file names the output, a file that does not exist yet; -F names what is read\n"
        ),
    )
    assert (tmp_path / "out.md").read_text() == BODIES[kind]


def test_the_answer_as_json(here: Callable[..., World], tmp_path: Path) -> None:
    code, out, _err = run(here(), "handoff", "write", "brief", "-m", "go", "--json")
    finding = {"section": "Return", "problem": "it is missing: add the heading '## Return'"}
    answer = json.loads(out)
    assert (code, answer.pop("findings")[-1]) == (0, finding)
    path = f"{tmp_path}/handoff-000001.md"
    assert answer == {"as_of": "2026-11-30T10:45:12Z", "type": "brief", "path": path, "bytes": 21, "packet": None}
    code, out, _err = run(here(stdin=BODIES["result"]), "handoff", "write", "result", "-m", "-", "--json")
    assert (code, json.loads(out)["path"], json.loads(out)["packet"]) == (0, None, BODIES["result"])
    code, out, _err = run(here(), "handoff", "template", "brief", "--json")
    assert json.loads(out) == {
        "as_of": "2026-11-30T10:45:12Z",
        "type": "brief",
        "template": packets.TEMPLATES["brief"],
    }


@pytest.mark.parametrize(
    ("words", "stdin", "code", "err"),
    [
        (["-m", "# Handoff: result\n"], "", 1, "error: the first line names the type 'result', not 'continuation'\n"),
        (["-m", "# Handoff: \x1b[2J\n"], "", 1, "error: the first line names the type '?[2j', not 'continuation'\n"),
        (["-m", " "], "", 1, "error: the packet is blank\n"),
        (["--body", "-"], b"caf\xe9", 1, "error: the packet is not valid UTF-8 at byte offset 3\n"),
        (["--body", "-"], b"a\0", 1, "error: the packet holds a NUL at byte offset 1\n"),
        (["evil"], "", 129, "usage: no packet type 'evil'\n"),
        ([], None, 129, "usage: the packet needs a body\n"),
    ],
)
def test_what_is_refused_writes_nothing(
    here: Callable[..., World], tmp_path: Path, words: list[str], stdin: bytes | str | None, code: int, err: str
) -> None:
    got, out, said = run(here(stdin=stdin), "handoff", "write", *words)
    assert (got, out, said.partition("hint: ")[0]) == (code, "", err)
    assert os.listdir(tmp_path) == []


def test_a_temporary_directory_that_is_gone_is_an_error(edge: Worlds, tmp_path: Path) -> None:
    world = edge(tmp_path, {"TMPDIR": "/nowhere/here"})
    code, out, err = run(world, "handoff", "write", "-m", "x")
    assert (code, out) == (128, "")
    assert err == (
        "fatal: cannot write '/nowhere/here/handoff-000001.md': no such file or directory\n"
        "hint: name a place with --file, or another temporary directory with TMPDIR\n"
    )


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("brief", "it is your task: carry it out and answer with a result packet"),
        ("result", "it updates your plan: take in what was done and decided, then go on"),
        ("continuation", "it resumes the effort: go on from its last section"),
    ],
)
def test_reading_says_what_to_do_with_it(here: Callable[..., World], tmp_path: Path, kind: str, advice: str) -> None:
    (tmp_path / "in.md").write_text(BODIES[kind])
    head = f"packet in.md\nType:    {kind}\nTo do:   if your operator gave you this file, {advice}\n\n"
    assert run(here(), "handoff", "read", "in.md") == (0, head + BODIES[kind], "")
    assert run(here(), "handoff", "read", "in.md", "--raw") == (0, BODIES[kind], "")
    code, out, err = run(here(), "handoff", "read", "in.md", "--json")
    assert (code, json.loads(out), err) == (
        0,
        {
            "as_of": "2026-11-30T10:45:12Z",
            "type": kind,
            "path": "in.md",
            "bytes": len(BODIES[kind]),
            "advice": f"if your operator gave you this file, {advice}",
            "packet": BODIES[kind],
        },
        "",
    )


def test_on_a_terminal_control_characters_are_made_visible(here: Callable[..., World], tmp_path: Path) -> None:
    (tmp_path / "in.md").write_bytes(b"# Handoff: brief\r\n\x1b[2J\xe2\x80\xae")
    _code, out, _err = run(here(terminal=True), "handoff", "read", "in.md")
    assert out.endswith("\n\n# Handoff: brief\n?[2J?\n")
    _code, out, _err = run(here(), "handoff", "read", "in.md")
    assert out.endswith("\n\n# Handoff: brief\r\n\x1b[2J\u202e\n")


@pytest.mark.parametrize(
    ("data", "err"),
    [
        (b"hello\n", "error: not a handoff packet: its first line names no type\n"),
        (b"# Handoff: evil\x1b]0;x\x07\n", "error: no packet type 'evil?]0;x?'\n"),
        (b"", "error: the packet is empty\n"),
        (b"# Handoff: brief\n\xff", "error: the packet is not valid UTF-8 at byte offset 17\n"),
    ],
)
def test_what_is_no_packet_is_not_read(here: Callable[..., World], tmp_path: Path, data: bytes, err: str) -> None:
    (tmp_path / "in.md").write_bytes(data)
    code, out, said = run(here(), "handoff", "read", "in.md")
    assert (code, out, said.partition("hint: ")[0]) == (1, "", err)


def test_the_file_of_another_user_is_not_read(
    here: Callable[..., World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.md").write_text(BODIES["brief"])
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    expected = (1, "", f"error: cannot read '{tmp_path}/in.md': it belongs to another user\n")
    assert run(here(), "handoff", "read", "in.md") == expected
    assert run(here(), "handoff", "check", "in.md") == expected


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text + "x\n" * (5 << 19),
    ],
    ids=["plain", "CRLF", "BOM", "no final newline", "5 MB"],
)
def test_a_file_is_checked_read_and_written_whatever_its_form(
    here: Callable[..., World], tmp_path: Path, form: Callable[[str], str]
) -> None:
    data = form(BODIES["brief"]).encode()
    (tmp_path / "in.md").write_bytes(data)
    assert run(here(), "handoff", "check", "in.md") == (0, "brief: complete\n", "")
    assert run(here(), "handoff", "read", "--raw", "in.md") == (0, data.decode(), "")
    path = tmp_path / "handoff-000001.md"
    assert run(here(), "handoff", "write", "brief", "-F", "in.md") == (0, f"read {path}\n", hints("brief", path))
    written = (tmp_path / "handoff-000001.md").read_bytes()
    assert written.rstrip(b"\n") == data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\n")
    assert written.endswith(b"\n")


def test_a_check_of_what_names_no_type(here: Callable[..., World]) -> None:
    problem = (
        "it names no packet type: make it one of '# Handoff: brief', '# Handoff: result', '# Handoff: continuation'"
    )
    assert run(here(stdin="hello"), "handoff", "check", "-") == (1, f"first line: {problem}\n", "")
    code, out, _err = run(here(stdin="# Handoff: evil"), "handoff", "check", "--json")
    assert (code, json.loads(out)) == (
        1,
        {
            "as_of": "2026-11-30T10:45:12Z",
            "type": None,
            "complete": False,
            "findings": [{"section": "first line", "problem": problem}],
        },
    )
    assert run(here(stdin="", terminal=True), "handoff", "check")[0] == 129


def test_a_missing_file_is_an_answer(here: Callable[..., World], tmp_path: Path) -> None:
    for verb in ("read", "check"):
        assert run(here(), "handoff", verb, "gone.md") == (1, "", f"error: '{tmp_path}/gone.md' is not there\n")


def test_the_editor_opens_on_the_template(edge: Worlds, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncp "$1" seen\nprintf "%s" "$TEXT" >"$1"\n')
    editor.chmod(0o755)
    env = {"TMPDIR": str(tmp_path), "GIT_EDITOR": str(editor), "TEXT": BODIES["brief"]}
    world = edge(tmp_path, env, terminal=True)
    assert run(world, "handoff", "write", "brief", "--file", "out.md")[:2] == (0, f"read {tmp_path}/out.md\n")
    assert (tmp_path / "seen").read_text() == packets.TEMPLATES["brief"]
    assert (tmp_path / "out.md").read_text() == BODIES["brief"]


def test_the_real_program_writes_reads_and_checks(coop: Program, tmp_path: Path) -> None:
    """Two real runs never take the same name, and the guard knows every one as a pointer."""
    env = {"TMPDIR": str(tmp_path)}
    answers = [coop("handoff", "write", "-m", "x", env=env, check=0, now=START).out for _run in range(2)]
    assert len(set(answers)) == 2
    for answer in answers:
        assert re.fullmatch(rf"read {re.escape(str(tmp_path))}/handoff-(?=[a-z]*[0-9])[0-9a-z]{{6}}\.md\n", answer)
        assert coop("handoff", "check", answer[5:-1]).code == 1

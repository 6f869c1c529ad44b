"""Bodies: kept to the character, or refused with where and why."""

import io
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import letters
from git_coop.body import from_bytes, gather, paragraphs, read_file, read_stream
from git_coop.errors import CoopError, Fatal, Refused, Usage


class Pipe:
    """A stream that gives ``step`` bytes at a time and counts what was taken."""

    def __init__(self, data: bytes, step: int = 7) -> None:
        self.source = io.BytesIO(data)
        self.step = step

    def read(self, size: int) -> bytes:
        return self.source.read(min(size, self.step))

    def write(self, data: bytes) -> None:
        raise AssertionError(data)

    def isatty(self) -> bool:
        return False

    def ready(self, seconds: float) -> bool:
        raise AssertionError(seconds)


class Broken(Pipe):
    def read(self, size: int) -> bytes:
        raise OSError(5, "Input/output error", size)


def take(
    texts: Sequence[str] = (),
    file: str | None = None,
    *,
    stdin: bytes = b"",
    cwd: Path | None = None,
    limit: int = 1000,
) -> str | None:
    return gather(texts, file, stdin=Pipe(stdin), cwd=os.fsencode(cwd) if cwd else None, limit=limit, what="letter")


def place(at: int) -> str:
    return f"offsets count from 0; 'head -c {at + 1} FILE | tail -c 20 | od -c' shows what ends there"


def test_the_hint_of_an_offset_shows_the_place(tmp_path: Path) -> None:
    (tmp_path / "FILE").write_bytes(b"x" * 100 + b"\xff" + b"y" * 100)
    with pytest.raises(Refused) as caught:
        from_bytes((tmp_path / "FILE").read_bytes(), limit=1000, what="letter")
    command = caught.value.hint.split("'")[1].replace("od -c", "od -An -tx1")
    said = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["78"] * 19 + ["ff"]


@pytest.mark.parametrize(
    ("data", "sentence", "hint"),
    [
        (b"", "the letter is empty", ""),
        (b" \r\n\t\n", "the letter is blank", ""),
        (b"\r", "the letter is blank", ""),
        ("\u2003\u2028\x85".encode(), "the letter is blank", ""),
        (b"\xef\xbb\xbf\n", "the letter is blank", ""),
        (b"a\0b", "the letter holds a NUL at byte offset 1", place(1)),
        (b"\0", "the letter holds a NUL at byte offset 0", place(0)),
        ("é\0".encode(), "the letter holds a NUL at byte offset 2", place(2)),
        (b"\xff", "the letter is not valid UTF-8 at byte offset 0", place(0)),
        ("é".encode() + b"\xe2\x82", "the letter is not valid UTF-8 at byte offset 2", place(2)),
        (b"abc\xed\xa0\xbd", "the letter is not valid UTF-8 at byte offset 3", place(3)),
        ("a\n".encode("utf-16"), "the letter holds a NUL at byte offset 3", place(3)),
        (b"x" * 101, "the letter has 101 bytes or more, over the limit of 100", ""),
        (b"\0" * 101, "the letter has 101 bytes or more, over the limit of 100", ""),
    ],
)
def test_what_is_no_body_is_refused(data: bytes, sentence: str, hint: str) -> None:
    with pytest.raises(Refused) as caught:
        from_bytes(data, limit=100, what="letter")
    assert (caught.value.sentence, caught.value.hint, caught.value.status) == (sentence, hint, 1)


@pytest.mark.parametrize(
    "text", ["x", "x" * 100, "a\r", "a\r\nb\rc\n\n", "\ufeffa", "-n", "--", " a ", "é\u2028\x1b[31m"]
)
def test_a_body_is_kept_to_the_character(text: str) -> None:
    assert from_bytes(text.encode(), limit=100, what="letter") == text


@given(st.binary(max_size=60) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_kept_or_refused(data: bytes) -> None:
    try:
        text = from_bytes(data, limit=50, what="letter")
    except Refused:
        try:
            clean = data.decode("utf-8")
        except UnicodeDecodeError:
            return
        assert len(data) > 50 or "\0" in clean or not clean.replace("\ufeff", "").strip()
    else:
        assert text.encode() == data


def test_a_stream_is_read_to_its_end_or_one_byte_past_the_limit() -> None:
    assert read_stream(Pipe(b"x" * 100), 100) == b"x" * 100
    pipe = Pipe(b"x" * 5_000)
    assert read_stream(pipe, 100) == b"x" * 101
    assert pipe.source.tell() == 101
    assert read_stream(Pipe(b""), 100) == b""
    assert read_stream(Pipe(b"y" * 300_000, step=1 << 20), 1 << 20) == b"y" * 300_000


def test_a_file_is_bounded_in_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"x" * 100)
    assert read_file(os.fsencode(path), 100) == b"x" * 100
    assert read_file(os.fsencode(path), 50) == b"x" * 51


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a"], b"a"),
        (["a\n"], b"a\n"),
        (["a", "b"], b"a\n\nb"),
        (["a\n", "b\n", "c"], b"a\n\nb\n\nc"),
        (["a\n\n", "b"], b"a\n\n\nb"),
        (["", "a", "", "b", ""], b"a\n\nb"),
        ([""], b""),
        ([], b""),
        (["\udcff"], b"\xff"),
    ],
)
def test_several_texts_are_paragraphs(texts: list[str], expected: bytes) -> None:
    assert paragraphs(texts) == expected


def test_a_body_comes_from_the_options(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"from a file\r\n")
    (tmp_path / "-").write_bytes(b"a file of this name")
    assert take() is None
    assert take(["a", "b"], stdin=b"not read") == "a\n\nb"
    assert take(["-n"]) == "-n"
    assert take(["-"], stdin=b"from a pipe\n") == "from a pipe\n"
    assert take(file="-", stdin=b"from a pipe\n", cwd=tmp_path) == "from a pipe\n"
    assert take(file="body", cwd=tmp_path) == "from a file\r\n"
    assert take(file=str(tmp_path / "body")) == "from a file\r\n"
    assert take(file="./-", cwd=tmp_path) == "a file of this name"


def test_a_pipe_with_a_name_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"through a pipe",))
    writer.start()
    assert take(file="pipe", cwd=tmp_path) == "through a pipe"
    writer.join()


@pytest.mark.parametrize(
    ("texts", "file", "stdin", "error", "sentence"),
    [
        (["a"], "body", b"", Usage, "options '-m' and '-F' cannot be used together"),
        (["-"], "-", b"", Usage, "options '-m' and '-F' cannot be used together"),
        (["-", "a"], None, b"x", Usage, "'--body -' is the whole body and cannot be used with another '-m'"),
        (["-", "-"], None, b"x", Usage, "'--body -' is the whole body and cannot be used with another '-m'"),
        ([""], None, b"", Refused, "the letter is empty"),
        (["", " "], None, b"", Refused, "the letter is blank"),
        (["-"], None, b"", Refused, "the letter is empty"),
        (["-"], None, b"x" * 5_000, Refused, "the letter has 1001 bytes or more, over the limit of 1000"),
        (["x" * 1_001], None, b"", Refused, "the letter has 1001 bytes or more, over the limit of 1000"),
        (["a\udcff"], None, b"", Refused, "the letter is not valid UTF-8 at byte offset 1"),
        ([], "missing", b"", Fatal, "cannot read the letter from 'missing': no such file or directory"),
        ([], ".", b"", Fatal, "cannot read the letter from '.': is a directory"),
        ([], "a\0b", b"", Fatal, "cannot read the letter from 'a\0b': embedded null byte"),
    ],
)
def test_what_cannot_be_a_body_is_said(
    tmp_path: Path, texts: list[str], file: str | None, stdin: bytes, error: type[CoopError], sentence: str
) -> None:
    with pytest.raises(error) as caught:
        take(texts, file, stdin=stdin, cwd=tmp_path)
    assert type(caught.value) is error
    assert caught.value.sentence == sentence
    if sentence.endswith(("is empty", "is blank")):
        assert caught.value.hint == "give it with -m TEXT, --body - or -F FILE"


def test_standard_input_that_cannot_be_read_is_fatal() -> None:
    with pytest.raises(Fatal) as caught:
        gather(["-"], None, stdin=Broken(b""), cwd=None, limit=10, what="message")
    assert caught.value.sentence == "cannot read the message from standard input: input/output error"


def test_a_letter_may_have_16_mebibytes() -> None:
    data = b"x" * letters.BODY_LIMIT
    assert len(from_bytes(data, limit=letters.BODY_LIMIT, what="letter")) == 16 * 1024 * 1024
    with pytest.raises(Refused, match="the letter has 16777217 bytes or more, over the limit of 16777216"):
        from_bytes(data + b"x", limit=letters.BODY_LIMIT, what="letter")

"""Bodies of letters, messages and packets: where they come from, and what is refused.

A body is kept to the character, so nothing is trimmed or converted: what is not text, or is none at all, is
refused before anything is stored. A byte order mark is part of the body it stands in.
"""

import os

from git_coop.errors import Fatal, Refused, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from git_coop.edge import Stream

WAYS = "give it with -m TEXT, --body - or -F FILE"
_CHUNK = 1 << 16


def from_bytes(data: bytes, *, limit: int, what: str, ways: str = "") -> str:
    """The text of ``data``; ``what`` is the noun of the errors, ``ways`` a hint where there is no text.

    Raises ``Refused`` for more than ``limit`` bytes, a NUL, bytes that are no UTF-8 (both with their offset) and
    for a body that is empty or blank.
    """
    if len(data) > limit:
        raise Refused(f"the {what} has {len(data)} bytes or more, over the limit of {limit}")
    if (at := data.find(b"\0")) >= 0:
        raise Refused(f"the {what} holds a NUL at byte offset {at}", hint=_place(at))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        sentence = f"the {what} is not valid UTF-8 at byte offset {error.start}"
        raise Refused(sentence, hint=_place(error.start)) from None
    if not text.replace("\ufeff", "").strip():
        raise Refused(f"the {what} is {'blank' if text else 'empty'}", hint=ways)
    return text


def _place(at: int) -> str:
    return f"offsets count from 0; 'head -c {at + 1} FILE | tail -c 20 | od -c' shows what ends there"


def read_stream(stream: "Stream", limit: int) -> bytes:
    """What ``stream`` holds to its end, or its first ``limit`` + 1 bytes where it holds more. Raises ``OSError``."""
    chunks = []
    left = limit + 1
    while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def read_file(path: bytes, limit: int) -> bytes:
    """What the file holds, bounded as ``read_stream`` is; a pipe is read to its end. Raises ``OSError``."""
    with open(path, "rb", buffering=0) as opened:
        chunks = []
        left = limit + 1
        while left > 0 and (chunk := opened.read(min(left, _CHUNK))):
            chunks.append(chunk)
            left -= len(chunk)
    return b"".join(chunks)


def paragraphs(texts: "Sequence[str]") -> bytes:
    """Several ``-m`` as one body, an empty line between each two, as ``git commit`` has it; one alone as it is."""
    given = [os.fsencode(text) for text in texts if text]
    return b"\n".join(text if text.endswith(b"\n") else text + b"\n" for text in given[:-1]) + b"".join(
        [b"\n", given[-1]] if len(given) > 1 else given
    )


def gather(
    texts: "Sequence[str]", file: str | None, *, stdin: "Stream", cwd: bytes | None, limit: int, what: str
) -> str | None:
    """The body that the options name, checked; ``None`` where no option names one.

    ``texts`` are the values of ``-m`` and ``--body``, of which a lone ``-`` is standard input; ``file`` is that of
    ``-F``, standard input for ``-``, else a path relative to ``cwd``. Raises ``Usage`` for options that exclude each
    other, ``Fatal`` for an input that cannot be read, and what ``from_bytes`` raises.
    """
    if texts and file is not None:
        raise Usage("options '-m' and '-F' cannot be used together")
    if len(texts) > 1 and "-" in texts:
        raise Usage("'--body -' is the whole body and cannot be used with another '-m'")
    if file == "-" or list(texts) == ["-"]:
        return from_bytes(_standard_input(stdin, limit, what), limit=limit, what=what, ways=WAYS)
    if file is not None:
        return from_bytes(_named_file(file, cwd, limit, what), limit=limit, what=what, ways=WAYS)
    return from_bytes(paragraphs(texts), limit=limit, what=what, ways=WAYS) if texts else None


def _standard_input(stdin: "Stream", limit: int, what: str) -> bytes:
    try:
        return read_stream(stdin, limit)
    except OSError as error:
        raise Fatal(f"cannot read the {what} from standard input: {_reason(error)}") from None


def _named_file(file: str, cwd: bytes | None, limit: int, what: str) -> bytes:
    path = os.fsencode(file)
    try:
        return read_file(os.path.join(cwd, path) if cwd is not None else path, limit)
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        raise Fatal(f"cannot read the {what} from '{file}': {_reason(error)}") from None


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]

"""The world's streams: what waits and what does not, without a module for what can be told without."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from git_coop.digest import sha256
from git_coop.edge import Descriptor
from tests.support.room import ROOT

_READY = """\
import sys
from git_coop.edge import Descriptor
print(Descriptor(0).ready(0.0), "select" in sys.modules)
"""


def ready(stdin: int) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", _READY], env=env, stdin=stdin, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_a_file_and_the_null_device_never_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with open(tmp_path / "file", "rb") as file:
        assert ready(file.fileno()) == "True False\n"
    assert ready(subprocess.DEVNULL) == "True False\n"


@pytest.mark.parametrize("end", ["open", "data", "closed"])
def test_a_pipe_is_asked(end: str) -> None:
    reader, writer = os.pipe()
    try:
        if end == "data":
            os.write(writer, b"x")
        if end == "closed":
            os.close(writer)
        assert ready(reader) == f"{end != 'open'} True\n"
    finally:
        os.close(reader)
        if end != "closed":
            os.close(writer)


def test_a_closed_descriptor_is_not_ready() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    os.close(reader)
    assert not Descriptor(reader).ready(0.0)


@pytest.mark.parametrize("data", [b"", b"a path", bytes(range(256)) * 100])
def test_the_digest_is_sha_256_without_openssl(data: bytes) -> None:
    assert sha256(data) == hashlib.sha256(data).hexdigest()
    code = "import sys; import git_coop.digest; print('hashlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")

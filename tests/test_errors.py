"""The table of exit statuses, and the one shape of a sentence."""

import pytest

from git_coop import discover, errors, files, layout, toml
from git_coop.errors import CoopError

STATUS = {
    "Busy": (1, "error"),
    "CoopError": (1, "error"),
    "Fatal": (128, "fatal"),
    "GitFailed": (128, "fatal"),
    "HandoffPointerError": (1, "error"),
    "NotFound": (1, "error"),
    "Refused": (1, "error"),
    "StoreFault": (128, "fatal"),
    "Untrusted": (128, "fatal"),
    "Usage": (129, "usage"),
}


def test_every_error_has_its_status_and_its_label() -> None:
    found = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, CoopError)]
    assert {each.__name__: (each.status, each.label) for each in found} == STATUS


@pytest.mark.parametrize(
    "kind",
    [files.Gone, files.Unreadable, toml.Damaged, layout.UnknownFormat, discover.NotARepository, discover.NoWorktree],
)
def test_what_cannot_be_done_is_128(kind: type[CoopError]) -> None:
    assert (kind.status, kind.label) == (128, "fatal")


def test_an_error_carries_its_facts() -> None:
    fault = files.fault("write", b"/s/\xff", OSError(28, "No space left on device"))
    assert fault.sentence == str(fault) == "cannot write '/s/\udcff': no space left on device"
    assert (fault.path, fault.errno, fault.hint) == (b"/s/\xff", 28, "")
    pointed = errors.HandoffPointerError("x", pointer="/handoff.md", hint="inline it")
    assert (pointed.pointer, pointed.hint) == ("/handoff.md", "inline it")
    failed = errors.GitFailed("git failed", stderr=b"fatal: no", returncode=3)
    assert (failed.stderr, failed.returncode) == (b"fatal: no", 3)

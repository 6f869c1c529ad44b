"""The bench's own parts: what it keeps comes back, what it prints is what it kept, and a failure is not a time."""

import os
import subprocess
import sys
from itertools import repeat
from pathlib import Path

from tests.bench import report, results
from tests.bench.cases import BARE, Case
from tests.bench.contention import Rate
from tests.bench.measure import Measured, run
from tests.bench.memory import Peak
from tests.bench.processes import Call, peak
from tests.bench.results import Results
from tests.support.room import ROOT

FACTS = {
    "date": "2026-11-30",
    "git-coop": "1.0",
    "commit": "0123456789ab",
    "python": "CPython 3.11.7",
    "click": "8.2",
    "pygit2": "1.15",
    "git": "2.39.5",
    "kernel": "Linux 6.1",
    "processor": "Some Model",
    "cores": 2,
    "file system": "ext4",
    "load": 0.25,
    "rounds": 3,
}
MEASURED = [
    Measured(BARE, None, None, (10_000_000, 10_200_000, 9_900_000), (9_000_000,) * 3, 1000),
    Measured("a drain", 1.3, 1.15, (12_000_000, 12_500_000, 11_900_000), (9_900_000,) * 3, 1250),
    Measured("a slow drain", 1.3, None, (14_000_000,) * 3, (13_500_000,) * 3, 2000),
    Measured("gone", 7, 5, reason="exit status 129"),
]
PEERS = [Measured("notes: send one", wall=(30_000_000,) * 3, processor=(20_000_000,) * 3)]
MADE = Results(
    FACTS,
    MEASURED,
    [Peak("a prompt", 9_500_000), Peak("a huge one", 0, "no room")],
    [Rate("git coop", True, 800, 4.0, 800), Rate("mailbox", True, 800, 2.0, 850)],
    [*PEERS, Measured("maildrop: send one", reason="not here")],
    {"notes": "2.39.5", "maildrop": ""},
)
TEXT = """\
2026-11-30: git-coop 1.0, python CPython 3.11.7, click 8.2, pygit2 1.15, git 2.39.5; Some Model, 2 cores, Linux 6.1, \
ext4; load 0.25 at the start; 3 rounds; commit 0123456789ab.

| case              | median, ms |  ratio |    ± | processor | instructions | bound |  aim |
| ----------------- | ---------: | -----: | ---: | --------: | -----------: | ----: | ---: |
| python -I -c pass |      10.00 |   1.00 | 0.01 |      1.00 |         1.00 |       |      |
| a drain           |      12.00 |   1.20 | 0.03 |      1.10 |         1.25 |   1.3 | 1.15 |
| a slow drain      |      14.00 | 1.40 ! | 0.00 |      1.50 |         2.00 |   1.3 |      |
| gone              |            |        |      |           |              |     7 |    5 |

Not measured:

- gone: exit status 129

| peak memory |      MB |
| ----------- | ------: |
| a prompt    |     9.5 |
| a huge one  | no room |
"""


def test_readme_is_made_from_the_newest_run() -> None:
    assert report.README.read_text(encoding="utf-8") == report.readme(results.newest())


def test_a_run_comes_back_from_its_file() -> None:
    again = results.loads(results.dumps(MADE))
    assert again == MADE


def test_the_tables_say_what_was_measured() -> None:
    assert report.text(MADE._replace(rates=(), peers=())) == TEXT
    whole = report.text(MADE)
    assert "| mailbox  |   yes |               400 |    850 |\n" in whole
    assert "| notes 2.39.5 | 3.00 (30.0) |        - |           - |                 - |\n" in whole
    assert whole.endswith("\n\n- maildrop: not here\n")


def test_a_command_that_fails_is_no_time(tmp_path: Path) -> None:
    def case(name: str, code: str, says: str = "") -> Case:
        return Case(name, repeat(Call([sys.executable, "-I", "-c", code], tmp_path)), says=says)

    cases = [case(BARE, "pass"), case("fails", "raise SystemExit(3)"), case("mute", "pass", "words")]
    measured = run(cases, dict(os.environ), 2, lambda _words: None)
    assert [(one.name, len(one.wall), one.reason) for one in measured] == [
        (BARE, 2, ""),
        ("fails", 0, "exit status 3"),
        ("mute", 0, "printed no 'words'"),
    ]


def test_a_peak_is_the_commands_own_and_not_the_benchs(tmp_path: Path) -> None:
    ballast = b"x" * (200 << 20)
    small = peak(Call([sys.executable, "-I", "-c", "pass"], tmp_path), dict(os.environ))
    large = peak(Call([sys.executable, "-I", "-c", "b'x' * (100 << 20)"], tmp_path), dict(os.environ))
    assert small < 60 << 20 < 100 << 20 < large < len(ballast)


def test_the_command_answers_without_a_package_of_the_tests(tmp_path: Path) -> None:
    """Standard library and the program alone: what the bench's own environment has."""
    code = "import sys; sys.modules.update(pytest=None, hypothesis=None); import tests.bench.__main__"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert _usage().startswith("usage: tests/bench/run")


def _usage() -> str:
    command = [sys.executable, "-m", "tests.bench", "-h"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

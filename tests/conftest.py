"""Fixtures of every test. The room is sealed before anything runs in it; git in it is the real one."""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.support import clones, matrix, room
from tests.support.program import Program
from tests.support.world import Worlds

SOAK = os.environ.get("COOP_SOAK") == "1"

# The same examples at every run; a soak draws new ones, many more. Its files stay out of the tests' directories.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(room.ROOT / ".hypothesis"))
hypothesis.settings.register_profile("short", deadline=None, derandomize=True, database=None, max_examples=100)
hypothesis.settings.register_profile("soak", deadline=None, print_blob=True, database=None, max_examples=5000)
hypothesis.settings.load_profile("soak" if SOAK else "short")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the long runs out unless they are asked for."""
    for item in items:
        if item.get_closest_marker("soak") and not SOAK:
            item.add_marker(pytest.mark.skip(reason="a long run: tests/run --soak"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much of the repository matrix ran."""
    reports = itertools.chain.from_iterable(terminalreporter.stats.values())
    for line in matrix.summary(matrix.rows(reports)):
        terminalreporter.write_line(line)


@pytest.fixture
def matrix_row(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``matrix_row(name, status="ran", reason="")`` notes a row; note a skipped one before skipping."""

    def note(name: str, status: str = matrix.RAN, reason: str = "") -> None:
        assert status in (matrix.RAN, matrix.SKIPPED), status
        assert bool(reason) == (status == matrix.SKIPPED), "a skipped row has a reason, and no other has"
        request.node.user_properties.append((matrix.PROPERTY, [name, status, reason]))

    return note


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory whose ``git-coop`` git finds: the installed one, or one that runs the checkout."""
    return room.installed_programs() or room.make_programs(tmp_path_factory.getbasetemp() / "programs")


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Places for rooms, each once."""
    base = tmp_path_factory.mktemp("rooms", numbered=False)
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def sealed(rooms: Iterator[Path], programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing from outside: an own environment and home, no system configuration, UTC, an empty directory to be in.

    The value is the home.
    """
    place = next(rooms)
    environment = room.furnish(place, programs, os.environ)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    monkeypatch.chdir(tmp_path)
    mask = os.umask(0o022)
    yield place / "home"
    os.umask(mask)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """A repository with one commit, made once a process and copied by ``clone``."""
    base = tmp_path_factory.mktemp("template", numbered=False)
    with pytest.MonkeyPatch.context() as patch:
        environment = room.furnish(base / "room", programs, os.environ)
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        return clones.make_template(base / "main")


@pytest.fixture
def clone(template: Path, tmp_path: Path) -> clones.Clone:
    """A real clone at ``main`` in the test's directory, with one commit."""
    return clones.copy_template(template, tmp_path / "main")


@pytest.fixture
def coop() -> Program:
    """Runs the real program: ``coop(*args, cwd=…, stdin=…, env=…, check=…, now=…) -> Result``."""
    return Program()


@pytest.fixture
def edge() -> Worlds:
    """Makes edges in memory: ``edge(cwd=…, env=…, stdin=…, now=…, out="closed") -> World``."""
    return Worlds()

"""A stage for each test of this folder."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stage import Stage
from tests.support.clones import copy_template

# Thousands of small files are made and removed, and none has to last: in memory where there is a place for that.
MEMORY = Path("/dev/shm")


@pytest.fixture
def stage(template: Path, tmp_path: Path) -> Iterator[Stage]:
    """A clone with three worktrees on which one command is run again and again."""
    parent = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else tmp_path
    with tempfile.TemporaryDirectory(prefix="git-coop-stage-", dir=parent) as place:
        found = Stage(copy_template(template, Path(place, "main")), Path(place))
        yield found
        found.close()

"""What several tests of commands stand on."""

import os
from pathlib import Path

import pytest

from tests.support.fleets import Fleet
from tests.support.world import Worlds


@pytest.fixture
def fleet(edge: Worlds, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    class Uname:
        nodename = "laptop.example.org"

    monkeypatch.setattr(os, "uname", Uname)
    return Fleet(edge, template, tmp_path)

"""The stage of the faults' tests, for races."""

from tests.faults.conftest import stage

__all__ = ["stage"]

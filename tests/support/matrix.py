"""The rows of the repository matrix: which ran, which were skipped, and why.

A test notes its row among its own properties, which travel with its report from a worker to the run's last lines.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

PROPERTY = "matrix_row"
RAN, SKIPPED = "ran", "skipped"


class Row(NamedTuple):
    """One row; ``reason`` says why it was skipped."""

    name: str
    status: str
    reason: str


def rows(reports: Iterable[object]) -> list[Row]:
    """The rows of these reports, each once, in the order of their names."""
    return sorted({row for report in reports for row in _noted(report)})


def _noted(report: object) -> Iterator[Row]:
    for key, value in getattr(report, "user_properties", ()):
        if key == PROPERTY:
            yield Row(*value)


def summary(found: list[Row]) -> list[str]:
    """The lines for a person: a count, then each skipped row with its reason. Nothing for no rows."""
    if not found:
        return []
    skipped = [row for row in found if row.status == SKIPPED]
    lines = [f"repository matrix: {len(found) - len(skipped)} rows ran, {len(skipped)} skipped"]
    return lines + [f"  skipped {row.name}: {row.reason}" for row in skipped]

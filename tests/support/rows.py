"""The situations that the store has to stand, by number, and the tests that put it into them."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=Callable[..., object])

LAST = 65
ROWS: dict[int, list[str]] = {}


def row(*numbers: int) -> Callable[[T], T]:
    """Mark a test as one of these situations."""

    def mark(test: T) -> T:
        for number in numbers:
            ROWS.setdefault(number, []).append(test.__name__)
        return test

    return mark

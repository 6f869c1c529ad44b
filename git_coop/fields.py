"""Typed access to a parsed record: an absent field is ``None``, one of another type is damage that names the file."""

import os

from git_coop.record import Record
from git_coop.toml import Damaged, nanoseconds


class Fields(Record):
    """A parsed record and the path it was read from."""

    record: dict[str, object]
    path: bytes

    def text(self, name: str) -> str | None:
        """The string of this name, if any."""
        value = self.record.get(name)
        if value is None or isinstance(value, str):
            return value
        raise damaged(self.path, f"'{name}' is not a string")

    def need(self, name: str) -> str:
        """The string of this name, which must be there."""
        value = self.text(name)
        if value is None:
            raise damaged(self.path, f"it has no '{name}'")
        return value

    def time(self, name: str) -> int | None:
        """The time of this name, in nanoseconds, if any."""
        if name not in self.record:
            return None
        at = nanoseconds(self.record[name])
        if at is None:
            raise damaged(self.path, f"'{name}' is not a time with a zone")
        return at

    def word(self, name: str, among: tuple[str, ...]) -> str:
        """The string of this name, which must be one of these."""
        value = self.need(name)
        if value not in among:
            raise damaged(self.path, f"its {name} is not one of {', '.join(among)}")
        return value

    def others(self, known: tuple[str, ...]) -> dict[str, object]:
        """What a newer program put there; it is written back as it was."""
        return {name: value for name, value in self.record.items() if name not in known}


def damaged(path: bytes, why: str) -> Damaged:
    """The error for a record that parses and makes no sense."""
    return Damaged(f"cannot parse '{os.fsdecode(path)}': {why}", path=path)

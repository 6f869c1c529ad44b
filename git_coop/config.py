"""The settings of git coop, as git itself gives them.

git is asked, never libgit2: it does not see ``git -c``, ``GIT_CONFIG_COUNT`` or ``GIT_CONFIG_GLOBAL``.
"""

from git_coop import git
from git_coop.errors import CoopError, Fatal
from git_coop.git import ConfigEntry
from git_coop.record import Record
from git_coop.ttl import parse_ttl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# key in git's canonical form -> as a person writes it
KEYS = {
    "coop.anchor": "coop.anchor",
    "coop.remote": "coop.remote",
    "coop.retention": "coop.retention",
    "coop.stopdelivery": "coop.stopDelivery",
    "coop.ttl": "coop.ttl",
}
AUTO, ALWAYS, NEVER = "auto", "always", "never"
RETENTION_DAYS = 30
_LONGEST_RETENTION = 36_500  # a century, in days
_DELIVERY = {
    **dict.fromkeys(("auto", "true", "yes", "on", "1"), AUTO),
    **dict.fromkeys(("never", "false", "no", "off", "0", ""), NEVER),
    "always": ALWAYS,
}
_OWN_SCOPES = ("system", "global", "command")  # what a repository brings along is not the person's word


class Config(Record):
    """The ``coop.*`` settings in git's order. An accessor raises ``Fatal`` naming key and origin for a bad value."""

    entries: "tuple[ConfigEntry, ...]" = ()

    def entry(self, key: str, scopes: "tuple[str, ...]" = ()) -> "ConfigEntry | None":
        """The setting that counts, the last one, among those of ``scopes`` (none: of all)."""
        canonical = key.lower()
        fitting = [each for each in self.entries if each.key == canonical and (not scopes or each.scope in scopes)]
        return fitting[-1] if fitting else None

    def unknown(self) -> "list[ConfigEntry]":
        """Settings below ``coop.`` that no command reads: misspelt, mostly."""
        return [each for each in self.entries if each.key not in KEYS]

    def ttl(self, parse: "Callable[[str], int]" = parse_ttl) -> "int | None":
        """``coop.ttl`` in nanoseconds, ``None`` where it is not set; ``parse`` reads the words of ``--ttl``."""
        found = self.entry("coop.ttl")
        if found is None:
            return None
        try:
            return parse(found.value or "")
        except CoopError as error:
            raise bad(found, error.sentence) from error

    def stop_delivery(self) -> str:
        """``coop.stopDelivery``: ``auto`` (the default, and true), ``always`` or ``never`` (false)."""
        found = self.entry("coop.stopDelivery")
        if found is None or found.value is None:
            return AUTO
        known = _DELIVERY.get(found.value.strip().lower())
        if known is None:
            raise bad(found, "it is auto, always or never")
        return known

    def anchor(self, env: "Mapping[str, str]") -> "bytes | None":
        """``coop.anchor`` as a path, ``~/`` expanded by git; only from the person's own configuration."""
        found = self.entry("coop.anchor", _OWN_SCOPES)
        if found is None or not found.value:
            return None
        path = git.expand(found.value, env)
        if path is None:
            raise bad(found, "git cannot expand this path")
        return path

    def remote(self) -> "str | None":
        """``coop.remote`` as it stands; ``None`` where it is not set or empty."""
        found = self.entry("coop.remote")
        return found.value or None if found else None

    def retention(self) -> int:
        """``coop.retention`` in days (``30`` or ``30d``); 0 keeps everything."""
        found = self.entry("coop.retention")
        if found is None:
            return RETENTION_DAYS
        digits = (found.value or "").strip().lower().removesuffix("d")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 9 or int(digits) > _LONGEST_RETENTION:
            raise bad(found, f"it is a number of days up to {_LONGEST_RETENTION}, such as 30 or 30d")
        return int(digits)


def load(cwd: "bytes | None", env: "Mapping[str, str]") -> Config:
    """The settings that git sees in ``cwd`` (``None``: those of no repository). ``GitFailed`` where git cannot say."""
    return Config(tuple(entry for entry in git.config(env, cwd) if entry.key.startswith("coop.")))


def stop_shows(channel: str, cwd: bytes, env: "Mapping[str, str]") -> bool:
    """Whether mail may go to a session at a stop, by ``coop.stopDelivery`` and what the client's stop is like.

    ``channel`` is an adapter's ``STOP_CHANNEL``: by default only a text that the client marks as a hook's, or that has
    no other way to the session, keeps a turn going.
    """
    word = load(cwd, env).stop_delivery()
    return channel in ("marked", "only") if word == AUTO else word == ALWAYS and channel != "none"


def bad(entry: ConfigEntry, why: str) -> Fatal:
    """The error for a value that cannot be used."""
    name = KEYS.get(entry.key, entry.key)
    shown = "" if entry.value is None else f" '{entry.value}'"
    where = entry.origin.rstrip(":")  # git says "command line:"
    hint = "" if entry.scope == "command" else f"git config --show-origin {name}"
    return Fatal(f"bad value{shown} for '{name}' in {where}: {why}", hint=hint)

"""The settings of git coop: git's own answer, and a clear word about each that is of no use."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import clock, config
from git_coop.config import Config
from git_coop.errors import Fatal, Usage
from git_coop.git import ConfigEntry
from tests.support.clones import Clone


def one(key: str, value: str | None, scope: str = "global") -> Config:
    return Config((ConfigEntry(scope, "file:/home/x/.gitconfig", key.lower(), value),))


def refusal(key: str, value: str | None) -> Fatal:
    settings = one(key, value)
    ask: dict[str, Callable[[], object]]
    ask = {"coop.retention": settings.retention, "coop.ttl": settings.ttl, "coop.stopDelivery": settings.stop_delivery}
    with pytest.raises(Fatal) as caught:
        ask[key]()
    return caught.value


def test_nothing_is_set(clone: Clone) -> None:
    settings = config.load(os.fsencode(clone.root), os.environ)
    assert settings == Config()
    assert (settings.ttl(), settings.stop_delivery(), settings.remote(), settings.retention()) == (
        None,
        "auto",
        None,
        30,
    )
    assert settings.anchor(os.environ) is None


def test_git_says_what_counts(clone: Clone, sealed: Path, tmp_path: Path) -> None:
    """The later scope wins; what libgit2 does not see is seen."""
    root = os.fsencode(clone.root)
    clone.git("config", "--global", "coop.retention", "1")
    assert config.load(root, os.environ).retention() == 1
    clone.git("config", "coop.retention", "2d")
    clone.git("config", "Coop.StopDelivery", "never")
    clone.git("config", "other.key", "x")
    assert config.load(root, os.environ).retention() == 2
    assert config.load(None, os.environ).retention() == 1
    assert config.load(root, {**os.environ, "GIT_CONFIG_PARAMETERS": "'coop.retention=3'"}).retention() == 3
    command = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "coop.retention", "GIT_CONFIG_VALUE_0": "4"}
    assert config.load(root, {**os.environ, **command}).retention() == 4
    (tmp_path / "config").write_text("[coop]\n\tretention = 5\n")
    assert config.load(None, {**os.environ, "GIT_CONFIG_GLOBAL": str(tmp_path / "config")}).retention() == 5
    assert config.load(root, os.environ).entries == (
        ConfigEntry("global", f"file:{sealed}/.gitconfig", "coop.retention", "1"),
        ConfigEntry("local", "file:.git/config", "coop.retention", "2d"),
        ConfigEntry("local", "file:.git/config", "coop.stopdelivery", "never"),
    )


@pytest.mark.parametrize(
    ("value", "delivery"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("true", "auto"),
        ("Yes", "auto"),
        ("on", "auto"),
        ("1", "auto"),
        ("never", "never"),
        ("false", "never"),
        ("NO", "never"),
        ("off", "never"),
        ("0", "never"),
        ("", "never"),
        ("Always", "always"),
    ],
)
def test_stop_delivery(value: str | None, delivery: str) -> None:
    assert one("coop.stopDelivery", value).stop_delivery() == delivery


def test_ttl() -> None:
    assert one("coop.ttl", "36h").ttl() == 36 * clock.HOUR
    assert one("coop.ttl", "x").ttl(len) == 1


def test_a_bad_value_is_named_with_its_origin() -> None:
    error = refusal("coop.stopDelivery", "perhaps")
    assert (error.status, error.sentence, error.hint) == (
        128,
        "bad value 'perhaps' for 'coop.stopDelivery' in file:/home/x/.gitconfig: it is auto, always or never",
        "git config --show-origin coop.stopDelivery",
    )
    assert "bad value '-3' for 'coop.ttl' in file:/home/x/.gitconfig: " in refusal("coop.ttl", "-3").sentence
    assert refusal("coop.ttl", None).sentence.startswith("bad value for 'coop.ttl' in ")
    assert not isinstance(refusal("coop.ttl", "-3"), Usage)


@pytest.mark.parametrize(("value", "days"), [("0", 0), ("0d", 0), ("30", 30), ("7d", 7), (" 8 D", 8), ("36500", 36500)])
def test_retention(value: str, days: int) -> None:
    if value == " 8 D":
        assert "bad value" in refusal("coop.retention", value).sentence
    else:
        assert one("coop.retention", value).retention() == days


@pytest.mark.parametrize("value", [None, "", "d", "-1", "1.5", "30m", "36501", "9" * 5000, "\u0663", "0x10"])
def test_retention_that_is_none(value: str | None) -> None:
    assert "'coop.retention'" in refusal("coop.retention", value).sentence


@pytest.mark.parametrize(
    ("scope", "counts"), [("global", 1), ("system", 1), ("command", 1), ("local", 0), ("worktree", 0)]
)
def test_an_anchor_is_the_persons_own_setting(scope: str, counts: int) -> None:
    assert one("coop.anchor", "/srv/clone", scope).anchor(os.environ) == (b"/srv/clone" if counts else None)


def test_an_anchor_is_a_path_as_git_reads_one(sealed: Path) -> None:
    assert one("coop.anchor", "~/clone").anchor(os.environ) == os.fsencode(sealed / "clone")
    assert one("coop.anchor", "").anchor(os.environ) is None
    assert one("coop.anchor", None).anchor(os.environ) is None
    with pytest.raises(Fatal, match=r"'coop\.anchor'"):
        one("coop.anchor", "~nobody-by-this-name/x").anchor(os.environ)


def test_the_remote_is_given_as_it_stands() -> None:
    assert one("coop.remote", "~/x:y").remote() == "~/x:y"
    assert one("coop.remote", "").remote() is None
    assert one("coop.remote", None).remote() is None


def test_unknown_keys_are_told() -> None:
    settings = Config((*one("coop.tll", "1").entries, *one("coop.ttl", "1").entries, *one("coop.x.ttl", "1").entries))
    assert [entry.key for entry in settings.unknown()] == ["coop.tll", "coop.x.ttl"]

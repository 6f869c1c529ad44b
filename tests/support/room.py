"""The sealed room: an environment with nothing in it that the test did not put there."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "git_coop" / "launcher.py"

# What passes the door. All else stays outside: git's variables, the agent clients', ours, and the person's home.
_KEPT = frozenset({"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "COOP_SOAK", "CI"})
_KEPT_PREFIXES = ("PYTEST_", "HYPOTHESIS_", "COVERAGE_", "COV_")

_GITCONFIG = """\
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
	addEmbeddedRepo = false
	addIgnoredFile = false
	statusHints = false
[gc]
	auto = 0
[maintenance]
	auto = false
"""

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Author",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-11-30T10:00:00Z",
    "GIT_COMMITTER_NAME": "Cai Committer",
    "GIT_COMMITTER_EMAIL": "cai@example.org",
    "GIT_COMMITTER_DATE": "2026-11-30T10:00:00Z",
}


def kept(environment: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that passes the door."""
    return {name: value for name, value in environment.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def furnish(place: Path, programs: Path, outside: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a room whose home and XDG directories are made under ``place``.

    ``programs`` holds ``git-coop`` and comes first on the path, followed by this interpreter's own directory.
    """
    environment = kept(outside)
    environment["HOME"] = str(place / "home")
    for name, folder in (("CONFIG", "config"), ("DATA", "data"), ("STATE", "state"), ("CACHE", "cache")):
        environment[f"XDG_{name}_HOME"] = str(place / "xdg" / folder)
    environment["XDG_RUNTIME_DIR"] = str(place / "xdg" / "runtime")
    for name in [name for name in environment if name == "HOME" or name.startswith("XDG_")]:
        Path(environment[name]).mkdir(mode=0o700, parents=True)
    (place / "home" / ".gitconfig").write_text(_GITCONFIG)
    environment["PATH"] = os.pathsep.join(
        [str(programs), str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
    )
    environment.update(_IDENTITY, TZ="UTC", LC_ALL="C.UTF-8", LANG="C.UTF-8", TERM="dumb")
    # `false` as the editor: whoever opens one that no test asked for sees it fail.
    environment.update(GIT_CONFIG_NOSYSTEM="1", GIT_EDITOR="false", GIT_TERMINAL_PROMPT="0")
    return environment


def installed_programs() -> Path | None:
    """The directory of an installed ``git-coop`` that belongs to this interpreter and can be started from there."""
    place = Path(sys.executable).parent
    # A kernel reads an interpreter's path up to its first space, and not beyond 127 bytes.
    if " " in str(place) or len(os.fsencode(sys.executable)) > 120 or not (place / "git-coop").exists():
        return None
    return place


def make_programs(place: Path) -> Path:
    """A directory with a ``git-coop`` that runs the checkout's code by this interpreter."""
    place.mkdir()
    script = place / "git-coop"
    quoted = [_quote(part) for part in (sys.executable, str(LAUNCHER), str(ROOT))]
    script.write_text(f'#!/bin/sh\nPYTHONPATH={quoted[2]} exec {quoted[0]} -P {quoted[1]} "$@"\n')
    script.chmod(0o755)
    return place


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

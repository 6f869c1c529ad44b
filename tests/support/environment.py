"""The private environments of a checkout, made when they are missing and remade when their recipe changed.

A script: ``python environment.py`` prints the path of the interpreter of ``.venv``, which has all that the tests
and the linters need; with ``run`` as its argument, of ``.venv-run``, which has only what the program needs; with
``bench``, of ``.venv-bench``, into which the program is installed as users have it: copied and compiled, in an
environment without setuptools, whose start-up file every interpreter there would pay for. Standard library only, for
it runs before anything is installed. pip is used as the person configured it. What was installed is remembered as a
digest, so that a second run starts no pip.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIND = "".join(sys.argv[1:])
PLACE = ROOT / {"": ".venv", "run": ".venv-run", "bench": ".venv-bench"}[KIND]
PYTHON = PLACE / "bin" / "python"


def digest(*facts: object) -> str:
    """A digest of these facts, of this interpreter, of the checkout's place and of this recipe."""
    recipe = Path(__file__).read_bytes()
    return hashlib.sha256(repr((sys.version, sys.base_prefix, str(ROOT), recipe, facts)).encode()).hexdigest()


def needs() -> object:
    """Which packages are installed: the tables of ``pyproject.toml`` that say so."""
    recipe = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = recipe["project"]
    return project["dependencies"], project["optional-dependencies"], recipe["build-system"]


def copied() -> object:
    """What installing the project copies out of the checkout: names, modes, contents. Its code is used in place,
    but for the bench.
    """
    files = [ROOT / "pyproject.toml", ROOT / "git_coop" / "launcher.py", ROOT / "git_coop" / "__init__.py"]
    files += sorted((ROOT / "git_coop").rglob("*.py")) if KIND == "bench" else []
    files += [path for folder in ("man", "contrib") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    return [(str(path), path.stat().st_mode, path.read_bytes()) for path in files]


def pip(*words: str) -> None:
    """Run pip for the environment, quietly; its own words on standard error where it fails."""
    command = [str(PYTHON), "-m", "pip", "install", "-qq", "--no-input", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def ensure() -> None:
    """Bring the environment up to date; one process at a time does."""
    PLACE.mkdir(exist_ok=True)
    with open(PLACE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        packages, project = digest(needs()), digest(copied())
        if _noted("packages") != packages or not PYTHON.exists():
            _say(f"making the environment in {PLACE.name}")
            _forget()
            venv.create(PLACE, clear=False, symlinks=True, with_pip=True)
            pip(*{"": ("--editable", ".[dev]"), "run": ("--editable", "."), "bench": (".",)}[KIND])
            _without_setuptools()
        elif _noted("project") != project:
            _say(f"installing the project in {PLACE.name} again")
            how = {"": ("--no-build-isolation", "--editable"), "run": ("--editable",), "bench": ("--force-reinstall",)}
            pip("--no-deps", *how[KIND], ".")
        else:
            return
        _note("project", project)
        _note("packages", packages)


def _without_setuptools() -> None:
    """An older Python puts setuptools into every environment, with a file that runs at each start."""
    if KIND == "bench":
        command = [str(PYTHON), "-m", "pip", "uninstall", "-qq", "--yes", "setuptools"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.DEVNULL)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _noted(name: str) -> str:
    stamp = PLACE / f"{name}.stamp"
    return stamp.read_text(encoding="utf-8") if stamp.exists() else ""


def _note(name: str, text: str) -> None:
    (PLACE / f"{name}.stamp").write_text(text, encoding="utf-8")


def _forget() -> None:
    """A half-made environment must not pass for a made one; and one of another interpreter is started afresh."""
    for name in ("packages", "project"):
        (PLACE / f"{name}.stamp").unlink(missing_ok=True)
    if (PLACE / "pyvenv.cfg").exists():
        for entry in PLACE.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != "lock":
                entry.unlink()


if __name__ == "__main__":
    try:
        ensure()
    except subprocess.CalledProcessError as error:
        sys.exit(f"cannot make {os.path.relpath(PLACE)}: pip ended with {error.returncode}")
    print(PYTHON)

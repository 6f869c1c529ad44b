"""The private environment of a checkout: ``.venv``, made when it is missing and remade when its recipe changed.

A script: ``python environment.py`` prints the path of the environment's interpreter. Standard library only, for
it runs before anything is installed. pip is used as the person configured it. What was installed is remembered
as a digest, so that a second run starts no pip.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv"
PYTHON = PLACE / "bin" / "python"


def digest(paths: Iterable[Path]) -> str:
    """A digest of this interpreter, the checkout's place, and the names and contents of these files."""
    found = hashlib.sha256(f"{sys.version}\n{sys.base_prefix}\n{ROOT}\n".encode())
    for path in sorted(paths):
        found.update(f"{path.relative_to(ROOT)}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def needs() -> list[Path]:
    """What says which packages are installed."""
    return [ROOT / "pyproject.toml", Path(__file__)]


def installed() -> list[Path]:
    """What is copied out of the checkout when the project is installed; its code is not."""
    pages = [path for folder in ("man", "contrib") for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [ROOT / "git_coop" / "launcher.py", ROOT / "git_coop" / "__init__.py", *needs(), *pages]


def pip(*words: str) -> None:
    """Run pip for the environment, quietly; its own words on standard error where it fails."""
    command = [str(PYTHON), "-m", "pip", "install", "-qq", "--no-input", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def ensure() -> None:
    """Bring the environment up to date; one process at a time does."""
    PLACE.mkdir(exist_ok=True)
    with open(PLACE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        packages, project = digest(needs()), digest(installed())
        if _noted("packages") != packages or not PYTHON.exists():
            _say("making the environment in .venv")
            _forget()
            venv.create(PLACE, clear=False, symlinks=True, with_pip=True)
            pip("--editable", ".[dev]")
        elif _noted("project") != project:
            _say("installing the project in .venv again")
            pip("--no-deps", "--no-build-isolation", "--editable", ".")
        else:
            return
        _note("project", project)
        _note("packages", packages)


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
        import shutil

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

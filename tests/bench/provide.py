"""Where the alternatives come from: what is installed, else Debian's packages (as root), else the package index."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv-bench" / "peers"


class Unavailable(Exception):
    """A tool that cannot be measured here; its words are the reason."""


def program(name: str) -> str:
    """The path of a program that is installed."""
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"no {name} on the path")
    return found


def debian(package: str, name: str) -> str:
    """A program of a Debian package, installed where it is missing and that can be done."""
    if shutil.which(name) is None:
        if shutil.which("apt-get") is None or os.geteuid() != 0:
            raise Unavailable(f"{package} is not installed, and only root can change that, with apt-get")
        command = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", package]
        done = subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True)
        if done.returncode != 0:
            raise Unavailable(f"apt-get cannot install {package}")
    return program(name)


def package(name: str, script: str) -> str:
    """A script of a Python package, in an environment of its own beside the bench's."""
    place = PLACE / name
    found = place / "bin" / script
    if not found.exists():
        venv.create(place, clear=True, symlinks=True, with_pip=True)
        pip = [str(place / "bin" / "python"), "-m", "pip"]
        done = subprocess.run([*pip, "install", "-qq", "--no-input", name], capture_output=True)
        if done.returncode != 0:
            shutil.rmtree(place)
            raise Unavailable(f"pip cannot install {name}")
        subprocess.run([*pip, "uninstall", "-qq", "--yes", "setuptools"], stderr=subprocess.DEVNULL)
    return str(found)


def version(command: list[str]) -> str:
    """The first line that a command prints about itself; empty where it says nothing."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def distribution(script: str, name: str) -> str:
    """The version of an installed Python package, asked of its own interpreter."""
    code = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    python = Path(script).with_name("python") if script else Path(sys.executable)
    return version([str(python), "-I", "-c", code, name])

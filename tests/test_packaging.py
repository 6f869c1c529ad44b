"""The built wheel: our own launcher, the pages where ``man`` looks, the completions, and nothing else."""

import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from git_coop import __version__
from tests.support.pages import aliases
from tests.support.room import LAUNCHER, ROOT

DATA = f"git_coop-{__version__}.data"
INFO = f"git_coop-{__version__}.dist-info"
COMPLETIONS = {
    "git-coop.bash": "share/bash-completion/completions/git-coop",
    "_git-coop": "share/zsh/site-functions/_git-coop",
    "git-coop.fish": "share/fish/vendor_completions.d/git-coop.fish",
    "git-coop-conf.fish": "share/fish/vendor_conf.d/git-coop.fish",
}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel", numbered=False)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return place / f"git_coop-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="session")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place where pip installed the wheel, and nothing but the wheel."""
    place = tmp_path_factory.mktemp("prefix", numbered=False)
    options = ["--no-index", "--no-deps", "--no-compile", "--ignore-installed", "--no-warn-script-location"]
    command = [sys.executable, "-m", "pip", "install", "-qq", *options, "--prefix", str(place), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def data_files() -> dict[str, Path]:
    """Where every page and every completion of the checkout has to be in the wheel."""
    pages = {f"{DATA}/data/share/man/man{page.suffix[1:]}/{page.name}": page for page in (ROOT / "man").iterdir()}
    completions = (ROOT / "contrib" / "completion" / name for name in COMPLETIONS)
    return pages | {f"{DATA}/data/{COMPLETIONS[path.name]}": path for path in completions if path.exists()}


def test_the_wheel_holds_the_package_the_launcher_and_the_pages(wheel: Path) -> None:
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "git_coop").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = {f"{INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == package | set(data_files()) | {f"{DATA}/scripts/git-coop"} | info
        for name, path in data_files().items():
            assert archive.read(name) == path.read_bytes()


def test_the_launcher_in_the_wheel_is_ours(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"{DATA}/scripts/git-coop") == LAUNCHER.read_bytes()
        assert archive.getinfo(f"{DATA}/scripts/git-coop").external_attr >> 16 & 0o777 == 0o755
    assert LAUNCHER.read_bytes().startswith(b"#!python\n")


def test_the_wheel_needs_three_packages_and_names_its_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(f"{INFO}/METADATA"))
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(line.partition(">=")[0] for line in needed) == ["click", "pygit2", "tomli-w"]
    assert (metadata["Version"], metadata["License-Expression"]) == (__version__, "MIT")
    assert metadata["Requires-Python"] == ">=3.11"


def test_pip_puts_the_interpreter_into_the_launchers_first_line(prefix: Path) -> None:
    script = prefix / "bin" / "git-coop"
    first, _, rest = script.read_text(encoding="utf-8").partition("\n")
    assert first == f"#!{sys.executable}"
    assert rest == LAUNCHER.read_text(encoding="utf-8").partition("\n")[2]
    assert os.access(script, os.X_OK)


def test_the_installed_program_starts(prefix: Path) -> None:
    packages = next(prefix.glob("lib*/python3*/site-packages"))
    command = [sys.executable, str(prefix / "bin" / "git-coop"), "-h"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(packages)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: git coop")


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "man").iterdir()))
def test_man_finds_the_page(prefix: Path, page: str) -> None:
    name, _, section = page.rpartition(".")
    pages = prefix / "share" / "man"
    done = subprocess.run(["man", "-M", str(pages), "-w", section, name], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{pages}/man{section}/{aliases().get(page, page)}\n")

"""What a run was made with: versions, and the machine's kind without its name."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from git_coop import __version__
from tests.bench.provide import ROOT, distribution, version
from tests.bench.stage import Stage


def of(stage: Stage, rounds: int) -> dict[str, object]:
    """The facts by name, all of them text or numbers."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "git-coop": __version__,
        "commit": _commit(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "click": distribution("", "click"),
        "pygit2": distribution("", "pygit2"),
        "git": version([stage.git_program, "version"]).removeprefix("git version "),
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "file system": _file_system(stage.place),
        "load": round(os.getloadavg()[0], 2),
        "rounds": rounds,
    }


def _commit() -> str:
    """The checkout's commit, with ``+`` where its code was changed since."""
    git = ["git", "-C", str(ROOT)]
    done = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "--", "git_coop"], capture_output=True, text=True).stdout
    return done.stdout.strip() + ("+" if changed else "")


def _processor() -> str:
    """The processor's model, where the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _file_system(place: Path) -> str:
    """The type of the file system at a place, where the system says."""
    if not sys.platform.startswith("linux"):
        return ""
    return version(["stat", "-f", "-c", "%T", str(place)])

"""What a run costs, without a clock: modules it loads, calls it makes into the system, processes it starts."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.room import ROOT

# Runs the program as the launcher does, in a child that counts. What the interpreter has loaded before is not the
# program's. Calls of Python's own import go to the system by other ways and are not counted.
_CHILD = """\
import os, sys
before = set(sys.modules)
calls, opened, listed, started = {}, [], [], []
here = os.fsencode(sys.argv[1])

def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)):
        opened.append(os.fsencode(args[0]))
    elif event in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.system"):
        started.append([event, repr(args[1] if len(args) > 1 else "")])

def counted(name):
    real = getattr(os, name)
    def call(*args, **named):
        calls[name] = calls.get(name, 0) + 1
        if name == "listdir":
            place = args[0]
            listed.append(os.readlink(b"/proc/self/fd/%d" % place) if isinstance(place, int) else os.fsencode(place))
        return real(*args, **named)
    return call

for name in ("open read write close lstat stat fstat access listdir scandir readlink lseek rename link unlink mkdir "
             "rmdir fsync chmod fchmod").split():
    setattr(os, name, counted(name))
sys.addaudithook(hook)
from git_coop.__main__ import main
words, sys.argv = sys.argv[3:], ["git-coop"]
status = main(words)
modules = sorted(set(sys.modules) - before)
mine = [path.decode("utf-8", "replace") for path in opened if path.startswith(here)]
with open(sys.argv[0] and os.environ["COSTS"], "w") as report:
    import json
    json.dump([status, modules, calls, mine, [os.fsdecode(path) for path in listed], started], report)
os._exit(0)
"""


class Costs(NamedTuple):
    """One run. ``opened`` are the files and folders below the place that was given, ``listed`` the folders listed."""

    status: int
    output: str
    modules: set[str]
    calls: int
    opened: list[str]
    listed: list[str]
    started: list[list[str]]


def measure(place: Path, words: Sequence[str], env: dict[str, str], cwd: Path, stdin: bytes = b"") -> Costs:
    """Run ``git coop`` with these words; ``place`` is where opened files count."""
    report = place / "costs.json"
    command = [sys.executable, "-P", "-c", _CHILD, str(place), "--", *words]
    child = {**env, "PYTHONPATH": str(ROOT), "COSTS": str(report)}
    done = subprocess.run(command, cwd=cwd, env=child, input=stdin, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    status, modules, calls, opened, listed, started = json.loads(report.read_text())
    report.unlink()
    said = done.stdout.decode("utf-8", "replace")
    return Costs(
        status, said, set(modules), sum(calls.values()), opened, [os.path.relpath(p, place) for p in listed], started
    )

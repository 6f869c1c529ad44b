"""The package's rooms: what each module may import, touch and start. Read from the source, module by module.

Each rule is a table here. Whoever breaks one reads which, and what to do; whoever has a reason writes it into the
table. Beside each rule stands a piece of source that breaks it, to show that the rule is looked at.
"""

import graphlib
import os
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import pytest

from tests.support.reading import PACKAGE, imports, modules, own, uses, writes
from tests.support.room import ROOT

MODULES = modules()
KNOWN = set(MODULES)

# Lowest first. A module imports from its own layer and from those before it, never from one after it, and the
# whole has no circle. `x.*` is every module of a package, the package itself included; "" is git_coop itself.
LAYERS: dict[str, tuple[str, ...]] = {
    "values": (
        "",
        "record",
        "errors",
        "clock",
        "ids",
        "text",
        "header",
        "flat",
        "plain_toml",
        "edge",
        "event",
        "payload",
    ),
    "disk": ("exclusive", "files", "locks", "claims", "staged", "store", "toml"),
    "git": ("git", "plain_config", "discover", "vouching", "repo", "head"),
    "box": ("layout", "making", "moves"),
    "subjects": (
        "body",
        "guard",
        "letters",
        "letter_record",
        "message",
        "ttl",
        "render",
        "packets",
        "packet_file",
        "quote",
        "fields",
        "todos",
        "requests",
        "config",
        "anchors",
        "place",
        "history",
    ),
    "ledgers": (
        "letter_glance",
        "letterbox",
        "receipts",
        "turns",
        "inbox",
        "filing",
        "sent",
        "notices",
        "choose",
        "drained",
        "adopted",
        "letter_notice",
        "mail",
        "mailbox",
        "tracing",
        "requeue",
        "todobox",
        "requestbox",
    ),
    "wiring": ("hook_*", "settings_*", "wiring"),
    "work": (
        "addresses",
        "drain_run",
        "drain",
        "events",
        "offers",
        "reading",
        "text_drain",
        "replica",
        "holdings",
        "homeless",
        "ledger",
        "ledger_files",
        "ledger_walk",
        "own",
        "fleet",
        "remote",
        "carrier",
        "union",
        "backup",
        "sync",
        "doctor",
        "overview",
        "checks*",
        "gc",
    ),
    "clients": ("clients.*",),
    "edge": ("hook", "cli.*"),
    "program": ("__main__", "launcher"),
}

# Imports that point up, each with its reason.
UPWARD: dict[tuple[str, str], str] = {
    ("discover", "git"): "only where the environment steers git: then git's own answer counts, and it is asked late",
}

# What the drain loads at every turn of every session: no more than these of the standard library, which the
# interpreter has loaded or built in, and only modules that keep the same rule.
HOT = (
    "",
    "__main__",
    "hook",
    "record",
    "errors",
    "clock",
    "ids",
    "text",
    "header",
    "edge",
    "files",
    "locks",
    "claims",
    "staged",
    "store",
    "discover",
    "plain_config",
    "layout",
    "making",
    "moves",
    "event",
    "payload",
    "message",
    "quote",
    "render",
    "flat",
    "receipts",
    "turns",
    "inbox",
    "filing",
    "sent",
    "notices",
    "choose",
    "drained",
    "adopted",
    "letter_notice",
    "letter_glance",
    "letters",
    "plain_toml",
    "anchors",
    "place",
    "drain_run",
    "offers",
    "events",
    "drain",
    "text_drain",
    "clients.*",
)
HOT_STANDARD = {"os", "sys", "time", "errno", "stat", "fcntl"}
HOT_MORE = {
    "files": {"_sha2", "_sha256", "hashlib"},  # built in under either name; hashlib where it is under neither
}

# Who may change files. `store` writes the store; the others write elsewhere, or one thing only.
WRITERS: dict[str, tuple[str, ...]] = {
    "store": ("*",),  # the one writer of the store
    "claims": ("*",),  # its files that have a name already
    "staged": ("*",),  # its files before they are published
    "locks": ("os.O_CREAT", "os.fchmod"),  # the mode of a lock file in a shared repository
    "edge": ("os.write",),  # standard output and error, by descriptor
    "packet_file": ("*",),  # a packet, made exclusively in the temporary directory or where the person says
    "settings_file": ("*",),  # a client's settings, replaced as a whole
    "ledger_files": ("*",),  # sync's own bare repository
}
CHANGING = (
    *(f"os.{name}" for name in ("mkdir", "makedirs", "rename", "renames", "replace", "link", "symlink", "unlink")),
    *(f"os.{name}" for name in ("remove", "removedirs", "rmdir", "chmod", "lchmod", "fchmod", "chown", "lchown")),
    *(f"os.{name}" for name in ("fchown", "truncate", "ftruncate", "utime", "mknod", "mkfifo", "setxattr")),
    *(f"os.{name}" for name in ("removexattr", "write", "writev", "pwrite", "pwritev", "sendfile", "splice")),
    *(f"os.{name}" for name in ("copy_file_range", "posix_fallocate", "chflags", "lchflags")),
    *(f"os.O_{name}" for name in ("WRONLY", "RDWR", "CREAT", "TRUNC", "APPEND", "TMPFILE")),
    *(f".{name}" for name in ("write_text", "write_bytes", "touch", "unlink", "rename", "mkdir", "rmdir")),
    *(f".{name}" for name in ("symlink_to", "hardlink_to", "chmod", "lchmod")),
    *(f"pathlib.Path.{name}" for name in ("write_text", "write_bytes", "touch", "unlink", "rename", "mkdir")),
    "shutil.[!gw]*",  # not get_terminal_size and which, which look only
    "tempfile*",
    "sqlite3*",
    "dbm*",
)

# Who may start a process, load a library, or use what one module alone is for.
STARTING = (
    *("subprocess*", "pty*", "multiprocessing*", "concurrent*", "webbrowser*", "asyncio*"),
    *("os.system", "os.popen", "os.exec*", "os.spawn*", "os.posix_spawn*", "os.fork*", "os.startfile"),
    *("click.edit", "click.launch", "click.echo_via_pager"),
)
ONLY: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "processes": (STARTING, {"git": "git, and the editor that git names"}),
    "pygit2": (("pygit2*",), {"repo": "repositories", "ledger": "the ledger of sync"}),
    "click": (("click*",), {"cli.*": "the command line"}),
    "foreign code": (("ctypes*",), {"exclusive": "renaming without replacing, where the file system has no links"}),
    "imports by name": (
        ("importlib", "importlib.import_module", "importlib.util*", "__import__"),
        {"cli.frame": "a verb is loaded when it is called", "clients.*": "so is an adapter"},
    ),
    "clock and chance": (
        ("time.time", "time.time_ns", "os.urandom", "random*", "secrets*", "uuid*", "*datetime.now"),
        {"edge": "they come in from the edge, and are handed on"},
    ),
    "environment and directory": (
        ("os.environ*", "os.getenv*", "os.getcwd*", "os.chdir", "os.fchdir", "os.putenv", "os.unsetenv"),
        {"edge": "they come in from the edge, and are handed on"},
    ),
    "streams and exits": (
        ("print", "input", "sys.std*", "sys.__std*", "sys.exit", "os._exit", "exit", "quit"),
        {
            "edge": "the streams come in from here",
            "hook": "answers a client",
            "cli.*": "answers a person",
            "__main__": "exits",
            "launcher": "exits",
        },
    ),
}


def within(module: str, patterns: tuple[str, ...]) -> bool:
    """Whether a table's entry names this module."""
    return any(fnmatchcase(module, each) or module == each.removesuffix(".*") for each in patterns)


def layer_of(module: str) -> int | None:
    """The height of a module's layer; an entry by its own name goes before one for its package."""
    for exact in (True, False):
        for height, members in enumerate(LAYERS.values()):
            if module in members if exact else within(module, members):
                return height
    return None


def misplaced(module: str, source: str) -> list[str]:
    """Imports that point up, and a module that is in no layer."""
    here = layer_of(module)
    if here is None:
        return [f"{module}: in no layer: give it a place in LAYERS of {Path(__file__).name}"]
    found = []
    for each in imports(source):
        target = own(each.name, KNOWN)
        there = None if target is None else layer_of(target)
        if there is not None and there > here and (module, target) not in UPWARD:
            found.append(f"{module}:{each.line}: imports {target}, which stands above it")
    return found


def heavy(module: str, source: str) -> list[str]:
    """What a module that the drain loads imports at its start beyond what it may."""
    allowed = HOT_STANDARD | HOT_MORE.get(module, set())
    found = set()
    for each in imports(source):
        if each.late or each.typed:
            continue
        target = own(each.name, KNOWN)
        if target is None and each.name.split(".")[0] not in allowed:
            found.add(f"{module}:{each.line}: imports {each.name} at every turn: import it where it is needed")
        elif target is not None and not within(target, HOT):
            found.add(f"{module}:{each.line}: imports {target} at every turn, which is not in HOT")
    return sorted(found)


def changes(module: str, source: str) -> list[str]:
    """What changes files in a module that may not."""
    allowed = next((names for writer, names in WRITERS.items() if within(module, (writer,))), ())
    found = []
    for use in uses(source):
        changing = writes(use.mode) or _among(use.name, CHANGING)
        if changing and own(use.name, KNOWN) is None and not _among(use.name, allowed):
            found.append(f"{module}:{use.line}: {use.name} changes files: {PACKAGE}.store does that")
    return found


def strays(rule: str, module: str, source: str) -> list[str]:
    """What a module mentions that belongs to others by ``ONLY[rule]``."""
    names, owners = ONLY[rule]
    if within(module, tuple(owners)):
        return []
    found = [use for use in uses(source) if _among(use.name, names)]
    return [f"{module}:{use.line}: {use.name} belongs to {', '.join(owners)} ({rule})" for use in found]


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


CHECKS: dict[str, Callable[[str, str], list[str]]] = {
    "layers": misplaced,
    "files": changes,
    **{rule: partial(strays, rule) for rule in ONLY},
}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_keeps_to_its_room(module: str) -> None:
    source = MODULES[module].read_text(encoding="utf-8")
    found = [line for check in CHECKS.values() for line in check(module, source)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("module", [module for module in MODULES if within(module, HOT)])
def test_what_the_drain_loads_stays_light(module: str) -> None:
    found = heavy(module, MODULES[module].read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


def circle(sources: dict[str, str]) -> list[str]:
    """The modules of one circle of imports; those only for types, and those named in UPWARD, make none."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        targets = {own(each.name, set(sources)) or "" for each in imports(source) if not each.typed}
        graph[module] = targets - {"", module} - {up for low, up in UPWARD if low == module}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_goes_in_a_circle() -> None:
    found = circle({module: path.read_text(encoding="utf-8") for module, path in MODULES.items()})
    assert not found, " imports ".join(found)


@pytest.mark.parametrize("module", [module for module in MODULES if module != "launcher"])
def test_each_module_imports_alone(module: str) -> None:
    name = f"{PACKAGE}.{module}".rstrip(".")
    command = [sys.executable, "-P", "-W", "error", "-c", f"import {name}"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), done.stderr


def test_no_exception_outlives_its_reason() -> None:
    sources = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}
    for low, up in UPWARD:
        assert up in {own(each.name, KNOWN) for each in imports(sources[low])}, (low, up)
    for module, extra in HOT_MORE.items():
        assert extra <= {each.name.split(".")[0] for each in imports(sources[module])}, module


# Controls: source that breaks a rule, and source that looks alike and does not.

GUILTY = [
    ("layers", "clock", "from git_coop import errors, letters"),
    ("layers", "errors", "def late():\n    from git_coop.cli import root"),
    ("layers", "never_heard_of", ""),
    ("files", "drain", "import os\nos.unlink(b'x')"),
    ("files", "drain", "import os as system\nremove = system.unlink"),
    ("files", "drain", "from os import rename as move\nmove('a', 'b')"),
    ("files", "drain", "import os\nos.open('x', os.O_RDONLY | os.O_CREAT)"),
    ("files", "drain", "from os import O_WRONLY"),
    ("files", "drain", "open('x', 'w')"),
    ("files", "drain", "open('x', mode='r+b')"),
    ("files", "drain", "def f(mode):\n    return open('x', mode)"),
    ("files", "drain", "import io\nio.open('x', 'xb')"),
    ("files", "drain", "def f(path):\n    path.open('a')"),
    ("files", "drain", "def f(path):\n    path.write_text('x')"),
    ("files", "drain", "from pathlib import Path\nPath('x').touch()"),
    ("files", "drain", "import shutil\nshutil.rmtree('x')"),
    ("files", "drain", "from shutil import copyfile"),
    ("files", "drain", "import tempfile"),
    ("files", "edge", "import os\nos.unlink('x')"),
    ("processes", "mail", "import subprocess"),
    ("processes", "mail", "def f():\n    from subprocess import run"),
    ("processes", "mail", "import os\nos.system('ls')"),
    ("processes", "mail", "import os\nos.execvp('ls', ['ls'])"),
    ("processes", "mail", "from os import fork"),
    ("processes", "cli.letter", "import click\nclick.edit('text')"),
    ("pygit2", "sync", "from pygit2.enums import ObjectType"),
    ("click", "letters", "import click"),
    ("foreign code", "files", "from ctypes import CDLL"),
    ("imports by name", "drain", "__import__('subprocess')"),
    ("clock and chance", "letters", "import time\nnow = time.time_ns()"),
    ("clock and chance", "letters", "from datetime import datetime\ndatetime.now()"),
    ("environment and directory", "layout", "import os\nos.environ['HOME']"),
    ("environment and directory", "layout", "from os import getcwdb"),
    ("streams and exits", "letters", "print('read')"),
    ("streams and exits", "letters", "import sys\nsys.stdout.write('x')"),
    ("streams and exits", "letters", "from sys import exit"),
]

INNOCENT = [
    ("layers", "letters", "from git_coop import clock, errors"),
    ("layers", "errors", "import os"),
    ("files", "drain", "import os\nos.open('x', os.O_RDONLY | os.O_NOFOLLOW)"),
    ("files", "drain", "open('x')\nopen('x', 'rb')"),
    ("files", "drain", "from git_coop import store\nstore.rename('a', 'b')"),
    ("files", "drain", "'a'.replace('a', 'b')"),
    ("files", "store", "import os\nos.unlink('x')"),
    ("files", "edge", "import os\nos.write(1, b'x')"),
    ("files", "cli.frame", "import shutil\nshutil.get_terminal_size()"),
    ("processes", "git", "import subprocess"),
    ("processes", "mail", "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import subprocess"),
    ("pygit2", "repo", "import pygit2"),
    ("click", "cli.letter", "import click"),
    ("clock and chance", "store", "import time\ntime.monotonic()"),
    ("streams and exits", "cli.letter", "print('read')"),
]


@pytest.mark.parametrize(("check", "module", "source"), GUILTY)
def test_a_broken_rule_is_seen(check: str, module: str, source: str) -> None:
    assert CHECKS[check](module, source) != []


@pytest.mark.parametrize(("check", "module", "source"), INNOCENT)
def test_a_kept_rule_is_left_alone(check: str, module: str, source: str) -> None:
    assert CHECKS[check](module, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "import json",
        "from __future__ import annotations",
        "try:\n    import re\nexcept ImportError:\n    pass",
        "class Inner:\n    import typing",
        "from git_coop import letterbox",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    pass\nelse:\n    import typing",
    ],
)
def test_a_heavy_import_is_seen(source: str) -> None:
    assert heavy("drain", source) != []


@pytest.mark.parametrize(
    "source",
    [
        "import os, sys",
        "from errno import ENOENT",
        "from git_coop import clock",
        "def late():\n    import json",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Protocol",
    ],
)
def test_a_light_import_is_left_alone(source: str) -> None:
    assert heavy("drain", source) == []


def test_a_circle_is_seen() -> None:
    rest = {"c": "from git_coop import a"}
    assert set(circle({"a": "from git_coop import b", "b": "import git_coop.c", **rest})) == {"a", "b", "c"}
    assert circle({"a": "from git_coop import b", "b": "", **rest}) == []


def test_an_import_names_the_module_it_reads() -> None:
    known = {"", "cli", "cli.root", "errors"}
    assert own("git_coop.errors.Fatal", known) == "errors"
    assert own("git_coop.cli.root", known) == "cli.root"
    assert own("git_coop.cli.nothing", known) == "cli"
    assert own("git_coop.__version__", known) == ""
    assert own("os.path", known) is None

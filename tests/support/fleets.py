"""Clones that stand for machines, and one bare repository between them."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from git_coop.__main__ import main
from tests.support.clones import Clone, copy_template, git
from tests.support.world import Clock, Counter, Worlds


class Chance(Counter):
    """Randomness of one machine: a counter whose bytes no other machine draws."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def __call__(self, size: int) -> bytes:
        """The next bytes: the counter, with the machine's number in front."""
        self.drawn += 1
        return (self.seed << 8 * (size - 1) | self.drawn % (1 << 8 * (size - 1))).to_bytes(size, "big")


class Machine:
    """A clone with its own randomness, run in this process with everybody's clock."""

    def __init__(self, worlds: Worlds, clone: Clone, clock: Clock, seed: int) -> None:
        self.worlds = worlds
        self.clone = clone
        self.clock = clock
        self.entropy = Chance(seed)

    def __call__(
        self, *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> tuple[int, str, str]:
        """Run a command: its status, standard output and standard error."""
        world = self.worlds(cwd or self.clone.root, stdin=stdin, env=env)
        world = world.replace(clock=self.clock, entropy=self.entropy)
        code = main(list(words), world)
        return code, world.stdout.text, world.stderr.text

    def ok(self, *words: str, cwd: Path | None = None) -> str:
        """Run a command that must succeed; its output."""
        code, out, err = self(*words, cwd=cwd)
        assert code == 0, f"{words}: {code}: {out}{err}"
        return out

    def json(self, *words: str) -> dict[str, Any]:
        """The answer of a command that must succeed."""
        found: dict[str, Any] = json.loads(self.ok(*words, "--json"))
        return found

    def write(self, body: str) -> str:
        """Write a letter; its id."""
        return self.ok("letter", "write", "-m", body).split()[1]

    @property
    def replica(self) -> str:
        """The machine's name in the fleet, once it synced."""
        return (self.clone.coop / "replica").read_text().strip()

    @property
    def ledger(self) -> Path:
        """Its copy of the ledger."""
        return self.clone.coop / "ledger.git"

    def tree(self) -> str:
        """Everything that it knows of the fleet, as one object id."""
        return git("rev-parse", "coop^{tree}", cwd=self.ledger).strip()

    def store(self) -> dict[str, bytes]:
        """Every record of the local store by path."""
        return {
            str(path.relative_to(self.clone.coop)): path.read_bytes()
            for folder in ("letters", "todos", "requests", "mail")
            for path in sorted((self.clone.coop / folder).rglob("*"))
            if path.is_file()
        }


class Fleet:
    """Machines made on demand, and the repository between them, which is not made before it is asked for."""

    def __init__(self, worlds: Worlds, template: Path, base: Path) -> None:
        self.worlds = worlds
        self.template = template
        self.base = base
        self.clock = Clock()
        self.made = 0

    @property
    def remote(self) -> Path:
        """The bare repository."""
        place = self.base / "ledger.git"
        if not place.exists():
            git("init", "-q", "--bare", str(place), cwd=self.base)
        return place

    def machine(self, name: str, remote: str | None = None) -> Machine:
        """A machine whose clone is called ``name``; ``remote`` is its ``coop.remote``, by default the repository."""
        self.made += 1
        clone = copy_template(self.template, self.base / name)
        clone.git("config", "coop.remote", str(self.remote) if remote is None else remote)
        return Machine(self.worlds, clone, self.clock, self.made)


class Pusher:
    """Somebody who may push to the repository and writes whatever trees they like."""

    def __init__(self, remote: Path) -> None:
        self.remote = remote

    def blob(self, data: bytes) -> str:
        """Store a blob; its id."""
        return self._hash("blob", data)

    def tree(self, *entries: tuple[str, bytes, str]) -> str:
        """Store a tree of (mode, name, id), in this order and unchecked."""
        return self._hash("tree", b"".join(_entry(*entry) for entry in entries))

    def nested(self, path: str, leaf: tuple[str, str]) -> tuple[str, bytes, str]:
        """An entry that leads by ``path`` to a leaf (mode, id)."""
        first, *rest = path.split("/")
        if not rest:
            return (leaf[0], first.encode(), leaf[1])
        return ("40000", first.encode(), self.tree(self.nested("/".join(rest), leaf)))

    def push(self, tree: str, *parents: str, branch: str = "coop") -> str:
        """Make a commit the branch's."""
        words = [word for parent in parents for word in ("-p", parent)]
        commit = git("commit-tree", tree, *words, "-m", "x", cwd=self.remote).strip()
        git("update-ref", f"refs/heads/{branch}", commit, cwd=self.remote)
        return commit

    def head(self, branch: str = "coop") -> str:
        """The branch's commit."""
        return git("rev-parse", branch, cwd=self.remote).strip()

    def replace(self, changes: Mapping[str, tuple[str, str]]) -> str:
        """Push the branch's tree with entries put by path, each (mode, id), through an index."""
        index = {**os.environ, "GIT_INDEX_FILE": str(self.remote / "forged-index"), "GIT_DIR": str(self.remote)}
        subprocess.run(["git", "read-tree", "coop"], env=index, check=True, capture_output=True)
        for path, (mode, oid) in changes.items():
            words = ["git", "update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}"]
            subprocess.run(words, env=index, check=True, capture_output=True)
        done = subprocess.run(["git", "write-tree"], env=index, check=True, capture_output=True)
        return self.push(done.stdout.decode().strip(), self.head())

    def _hash(self, kind: str, data: bytes) -> str:
        words = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
        done = subprocess.run(words, cwd=self.remote, input=data, capture_output=True, check=True)
        return done.stdout.decode().strip()


def _entry(mode: str, name: bytes, oid: str) -> bytes:
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)

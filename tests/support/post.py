"""Mail between the worktrees of one clone, in memory: commands run with one clock and one source of randomness."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from git_coop import layout
from git_coop.__main__ import main
from git_coop.layout import Box, open_store
from tests.support.clones import Clone
from tests.support.world import Clock, Counter, World, Worlds

QUEUED = 1_796_035_512  # seconds; the clock's start, rounded down


class Post:
    """``post(*words, cwd=…)`` runs one command: (exit status, standard output, standard error)."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.edge = edge
        self.clone = clone
        self.clock = Clock()
        self.entropy = Counter()

    def world(
        self,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes | str | None = b"",
        terminal: bool = False,
        out: str = "open",
    ) -> World:
        """A world of this clone's clock and randomness."""
        made = self.edge(cwd or self.clone.root, env, stdin, terminal=terminal, out=out)
        return made.replace(clock=self.clock, entropy=self.entropy)

    def __call__(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes | str | None = b"",
        terminal: bool = False,
        out: str = "open",
    ) -> tuple[int, str, str]:
        world = self.world(cwd, env, stdin, terminal, out)
        code = main(list(words), world)
        return code, world.stdout.text, world.stderr.text

    def json(self, *words: str, cwd: Path | None = None, code: int = 0) -> dict[str, object]:
        """What a command answers with ``--json``; another exit status fails the test."""
        status, out, err = self(*words, "--json", cwd=cwd)
        assert status == code, err
        answer = json.loads(out)
        assert isinstance(answer, dict)
        return answer

    def send(self, to: Path, body: str = "hello", *more: str, cwd: Path | None = None) -> str:
        """Queue one message; its id."""
        code, out, err = self("mail", "send", "--to", str(to), "-m", body, *more, cwd=cwd)
        assert code == 0, err
        return out.split()[1]

    def drain(self, event: str, session: str | None, cwd: Path) -> tuple[int, str, str]:
        """A text drain."""
        return self("drain", "--event", event, *(("--session", session) if session else ()), cwd=cwd)

    def box(self, root: Path) -> Box:
        """The box of a worktree; the store has to be there."""
        store = open_store(os.fsencode(self.clone.coop))
        assert store is not None
        return Box(store, layout.key(os.fsencode(root.resolve())))

    def file(self, root: Path, folder: str, identifier: str) -> Path:
        """Where a message of a worktree's box lies."""
        return Path(os.fsdecode(self.box(root).mail)) / folder / f"{identifier}.eml"

    def places(self, identifier: str) -> list[str]:
        """Every place of the clone where a message of this id lies, as ``<slug>/<folder>``."""
        found = (self.clone.coop / "mail" / "box").glob(f"*/*/{identifier}.eml")
        return sorted(f"{path.parts[-3][:-33]}/{path.parts[-2]}" for path in found)


def fingerprint(place: Path) -> str:
    """A digest of every name, mode, time and byte below a directory, to prove that nothing changed."""
    digest = hashlib.sha256()
    for top, folders, names in sorted(os.walk(place)):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = os.path.join(top, name)
            status = os.lstat(path)
            digest.update(
                f"{path}\0{status.st_mode}\0{status.st_mtime_ns}\0{status.st_ino}\0".encode(errors="surrogateescape")
            )
            if os.path.isfile(path) and not os.path.islink(path):
                digest.update(Path(path).read_bytes())
    return digest.hexdigest()

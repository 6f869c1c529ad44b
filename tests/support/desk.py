"""A desk: commands of the program run in this process, one after another, with one clock and one randomness."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from git_coop.__main__ import main
from tests.support.world import Clock, Counter, World, Worlds


class Desk:
    """Runs commands in a directory; the worlds differ in their streams only."""

    def __init__(self, edge: Worlds, root: Path) -> None:
        self.edge = edge
        self.root = root
        self.clock = Clock()
        self.entropy = Counter()

    def world(
        self,
        *,
        cwd: Path | None = None,
        stdin: bytes | str | None = b"",
        env: Mapping[str, str | None] | None = None,
        terminal: bool = False,
        out: str = "open",
    ) -> World:
        """The world of one run."""
        made = self.edge(cwd or self.root, env, stdin, terminal=terminal, out=out)
        return made.replace(clock=self.clock, entropy=self.entropy)

    def __call__(
        self,
        *words: str,
        cwd: Path | None = None,
        stdin: bytes | str | None = b"",
        env: Mapping[str, str | None] | None = None,
        terminal: bool = False,
        out: str = "open",
    ) -> tuple[int, str, str]:
        """Exit status, standard output, standard error."""
        world = self.world(cwd=cwd, stdin=stdin, env=env, terminal=terminal, out=out)
        code = main(list(words), world)
        return code, world.stdout.text, world.stderr.text

    def done(self, *words: str, cwd: Path | None = None, stdin: bytes | str | None = b"", session: str = "") -> str:
        """The output of a command that succeeds without a word beside it."""
        code, out, err = self(*words, cwd=cwd, stdin=stdin, env={"GIT_COOP_SESSION": session or None})
        assert (code, err) == (0, ""), (words, code, out, err)
        return out

    def letter(self, body: str, *words: str, cwd: Path | None = None, session: str = "writer") -> str:
        """Write a letter; its id."""
        return self.done("letter", "write", "--body", "-", *words, cwd=cwd, stdin=body, session=session).split()[1]


def tree(root: Path) -> str:
    """A digest of every name, kind, mode, time of change and content below ``root``; symlinks are not followed."""
    digest = hashlib.sha256()
    for top, folders, names in os.walk(root):
        folders.sort()
        for name in sorted((*folders, *names)):
            path = Path(top, name)
            status = path.lstat()
            content = b""
            if path.is_symlink():
                content = os.fsencode(path.readlink())
            elif path.is_file():
                content = path.read_bytes()
            digest.update(repr((str(path), status.st_mode, status.st_mtime_ns, content)).encode())
    return digest.hexdigest()

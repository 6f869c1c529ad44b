"""Real git repositories, made fast."""

import shutil
import subprocess
from pathlib import Path


class Clone:
    """A clone with one commit on ``main``; linked worktrees are made beside its root."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def common(self) -> Path:
        """The common git directory."""
        return self.root / ".git"

    @property
    def coop(self) -> Path:
        """Where the store is, once something was written."""
        return self.common / "coop"

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """What git prints; a git that fails fails the test with what it said."""
        return git(*args, cwd=cwd or self.root)

    def worktree(self, name: str, branch: str | None = None, at: Path | None = None) -> Path:
        """A linked worktree on a new branch (by default its name), in ``at`` or beside the root."""
        place = at or self.root.parent / name
        self.git("worktree", "add", "-q", "-b", branch or name, str(place))
        return place


def git(*args: str, cwd: Path) -> str:
    """Run the real git in ``cwd`` and return its standard output."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0, f"git {' '.join(args)}: {done.returncode}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode("utf-8", "surrogateescape")


def make_template(place: Path) -> Path:
    """A repository to copy: one commit, and none of the sample hooks."""
    git("init", "-q", "-b", "main", "--template=", str(place), cwd=place.parent)
    (place / "README").write_text("a project\n")
    git("add", "README", cwd=place)
    git("commit", "-q", "-m", "First", cwd=place)
    return place


def copy_template(template: Path, root: Path) -> Clone:
    """A clone at ``root``: a copy of the template with an index that fits it."""
    shutil.copytree(template, root, symlinks=True)
    git("update-index", "-q", "--refresh", cwd=root)
    return Clone(root)

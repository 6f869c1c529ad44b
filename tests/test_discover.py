"""Whose worktree: git's own answer, pygit2's and the walk's are one, in every place that has a row here."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import discover, git, repo
from git_coop.discover import AskGit, Worktree
from git_coop.errors import CoopError
from tests.support import room, users
from tests.support.clones import Clone
from tests.support.clones import git as real_git

Environment = Mapping[str, str]
Find = Callable[[bytes, Environment], Worktree]
Place = tuple[Path | str, dict[str, str]]
Build = Callable[[Path], Place]
FINDERS: tuple[Find, ...] = (discover.find, repo.find)
NOT_A_REPOSITORY, NO_WORKTREE, BROKEN = "not a repository", "no worktree", "broken link"

ROWS: dict[str, Build] = {}
BY_GIT: set[str] = set()  # rows whose answer is git's to give: variables or a configuration decide


class CannotMake(Exception):
    """The installed git lacks what the row needs."""


def row(name: str, by_git: bool = False) -> Callable[[Build], Build]:
    def note(build: Build) -> Build:
        assert name not in ROWS
        ROWS[name] = build
        if by_git:
            BY_GIT.add(name)
        return build

    return note


def main(base: Path, name: str = "main", *options: str) -> Path:
    """A repository with a commit and a directory ``sub/deep``."""
    place = base / name
    real_git("init", "-q", *options, "--", str(place), cwd=base)
    real_git("commit", "-q", "--allow-empty", "-m", "First", cwd=place)
    (place / "sub" / "deep").mkdir(parents=True)
    return place


def linked(of: Path, at: Path) -> Path:
    real_git("worktree", "add", "-q", "--detach", str(at), cwd=of)
    (at / "sub").mkdir()
    return at


def super_with_submodule(base: Path) -> tuple[Path, Path]:
    source, parent = main(base, "source"), main(base, "super")
    real_git("submodule", "--quiet", "add", str(source), "module", cwd=parent)
    real_git("commit", "-q", "-m", "With a module", cwd=parent)
    return parent, parent / "module"


def try_git(*args: str, cwd: Path) -> None:
    """Run git for something that an old one does not know."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True)
    if done.returncode:
        raise CannotMake(done.stderr.decode(errors="replace").splitlines()[0])


@row("main")
def _(base: Path) -> Place:
    return main(base), {}


@row("linked")
def _(base: Path) -> Place:
    return linked(main(base), base / "wt"), {}


@row("nested linked")
def _(base: Path) -> Place:
    place = main(base)
    return linked(place, place / ".trees" / "wt") / "sub", {}


@row("submodule")
def _(base: Path) -> Place:
    return super_with_submodule(base)[1], {}


@row("submodule inside a linked worktree")
def _(base: Path) -> Place:
    parent, _module = super_with_submodule(base)
    tree = linked(parent, base / "wt")
    real_git("submodule", "--quiet", "update", "--init", cwd=tree)
    return tree / "module", {}


@row("worktree added inside a submodule")
def _(base: Path) -> Place:
    module = super_with_submodule(base)[1]
    return linked(module, module / "inner"), {}


@row("superproject of a submodule")
def _(base: Path) -> Place:
    return super_with_submodule(base)[0], {}


@row("inside a submodule's git directory", by_git=True)
def _(base: Path) -> Place:
    return super_with_submodule(base)[0] / ".git" / "modules" / "module", {}


@row("bare with worktrees")
def _(base: Path) -> Place:
    real_git("clone", "-q", "--bare", str(main(base)), "bare.git", cwd=base)
    return linked(base / "bare.git", base / "wt"), {}


@row("worktree inside its bare repository")
def _(base: Path) -> Place:
    real_git("clone", "-q", "--bare", str(main(base)), "bare.git", cwd=base)
    return linked(base / "bare.git", base / "bare.git" / "wt"), {}


@row("bare in .bare, named by a .git file")
def _(base: Path) -> Place:
    (base / "project").mkdir()
    real_git("clone", "-q", "--bare", str(main(base)), "project/.bare", cwd=base)
    (base / "project" / ".git").write_text("gitdir: ./.bare\n")
    return linked(base / "project", base / "project" / "wt"), {}


@row("beside the worktrees of .bare")
def _(base: Path) -> Place:
    ROWS["bare in .bare, named by a .git file"](base)
    return base / "project", {}


@row("separate git dir")
def _(base: Path) -> Place:
    return main(base, "main", f"--separate-git-dir={base / 'elsewhere'}") / "sub", {}


@row("linked worktree of a separate git dir")
def _(base: Path) -> Place:
    return linked(main(base, "main", f"--separate-git-dir={base / 'elsewhere.git'}"), base / "wt"), {}


@row("relative worktree paths")
def _(base: Path) -> Place:
    place = main(base)
    try_git("worktree", "add", "-q", "--detach", "--relative-paths", "../wt", cwd=place)
    return base / "wt", {}


@row("relative gitdir written by hand")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    (tree / ".git").write_text("gitdir: ../main/.git/worktrees/wt\r\n")
    return tree / "sub", {}


@row("reftable")
def _(base: Path) -> Place:
    try_git("init", "-q", "--ref-format=reftable", "main", cwd=base)
    return base / "main", {}


@row("linked worktree with reftable")
def _(base: Path) -> Place:
    ROWS["reftable"](base)
    real_git("commit", "-q", "--allow-empty", "-m", "First", cwd=base / "main")
    return linked(base / "main", base / "wt"), {}


@row("SHA-256")
def _(base: Path) -> Place:
    try_git("init", "-q", "--object-format=sha256", "main", cwd=base)
    return base / "main", {}


@row("linked worktree with SHA-256, detached")
def _(base: Path) -> Place:
    ROWS["SHA-256"](base)
    real_git("commit", "-q", "--allow-empty", "-m", "First", cwd=base / "main")
    return linked(base / "main", base / "wt"), {}


@row("subdirectory")
def _(base: Path) -> Place:
    return main(base) / "sub" / "deep", {}


@row("subdirectory of a linked worktree")
def _(base: Path) -> Place:
    return linked(main(base), base / "wt") / "sub", {}


@row("file")
def _(base: Path) -> Place:
    (main(base) / "sub" / "file").write_text("")
    return base / "main" / "sub" / "file", {}


@row("symlink to a directory")
def _(base: Path) -> Place:
    (base / "link").symlink_to(linked(main(base), base / "wt") / "sub")
    return base / "link", {}


@row("symlink to a file of another repository")
def _(base: Path) -> Place:
    (main(base, "other") / "file").write_text("")
    (main(base) / "link").symlink_to(base / "other" / "file")
    return base / "main" / "link", {}


@row(".git is a symlink")
def _(base: Path) -> Place:
    place = main(base)
    (place / ".git").rename(base / "moved")
    (place / ".git").symlink_to(base / "moved")
    return place / "sub", {}


@row("trailing slash")
def _(base: Path) -> Place:
    return f"{main(base)}/", {}


@row("dots and doubled slashes")
def _(base: Path) -> Place:
    return f"{main(base)}/sub//deep/./../../sub/..//", {}


@row("double dot through a symlink")
def _(base: Path) -> Place:
    (base / "link").symlink_to(main(base) / "sub" / "deep")
    return f"{base}/link/..", {}


@row("nothing around")
def _(base: Path) -> Place:
    main(base)
    return base, {}


@row("a .git that is an empty directory")
def _(base: Path) -> Place:
    (main(base) / "sub" / ".git").mkdir()
    return base / "main" / "sub" / "deep", {}


@row("a .git that is a dangling symlink")
def _(base: Path) -> Place:
    (main(base) / "sub" / ".git").symlink_to("nowhere")
    return base / "main" / "sub", {}


@row("a .git file that names nothing")
def _(base: Path) -> Place:
    (main(base) / "sub" / ".git").write_text(f"gitdir: {base}/gone\n")
    return base / "main" / "sub", {}


@row("main tree moved away from its worktree")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    (base / "main").rename(base / "moved")
    return tree, {}


@row("copied worktree")
def _(base: Path) -> Place:
    linked(main(base), base / "wt")
    subprocess.run(["cp", "-r", "wt", "copy"], cwd=base, check=True)
    return base / "copy", {}


@row("inside .git")
def _(base: Path) -> Place:
    return main(base) / ".git" / "refs" / "heads", {}


@row("inside a linked worktree's git dir")
def _(base: Path) -> Place:
    linked(main(base), base / "wt")
    return base / "main" / ".git" / "worktrees" / "wt", {}


@row("bare itself")
def _(base: Path) -> Place:
    real_git("init", "-q", "--bare", "bare.git", cwd=base)
    return base / "bare.git", {}


@row("inside bare")
def _(base: Path) -> Place:
    real_git("init", "-q", "--bare", "bare.git", cwd=base)
    return base / "bare.git" / "hooks", {}


@row("core.bare in a repository with a .git")
def _(base: Path) -> Place:
    real_git("config", "core.bare", "true", cwd=main(base))
    return base / "main", {}


@row("worktree of a repository with core.bare")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    real_git("config", "core.bare", "true", cwd=base / "main")
    return tree, {}


@row("core.bare quoted", by_git=True)
def _(base: Path) -> Place:
    with open(main(base) / ".git" / "config", "a", encoding="utf-8") as config:
        config.write('[core]\n\tbare = "true" ; a comment\n')
    return base / "main", {}


@row("core.bare without a value")
def _(base: Path) -> Place:
    with open(main(base) / ".git" / "config", "a", encoding="utf-8") as config:
        config.write("[CORE]Bare\n")
    return base / "main", {}


@row("core.bare without a format version", by_git=True)
def _(base: Path) -> Place:
    (main(base) / ".git" / "config").write_text("[core]\n\tbare = true\n")
    return base / "main", {}


@row("core.worktree elsewhere", by_git=True)
def _(base: Path) -> Place:
    (base / "tree").mkdir()
    real_git("config", "core.worktree", str(base / "tree"), cwd=main(base))
    return base / "main" / "sub", {}


@row("core.worktree of a linked worktree's main is not its own")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    real_git("config", "core.worktree", str(base), cwd=base / "main")
    return tree, {}


@row("extensions.worktreeConfig")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    real_git("config", "extensions.worktreeConfig", "true", cwd=base / "main")
    real_git("config", "--worktree", "core.bare", "true", cwd=base / "main")
    return tree, {}


@row("worktreeConfig that makes the main one bare")
def _(base: Path) -> Place:
    ROWS["extensions.worktreeConfig"](base)
    return base / "main", {}


@row("a configuration that speaks of bare and worktree elsewhere")
def _(base: Path) -> Place:
    real_git("config", "branch.worktree.description", "bare = true", cwd=main(base))
    real_git("config", "remote.origin.url", "/srv/bare.git", cwd=base / "main")
    return base / "main", {}


@row("GIT_DIR in a hook of a linked worktree's subdirectory")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    git_dir = base / "main" / ".git" / "worktrees" / "wt"
    return tree / "sub", {"GIT_DIR": str(git_dir), "GIT_INDEX_FILE": str(git_dir / "index"), "GIT_PREFIX": "sub/"}


@row("GIT_DIR names the .git file")
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    return tree / "sub", {"GIT_DIR": "../.git"}


@row("GIT_DIR in a hook of a submodule")
def _(base: Path) -> Place:
    parent, module = super_with_submodule(base)
    return module, {"GIT_DIR": str(parent / ".git" / "modules" / "module")}


@row("GIT_DIR of another repository", by_git=True)
def _(base: Path) -> Place:
    return main(base) / "sub", {"GIT_DIR": str(main(base, "other") / ".git")}


@row("GIT_DIR and GIT_WORK_TREE of another repository", by_git=True)
def _(base: Path) -> Place:
    other = main(base, "other")
    return main(base) / "sub", {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}


@row("GIT_DIR from outside any repository", by_git=True)
def _(base: Path) -> Place:
    (base / "outside").mkdir()
    return base / "outside", {"GIT_DIR": str(main(base) / ".git")}


@row("GIT_DIR that is nothing", by_git=True)
def _(base: Path) -> Place:
    return main(base), {"GIT_DIR": str(base / "gone")}


@row("relative GIT_DIR from a subdirectory", by_git=True)
def _(base: Path) -> Place:
    return main(base) / "sub", {"GIT_DIR": ".git"}


@row("GIT_DIR of a bare repository", by_git=True)
def _(base: Path) -> Place:
    real_git("init", "-q", "--bare", "bare.git", cwd=base)
    return main(base), {"GIT_DIR": str(base / "bare.git")}


@row("GIT_WORK_TREE alone", by_git=True)
def _(base: Path) -> Place:
    (base / "tree").mkdir()
    return main(base) / "sub", {"GIT_WORK_TREE": str(base / "tree")}


@row("GIT_COMMON_DIR", by_git=True)
def _(base: Path) -> Place:
    tree = linked(main(base), base / "wt")
    return tree, {"GIT_COMMON_DIR": str(main(base, "other") / ".git")}


@row("ceiling above the repository")
def _(base: Path) -> Place:
    return main(base) / "sub", {"GIT_CEILING_DIRECTORIES": str(base)}


@row("ceiling at the root")
def _(base: Path) -> Place:
    return main(base) / "sub", {"GIT_CEILING_DIRECTORIES": f"{base / 'main'}/:relative"}


@row("ceiling at the directory itself")
def _(base: Path) -> Place:
    return main(base), {"GIT_CEILING_DIRECTORIES": str(base / "main")}


@row("ceiling below the repository")
def _(base: Path) -> Place:
    return main(base) / "sub" / "deep", {"GIT_CEILING_DIRECTORIES": str(base / "main" / "sub")}


@row("ceiling through a symlink")
def _(base: Path) -> Place:
    (base / "link").symlink_to(main(base))
    return base / "main" / "sub", {"GIT_CEILING_DIRECTORIES": str(base / "link")}


@row("ceiling through a symlink that is not followed")
def _(base: Path) -> Place:
    (base / "link").symlink_to(main(base))
    return base / "main" / "sub", {"GIT_CEILING_DIRECTORIES": f":{base / 'link'}"}


@row("ceiling /")
def _(base: Path) -> Place:
    return base, {"GIT_CEILING_DIRECTORIES": "/"}


NAMES = {
    "newline": b"two\nlines",
    "trailing newline": b"line\n",
    "trailing space": b" spaces ",
    "leading dash": b"-C",
    "backslash and quotes": b"a\\b\"c'd",
    "not UTF-8": b"caf\xe9\xff",
    "NFD": "cafe\u0301".encode(),
    "NFC": "caf\u00e9".encode(),
    "emoji": "\U0001f4ee".encode(),
}


def _named(name: bytes, what: Callable[[Path, Path], Path]) -> Build:
    def build(base: Path) -> Place:
        place = base / os.fsdecode(name)
        place.mkdir()
        return what(base, place), {}

    return build


def _main_in(_base: Path, place: Path) -> Path:
    return main(place.parent, place.name) / "sub"


def _linked_in(base: Path, place: Path) -> Path:
    return linked(main(base), place / "wt")


for _label, _name in NAMES.items():
    row(f"path with {_label}")(_named(_name, _main_in))
    row(f"linked worktree, path with {_label}")(_named(_name, _linked_in))


def long_directory(base: Path, length: int) -> Path:
    """A directory whose path has exactly ``length`` bytes."""
    text = os.fspath(base)
    while len(text) < length:
        left = length - len(text) - 1
        text += "/" + "d" * (left if left <= 200 else min(200, left - 2))
        os.mkdir(text)
    assert len(text) == length
    return Path(text)


@row("path of 4,000 bytes")
def _(base: Path) -> Place:
    place = long_directory(base, 4000)
    real_git("init", "-q", cwd=place)
    return place, {}


@row("linked worktree at a path of 4,000 bytes")
def _(base: Path) -> Place:
    source = main(base)
    place = long_directory(base, 4000)
    place.rmdir()
    return linked(source, place), {}


def answer(find: Find, start: bytes, env: Environment) -> object:
    try:
        found = find(start, env)
    except discover.NotARepository:
        return NOT_A_REPOSITORY
    except discover.NoWorktree:
        return NO_WORKTREE
    except discover.BrokenLink:
        return BROKEN
    return found.git_dir, found.common_dir, found.root


def ask_git(start: bytes, env: Environment) -> object:
    """git's own answer, one question a path."""
    cwd = start if os.path.isdir(start) else os.path.dirname(os.path.realpath(start))
    found = []
    for which in ("--git-dir", "--git-common-dir", "--show-toplevel"):
        done = subprocess.run(
            ["git", "rev-parse", "--path-format=absolute", which], cwd=cwd, env=env, capture_output=True
        )
        if done.returncode:
            if b"work tree" in done.stderr:
                return NO_WORKTREE
            assert b"not a git repository" in done.stderr or b"gitfile" in done.stderr, done.stderr
            return NOT_A_REPOSITORY if b"(or any" in done.stderr else BROKEN
        found.append(os.path.realpath(done.stdout.removesuffix(b"\n")))
    return tuple(found)


@pytest.mark.parametrize("name", ROWS)
def test_git_pygit2_and_the_walk_agree(name: str, tmp_path: Path, matrix_row: Callable[..., None]) -> None:
    try:
        place, variables = ROWS[name](tmp_path)
    except CannotMake as reason:
        matrix_row(name, "skipped", f"this git cannot make it: {reason}")
        pytest.skip(str(reason))
    start, env = os.fsencode(place), {**os.environ, **variables}
    # In a hook, GIT_DIR names what a search finds anyway: the root is the search's, git would take the directory.
    hook = "GIT_DIR" in variables and name not in BY_GIT
    expected = ask_git(start, discover.without_local(env) if hook else env)
    assert [answer(find, start, env) for find in FINDERS] == [expected, expected]
    if name not in BY_GIT:
        assert [unaided(find, start, env) for find in (discover.walk, repo.seek)] == [expected, expected]
        assert pygit2_finds(start, env) is (expected not in (NOT_A_REPOSITORY, BROKEN))
    matrix_row(name)


def pygit2_finds(start: bytes, env: Environment) -> bool:
    """Whether pygit2 alone finds a git directory; in a process of its own, for it does not survive many a no."""
    program = (
        "import os, pygit2, sys; place, ceilings = sys.argv[1:]\n"
        "print(pygit2.discover_repository(place, False, ceilings) is not None)"
    )
    place = discover.directory(start)
    ceiling = discover.ceiling_of(place, env)
    words = [place, b"" if ceiling < 0 else place[:ceiling] or b"/"]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, check=True, env=env)
    return done.stdout == b"True\n"


def unaided(seek: "discover.Seek", start: bytes, env: Environment) -> object:
    """The answer where git is not there to be asked."""

    def find(start: bytes, env: Environment) -> Worktree:
        try:
            return discover.finish(*seek(discover.directory(start), env))
        except AskGit:
            raise AssertionError("the answer should be certain without git") from None

    return answer(find, start, env)


@pytest.mark.parametrize("find", FINDERS)
def test_below_a_directory_whose_git_entry_would_have_too_long_a_name(tmp_path: Path, find: Find) -> None:
    """Nothing can lie there by such a name, so the search goes on upwards; some versions of git stop."""
    place = long_directory(tmp_path, 4000)
    real_git("init", "-q", cwd=place)
    (place / ("s" * 93)).mkdir()
    assert find(os.fsencode(place / ("s" * 93)), os.environ).root == os.fsencode(place)


@pytest.mark.parametrize("find", FINDERS)
def test_git_dash_c_is_only_another_directory(clone: Clone, find: Find, tmp_path: Path) -> None:
    tree = clone.worktree("peer")
    script = tmp_path / "bin" / "git-where"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\n{CHILD}")
    script.chmod(0o755)
    env = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}", "PYTHONPATH": str(room.ROOT)}
    module = "discover" if find is discover.find else "repo"
    said = subprocess.run(["git", "-C", str(tree), "where", module], cwd=clone.root, env=env, capture_output=True)
    assert (said.stdout, said.stderr) == (os.fsencode(tree), b"")
    said = subprocess.run(
        ["git", f"--git-dir={clone.common}", "where", module], cwd=clone.root / ".git", env=env, capture_output=True
    )
    assert said.stdout == b"NoWorktree"


CHILD = """
import os, sys
from git_coop import discover, repo
try:
    found = {"discover": discover, "repo": repo}[sys.argv[1]].find(os.getcwdb(), os.environ).root
except Exception as error:
    found = type(error).__name__.encode()
sys.stdout.buffer.write(found)
"""


@pytest.mark.parametrize("module", ["discover", "repo"])
def test_a_hook_of_a_linked_worktree_that_went_to_a_subdirectory(clone: Clone, tmp_path: Path, module: str) -> None:
    tree = clone.worktree("peer")
    (tree / "sub").mkdir()
    out, program = tmp_path / "out", tmp_path / "program"
    program.write_text(CHILD)
    hooks = clone.common / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text(
        f'#!/bin/sh\ntest -n "$GIT_DIR" && cd sub && PYTHONPATH="{room.ROOT}" "{sys.executable}" "{program}" {module} '
        f'>"{out}"\n'
    )
    (hooks / "pre-commit").chmod(0o755)
    clone.git("commit", "-q", "--allow-empty", "-m", "In a hook", cwd=tree)
    assert out.read_bytes() == os.fsencode(tree)


def test_local_variables_are_gits_own() -> None:
    listed = set(real_git("rev-parse", "--local-env-vars", cwd=Path("/")).split())
    assert listed - set(discover.LOCAL_VARIABLES) == set()


def test_a_payloads_directory_is_looked_at_without_them(clone: Clone, tmp_path: Path) -> None:
    other = main(tmp_path, "other")
    env = {**os.environ, **{name: str(other / ".git") for name in discover.LOCAL_VARIABLES}}
    start = os.fsencode(clone.root)
    for find in FINDERS:
        assert find(start, discover.without_local(env)).root == start
        # The control: with the variables, another place, or git's complaint about their nonsense.
        assert answer_or_error(find, start, env) != start


def answer_or_error(find: Find, start: bytes, env: Environment) -> object:
    try:
        return find(start, env).root
    except CoopError as error:
        return error


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize(
    ("place", "why"),
    [("gone", errno.ENOENT), ("file/below", errno.ENOTDIR), ("loop", errno.ELOOP), ("n" * 300, errno.ENAMETOOLONG)],
)
def test_what_cannot_be_looked_at_is_not_called_no_repository(tmp_path: Path, find: Find, place: str, why: int) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    start = os.fsencode(tmp_path / place)
    with pytest.raises(discover.CannotLook) as caught:
        find(start, os.environ)
    assert (caught.value.errno, caught.value.path, caught.value.status) == (why, start, 128)
    assert caught.value.sentence == f"cannot look at '{tmp_path / place}': {os.strerror(why).lower()}"


@pytest.mark.parametrize("find", FINDERS)
def test_a_nul_in_a_path_is_an_answer_too(find: Find) -> None:
    with pytest.raises(discover.CannotLook):
        find(b"/tmp/\0", os.environ)


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("hidden", ["main/.git", "main/.git/HEAD", "main/.git/refs", "main"])
def test_a_probe_without_permission_cannot_look(clone: Clone, find: Find, hidden: str) -> None:
    start, place = os.fsencode(clone.root), clone.root.parent / hidden
    assert find(start, os.environ).root == start  # and pygit2 is loaded, whose files another user may not read
    place.chmod(0o700 if os.geteuid() == 0 else 0)
    assert unprivileged(lambda: type(error_of(find, start)).__name__) == "CannotLook"
    place.chmod(0o755)
    assert unprivileged(lambda: os.fsdecode(find(start, os.environ).root)) == str(clone.root)


def error_of(find: Find, start: bytes) -> CoopError | None:
    try:
        find(start, os.environ)
    except CoopError as error:
        return error
    return None


def unprivileged(act: Callable[[], str]) -> str:
    """What ``act`` gives to a user whom permissions bind."""
    return users.run_as(users.NOBODY, act) if os.geteuid() == 0 else act()


@pytest.mark.parametrize("find", FINDERS)
def test_sentences(tmp_path: Path, find: Find) -> None:
    bare, broken = tmp_path / "bare.git", tmp_path / "broken"
    real_git("init", "-q", "--bare", str(bare), cwd=tmp_path)
    broken.mkdir()
    (broken / ".git").write_text("gitdir: gone\n")
    found = [error_of(find, os.fsencode(place)) for place in (tmp_path, bare, broken)]
    assert [(error.status, error.sentence) for error in found if error] == [
        (128, f"not a git repository (or any of the parent directories): '{tmp_path}'"),
        (128, f"no worktree here and so no box: '{bare}' is a bare repository or the git directory itself"),
        (128, f"not a git repository: 'gone', which '{broken}/.git' names"),
    ]


@pytest.mark.parametrize("text", ["", "gitdir: ", "gitdir: \n", "gitdir:x", "junk", "gitdir: a\0b", "g" * (2 << 20)])
@pytest.mark.parametrize("find", FINDERS)
def test_a_git_file_that_is_none_ends_the_search(clone: Clone, find: Find, text: str) -> None:
    (clone.root / "sub").mkdir()
    (clone.root / "sub" / ".git").write_text(text)
    assert isinstance(error_of(find, os.fsencode(clone.root / "sub")), discover.BrokenLink)


@pytest.mark.parametrize("find", FINDERS)
def test_the_search_stops_at_a_file_system(clone: Clone, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    """The boundary is pretended for the walk, and made where the system lets us (the next test)."""
    if find is repo.find:
        monkeypatch.setattr("pygit2.discover_repository", lambda *_: None)
    start = os.fsencode(clone.root / "sub")
    os.mkdir(start)
    real = discover._device
    monkeypatch.setattr(discover, "_device", lambda path: 1 if path == start else real(path))
    error = error_of(find, start)
    assert isinstance(error, discover.NotARepository)
    assert (
        error.sentence
        == f"not a git repository (or any parent up to mount point '{clone.root}/sub'): '{clone.root}/sub'"
    )
    assert find(start, {**os.environ, "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"}).root == os.fsencode(clone.root)


def test_a_real_mount_inside_a_worktree(clone: Clone) -> None:
    mount = clone.root / "mount"
    mount.mkdir()
    try:
        made = subprocess.run(["mount", "-t", "tmpfs", "none", str(mount)], capture_output=True)
    except OSError:
        pytest.skip("no mount command")
    if made.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        start = os.fsencode(mount)
        for env in ({}, {"GIT_DISCOVERY_ACROSS_FILESYSTEM": "true"}, {"GIT_DISCOVERY_ACROSS_FILESYSTEM": ""}):
            whole = {**os.environ, **env}
            expected = ask_git(start, whole)
            assert [answer(find, start, whole) for find in FINDERS] == [expected, expected]
    finally:
        subprocess.run(["umount", str(mount)], check=True)


@pytest.mark.parametrize("find", FINDERS)
def test_a_boolean_that_is_none_is_gits_to_refuse(clone: Clone, find: Find) -> None:
    env = {**os.environ, "GIT_DISCOVERY_ACROSS_FILESYSTEM": "perhaps"}
    with pytest.raises(CoopError, match="perhaps"):
        find(os.fsencode(clone.root), env)


def test_no_process_starts_where_the_answer_is_certain(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(git, "call", lambda *args, **_: started.append(args))
    for find in FINDERS:
        find(os.fsencode(clone.worktree(f"peer-{find.__module__}")), os.environ)
    assert started == []
    with pytest.raises(AttributeError):  # the control: git would be asked, and here says None
        discover.find(os.fsencode(clone.root), {**os.environ, "GIT_WORK_TREE": "."})
    assert len(started) == 1


def test_the_store_is_in_the_common_directory(clone: Clone) -> None:
    tree = clone.worktree("peer")
    assert discover.find(os.fsencode(tree), os.environ).coop == os.fsencode(clone.coop)


SETTINGS = st.lists(
    st.sampled_from(
        [
            "[core]",
            "[CORE]",
            '[core "x"]',
            "[extensions]",
            "[a]",
            "repositoryformatversion = 0",
            "repositoryFormatVersion=1",
            "bare = true",
            "bare=false",
            "bare",
            "BARE = yes",
            "bare = no ; why",
            'bare = "true"',
            "worktreeConfig = true",
            "worktree = ..",
            "worktree = ../sub",
            "worktree = .\\",
            "worktree = ",
            "# bare = true",
            "x = a\\",
            "[core] bare = on",
        ]
    ),
    max_size=8,
)


@given(lines=SETTINGS, own=SETTINGS)
def test_any_configuration_is_read_as_git_reads_it(lines: list[str], own: list[str]) -> None:
    """The last oracle for the settings: where git accepts the file, git and the walk answer the same."""
    base = Path.cwd()
    if not (base / "main").exists():
        linked(main(base), base / "wt")
    (base / "main" / ".git" / "config").write_text("\n".join(["[core]", *lines]) + "\n")
    for place, git_dir in (("main", ".git"), ("wt", ".git/worktrees/wt")):
        (base / "main" / git_dir / "config.worktree").write_text("\n".join(["[core]", *own]) + "\n")
        start = os.fsencode(base / place)
        expected = said(git.locate, start)
        assert expected is None or said(discover.find, start) == expected


def said(find: Find, start: bytes) -> object:
    try:
        return answer(find, start, os.environ)
    except CoopError:
        return None

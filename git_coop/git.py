"""The only place where processes start: git, and the editor that git names.

Arguments are always a list and never meet a shell. Output is bytes; git's paths are read with ``-z`` or one at a
time, never by lines that a path could hold.

The environment of a git process is the caller's, with these changes:

- ``LC_ALL=C``: messages are matched in English;
- ``GIT_OPTIONAL_LOCKS=0``: a query never writes to an index;
- dropped: ``GIT_CONFIG`` (it would make ``git config`` read that one file), ``GIT_INDEX_FILE``, ``GIT_PREFIX``,
  ``GIT_INTERNAL_SUPER_PREFIX`` (they belong to the git command that may have started us), ``GIT_TRACE…`` (it
  would stand among the messages).

Kept, among others: ``GIT_DIR``, ``GIT_WORK_TREE``, ``GIT_COMMON_DIR`` (a person may say where), ``GIT_CONFIG_…``
(``git -c`` and the configuration files to use), ``GIT_CEILING_DIRECTORIES``, ``GIT_EXEC_PATH``, ``GIT_SSH…``, proxies.
Where a payload or an option named the directory, the caller gives ``discover.without_local(env)``.
"""

import os
import subprocess
import sys

from git_coop import discover
from git_coop.errors import GitFailed, Untrusted
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DROPPED = ("GIT_CONFIG", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX")
_ELSEWHERE = ("GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_IMPLICIT_WORK_TREE")
_PATIENCE = 60.0  # seconds that a local question to git may take
_CONFIG_BOUND = 8 << 20
_WHERE = ("--git-dir", "--git-common-dir", "--show-toplevel")


class Answer(Record):
    """What a finished process left: its exit status and its two streams."""

    code: int
    out: bytes
    err: bytes


class ConfigEntry(Record):
    """One setting: scope as in git-config(1), origin as git names it, key in git's canonical form.

    ``value`` is ``None`` for a key without ``=``, which means true.
    """

    scope: str
    origin: str
    key: str
    value: "str | None"


class Listed(Record):
    """A worktree as git lists it. ``branch`` is the short name, ``None`` when detached or bare."""

    path: bytes
    branch: "str | None" = None
    head: "str | None" = None
    bare: bool = False
    locked: bool = False
    prunable: bool = False


class Head(Record):
    """What is checked out: ``branch`` is ``None`` when detached, ``commit`` (full hex) when unborn."""

    branch: "str | None"
    commit: "str | None"


def environment(env: "Mapping[str, str]") -> "dict[str, str]":
    """The environment that a git process gets, by the list at the top."""
    kept = {name: value for name, value in env.items() if name not in _DROPPED and not name.startswith("GIT_TRACE")}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def call(
    args: "Sequence[str | bytes]",
    *,
    cwd: "bytes | None",
    env: "Mapping[str, str]",
    stdin: bytes = b"",
    timeout: "float | None" = _PATIENCE,
) -> Answer:
    """Run ``git ARGS`` in ``cwd`` (``None``: where we are) and give what it said, whatever the status.

    ``GitFailed`` where it cannot be started or takes longer than ``timeout`` seconds (``None``: for ever).
    """
    try:
        done = subprocess.run(
            ["git", *args],
            cwd=cwd,
            env=environment(env),
            input=stdin,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitFailed(f"git took longer than {timeout:.0f} seconds: {_named(args)}") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        where = f" in '{os.fsdecode(cwd)}'" if cwd is not None and not os.path.isdir(cwd) else ""
        raise GitFailed(f"cannot run git{where}: {reason.lower()}", hint="git must be on PATH") from error
    return Answer(done.returncode, done.stdout, done.stderr)


def run(
    args: "Sequence[str | bytes]",
    *,
    cwd: "bytes | None",
    env: "Mapping[str, str]",
    stdin: bytes = b"",
    check: bool = True,
    timeout: "float | None" = _PATIENCE,
) -> bytes:
    """Run ``git ARGS`` and give its standard output; with ``check``, a status but 0 raises ``GitFailed``."""
    answer = call(args, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
    if check and answer.code:
        raise failed(args, answer)
    return answer.out


def failed(args: "Sequence[str | bytes]", answer: Answer) -> GitFailed:
    """The error for an answer that will not do; its sentence carries git's own last words."""
    said = _said(answer.err)
    sentence = f"git {_named(args)} failed: {said or f'status {answer.code}'}"
    return GitFailed(sentence, stderr=answer.err, returncode=answer.code)


def _said(err: bytes) -> str:
    lines = [line for line in os.fsdecode(err).splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    return (fatal or lines or [""])[0].removeprefix("fatal: ").removeprefix("error: ").rstrip(".")


def _named(args: "Sequence[str | bytes]") -> str:
    words = [os.fsdecode(word) for word in args]
    return next((word for word in words if not word.startswith("-")), "")


def locate(start: bytes, env: "Mapping[str, str]") -> "discover.Worktree":
    """git's own answer for ``start``, a directory; the same errors as ``discover.find``."""
    answer = call(["rev-parse", "--path-format=absolute", *_WHERE], cwd=start, env=env)
    if answer.code:
        raise _not_located(start, answer)
    paths = answer.out.removesuffix(b"\n").split(b"\n")
    if paths[0] == b"--path-format=absolute":
        raise GitFailed("this git is too old: 2.31 or later is needed")
    if len(paths) != len(_WHERE):  # a newline in a path: one question each
        paths = [_path(start, env, which) for which in _WHERE]
    git_dir, common_dir, root = (os.path.realpath(path) for path in paths)
    return discover.Worktree(root, git_dir, common_dir)


def _path(start: bytes, env: "Mapping[str, str]", which: str) -> bytes:
    return run(["rev-parse", "--path-format=absolute", which], cwd=start, env=env).removesuffix(b"\n")


def _not_located(start: bytes, answer: Answer) -> Exception:
    said = _said(answer.err)
    if "must be run in a work tree" in said:
        return discover.no_worktree(answer.out.partition(b"\n")[0] or start)
    if said.startswith("not a git repository (or any"):
        return discover.NotARepository(f"{said}: '{os.fsdecode(start)}'")
    if said.startswith("not a git repository") or "gitfile" in said:
        return discover.BrokenLink(said)
    if "ownership" in said or "unsafe repository" in said:
        return Untrusted(said, hint=f"if you trust it, git's own way out is: {_way_out(answer.err)}")
    return failed(["rev-parse"], answer)


def _way_out(err: bytes) -> str:
    lines = [line.strip() for line in os.fsdecode(err).splitlines()]
    return next((line for line in lines if line.startswith("git config --global")), "git config safe.directory")


def config(env: "Mapping[str, str]", cwd: "bytes | None") -> "list[ConfigEntry]":
    """Every setting that git sees in ``cwd`` (``None``: none of a repository), in git's order: the last one wins."""
    args = ["config", "-z", "--show-scope", "--show-origin", "--list"]
    out = run(args, cwd=b"/" if cwd is None else cwd, env=env)
    if len(out) > _CONFIG_BOUND:
        raise GitFailed(f"git's configuration is larger than {_CONFIG_BOUND} bytes")
    fields = out.split(b"\0")[:-1]
    return [_entry(*fields[index : index + 3]) for index in range(0, len(fields) - 2, 3)]


def _entry(scope: bytes, origin: bytes, setting: bytes) -> ConfigEntry:
    key, newline, value = setting.partition(b"\n")
    return ConfigEntry(
        os.fsdecode(scope), os.fsdecode(origin), os.fsdecode(key), os.fsdecode(value) if newline else None
    )


def config_value(key: "str | bytes", git_dir: bytes, env: "Mapping[str, str]") -> "str | None":
    """One setting as the repository of ``git_dir`` has it; ``None`` where it is not set, ``true`` without a value.

    ``key`` is of the form ``section.key``. Variables that name another repository do not count.
    """
    wanted = os.fsdecode(key).lower()
    own = {name: value for name, value in env.items() if name not in _ELSEWHERE}
    values = [e.value for e in config({**own, "GIT_DIR": os.fsdecode(git_dir)}, git_dir) if e.key == wanted]
    return None if not values else "true" if values[-1] is None else values[-1]


def expand(value: str, env: "Mapping[str, str]") -> "bytes | None":
    """A configured path as git reads one (``~/``, ``~user/``, ``%(prefix)/``); ``None`` where git cannot."""
    if not value.startswith(("~", "%(prefix)", ":(")):
        return os.fsencode(value)
    args = ["-c", f"coop.path={value}", "config", "-z", "--type=path", "--get", "coop.path"]
    answer = call(args, cwd=b"/", env=env)
    return answer.out.removesuffix(b"\0") if answer.code == 0 else None


def worktrees(common_dir: bytes, env: "Mapping[str, str]") -> "list[Listed]":
    """The clone's worktrees and, where it is bare, the bare repository itself, in git's order.

    The main worktree of a repository made with ``--separate-git-dir`` is not among them: git does not record
    where it is, and lists the git directory in its place.
    """
    args: list[str | bytes] = [b"--git-dir=" + common_dir, "worktree", "list", "--porcelain"]
    clean = discover.without_local(env)
    answer = call([*args, "-z"], cwd=common_dir, env=clean)
    if answer.code == 129:  # before git 2.36 there is no -z
        out = run(args, cwd=common_dir, env=clean).replace(b"\n", b"\0")
    elif answer.code:
        raise failed(args, answer)
    else:
        out = answer.out
    listed = [_listed(block) for block in out.split(b"\0\0") if block]
    return [*_main(common_dir, listed[:1], clean), *listed[1:]]


def _listed(block: bytes) -> Listed:
    fields = dict(line.partition(b" ")[::2] for line in block.split(b"\0"))
    branch, commit = fields.get(b"branch"), fields.get(b"HEAD")
    return Listed(
        path=fields.get(b"worktree", b""),
        branch=None if branch is None else os.fsdecode(branch.removeprefix(b"refs/heads/")),
        head=None if commit is None or not commit.strip(b"0") else os.fsdecode(commit),
        bare=b"bare" in fields,
        locked=b"locked" in fields,
        prunable=b"prunable" in fields,
    )


def _main(common_dir: bytes, listed: "list[Listed]", env: "Mapping[str, str]") -> "list[Listed]":
    """The main entry with its true path: git derives it from the git directory's name, wrongly in a submodule."""
    if not listed or listed[0].bare:
        return listed
    answer = call([b"--git-dir=" + common_dir, "config", "-z", "--get", "core.worktree"], cwd=common_dir, env=env)
    path = os.path.join(common_dir, answer.out.removesuffix(b"\0")) if answer.code == 0 else listed[0].path
    try:
        known = discover.opened(os.path.join(path, b".git")) == common_dir
    except (discover.BrokenLink, discover.CannotLook):
        known = False
    return [listed[0].replace(path=os.path.realpath(path))] if known else []


def head(worktree: "discover.Worktree", env: "Mapping[str, str]") -> Head:
    """What is checked out in a worktree, in git's own words; ``GitFailed`` where git cannot read the repository."""
    where, clean = b"--git-dir=" + worktree.git_dir, discover.without_local(env)
    name = call([where, "symbolic-ref", "-q", "HEAD"], cwd=worktree.git_dir, env=clean)
    commit = call([where, "rev-parse", "--verify", "-q", "HEAD^{commit}"], cwd=worktree.git_dir, env=clean)
    for args, answer in ((["symbolic-ref"], name), (["rev-parse"], commit)):
        if answer.code not in (0, 1):
            raise failed(args, answer)
    branch = os.fsdecode(name.out.removesuffix(b"\n")).removeprefix("refs/heads/")
    return Head(branch or None, os.fsdecode(commit.out.strip()) or None)


def editor(env: "Mapping[str, str]", cwd: "bytes | None", path: bytes) -> None:
    """Open ``path``, an absolute one, in the editor that git would use, and wait until it is closed.

    The editor has our terminal and the caller's own environment. ``GitFailed`` where git names none (a dumb
    terminal) or it ends with a status but 0.
    """
    answer = call(["var", "GIT_EDITOR"], cwd=cwd, env=env)
    if answer.code:  # a dumb terminal, and none is configured
        raise GitFailed("git names no editor", stderr=answer.err, hint="set core.editor, GIT_EDITOR, VISUAL or EDITOR")
    command = os.fsdecode(answer.out.removesuffix(b"\n"))
    if command == ":":  # git's word for no editor at all
        return
    # GIT_EDITOR is a shell command by definition (git-var(1)): this is the one place where a shell is right, and
    # the path is its argument, never part of its text.
    words: list[str | bytes] = ["sh", "-c", f'{command} "$@"', command, path]
    try:
        status = _edited(words, cwd, env)
    except (OSError, ValueError) as error:
        raise GitFailed(f"cannot start the editor '{command}': {error}") from error
    if status:
        raise GitFailed(f"there was a problem with the editor '{command}': status {status}", returncode=status)


def _edited(words: "list[str | bytes]", cwd: "bytes | None", env: "Mapping[str, str]") -> int:
    """Run the editor as git does: an interrupt or a quit from the keyboard is the editor's, not ours.

    They are caught from before it starts, and not ignored: what is ignored stays so in a new program.
    """
    import signal

    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        return subprocess.Popen(words, cwd=cwd, env=dict(env)).wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _with_pages(env: "Mapping[str, str]") -> dict[str, str]:
    """The environment, with the manual of a virtual environment behind the places where ``man`` looks by itself.

    An empty entry stands for these (man(1), manpath(1)).
    """
    pages = os.path.join(sys.prefix, "share", "man")
    if sys.prefix == sys.base_prefix or not os.path.isdir(pages):
        return dict(env)
    return {**env, "MANPATH": f"{env.get('MANPATH', '')}:{pages}"}


def manual(page: str, env: "Mapping[str, str]") -> int:
    """Open a manual page as ``git help`` does, on our terminal; 0, or 128 where it could not be shown."""
    try:
        return 128 if subprocess.call(["git", "help", page], env=_with_pages(env)) else 0
    except (OSError, ValueError) as error:
        raise GitFailed(f"cannot run git: {error}", hint="git must be on PATH") from error

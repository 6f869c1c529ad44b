"""Which worktree a path is in, as git answers it, without starting git where the answer is certain.

The walk is the one of git's ``setup.c``: up from the directory, at each step a ``.git`` that is a git directory or
a file that names one (gitrepository-layout(5)), else the directory itself where it is one; it ends at
``GIT_CEILING_DIRECTORIES`` and at a file system's boundary. Where variables or a configuration that is not plain
decide, git itself is asked. All paths are bytes, all answers are real paths.
"""

import os
import stat

from git_coop.errors import CoopError, Fatal
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Seek = Callable[[bytes, Mapping[str, str]], tuple[bytes, bytes | None]]

# What `git rev-parse --local-env-vars` lists: variables that belong to the one repository that set them.
LOCAL_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX",  # until git 2.40
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
)
# With one of these set, where the worktree is, or what a git directory is, is git's to say.
_STEERING = ("GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE", "GIT_OBJECT_DIRECTORY")
_LINK_BOUND = 1 << 20  # git's own bound for a `.git` file
_CONFIG_BOUND = 1 << 20
_CHUNK = 1 << 16
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


class NotARepository(Fatal):
    """No git directory is at the place or above it: the answer of a complete search."""


class NoWorktree(Fatal):
    """A bare repository, or the inside of a git directory."""


class BrokenLink(Fatal):
    """A ``.git`` file, or ``GIT_DIR``, that names no git directory: git looks no further, and neither do we."""


class CannotLook(Fatal):
    """The search could not be made; nothing is known about a repository. ``path`` and ``errno`` say why."""

    def __init__(self, path: bytes, error: OSError) -> None:
        why = os.strerror(error.errno) if error.errno else str(error)
        super().__init__(f"cannot look at '{os.fsdecode(path)}': {why.lower()}")
        self.path = path
        self.errno = error.errno


class AskGit(Exception):
    """Only git can tell. It never leaves this module's callers."""


class Worktree(Record):
    """A worktree: its root, its own git directory, and the git directory that it shares with the whole clone."""

    root: bytes
    git_dir: bytes
    common_dir: bytes

    @property
    def coop(self) -> bytes:
        """The store of the clone; it may not exist."""
        return os.path.join(self.common_dir, b"coop")


def find(start: bytes, env: "Mapping[str, str]") -> Worktree:
    """The worktree around ``start``, which may be a file, a symlink, any spelling of a path that exists.

    ``GIT_DIR`` and its kin in ``env`` are honoured, relative to ``start``: give them for the current directory of
    a person's command, and ``without_local(env)`` for a directory that a payload or an option named. Errors: this
    module's, ``Untrusted`` and ``GitFailed``.
    """
    return resolve(start, env, walk)


def without_local(env: "Mapping[str, str]") -> "dict[str, str]":
    """``env`` without the variables that tie git to one repository."""
    return {name: value for name, value in env.items() if name not in LOCAL_VARIABLES}


def resolve(start: bytes, env: "Mapping[str, str]", seek: "Seek") -> Worktree:
    """``find`` with another search: ``seek`` gives the git directory for a directory, and who holds its ``.git``."""
    place = directory(start)
    try:
        if any(name in env for name in _STEERING):
            raise AskGit
        if "GIT_DIR" in env:
            return _named(place, env, seek)
        return finish(*seek(place, env))
    except AskGit:
        from git_coop import git

        return git.locate(place, env)


def _named(place: bytes, env: "Mapping[str, str]", seek: "Seek") -> Worktree:
    """The answer where ``GIT_DIR`` is set. git takes the current directory for the root then.

    In a hook, git sets ``GIT_DIR`` to the very git directory that a search finds, and the hook may have gone to a
    subdirectory: the root is the search's.
    """
    try:
        git_dir, holder = seek(place, env)
        named = opened(os.path.join(place, os.fsencode(env["GIT_DIR"])))
    except (CoopError, OSError):
        raise AskGit from None
    if named != git_dir:
        raise AskGit
    return finish(git_dir, holder)


def directory(start: bytes) -> bytes:
    """The real path of ``start``, or of the directory of the file that it is. ``CannotLook`` where there is none."""
    try:
        real = os.path.realpath(start, strict=True)
        return real if stat.S_ISDIR(os.stat(real).st_mode) else os.path.dirname(real)
    except OSError as error:
        raise CannotLook(start, error) from error
    except ValueError as error:  # a NUL in the path
        from errno import EINVAL

        raise CannotLook(start, OSError(EINVAL, "invalid path")) from error


def walk(place: bytes, env: "Mapping[str, str]") -> "tuple[bytes, bytes | None]":
    """The git directory that a search up from ``place`` finds, and the directory that holds its ``.git``.

    The second is ``None`` where the search came upon a git directory itself: a bare one, or from inside.
    """
    ceiling, here = ceiling_of(place, env), place
    device = None if across_file_systems(env) else _device(place)
    while True:
        git_dir = opened(os.path.join(here, b".git"))
        if git_dir is not None:
            return git_dir, here
        if is_git_dir(here):
            return here, None
        cut = here.rfind(b"/")
        if here == b"/" or cut <= ceiling:
            raise NotARepository(f"not a git repository (or any of the parent directories): '{os.fsdecode(place)}'")
        below, here = here, here[:cut] or b"/"
        if device is not None and _device(here) != device:
            raise _at_boundary(place, below)


def _at_boundary(place: bytes, mount: bytes) -> NotARepository:
    return NotARepository(
        f"not a git repository (or any parent up to mount point '{os.fsdecode(mount)}'): '{os.fsdecode(place)}'",
        hint="the search stops at a file system boundary unless GIT_DISCOVERY_ACROSS_FILESYSTEM is set",
    )


def _device(path: bytes) -> int:
    try:
        return os.stat(path).st_dev
    except OSError as error:
        raise CannotLook(path, error) from error


def across_file_systems(env: "Mapping[str, str]") -> bool:
    """``GIT_DISCOVERY_ACROSS_FILESYSTEM`` as git reads a boolean; a value that is none is git's to refuse."""
    return _boolean(env.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", ""))


def _ceilings(env: "Mapping[str, str]") -> "list[bytes]":
    """``GIT_CEILING_DIRECTORIES``: absolute paths, real ones up to the first empty entry, after it as they stand."""
    found, literal = [], False
    for entry in os.fsencode(env.get("GIT_CEILING_DIRECTORIES", "")).split(b":"):
        if not entry:
            literal = True
        elif entry.startswith(b"/"):
            found.append(entry if literal else os.path.realpath(entry))
    return found


def ceiling_of(place: bytes, env: "Mapping[str, str]") -> int:
    """The length of the longest ceiling above ``place``; -1 for none. The search reads longer paths only."""
    longest = -1
    if env.get("GIT_CEILING_DIRECTORIES"):
        for entry in _ceilings(env):
            entry = entry.removesuffix(b"/")
            if place.startswith(entry + b"/") and len(place) > len(entry) + 1:
                longest = max(longest, len(entry))
    return longest


def opened(path: bytes) -> "bytes | None":
    """The real git directory that ``path`` is, or names as a ``gitdir:`` file; ``None`` where it is neither."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if _is_missing(error):
            return None
        raise CannotLook(path, error) from error
    if stat.S_ISREG(mode):
        return _linked(path)
    return os.path.realpath(path) if stat.S_ISDIR(mode) and is_git_dir(path) else None


def _is_missing(error: OSError) -> bool:
    """Whether an error says that nothing is there, as git takes it. The common case needs no module for its number."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return True
    from errno import ELOOP, ENAMETOOLONG

    return error.errno in (ELOOP, ENAMETOOLONG)


def _linked(path: bytes) -> bytes:
    text = _read(path, _LINK_BOUND + 1)
    if text is None or len(text) > _LINK_BOUND or not text.startswith(b"gitdir: "):
        raise BrokenLink(f"invalid gitfile format: '{os.fsdecode(path)}'")
    named = text[8:].rstrip(b"\r\n")
    target = os.path.join(os.path.dirname(path), named)
    if not named or b"\0" in named or not is_git_dir(target):
        raise BrokenLink(
            f"not a git repository: '{os.fsdecode(named)}', which '{os.fsdecode(path)}' names",
            hint="`git worktree repair`, run in the main worktree, mends the link of a worktree that was moved",
        )
    return os.path.realpath(target)


def is_git_dir(path: bytes) -> bool:
    """What git takes for a git directory: a ``HEAD`` that could be one, and ``objects`` and ``refs`` to enter."""
    if not _has_head(os.path.join(path, b"HEAD")):
        return False
    named = _named_common(path)
    shared = path if named is None else os.path.join(path, named)
    return _enterable(os.path.join(shared, b"objects")) and _enterable(os.path.join(shared, b"refs"))


def _has_head(path: bytes) -> bool:
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return os.readlink(path).startswith(b"refs/")
    except OSError as error:
        if _is_missing(error):
            return False
        raise CannotLook(path, error) from error
    head = _read(path, 256) or b""
    if head.startswith(b"ref:"):
        return head[4:].lstrip().startswith(b"refs/")
    return len(head) >= 40 and not head[:40].strip(b"0123456789abcdefABCDEF")


def _enterable(path: bytes) -> bool:
    if os.access(path, os.X_OK):
        return True
    try:
        found = stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if _is_missing(error):
            return False
        raise CannotLook(path, error) from error
    if found:
        from errno import EACCES

        raise CannotLook(path, PermissionError(EACCES, "no permission"))
    return False


def common_dir(git_dir: bytes) -> "bytes | None":
    """The real path that ``git_dir``'s ``commondir`` file names; ``None`` without one: it is the common one itself."""
    named = _named_common(git_dir)
    return None if named is None else os.path.realpath(os.path.join(git_dir, named))


def _named_common(git_dir: bytes) -> "bytes | None":
    text = _read(os.path.join(git_dir, b"commondir"), _LINK_BOUND)
    return None if text is None else text.rstrip(b"\r\n").partition(b"\0")[0]


def _read(path: bytes, bound: int) -> "bytes | None":
    """Up to ``bound`` bytes of a file; ``None`` where there is no file. Never waits on a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if _is_missing(error):
            return None
        raise CannotLook(path, error) from error
    try:
        return _read_open(descriptor, bound)
    except OSError as error:  # a directory, among others
        raise CannotLook(path, error) from error
    finally:
        os.close(descriptor)


def _read_open(descriptor: int, bound: int) -> bytes:
    data = part = os.read(descriptor, min(bound, _CHUNK))  # a buffer of the whole bound would cost more than the read
    while len(part) == _CHUNK and len(data) < bound:
        part = os.read(descriptor, min(bound - len(data), _CHUNK))
        data += part
    return data


def finish(git_dir: bytes, holder: "bytes | None") -> Worktree:
    """The worktree of a git directory whose ``.git`` lies in ``holder``, after ``core.bare`` and ``core.worktree``.

    A linked worktree takes these two only from its own ``config.worktree``, and only under
    ``extensions.worktreeConfig`` (git-worktree(1)). A ``core.worktree`` that is not the holder is git's to judge.
    """
    shared = common_dir(git_dir)
    common = shared or git_dir
    settings = _settings(os.path.join(common, b"config"))
    if _boolean(settings.get(b"extensions.worktreeconfig", "")):
        settings.update(_settings(os.path.join(git_dir, b"config.worktree")))
    elif shared is not None:
        settings = {}
    bare, tree = _boolean(settings.get(b"core.bare", "")), settings.get(b"core.worktree")
    if (bare or tree is not None) and b"core.repositoryformatversion" not in settings:
        raise AskGit  # git skips both in a configuration without a version
    if tree is not None and (bare or holder != os.path.realpath(os.path.join(git_dir, os.fsencode(tree)))):
        raise AskGit
    if holder is None or bare:
        raise no_worktree(git_dir)
    return Worktree(holder, git_dir, common)


def no_worktree(git_dir: bytes) -> NoWorktree:
    """The error for a place in a repository that has no worktree there."""
    return NoWorktree(
        f"no worktree here and so no box: '{os.fsdecode(git_dir)}' is a bare repository or the git directory itself",
        hint="go into one of the worktrees that `git worktree list` shows",
    )


def _settings(path: bytes) -> "dict[bytes, str]":
    """The settings of a configuration file that move a worktree: git reads them from this one file alone."""
    text = _read(path, _CONFIG_BOUND + 1) or b""
    lowered = text.lower()
    if b"worktree" not in lowered and lowered.count(b"bare") == lowered.count(b"\n\tbare = false\n"):
        return {}  # nearly every repository
    from git_coop import plain_config

    found = None if len(text) > _CONFIG_BOUND else plain_config.moving(text)
    if found is None:
        raise AskGit
    return found


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise AskGit

"""Where the ledger may go: what ``coop.remote`` may say, and the refusal of every place that is the project's.

The forms of a remote are git's (git-fetch(1), "GIT URLS"), read as its ``connect.c`` and ``transport.c`` read them.
Two places are held to be the same where they could be: whatever the protocol, the user, the port, the case, percent
signs, a trailing ``/`` or ``.git``. A ledger needs a repository of its own, so that a refusal too many costs a name.
"""

import os
from collections.abc import Iterable, Iterator, Mapping

from git_coop import files
from git_coop.errors import Refused
from git_coop.git import ConfigEntry
from git_coop.record import Record
from git_coop.text import safe_line

PROTOCOLS = ("file", "git", "ssh", "https")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_SUFFIXES = (b"/.git", b"", b".git/.git", b".git")  # where git looks for a repository that a path names
_LINK = 1 << 16
_OWN_REPOSITORY = "the ledger needs a repository of its own: git config coop.remote <url of an empty repository>"


class Place(Record):
    """Where a URL leads, in a form that is equal for equal places: ``host`` is empty for a path of this machine."""

    host: str
    path: bytes


def checked(value: str | None, base: bytes) -> str:
    """``coop.remote`` as it is given to git, a relative path made absolute from ``base``.

    Raises ``Refused`` where it is not set, could be taken for an option, or names a protocol but file, git, ssh, https.
    """
    if not value:
        raise Refused("no remote is set for the ledger", hint=_OWN_REPOSITORY)
    if value.startswith("-"):
        raise Refused(f"coop.remote '{safe_line(value, 200)}' begins with '-': git would take it for an option")
    if any(not char.isprintable() for char in value):
        raise Refused(f"coop.remote '{shown(value)}' holds characters that no remote has")
    scheme = protocol(value)
    if scheme not in PROTOCOLS:
        raise Refused(
            f"coop.remote '{shown(value)}' names the protocol '{safe_line(scheme, 40)}'",
            hint="it may be a path, or a URL of file, git, ssh or https",
        )
    if _host(value).startswith("-") or _after_host(value).startswith("-"):
        raise Refused(f"coop.remote '{shown(value)}' names a host or path that begins with '-'")
    return value if not _is_path(value) else _absolute(value, base)


def _absolute(value: str, base: bytes) -> str:
    path = files.joined(base, os.fsencode(value))
    if os.path.isfile(path) and not _link(path):
        raise Refused(f"coop.remote '{shown(value)}' is a file, not a repository")
    return os.fsdecode(path)


def shown(url: str) -> str:
    """A URL for a message: one safe line, without the password in it."""
    scheme, mark, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if mark and at and ":" in user:
        url = f"{scheme}://{user.partition(':')[0]}@{host}{slash}{path}"
    return safe_line(url, 300)


def protocol(url: str) -> str:
    """The protocol that git would use: ``ssh`` for ``host:path``, ``file`` for a path, a helper's name and ``::``."""
    length = next((index for index, char in enumerate(url) if char not in _SCHEME), len(url))
    if url[length : length + 2] == "::":
        return url[:length] + "::"
    if "://" in url[: length + 3]:
        return url[:length]
    return "file" if _is_path(url) else "ssh"


def _is_path(url: str) -> bool:
    """Whether git takes it for a path of this machine: no colon before the first slash."""
    if _is_url(url):
        return False
    colon, slash = url.find(":"), url.find("/")
    return colon < 0 or 0 <= slash < colon


def _is_url(url: str) -> bool:
    head, mark, _rest = url.partition("://")
    return bool(mark) and bool(head) and _SCHEME.issuperset(head)


def _host(url: str) -> str:
    """The host, with neither user nor port; empty for a path and for ``file``."""
    if _is_url(url):
        scheme, _mark, rest = url.partition("://")
        authority = rest.partition("/")[0]
        if scheme == "file":
            return ""
    elif _is_path(url):
        return ""
    else:
        head, _colon, _path = url.partition(":")
        authority = head if "[" not in head else url[: url.find("]") + 1]
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _after_host(url: str) -> str:
    if _is_url(url):
        scheme, _mark, rest = url.partition("://")
        if scheme == "file":
            return rest if rest.startswith("/") else rest.removeprefix("localhost")
        return rest.partition("/")[2]
    if _is_path(url):
        return url
    start = url.find("]:") + 1 if "[" in url and "]:" in url else url.find(":")
    return url[start + 1 :]


def place(url: str, base: bytes = b"/") -> Place:
    """Where a URL or path leads; a relative path is taken from ``base``."""
    host = _host(url)
    path = os.fsencode(_after_host(url))
    if _is_url(url):
        path = _decoded(path)
    if not host:
        return Place("", repository_at(os.path.join(base, path)))
    while path.startswith((b"/", b"~/")):
        path = path.removeprefix(b"~").lstrip(b"/")
    path = os.path.normpath(b"/" + path).lower()
    return Place(host.lower().rstrip("."), path.removesuffix(b"/.git").removesuffix(b".git").rstrip(b"/"))


def _decoded(path: bytes) -> bytes:
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(path)


def repository_at(path: bytes) -> bytes:
    """The real path of the repository that git finds by a path: of a worktree, its common directory."""
    for suffix in _SUFFIXES:
        found = os.path.realpath(path.rstrip(b"/") + suffix)
        linked = _link(found)
        if linked:
            found = os.path.realpath(os.path.join(os.path.dirname(found), linked))
        if os.path.isfile(found + b"/HEAD"):
            return _common(found)
    bare = os.path.realpath(path)
    return bare.removesuffix(b"/.git").removesuffix(b".git")


def _link(path: bytes) -> bytes:
    """Where a ``.git`` file leads; empty for anything else."""
    head = _start(path)
    return head.removeprefix(b"gitdir:").strip() if head.startswith(b"gitdir:") else b""


def _common(git_dir: bytes) -> bytes:
    named = _start(git_dir + b"/commondir").strip()
    return os.path.realpath(os.path.join(git_dir, named)) if named else git_dir


def _start(path: bytes) -> bytes:
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.read(_LINK)
    except OSError:
        return b""


class Settings(Record):
    """What a repository's configuration says about remotes and rewritten URLs."""

    remotes: dict[str, tuple[str, ...]]
    elsewhere: tuple[str, ...]  # URLs that stand where a remote's name may: branch.<name>.remote, remote.pushDefault
    fetch_rules: tuple[tuple[str, str], ...] = ()  # (prefix, what it becomes)
    push_rules: tuple[tuple[str, str], ...] = ()


def settings(entries: Iterable[ConfigEntry]) -> Settings:
    """Read them from git's own list."""
    remotes: dict[str, tuple[str, ...]] = {}
    elsewhere: list[str] = []
    fetch: list[tuple[str, str]] = []
    push: list[tuple[str, str]] = []
    for entry in entries:
        section, _dot, rest = entry.key.partition(".")
        name, _dot, variable = rest.rpartition(".")
        value = entry.value or ""
        if section == "remote" and name and variable in ("url", "pushurl"):
            remotes[name] = (*remotes.get(name, ()), value)
        elif section == "remote" and name:
            remotes.setdefault(name, ())
        elif entry.key == "remote.pushdefault" or (section == "branch" and variable in ("remote", "pushremote")):
            elsewhere.append(value)
        elif section == "url" and value and variable in ("insteadof", "pushinsteadof"):
            (fetch if variable == "insteadof" else push).append((value, name))
    return Settings(remotes, tuple(elsewhere), tuple(fetch), tuple(push))


def with_legacy(project: Settings, common_dir: bytes) -> Settings:
    """The settings with remotes that older gits keep as files (gitrepository-layout(5), ``remotes``, ``branches``)."""
    remotes = dict(project.remotes)
    for folder in (b"remotes", b"branches"):
        for name in files.names(common_dir + b"/" + folder):
            lines = _start(common_dir + b"/" + folder + b"/" + name).split(b"\n")
            found = [line.removeprefix(b"URL:") for line in lines if folder == b"branches" or line.startswith(b"URL:")]
            urls = tuple(os.fsdecode(url.strip().partition(b"#")[0]) for url in found if url.strip())
            remotes[os.fsdecode(name)] = (*remotes.get(os.fsdecode(name), ()), *urls)
    return project.replace(remotes=remotes)


def _rewritten(url: str, rules: Iterable[tuple[str, str]]) -> str:
    """The URL by the rule with the longest fitting prefix, as git's ``alias_url`` has it."""
    fitting = [rule for rule in rules if url.startswith(rule[0])]
    prefix, base = max(fitting, key=lambda rule: len(rule[0]), default=("", ""))
    return base + url[len(prefix) :]


def ways(url: str, rules: Settings) -> set[str]:
    """Every URL that git could use for one: as it stands, rewritten to fetch, rewritten to push."""
    return {url, _rewritten(url, rules.fetch_rules), _rewritten(url, rules.push_rules)} - {""}


def forbid_project(value: str, url: str, project: Settings, common_dir: bytes, base: bytes) -> None:
    """Refuse a remote that is one of the project's, by name or by place, or this clone. There is no override.

    ``value`` is ``coop.remote`` as it stands, ``url`` what ``checked`` made of it.
    """
    if value in project.remotes:
        raise _refusal(f"coop.remote '{shown(value)}' is a remote of this project")
    mine = {place(way, base) for way in ways(url, project) | ways(value, project)}
    if Place("", repository_at(common_dir)) in mine or any(_inside(common_dir, one) for one in mine):
        raise _refusal(f"coop.remote '{shown(value)}' is this clone itself")
    for name, known in _project_urls(project):
        if any(place(way, base) in mine for way in ways(known, project)):
            raise _refusal(f"coop.remote '{shown(value)}' is the same place as {name}")


def _inside(common_dir: bytes, one: Place) -> bool:
    return not one.host and (one.path + b"/").startswith(common_dir + b"/")


def _project_urls(project: Settings) -> Iterator[tuple[str, str]]:
    for name, urls in project.remotes.items():
        for url in urls or (name,):
            yield f"the project's remote '{safe_line(name, 80)}'", url
    for url in project.elsewhere:
        if url not in project.remotes and url != ".":
            yield f"'{shown(url)}', which a branch of the project uses", url


def _refusal(sentence: str) -> Refused:
    return Refused(f"{sentence}: the ledger must not travel with the code", hint=_OWN_REPOSITORY)


def forbid_shared(value: str, shared: Iterable[str]) -> None:
    """Refuse a remote that has references of the project's own commits."""
    names = sorted(shared)
    if names:
        raise _refusal(f"coop.remote '{shown(value)}' has '{safe_line(names[0], 120)}', which this project has too")


def forbid_others(value: str, references: Mapping[str, str], branch: str) -> None:
    """Refuse a remote without the ledger's branch that holds branches or tags of something else."""
    others = sorted(name for name in references if name.startswith(("refs/heads/", "refs/tags/")) and name != branch)
    if others and branch not in references:
        first = safe_line(others[0], 120)
        raise Refused(
            f"coop.remote '{shown(value)}' holds something else: it has '{first}' and no ledger", hint=_OWN_REPOSITORY
        )

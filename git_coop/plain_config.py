"""A git configuration file that is plain, read without git: only what may move a worktree (git-config(1))."""

import os

_SECTIONS = (b"core", b"extensions")
_KEYS = (b"bare", b"worktree", b"worktreeconfig", b"repositoryformatversion")


def moving(text: bytes) -> "dict[bytes, str] | None":
    """The settings that move a worktree, each as ``section.key`` in lower case; a key without a value is ``true``.

    ``None`` where quotes, comments or continued lines stand at the wrong place: git is to be asked.
    """
    if b"\\\n" in text or b"\\\r\n" in text:
        return None
    found, section = {}, b""
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = line.strip()
        if line.startswith(b"["):
            section, _, line = line[1:].partition(b"]")
        key, equals, value = line.strip().partition(b"=")
        if section.lower() in _SECTIONS and key.lower().startswith(_KEYS):
            if not _is_plain(key, value):
                return None
            found[section.lower() + b"." + key.strip().lower()] = os.fsdecode(value.strip()) if equals else "true"
    return found


def _is_plain(key: bytes, value: bytes) -> bool:
    return key.strip().lower() in _KEYS and value.strip(b"\r\t ").translate(None, b'"\\#;') == value.strip()

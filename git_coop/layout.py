"""Where things lie in a store, and the store's format.

``gitcoop-layout(5)`` is the promise that this module keeps. Reading creates nothing.
"""

import os

from git_coop import files
from git_coop.errors import Fatal
from git_coop.record import Record
from git_coop.store import Store

FORMAT = b"1\n"
_FOLDERS = (b"mail", b"mail/tmp", b"mail/box", b"letters", b"todos", b"requests")
BOX_FOLDERS = (b"inbox", b"claiming", b"seen", b"expired", b"receipts", b"shown", b"sent")


class UnknownFormat(Fatal):
    """The store was written by a program with another idea of it; nothing is touched."""


def open_store(root: bytes, *, any_format: bool = False) -> "Store | None":
    """The store at ``root``, or ``None`` where there is none.

    Raises ``StoreFault`` where something else is in its place and ``UnknownFormat`` where its format is not
    ours, unless ``any_format`` (``doctor`` and ``hooks`` look at any store).
    """
    if not files.is_folder(root):
        return None
    store = Store(root, files.mode(root) & 0o2777)
    if not any_format:
        _check_format(store)
        for name in _FOLDERS:  # no component of a store may be a symbolic link
            files.is_folder(root + b"/" + name)
    return store


def _check_format(store: Store) -> None:
    found = files.read_small(store.root + b"/format")
    if found is not None and found != FORMAT:  # a store whose making was cut short has none yet
        known = FORMAT.decode().strip()
        what = found[:16].decode("ascii", "replace").strip()
        raise UnknownFormat(
            f"unknown store format '{what}' in '{os.fsdecode(store.root)}'",
            hint=f"this git-coop knows format {known}; a newer one may know this store",
        )


def is_finished(store: Store) -> bool:
    """Whether the making of the store was not cut short."""
    return files.exists(store.root + b"/format")


def make_store(root: bytes, dir_mode: int) -> Store:
    """The store at ``root``, made where it is missing; folders get ``dir_mode`` (see ``shared_mode``).

    The format is written last: until it stands, another process may be about to change the root's mode, so that
    the mode asked for counts and not the one found.
    """
    found = open_store(root)
    if found is not None and is_finished(found):
        return found
    store = Store(root, dir_mode)
    store.ensure_folder(store.tmp)
    store.create(root + b"/format", FORMAT)
    return store


def shared_mode(value: str) -> int:
    """The mode of folders for a value of ``core.sharedRepository`` (git-config(1)); 0700 where it shares nothing."""
    word = value.strip().lower()
    if word in ("group", "true", "1", "yes", "on"):
        return 0o2770
    if word in ("all", "world", "everybody", "2"):
        return 0o2775
    bits = int(word, 8) & 0o666 if word and not word.strip("01234567") else 0
    if bits & 0o066:  # git reads any other number as the octal mode of files
        return 0o2700 | bits | (bits & 0o444) >> 2
    return 0o700


class Box(Record):
    """One worktree's folders in a store. Two boxes are the same box where store and key are."""

    store: Store
    key: str

    @property
    def mail(self) -> bytes:
        return self.store.root + b"/mail/box/" + self.key.encode()

    @property
    def inbox(self) -> bytes:
        return self.mail + b"/inbox"

    @property
    def claiming(self) -> bytes:
        return self.mail + b"/claiming"

    @property
    def seen(self) -> bytes:
        return self.mail + b"/seen"

    @property
    def expired(self) -> bytes:
        return self.mail + b"/expired"

    @property
    def receipts(self) -> bytes:
        return self.mail + b"/receipts"

    @property
    def shown(self) -> bytes:
        return self.mail + b"/shown"

    @property
    def sent(self) -> bytes:
        return self.mail + b"/sent"

    @property
    def owner(self) -> bytes:
        return self.mail + b"/owner"

    @property
    def path_file(self) -> bytes:
        return self.mail + b"/path"

    @property
    def drained(self) -> bytes:
        return self.mail + b"/drained"

    @property
    def letters(self) -> bytes:
        return self.store.root + b"/letters/" + self.key.encode()

    @property
    def todos(self) -> bytes:
        return self.store.root + b"/todos/" + self.key.encode()

    def path(self) -> bytes:
        """The worktree's path as the box records it; empty where the box does not say."""
        return (files.read_small(self.path_file) or b"").removesuffix(b"\n")


def message_path(folder: bytes, identifier: str) -> bytes:
    """The file of a message in a folder of a box."""
    return folder + b"/" + identifier.encode() + b".eml"


def session_folder(box: Box, session: str) -> bytes:
    """Where the markers and the turn of a session (its hash) lie."""
    return box.shown + b"/" + session.encode()


def boxes(store: Store) -> "list[Box]":
    """Every box of the store, by key. What has no key for a name or is no folder is none of ours and is left out."""
    above = store.root + b"/mail/box"
    found = [name for name in sorted(files.names(above)) if is_key(name)]
    return [Box(store, name.decode()) for name in found if files.is_real_folder(above + b"/" + name)]


def is_key(name: bytes) -> bool:
    """Whether a folder's name has the shape of a key: a slug, ``-``, 32 hex digits."""
    slug, dash, digits = name.rpartition(b"-")
    plain = slug.replace(b"-", b"")
    return (
        dash == b"-"
        and len(digits) == 32
        and not digits.strip(b"0123456789abcdef")
        and 0 < len(slug) <= 32
        and plain.isalnum()
        and plain == plain.lower()
    )

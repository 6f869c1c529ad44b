"""The ledger's directory: its lock, the files of ours in it, and what a kill left there.

git processes write packs in it and nothing under a name of their own; every reference is written by the holder of the
lock, so that a ``.lock`` beside a reference is what a kill left.
"""

import os
from types import TracebackType

from git_coop import files
from git_coop.errors import Busy
from git_coop.locks import Lock, lock_folder
from git_coop.store import Store

LOCK_WAIT = 10.0  # seconds


def place(store: Store) -> bytes:
    """Where a store's ledger is."""
    return store.root + b"/ledger.git"


def exists(store: Store) -> bool:
    """Whether a ledger was ever made."""
    return files.is_folder(place(store)) and files.exists(place(store) + b"/HEAD")


class Held:
    """The ledger's directory under its lock. The umask is the store's while it is held: git is given none of ours."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.lock: Lock | None = None
        self.mask = 0

    def __enter__(self) -> bytes:
        root = place(self.store)
        self.store.ensure_folder(root)
        try:
            self.lock = lock_folder(root, wait=LOCK_WAIT)
        except Busy as error:
            raise Busy("another sync or backup is running in this clone", hint="try again") from error
        self.mask = os.umask(~self.store.dir_mode & 0o777)
        try:
            clear_locks(root)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return root

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.umask(self.mask)
        if self.lock is not None:
            self.lock.__exit__(kind, error, trace)


def clear_locks(root: bytes) -> None:
    """Remove what a kill left beside references: only holders of our lock write them."""
    _drop(root + b"/HEAD.lock")
    for folder, _folders, names in os.walk(root + b"/refs"):
        for name in names:
            if name.endswith(b".lock"):
                _drop(folder + b"/" + name)


def _drop(path: bytes) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.fault("remove", path, error) from None


def replace(path: bytes, data: bytes) -> None:
    """Put a small file of ours into the ledger as a whole; the lock makes the one staged name ours."""
    staged = path + b".new"
    try:
        with open(staged, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(staged, path)
    except OSError as error:
        raise files.fault("write", path, error) from None

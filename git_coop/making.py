"""Making a store and the boxes in it: what the first write in a clone, a worktree or a directory does."""

from git_coop import files
from git_coop.claims import lock
from git_coop.layout import BOX_FOLDERS, FORMAT, Box, is_whole, key, open_store
from git_coop.locks import Lock
from git_coop.store import Store

LOCK_WAIT = 10.0  # seconds; after that the command says busy


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


def open_outside(store: Store, directory: bytes) -> Box:
    """The box of a directory that is in no repository; it has an address and no identity."""
    box = Box(store, key(directory))
    if not is_whole(box):
        with lock_boxes(store):
            make_folders(box, directory)
    return box


def place_box(store: Store, name: str, directory: bytes) -> Box:
    """The box with this key, made where it is missing and said to be at ``directory``: for what is restored."""
    box = Box(store, name)
    if not is_whole(box):
        with lock_boxes(store):
            make_folders(box, directory)
    return box


def lock_boxes(store: Store) -> Lock:
    """The lock under which boxes are made and owners change."""
    store.ensure_folder(store.root + b"/mail/box")
    return lock(store, store.root + b"/mail/box/.lock", wait=LOCK_WAIT)


def make_folders(box: Box, root: bytes) -> None:
    """Make what is missing of a box at ``root``, under ``lock_boxes``."""
    for folder in BOX_FOLDERS:
        box.store.ensure_folder(box.mail + b"/" + folder)
    if not files.exists(box.path_file):
        box.store.create(box.path_file, root + b"\n")

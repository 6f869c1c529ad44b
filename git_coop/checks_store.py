"""Checks of the store as files: format, modes, owners, kinds, names, locks, and what a kill left in ``mail/tmp/``."""

import os
import stat
from collections.abc import Iterator
from functools import partial

from git_coop import clock, files, ids, inbox, layout, letter_glance, making, requestbox, vouching
from git_coop.checks import FOUND, NOTE, OK, Case, Entry, Finding, listed, many
from git_coop.claims import claim, remove, set_mode
from git_coop.errors import Busy, StoreFault
from git_coop.layout import BOX_FOLDERS
from git_coop.store import Store

_SLACK = 2 * clock.SECOND  # ids minted under one lock run ahead of the clock by milliseconds
_TOP = ("format", "OFF", "letters", "todos", "requests", "mail", "ledger.git", "replica", "adopted")
_MAIL = ("tmp", "box")
_BOX = (*(name.decode() for name in BOX_FOLDERS), "path", "owner", "drained")


def store_format(case: Case) -> Iterator[Finding]:
    """Whether the store is one of ours, whole, and of the format that this program knows."""
    name = "format"
    if case.store is None:
        yield Finding(name, OK, "there is no store yet: nothing was ever written in this clone")
        return
    found = files.read_small(case.store.root + b"/format")
    if found is None:
        yield Finding(
            name,
            FOUND,
            "the making of the store was cut short: it has no file 'format'",
            "--fix finishes it, and so does the next command that writes",
            partial(_finish, case),
        )
    elif found != layout.FORMAT:
        word = found[:16].decode("ascii", "replace").strip()
        yield Finding(
            name,
            FOUND,
            f"the store has the unknown format '{word}'; nothing else of it was looked at",
            "use a git-coop that knows this format; this one touches nothing",
        )
    else:
        yield Finding(name, OK, f"{found.decode().strip()}, in '{os.fsdecode(case.store.root)}'")


def knows_format(store: "Store | None") -> bool:
    """Whether the store may be looked into: of our format, or unfinished."""
    if store is None:
        return False
    return files.read_small(store.root + b"/format") in (None, layout.FORMAT)


def _finish(case: Case) -> str:
    making.make_store(case.place.clone.coop, case.dir_mode)
    return "wrote 'format'"


def readable(case: Case) -> Iterator[Finding]:
    """Folders that cannot be listed: an unreadable box must not look like an empty one."""
    for sentence in case.dark:
        yield Finding("readable", FOUND, sentence, "give yourself the right to read it: chmod u+rx")


def permissions(case: Case) -> Iterator[Finding]:
    """Modes: nobody else reads mail, unless ``core.sharedRepository`` shares the repository."""
    if case.store is None:
        return
    root = Entry(case.store.root, os.lstat(case.store.root).st_mode, 0, 0)
    wrong = [entry for entry in (root, *case.tree) if _mode(case, entry) != stat.S_IMODE(entry.mode) & 0o777]
    for entry in wrong:
        want, have = _mode(case, entry), stat.S_IMODE(entry.mode) & 0o777
        yield Finding(
            "permissions",
            FOUND,
            f"'{case.within(entry.path) if entry is not root else os.fsdecode(entry.path)}' has mode {have:04o},"
            f" not {want:04o}",
            "--fix sets it",
            partial(_set_mode, case, entry.path, want | (case.dir_mode & 0o2000 if entry.is_folder else 0)),
        )


def _mode(case: Case, entry: Entry) -> int:
    """The mode that an entry should have; its own where it is neither file nor folder."""
    if entry.is_folder:
        return case.dir_mode & 0o777
    return case.dir_mode & 0o666 if entry.is_file else stat.S_IMODE(entry.mode) & 0o777


def _set_mode(case: Case, path: bytes, mode: int) -> str:
    set_mode(path, mode)
    return f"set the mode of '{case.within(path)}' to {mode & 0o777:04o}"


def owners(case: Case) -> Iterator[Finding]:
    """Files of other users: right in a shared repository, and nowhere else."""
    me = os.geteuid()
    others = [entry for entry in case.tree if entry.uid != me]
    if not others:
        return
    if vouching.admits_others(case.place.clone, case.env):
        yield Finding("owners", OK, f"{many(len(others), 'file')} of other users, in a shared repository")
        return
    yield Finding(
        "owners",
        FOUND,
        f"{many(len(others), 'file')} of other users: {listed([case.within(entry.path) for entry in others])}",
        "chown them, or share the repository: git config core.sharedRepository group",
    )


def kinds(case: Case) -> Iterator[Finding]:
    """Symbolic links, pipes, devices: no component of a store may be one."""
    for entry in case.tree:
        if not entry.is_folder and not entry.is_file:
            yield Finding(
                "symlinks",
                FOUND,
                f"'{case.within(entry.path)}' is {files.what_is(entry.mode)}",
                "see where it came from, then remove it; git coop neither follows nor opens it",
            )


def one_file_system(case: Case) -> Iterator[Finding]:
    """A message is published by a rename, which works within one file system only."""
    devices = {entry.device for entry in case.tree if entry.is_folder}
    if len(devices) > 1:
        first = case.tree[0].device
        elsewhere = [case.within(entry.path) for entry in case.tree if entry.is_folder and entry.device != first]
        yield Finding(
            "file-system",
            FOUND,
            f"the store spans {len(devices)} file systems: {listed(elsewhere)} lie apart",
            "unmount what lies over the store: nothing can be published there",
        )


def locks(case: Case) -> Iterator[Finding]:
    """Whether the kernel's locks exclude here: some network file systems grant one twice."""
    if case.store is None or not making.is_finished(case.store):
        return
    try:
        with claim(case.store.root + b"/format"):
            yield Finding("locks", OK, "a lock that is held is refused to others")
    except Busy:
        yield Finding("locks", OK, "a lock that is held is refused to others")
    except StoreFault as error:
        yield Finding("locks", FOUND, error.sentence, "move the repository to a file system with working locks")


def time_of_day(case: Case) -> Iterator[Finding]:
    """A clock behind the newest id: something was written under another clock."""
    if case.store is None:
        return
    names = [name for box in case.shelves() for name in letter_glance.known(box)[-1:]]
    names += [name for box in case.boxes() for name in inbox.listed(box.inbox).ids if ids.is_id(name)]
    newest = max([*names, *requestbox.known(case.store)[-1:]], default="")
    if newest and ids.time_of(newest) > case.now + _SLACK:
        yield Finding(
            "clock",
            FOUND,
            f"the clock stands before the newest id, {newest}",
            "set the clock; until it has passed that time, new letters get ids just after it",
        )


def leftovers(case: Case) -> Iterator[Finding]:
    """What a kill left in ``mail/tmp/``: nothing there is ever delivered, and a file being written is held."""
    if case.store is None:
        return
    for name in sorted(files.names(case.store.tmp)):
        path = case.store.tmp + b"/" + name
        try:
            with claim(path):
                pass
        except (Busy, files.Gone):
            continue
        except StoreFault as error:
            yield Finding("leftovers", FOUND, error.sentence, "it is no file of git coop: move it elsewhere")
            continue
        yield Finding(
            "leftovers",
            FOUND,
            f"'{case.within(path)}' was left by a command that was killed",
            "--fix removes it, and so does the next drain",
            partial(_sweep, case, path),
        )


def _sweep(case: Case, path: bytes) -> str:
    try:
        with claim(path):
            remove(path)
    except files.Gone:
        return f"'{case.within(path)}' was gone already"
    return f"removed '{case.within(path)}'"


def names(case: Case) -> Iterator[Finding]:
    """Names that are none of ours: counted and reported, never opened, never used to build a path."""
    if case.store is None:
        return
    for folder, strange in _strange(case, case.store):
        if strange:
            yield Finding(
                "names",
                FOUND,
                f"{many(len(strange), 'strange name')} in {folder}: {listed(strange)}",
                "move what is yours elsewhere; git coop leaves it alone",
            )


def _strange(case: Case, store: Store) -> "Iterator[tuple[str, list[str]]]":
    yield "the store", _others(store.root, _TOP)
    yield "mail/", _others(store.root + b"/mail", _MAIL)
    keyed = [(b"/mail/box", "mail/box/"), (b"/letters", "letters/"), (b"/todos", "todos/")]
    for folder, label in keyed:
        found = files.names(store.root + folder)
        yield label, sorted(os.fsdecode(name) for name in found if not layout.is_key(name) and not _quiet(name))
    for box in case.boxes():
        yield case.within(box.mail) + "/", _others(box.mail, _BOX)
        for messages in (box.inbox, box.seen, box.expired):
            yield case.within(messages) + "/", list(inbox.listed(messages).rejected)


def _others(folder: bytes, ours: "tuple[str, ...]") -> "list[str]":
    return sorted(name for name in files.entries(folder) if name not in ours and not _quiet(os.fsencode(name)))


def _quiet(name: bytes) -> bool:
    """A lock of ours, or what editors and file systems leave behind."""
    return inbox.is_ignored(os.fsdecode(name))


def delivery(case: Case) -> Iterator[Finding]:
    """Whether delivery is held."""
    if case.store is not None and files.exists(case.store.root + b"/OFF"):
        yield Finding("delivery", NOTE, "delivery is held in the whole clone", "git coop mail on")

"""Retention: filed mail, its receipts, and the traces of sessions, once they are old enough.

Never touched: letters, todos, requests, inboxes and ``claiming/``, whoever's they are, and the receipt of a message
that is still in play. A message goes before its receipt, each durably, so that no kill and no power cut leaves a
message in ``seen/`` without the proof that somebody saw it.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

from git_coop import clock, files, ids, inbox, layout, message, receipts, sent, turns
from git_coop.claims import claim, remove, remove_folder, sync_folder
from git_coop.errors import Busy, CoopError
from git_coop.layout import NOBODY, Box, message_path, session_folder
from git_coop.record import Record
from git_coop.store import Store

CONSUMED, EXPIRED, RECEIPTS, SESSIONS, NOTES = "consumed", "expired", "receipts", "sessions", "notes"
KINDS = (CONSUMED, EXPIRED, RECEIPTS, SESSIONS, NOTES)
_SUFFIX = ".toml"


class Swept(Record):
    """What was removed, or would be, by kind; and what could not be, with the reason."""

    counts: "dict[str, int]"
    failed: "tuple[str, ...]" = ()


class Sweep:
    """One run over a store. ``cutoff`` is the time before which things are old; ``dry`` removes nothing."""

    def __init__(self, store: Store, now: int, days: int, *, dry: bool) -> None:
        self.store = store
        self.now = now
        self.cutoff = now - days * clock.DAY
        self.dry = dry
        self.counts = dict.fromkeys(KINDS, 0)
        self.failed: list[str] = []
        self.open_notes: dict[str, list[Box]] = {}  # message -> boxes that sent it and have not been told yet
        self.waiting: set[str] = set()  # what is in play, in whatever box: a message may be queued again in another

    def run(self) -> Swept:
        boxes = layout.boxes(self.store)
        for box in boxes:
            self._try(partial(self._notes, box))
        for box in boxes:
            self.waiting |= {*inbox.listed(box.inbox).ids, *inbox.listed(box.claiming).ids}
        for box in boxes:
            self._try(partial(self._box, box))
        return Swept(self.counts, tuple(self.failed))

    def _try(self, work: "Callable[[], None]") -> None:
        """Do one part; its failure is told, and the others go on."""
        try:
            work()
        except Busy:
            pass  # a drain is at it: the next run looks again
        except CoopError as error:
            self.failed.append(error.sentence)

    def _removed(self, kind: str, path: bytes) -> None:
        if self.dry or remove(path):
            self.counts[kind] += 1

    # what was sent

    def _notes(self, box: Box) -> None:
        """Notes on sent mail whose term was over so long ago that nobody came back to be told."""
        for name in sent.known(box):
            note = sent.read(box, name)
            if note is not None and note.expires <= self.cutoff:
                self._removed(NOTES, sent.path_of(box, name))
            else:
                self.open_notes.setdefault(name, []).append(box)

    # what was filed

    def _box(self, box: Box) -> None:
        filed = self._receipts(box)
        gone: set[str] = set()
        for kind, folder in ((CONSUMED, box.seen), (EXPIRED, box.expired)):
            gone |= self._messages(box, kind, folder, filed)
        # Inboxes first: what a drain files meanwhile is then found where it went.
        folders = (box.inbox, box.claiming, box.seen, box.expired)
        lying = self.waiting.union(*(inbox.listed(folder).ids for folder in folders))
        needed: set[str] = set()
        for name, sessions in filed.items():
            paths = [receipts.receipt_path(box, session, name) for session in sessions]
            if name in gone or (name not in lying and all(map(self._is_old, paths))):
                for path in paths:
                    self._removed(RECEIPTS, path)
            else:
                needed.update(sessions)
        self._sessions(box, needed)

    def _receipts(self, box: Box) -> "dict[str, list[str]]":
        """The sessions of every receipt in a box, by message; other names are left alone."""
        found: dict[str, list[str]] = {}
        for name in files.entries(box.receipts):
            identifier, dot, session = name.removesuffix(_SUFFIX).partition(".")
            if dot and session and name.endswith(_SUFFIX) and ids.is_id(identifier):
                found.setdefault(identifier, []).append(session)
        return found

    def _messages(self, box: Box, kind: str, folder: bytes, filed: "dict[str, list[str]]") -> "set[str]":
        """Remove the old messages of a folder that have a receipt; their ids, once that is durable."""
        gone: set[str] = set()
        for name in inbox.listed(folder).ids:
            if name in filed and ids.is_id(name) and ids.time_of(name) <= self.cutoff:
                self._try(partial(self._message, box, kind, folder, name, filed[name], gone))
        if gone and not self.dry:
            sync_folder(folder)
        return gone

    def _message(self, box: Box, kind: str, folder: bytes, name: str, sessions: "list[str]", gone: "set[str]") -> None:
        """Remove one message under its claim, where it is due and not in play again."""
        path = message_path(folder, name)
        if not self._is_due(box, path, name, sessions) or not self._is_settled(kind, name):
            return
        try:
            with nullcontext() if self.dry else claim(path) as held:
                if held is not None and held.status.st_mtime_ns > self.cutoff:
                    return  # it was given a new term meanwhile, to be queued again
                if not any(files.exists(message_path(each, name)) for each in (box.inbox, box.claiming)):
                    self._removed(kind, path)
                    gone.add(name)
        except files.Gone:
            pass  # another sweep was quicker

    def _is_due(self, box: Box, path: bytes, name: str, sessions: "list[str]") -> bool:
        """Whether a filed message is old by every clock that stamped it, and its term is over."""
        counted = [one for session in sessions if (one := receipts.read_receipt(box, session, name)) is not None]
        paths = [path, *(receipts.receipt_path(box, session, name) for session in sessions)]
        if not counted or any(one.at > self.cutoff for one in counted) or not all(map(self._is_old, paths)):
            return False
        head = files.read_cut(path, message.HEAD_LIMIT)
        expires = message.peek(name, head.data).expires
        return expires is None or min(expires, head.mtime + message.LONGEST_TERM) <= self.now

    def _is_settled(self, kind: str, name: str) -> bool:
        """Whether nobody waits to be told what became of a message.

        A consumed one whose term is over is nothing to tell: its note goes first, so that a sender who finds no
        message finds no note either. The note on an expired one stays until its sender was told, or is old itself.
        """
        homes = self.open_notes.get(name, [])
        if not homes:
            return True
        if kind == EXPIRED:
            return False
        notes = [note for box in homes if (note := sent.read(box, name)) is not None]
        if len(notes) < len(homes) or any(note.expires > self.now for note in notes):
            return False
        for box in homes:
            self._removed(NOTES, sent.path_of(box, name))
        del self.open_notes[name]
        return True

    def _is_old(self, path: bytes) -> bool:
        """Whether the file's own time is before the cutoff; a file that is gone holds nothing up."""
        try:
            return os.lstat(path).st_mtime_ns <= self.cutoff
        except FileNotFoundError:
            return True
        except OSError as error:
            raise files.fault("look at", path, error) from None

    # what was shown

    def _sessions(self, box: Box, needed: "set[str]") -> None:
        """Markers and turns of sessions that nothing was heard of since the cutoff, but of those with a receipt."""
        for session in receipts.sessions(box):
            if session != NOBODY and session not in needed:
                self._try(partial(self._session, box, session))

    def _session(self, box: Box, session: str) -> None:
        folder = session_folder(box, session)
        if not files.is_folder(folder) or not self._is_idle(folder):
            return
        if self.dry:
            self.counts[SESSIONS] += 1
            return
        with turns.locked(box, session):  # a drain of this session that is under way goes first
            if not self._is_idle(folder):
                return
            for path in self._files(folder):
                remove(path)
            if remove_folder(folder):
                self.counts[SESSIONS] += 1

    def _is_idle(self, folder: bytes) -> bool:
        return all(self._is_old(path) for path in (folder, *self._files(folder)))

    def _files(self, folder: bytes) -> "list[bytes]":
        return [folder + b"/" + name for name in files.names(folder)]


def sweep(store: Store, now: int, days: int, *, dry: bool = False) -> Swept:
    """Remove what is older than ``days`` (0 keeps everything), or with ``dry`` count it."""
    if days == 0:
        return Swept(dict.fromkeys(KINDS, 0))
    return Sweep(store, now, days, dry=dry).run()

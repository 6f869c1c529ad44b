"""What a worktree sent and has not yet been told the outcome of: ``sent/<id>``, one flat record a message."""

import os

from git_coop import clock, files, flat, ids
from git_coop.claims import remove
from git_coop.errors import StoreFault
from git_coop.layout import Box, boxes, is_key, message_path
from git_coop.record import Record
from git_coop.store import Store


class Sent(Record):
    """One message that was sent: to which path and key, in whose store, until when; ``run`` joins a broadcast."""

    id: str
    key: str
    path: bytes
    store: bytes  # <common-dir>/coop of the recipient
    expires: int
    subject: str = ""
    run: str = ""
    first_line: str = ""  # of its body, which its recipient may have removed by the time its sender asks

    @property
    def about(self) -> str:
        """What tells it from others: its subject, else the first line of its body."""
        return self.subject or self.first_line

    def box(self, own: Store) -> Box:
        """The box that holds the message: the recipient's, or the one that a worktree which moved took it to."""
        box = Box(own if self.store == own.root else Store(self.store, own.dir_mode), self.key)
        if not holds(box, self.id):
            return next((other for other in boxes(box.store) if holds(other, self.id)), box)
        return box


def holds(box: Box, identifier: str) -> bool:
    """Whether a message lies in a box, in whatever state."""
    folders = (box.inbox, box.seen, box.expired, box.claiming)
    return any(files.exists(message_path(folder, identifier)) for folder in folders)


def path_of(box: Box, identifier: str) -> bytes:
    """The note on one message."""
    return box.sent + b"/" + identifier.encode()


def record(box: Box, sent: Sent) -> bool:
    """Note a message before it is published: a note without a message tells its own story, the reverse none.

    ``False``: another message of this id was noted, and nothing was changed.
    """
    return box.store.create(path_of(box, sent.id), _dumped(box, sent))


def _dumped(box: Box, sent: Sent) -> bytes:
    fields: dict[str, str | int | None] = {
        "key": sent.key,
        "expires": clock.rfc3339(sent.expires),
        "subject": sent.subject or None,
        "first_line": sent.first_line or None,
        "run": sent.run or None,
        **_path_fields("path", sent.path),
        **(_path_fields("store", sent.store) if sent.store != box.store.root else {}),
    }
    return flat.dumps(fields, times=("expires",))


def _path_fields(name: str, path: bytes) -> "dict[str, str | int | None]":
    """A path as text, and beside it as hex where it is not UTF-8."""
    text = path.decode("utf-8", "replace")
    return {name: text} if text.encode() == path else {name: text, f"{name}_hex": path.hex()}


def _path(fields: "dict[str, str | int]", name: str) -> bytes:
    digits = flat.text(fields, f"{name}_hex")
    if digits:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            return b""
    return flat.text(fields, name).encode()


def known(box: Box) -> "list[str]":
    """The ids of what was sent from here and is still open, oldest first."""
    return sorted(name for name in files.entries(box.sent) if ids.is_id(name))


def read(box: Box, identifier: str) -> "Sent | None":
    """The note on one message, or ``None`` where there is none that can be read."""
    try:
        data = box.store.read(path_of(box, identifier))
    except StoreFault:
        return None
    fields = flat.loads(data)
    expires = clock.parse_rfc3339(flat.text(fields, "expires"))
    key, store = flat.text(fields, "key"), _path(fields, "store") or box.store.root
    if expires is None or not is_key(os.fsencode(key)) or not os.path.isabs(store):
        return None
    subject, run, first_line = (flat.text(fields, name) for name in ("subject", "run", "first_line"))
    return Sent(identifier, key, _path(fields, "path"), store, expires, subject, run, first_line)


def renew(box: Box, sent: Sent, expires: int) -> None:
    """Note the new term of a message that was queued again."""
    box.store.rewrite(path_of(box, sent.id), _dumped(box, sent.replace(expires=expires)))


def forget(box: Box, identifier: str) -> None:
    """Remove the note: its sender has been told."""
    remove(path_of(box, identifier))

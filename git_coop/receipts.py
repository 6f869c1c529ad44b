"""Markers and receipts: the record that one session was shown one message, and the record of its outcome.

A marker lies in ``shown/<session>/<id>`` and is the drain's last act after its output was written. A receipt lies
in ``receipts/<id>.<session>.toml``, is written by a drain alone at the moment it does the thing, and counts only
while its message lies in the folder that its outcome names. A session here is always the hash of a client's id.
"""

from git_coop import clock, files, flat, ids, layout
from git_coop.errors import StoreFault
from git_coop.event import START
from git_coop.layout import NOBODY, Box, session_folder
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CONSUMED, EXPIRED = "consumed", "expired"
WHOLE, CUT = "whole", "cut"


class Actor(Record):
    """Who files: a session (its hash), in which client and turn, at which event, when."""

    session: str
    client: str
    event: str
    turn: str
    now: int


class Marker(Record):
    """That a session was shown a message: at which event, in which turn, and the hash of the file shown."""

    event: str
    turn: str
    sha256: str
    at: int  # nanoseconds
    client: str = ""
    shown: str = WHOLE
    bytes: int = 0
    bytes_shown: int = 0

    def live_in(self, turn: str) -> bool:
        """Whether this marker lets the end of ``turn`` consume the message: a start proves no session."""
        return self.event != START and bool(turn) and self.turn == turn


class Receipt(Record):
    """What a drain did with a message, and what the marker had recorded before."""

    id: str
    box: str
    session: str
    outcome: str
    at: int
    client: str = ""
    event: str = ""
    turn: str = ""
    shown_at: "int | None" = None
    shown: str = ""
    bytes: int = 0
    bytes_shown: int = 0


def marker_path(box: Box, session: str, identifier: str) -> bytes:
    """The marker of one showing."""
    return session_folder(box, session) + b"/" + identifier.encode()


def receipt_path(box: Box, session: str, identifier: str) -> bytes:
    """The receipt of one message by one session."""
    return box.receipts + f"/{identifier}.{session}.toml".encode()


def marked(box: Box, session: str) -> "set[str]":
    """The ids for which this session has a marker.

    As in a listing of messages a name is looked at in full where something is opened for it, and hundreds may lie here.
    """
    found = files.entries(session_folder(box, session))
    return {name for name in found if len(name) == ids.LENGTH and name[ids.STAMP] == "-"}


def read_marker(box: Box, session: str, identifier: str) -> "Marker | None":
    """The marker, or ``None`` where there is none or it cannot be read: then the message is shown again."""
    try:
        data = box.store.read(marker_path(box, session, identifier))
    except StoreFault:
        return None
    return _marker(flat.loads(data))


def _marker(record: "dict[str, str | int]") -> "Marker | None":
    at = clock.parse_rfc3339(flat.text(record, "at"))
    event, digest = flat.text(record, "event"), flat.text(record, "sha256")
    if at is None or not event or not digest:
        return None
    return Marker(
        event,
        flat.text(record, "turn"),
        digest,
        at,
        flat.text(record, "client"),
        flat.text(record, "shown"),
        flat.number(record, "bytes"),
        flat.number(record, "bytes_shown"),
    )


def mark(box: Box, session: str, identifier: str, marker: Marker) -> None:
    """Record a showing. A start's marker never takes the place of a live one.

    The caller holds the session's lock, which makes looking and writing one act. Not flushed: a marker that a power
    cut takes costs a second showing, which is allowed.
    """
    box.store.ensure_folder(session_folder(box, session))
    standing = read_marker(box, session, identifier) if marker.event == START else None
    if standing is None or standing.event == START:
        box.store.rewrite(marker_path(box, session, identifier), _dumped(marker), durable=False)


def _dumped(marker: Marker) -> bytes:
    record: dict[str, str | int | None] = {
        "event": marker.event,
        "turn": marker.turn,
        "sha256": marker.sha256,
        "at": clock.rfc3339(marker.at),
        "client": marker.client or None,
        "shown": marker.shown,
        "bytes": marker.bytes,
        "bytes_shown": marker.bytes_shown,
    }
    return flat.dumps(record, times=("at",))


def sessions(box: Box) -> "list[str]":
    """Every session that may have left a marker or a receipt: those with a folder in ``shown/``, and nobody's."""
    found = {name.decode("ascii", "replace") for name in files.names(box.shown)}
    return sorted(found | {NOBODY})


def write_receipt(box: Box, receipt: Receipt) -> None:
    """Write the outcome, durably, in the place of every other receipt of that message.

    The caller holds the claim on the message. Others can only be left by a kill before their rename. Each was
    written by a session that has a folder in ``shown/``, so no folder of receipts is ever listed for this.
    """
    box.store.ensure_folder(session_folder(box, receipt.session))
    box.store.ensure_folder(box.receipts)
    for other in sessions(box):
        if other != receipt.session:
            from git_coop.claims import remove

            remove(receipt_path(box, other, receipt.id))
    times = ("shown_at", "at")
    record: dict[str, str | int | None] = {
        "id": receipt.id,
        "box": receipt.box,
        "session": receipt.session,
        "client": receipt.client or None,
        "event": receipt.event or None,
        "turn": receipt.turn or None,
        "shown_at": None if receipt.shown_at is None else clock.rfc3339(receipt.shown_at),
        "shown": receipt.shown or None,
        "bytes": receipt.bytes,
        "bytes_shown": receipt.bytes_shown,
        "outcome": receipt.outcome,
        "at": clock.rfc3339(receipt.at),
    }
    box.store.rewrite(receipt_path(box, receipt.session, receipt.id), flat.dumps(record, times=times))


def read_receipt(box: Box, session: str, identifier: str) -> "Receipt | None":
    """A receipt, or ``None`` where there is none that can be read."""
    try:
        data = box.store.read(receipt_path(box, session, identifier))
    except StoreFault:
        return None
    record = flat.loads(data)
    at = clock.parse_rfc3339(flat.text(record, "at"))
    if at is None:
        return None
    return Receipt(
        identifier,
        box.key,
        session,
        flat.text(record, "outcome"),
        at,
        flat.text(record, "client"),
        flat.text(record, "event"),
        flat.text(record, "turn"),
        clock.parse_rfc3339(flat.text(record, "shown_at")),
        flat.text(record, "shown"),
        flat.number(record, "bytes"),
        flat.number(record, "bytes_shown"),
    )


def receipt_of(box: Box, identifier: str) -> "Receipt | None":
    """The receipt that counts for a message: its outcome names the folder in which the message lies."""
    for session in (*sessions(box), *_receipted(box, identifier)):
        receipt = read_receipt(box, session, identifier)
        if receipt is not None and _counts(box, receipt):
            return receipt
    return None


def _receipted(box: Box, identifier: str) -> "Iterator[str]":
    """The sessions of a message's receipts by the names in ``receipts/``: their markers may long be swept."""
    for name in files.entries(box.receipts):
        if name.startswith(f"{identifier}.") and name.endswith(".toml"):
            yield name[len(identifier) + 1 : -len(".toml")]


def _counts(box: Box, receipt: Receipt) -> bool:
    folder = {CONSUMED: box.seen, EXPIRED: box.expired}.get(receipt.outcome)
    return folder is not None and files.exists(layout.message_path(folder, receipt.id))


def showings(box: Box, identifier: str) -> "list[tuple[str, Marker]]":
    """Every session that has a marker for a message, with it."""
    found = ((session, read_marker(box, session, identifier)) for session in sessions(box))
    return [(session, marker) for session, marker in found if marker is not None]

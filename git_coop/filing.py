"""Filing a message: consumed or expired, once, with its receipt, whatever is killed on the way.

The order is the promise: the kernel's lock on the very file, the check that it is the file that was shown, the
receipt durably on the disk, then the rename, which is the one commit point. A kill at any point leaves the
message in the inbox, to be shown again, or filed with its receipt.
"""

from git_coop import files, message
from git_coop.claims import claim, remove
from git_coop.files import sha256
from git_coop.layout import NOBODY, Box, message_path
from git_coop.receipts import CONSUMED, EXPIRED, Actor, Marker, Receipt, marker_path, write_receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def consume(box: Box, identifier: str, marker: Marker, actor: Actor) -> bool:
    """File a message that was shown. ``False``: it is gone, or is not the file that was shown.

    Raises ``Busy`` where another process holds it and ``StoreFault`` where a step failed; the message is then
    still in the inbox, unless the error is that its move could not be made durable.
    """
    receipt = Receipt(
        identifier,
        box.key,
        actor.session,
        CONSUMED,
        actor.now,
        actor.client,
        actor.event,
        marker.turn,
        marker.at,
        marker.shown,
        marker.bytes,
        marker.bytes_shown,
    )
    return _file(box, box.seen, receipt, marker.sha256)


def expire(box: Box, identifier: str, digest: str, actor: Actor, tell: "Callable[[], None]" = lambda: None) -> bool:
    """File a message whose term is over, unless it is gone or has changed.

    ``tell`` makes the notice about it, under the claim: who is consuming the message just now is not contradicted,
    and after a kill the notice is there, or the message is still in the inbox and its notice yet to be made.
    """
    receipt = Receipt(identifier, box.key, actor.session, EXPIRED, actor.now, actor.client, actor.event, actor.turn)
    return _file(box, box.expired, receipt, digest, tell)


def _file(box: Box, folder: bytes, receipt: Receipt, digest: str, tell: "Callable[[], None]" = lambda: None) -> bool:
    box.store.ensure_folder(folder)
    try:
        held = claim(message_path(box.inbox, receipt.id))
    except files.Gone:
        return False
    with held:
        if sha256(held.read(message.FILE_LIMIT + 1)) != digest:
            return False
        tell()
        write_receipt(box, receipt)
        if not held.move(message_path(folder, receipt.id)):
            return False
        if receipt.session != NOBODY:
            remove(marker_path(box, receipt.session, receipt.id))
    return True

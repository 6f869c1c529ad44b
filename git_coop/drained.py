"""The proof that hooks run: the last drain of each event, one line each, ``<event> <time> <client>``."""

from git_coop import clock, files
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.layout import Box

_BOUND = 4096  # bytes


class Last(Record):
    """When an event was last drained, and by which client; ``-`` is a person or a script."""

    at: int
    client: str


def read(box: "Box") -> "dict[str, Last]":
    """The last drain of each event that ever came; empty where none did."""
    return _parsed(files.read_small(box.drained, _BOUND) or b"")


def _parsed(data: bytes) -> "dict[str, Last]":
    found = {}
    for line in data.decode("ascii", "replace").split("\n"):
        event, _, rest = line.partition(" ")
        time, _, client = rest.partition(" ")
        at = clock.parse_rfc3339(time)
        if event and at is not None:
            found[event] = Last(at, client)
    return found


def stamp(box: "Box", event: str, client: str, now: int) -> None:
    """Record a drain of ``event``. Where another process is recording a new line, this one may be left out.

    Nearly always the line stands, and only its time is another: it is written over without a lock, in the very file
    that was read, whose lines never change their place; where one gets another length, another file takes its place.
    """
    first, time, last = f"{event} ".encode(), clock.rfc3339(now).encode(), f" {client or '-'}\n".encode()

    def place(data: bytes) -> "tuple[int, bytes] | None":
        """Where the time stands in the line that has these two around it."""
        at = 0
        for old in data.splitlines(keepends=True):
            if len(old) == len(first) + len(time) + len(last) and old.startswith(first) and old.endswith(last):
                return at + len(first), time
            at += len(old)
        return None

    files.is_folder(box.mail)
    if not box.store.amend(box.drained, place):
        _stamp_anew(box, event, Last(now, client or "-"))


def _stamp_anew(box: "Box", event: str, last: Last) -> None:
    from git_coop.errors import Busy
    from git_coop.locks import lock_folder

    try:
        held = lock_folder(box.mail, wait=0.0)
    except Busy:
        return
    with held:
        lasts = {**read(box), event: last}
        lines = [f"{name} {clock.rfc3339(last.at)} {last.client}\n" for name, last in sorted(lasts.items())]
        box.store.rewrite(box.drained, "".join(lines).encode(), durable=False)


def latest(box: "Box") -> "Last | None":
    """The latest drain of any event."""
    return max(read(box).values(), key=lambda last: last.at, default=None)

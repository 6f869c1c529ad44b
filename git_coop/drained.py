"""The proof that hooks run: the last drain of each event, one line each, ``<event> <time> <client>``."""

from git_coop import clock, files
from git_coop.errors import Busy
from git_coop.layout import Box
from git_coop.locks import lock_folder
from git_coop.record import Record


class Last(Record):
    """When an event was last drained, and by which client; ``-`` is a person or a script."""

    at: int
    client: str


def read(box: Box) -> "dict[str, Last]":
    """The last drain of each event that ever came; empty where none did."""
    data = files.read_small(box.drained, 4096) or b""
    found = {}
    for line in data.decode("ascii", "replace").split("\n"):
        event, _, rest = line.partition(" ")
        time, _, client = rest.partition(" ")
        at = clock.parse_rfc3339(time)
        if event and at is not None:
            found[event] = Last(at, client)
    return found


def stamp(box: Box, event: str, client: str, now: int) -> None:
    """Record a drain of ``event``; where another process is recording its own, this one is left out."""
    try:
        held = lock_folder(box.mail, wait=0.0)
    except Busy:
        return
    with held:
        lasts = {**read(box), event: Last(now, client or "-")}
        lines = [f"{name} {clock.rfc3339(last.at)} {last.client}\n" for name, last in sorted(lasts.items())]
        box.store.rewrite(box.drained, "".join(lines).encode(), durable=False)


def latest(box: Box) -> "Last | None":
    """The latest drain of any event."""
    return max(read(box).values(), key=lambda last: last.at, default=None)

"""``git coop mail read``: what waits for a worktree, shown to whoever asks, and exactly that filed.

The same parts as a drain's, without its turns: nothing is marked, for what was shown is filed in the same call. A
person has no next turn in which to come round to what lies behind mail for other sessions, so the search goes on to the
end.
"""

from git_coop import notices
from git_coop.choose import Choice, Reader, choose
from git_coop.drain_run import Run
from git_coop.errors import CoopError
from git_coop.event import Event, Order, Outcome
from git_coop.files import exists
from git_coop.ids import is_id, time_of
from git_coop.inbox import Listing
from git_coop.layout import Box, is_inherited
from git_coop.message import Message
from git_coop.place import Place
from git_coop.record import Record
from git_coop.render import BOUNDS, Batch, Shown, render_batch, render_elsewhere, render_empty, render_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from git_coop.edge import Edge

READ = "read"  # the event that a receipt names


class Showing(Record):
    """What is shown: the text, or the messages for an answer that has them whole, and what more waits."""

    text: str = ""
    messages: "tuple[Message, ...]" = ()
    box: "Box | None" = None
    waiting: int = 0
    elsewhere: int = 0  # addressed to other sessions
    off: bool = False


def read(
    where: Place, session: "str | None", edge: "Edge", emit: "Callable[[Showing], None]", *, whole: bool = False
) -> Outcome:
    """Show what waits through ``emit``, then file it. ``whole``: the messages are shown whole and not as text.

    ``OSError`` from ``emit`` leaves with nothing filed. Raises ``CoopError`` where the box cannot be looked into.
    """
    run = Run(Order(Event(READ, session=session), where.root, edge.env, text=True), edge)
    box = run.enter(where)
    if box is None:
        emit(Showing(render_empty(run.now)))
        return Outcome()
    off = exists(box.store.root + b"/OFF")
    if not off:
        _tell_sender(run, box)
    listing = run.list_inbox(box)
    if off:
        held = len(listing.ids)
        emit(Showing(render_off(run.now, held), box=box, waiting=held, off=True))
        return Outcome((), tuple(run.faults), tuple(run.notes))
    consumed = _show(run, box, listing, emit, whole)
    return Outcome(tuple(consumed), tuple(run.faults), tuple(run.notes))


def _tell_sender(run: Run, box: Box) -> None:
    """Make the notices about mail from here whose term is over: without hooks there is no start that would."""
    if run.can_write:
        try:
            notices.for_sender(box, run.now)
        except CoopError as error:
            run.faults.append(error.sentence)


def _show(run: Run, box: Box, listing: Listing, emit: "Callable[[Showing], None]", whole: bool) -> "list[str]":
    choice = _choose(run, box, listing)
    messages = tuple(found.message for found in choice.found)
    left = max(len(listing.ids) + len(choice.noticed) - choice.settled - len(messages), 0)
    batch = _whole(messages) if whole else _rendered(run, box, listing, choice, left)
    text = batch.text or ("" if messages else _nothing(run, choice, left))
    emit(Showing(text, messages, box, left, choice.elsewhere))
    return run.consume(box, run.mark_shown(box, choice, batch))


def _choose(run: Run, box: Box, listing: Listing) -> Choice:
    """What is shown; where one look's bound is met before anything is found, the next goes on behind it."""
    reader = Reader(run.session, run.actor, run.can_write)
    names: Collection[str] = listing.ids
    settled, elsewhere = 0, 0
    while True:
        choice = choose(box, names, (), BOUNDS.messages, reader)
        run.faults += choice.faults
        run.faults += [f"{_named(odd.id)}: {odd.reason}" for odd in choice.odd]
        if choice.found or not choice.cursor:
            break
        settled, elsewhere = settled + choice.settled, elsewhere + choice.elsewhere
        names = [name for name in names if name >= choice.cursor]
    choice.settled += settled
    choice.elsewhere += elsewhere
    return choice


def _named(name: str) -> str:
    return f"message {name}" if is_id(name) else f"'{name}'"


def _whole(messages: "tuple[Message, ...]") -> Batch:
    return Batch("", tuple(Shown(each.id, False, each.size, each.size) for each in messages))


def _rendered(run: Run, box: Box, listing: Listing, choice: Choice, left: int) -> Batch:
    chosen = {found.message.id for found in choice.found}
    behind = max(chosen, default="")
    oldest = next((name for name in listing.ids if name > behind), None) if left else None
    inherited = ["written for an earlier worktree at this path"]
    return render_batch(
        [found.message for found in choice.found],
        now=run.now,
        waiting=left,
        oldest_waiting=None if oldest is None else time_of(oldest),
        notes={name: inherited for name in chosen if is_inherited(box, name)},
    )


def _nothing(run: Run, choice: Choice, left: int) -> str:
    """The line for an output without a message; a box with faults in it is not called empty."""
    if choice.elsewhere:
        return render_elsewhere(run.now, choice.elsewhere)
    return "" if left or run.faults else render_empty(run.now)

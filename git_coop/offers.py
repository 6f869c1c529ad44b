"""What one output of a drain offers a session: the messages chosen for it, and the text around them."""

from git_coop import ids
from git_coop.errors import CoopError
from git_coop.event import PROMPT, START
from git_coop.layout import is_inherited
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from git_coop.choose import Choice
    from git_coop.drain_run import Run
    from git_coop.inbox import Ids, Listing
    from git_coop.layout import Box
    from git_coop.render import Batch


class Waiting(Record):
    """What may be shown: mail that this session was never shown, and the rest of it, each oldest first."""

    fresh: "Ids"
    again: "Ids"

    def __bool__(self) -> bool:
        return bool(self.fresh or self.again)


class Offer(Record):
    """What was chosen of what waits."""

    waiting: Waiting
    choice: "Choice"

    @property
    def left(self) -> int:
        """How many messages wait that were not looked at."""
        waiting = len(self.waiting.fresh) + len(self.waiting.again) + len(self.choice.noticed)
        return waiting - len(self.choice.looked)

    @property
    def oldest_left(self) -> "str | None":
        """The oldest of these."""
        names = (self.waiting.fresh, self.waiting.again, self.choice.noticed)
        first = (next((name for name in each if name not in self.choice.looked), None) for each in names)
        return min((name for name in first if name is not None), default=None)


def waiting(listing: "Listing", marked: "Collection[str]", live: "Collection[str]") -> Waiting:
    """``marked`` is what the session was shown at any time, ``live`` what need not be shown again in this turn."""
    return Waiting(listing.ids.without(marked), listing.ids.only(marked).without(live))


def offer(run: "Run", box: "Box", there: Waiting) -> Offer:
    """Choose; what was found that is no message is a fault of the run."""
    from git_coop.choose import Reader, choose
    from git_coop.render import BOUNDS

    reader = Reader(run.session, run.actor, run.can_write)
    choice = choose(box, there.fresh, there.again, BOUNDS.messages, reader, run.begin(box, there.fresh))
    run.faults += choice.faults
    run.faults += [f"{_named(odd.id)}: {odd.reason}" for odd in choice.odd]
    return Offer(there, choice)


def _named(name: str) -> str:
    return f"message {name}" if ids.is_id(name) else f"'{name}'"


def render(run: "Run", box: "Box", offered: Offer, letter: str = "") -> "Batch":
    """The text of an output with true counts of what more waits: the letter notice, faults, then mail."""
    from git_coop.render import render_batch, render_others

    choice, oldest = offered.choice, offered.oldest_left
    notes = _notes(run, box, choice)
    head = letter + ahead(run)
    if choice.found and choice.elsewhere:
        head += render_others(run.now, choice.elsewhere)
    return render_batch(
        [found.message for found in choice.found],
        now=run.now,
        waiting=offered.left,
        oldest_waiting=None if oldest is None else ids.time_of(oldest),
        head=head,
        mark_up=not run.order.text,
        notes=notes,
    )


def _notes(run: "Run", box: "Box", choice: "Choice") -> "dict[str, Sequence[str]]":
    """Our own words on single messages: the path is the address, whoever lived there when they were sent."""
    words = ("written for an earlier worktree at this path",)
    names = [found.message.id for found in choice.found]
    try:
        return {name: words for name in names if is_inherited(box, name)}
    except CoopError as error:
        run.faults.append(error.sentence)
        return {}


def ahead(run: "Run") -> str:
    """Faults and notes in a session's own text, ahead of the mail; a text answer has standard error for them."""
    return "" if run.order.text or run.event.kind not in (START, PROMPT) else told(run)


def told(run: "Run") -> str:
    """The faults and notes of a run, for whoever hears them."""
    if not (run.faults or run.notes):
        return ""
    from git_coop.render import render_faults

    return render_faults(run.faults, now=run.now, mark_up=not run.order.text, notes=run.notes)


def nothing(run: "Run", offered: Offer, text: str) -> str:
    """The line for an output without a message, whose ``text`` is what else it says.

    A box with mail for others, or with mail that was not looked at, is not called empty, nor one with faults in it.
    """
    if not run.speaks_of_nothing:
        return ""
    if offered.choice.elsewhere or offered.left:
        from git_coop.render import render_elsewhere

        return render_elsewhere(run.now, offered.choice.elsewhere, offered.left)
    return "" if text or run.faults else empty(run)


def empty(run: "Run") -> str:
    """The line about a box in which nothing waits."""
    from git_coop.render import render_empty

    return render_empty(run.now)

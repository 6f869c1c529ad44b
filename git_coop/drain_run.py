"""One drain of one box, step by step: the box made ready, the turn, the markers, the filing, the proof that it ran."""

from git_coop import clock, inbox, receipts, turns
from git_coop.clients.event import PROMPT, START, STOP, Say
from git_coop.errors import Busy, CoopError
from git_coop.filing import Actor
from git_coop.receipts import NOBODY
from git_coop.record import Record
from git_coop.session import hashed
from git_coop.turns import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from git_coop.choose import Choice
    from git_coop.clients.event import Event
    from git_coop.edge import Edge
    from git_coop.inbox import Listing
    from git_coop.layout import Box
    from git_coop.place import Place
    from git_coop.receipts import Marker
    from git_coop.render import Batch

    Emit = Callable[[Say], None]  # writes and flushes; raises OSError where the output did not get out


class Order(Record):
    """What a drain is asked to do. ``text`` is for a person or a script, else the answer is a client's.

    ``stop_shows`` tells whether mail may go to the session at a stop; it is asked only where mail waits there.
    """

    event: "Event"
    start: bytes
    env: "Mapping[str, str]"
    text: bool
    anchor: "str | None" = None
    prompt_carries: bool = True
    stop_shows: "Callable[[], bool]" = lambda: True


class Outcome(Record):
    """What a drain did: ids consumed, faults that a person should know (a store that cannot be used is ``fatal``)."""

    consumed: "tuple[str, ...]" = ()
    faults: "tuple[str, ...]" = ()
    notes: "tuple[str, ...]" = ()
    fatal: "CoopError | None" = None


class Run:
    """One drain of one box, step by step."""

    def __init__(self, order: Order, edge: "Edge") -> None:
        self.order = order
        self.event = order.event
        self.edge = edge
        self.now = edge.clock()
        self.session = hashed(order.event.session) if order.event.session else None
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.can_write = True
        self.state = Turn()
        self.token = ""  # the turn that markers of this event name; empty: nothing may be marked

    @property
    def actor(self) -> Actor:
        return Actor(self.session or NOBODY, self.event.client, self.event.kind, self.token, self.now)

    # the box

    def enter(self, where: "Place") -> "Box | None":
        """The box to drain, made ready; ``None`` where the clone has no store yet: a drain makes none."""
        store = where.store()
        if store is None:
            return None
        try:
            from git_coop import ids

            opened = where.open(store, ids.mint(self.now, self.edge.entropy))
            self.notes += opened.notes
            store.sweep()
            box = opened.box
        except CoopError as error:  # a store that cannot be written is read all the same
            self.can_write = False
            self.faults.append(f"nothing can be recorded: {error.sentence}")
            box = where.look(store)
        if self.can_write:
            returned, faults = inbox.recover(box)
            self.notes += [f"returned stranded message {name} to the inbox" for name in returned]
            self.faults += faults
        return box

    def list_inbox(self, box: "Box") -> "Listing":
        listing = inbox.listed(box.inbox)
        self.faults += [f"'{name}' in the inbox is no message name" for name in listing.rejected]
        return listing

    # the turn

    def turn(self, box: "Box") -> None:
        """Bring the session's turn up to this event, as the event's first act, and learn which turn it is in."""
        if self.session is None or not self.can_write:
            return
        try:
            with turns.locked(box, self.session):
                before = turns.read(box, self.session)
                self.state, self.token = self._moved(before)
                if self.state != before:
                    turns.write(box, self.session, self.state)
        except CoopError as error:
            self.token = ""
            self.faults.append(f"nothing can be marked as shown: {error.sentence}")

    def _moved(self, state: Turn) -> "tuple[Turn, str]":
        if self.event.kind == START:
            state = state.replace(starts=state.starts + 1)
            return state, turns.start_token(state)
        if self.event.kind == PROMPT:
            state = turns.opened(state, self.event, f"{clock.id_stamp(self.now)}-{self.edge.entropy(4).hex()}")
            return state, state.token
        if self.event.interrupted:
            return turns.interrupted(state, self.event), ""
        return state, turns.at_stop(state, self.event)

    def update(self, box: "Box", **changes: object) -> None:
        """Change the session's state after the output got out."""
        if self.session is None or not self.can_write:
            return
        try:
            with turns.locked(box, self.session):
                turns.write(box, self.session, turns.read(box, self.session).replace(**changes))
        except CoopError as error:
            self.faults.append(error.sentence)

    def lift(self, box: "Box") -> None:
        """Where a prompt hook carries no text, the first prompt proves that the start before it was a real one."""
        if self.session is None or self.order.prompt_carries or self.state.prompts != 1 or not self.token:
            return
        latest = turns.start_token(self.state)
        for name in sorted(receipts.marked(box, self.session)):
            marker = receipts.read_marker(box, self.session, name)
            if marker is not None and marker.event == START and marker.turn == latest:
                self.mark(box, name, marker.replace(event=PROMPT, turn=self.token))

    # markers and filing

    def markers(self, box: "Box", waiting: "Listing") -> "dict[str, Marker | None]":
        """This session's markers of what still waits."""
        if self.session is None:
            return {}
        names = receipts.marked(box, self.session).intersection(waiting.ids)
        return {name: receipts.read_marker(box, self.session, name) for name in sorted(names)}

    def mark(self, box: "Box", name: str, marker: "Marker") -> None:
        if self.session is None or not self.token or not self.can_write:
            return
        try:
            receipts.mark(box, self.session, name, marker)
        except CoopError as error:
            self.faults.append(f"{error.sentence}; the message will be shown again")

    def mark_shown(self, box: "Box", choice: "Choice", batch: "Batch") -> "dict[str, Marker]":
        """The markers of what an output showed, written now that it got out."""
        digests = {found.message.id: found.sha256 for found in choice.found}
        made = {}
        for shown in batch.shown:
            how = receipts.CUT if shown.cut else receipts.WHOLE
            made[shown.id] = receipts.Marker(
                self.event.kind,
                self.token,
                digests[shown.id],
                self.now,
                self.event.client,
                how,
                shown.bytes,
                shown.bytes_shown,
            )
            self.mark(box, shown.id, made[shown.id])
        return made

    def consume(self, box: "Box", due: "dict[str, Marker]") -> "list[str]":
        """File what was shown in the turn that ends; each failure is told, and leaves its message queued."""
        from git_coop.filing import consume

        filed = []
        for name, marker in due.items():
            try:
                if consume(box, name, marker, self.actor):
                    filed.append(name)
            except Busy:
                self.faults.append(f"claim on message {name} lost: another process holds it, or a move is under way")
            except CoopError as error:
                self.faults.append(f"message {name} was not filed and will be shown again: {error.sentence}")
        return filed

    def stamp(self, box: "Box") -> None:
        """Leave the proof that this event's hook runs. Another drain that is stamping just now is proof enough."""
        if not self.can_write:
            return
        from git_coop import drained

        try:
            drained.stamp(box, self.event.kind, self.event.client, self.now)
        except CoopError as error:
            self.faults.append(error.sentence)


def blind(run: Run, error: CoopError, emit: "Emit") -> Outcome:
    """The store cannot be looked into: never to be taken for an empty box. Outside any repository all is silent."""
    from git_coop.discover import NotARepository

    if isinstance(error, NotARepository) or run.order.text:
        emit(Say())
    else:
        from git_coop.render import render_blind

        text = render_blind(run.now, error.sentence)
        emit(Say(human=text) if run.event.kind == STOP else Say(text))
    return Outcome(fatal=error)

"""One drain of one box, step by step: the box made ready, the turn, the markers, the filing, the proof that it ran.

Most drains find nothing waiting. What only mail needs is imported where mail is met.
"""

import os

from git_coop import clock, files, ids, inbox
from git_coop.errors import Busy, CoopError, StoreFault
from git_coop.event import PROMPT, START, STOP, Outcome, Say
from git_coop.layout import NOBODY, hashed, message_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from git_coop.choose import Choice
    from git_coop.edge import Edge
    from git_coop.event import Emit, Order
    from git_coop.inbox import Listing
    from git_coop.layout import Box
    from git_coop.place import Place
    from git_coop.receipts import Actor, Marker
    from git_coop.render import Batch
    from git_coop.store import Store
    from git_coop.turns import Turn


class Run:
    """One drain of one box, step by step."""

    def __init__(self, order: "Order", edge: "Edge") -> None:
        self.order = order
        self.event = order.event
        self.edge = edge
        self.now = edge.clock()
        self.session = hashed(order.event.session) if order.event.session else None
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.can_write = True
        self.moved: Turn | None = None
        self.token = ""  # the turn that markers of this event name; empty: nothing may be marked
        self.lifts = False  # this prompt is the first after the session's first start, where no prompt carries text

    @property
    def state(self) -> "Turn":
        """What the session's turn file said, brought up to this event."""
        if self.moved is None:
            from git_coop.turns import Turn

            self.moved = Turn()
        return self.moved

    @property
    def actor(self) -> "Actor":
        from git_coop.receipts import Actor

        return Actor(self.session or NOBODY, self.event.client, self.event.kind, self.token, self.now)

    @property
    def speaks_of_nothing(self) -> bool:
        """Whether an empty box is worth a line: at a start, and to a person who asked."""
        return self.event.kind == START or (self.order.text and self.event.kind == PROMPT)

    # the box

    def enter(self, where: "Place") -> "Box | None":
        """The box to drain, made ready; ``None`` where the clone has no store yet: a drain makes none."""
        store = where.store()
        if store is None:
            return None
        box = self._opened(where, store)
        if self.can_write:
            self._tidy(box)
        return box

    def _opened(self, where: "Place", store: "Store") -> "Box":
        """The box, ready to be written; one in a store that cannot be written is read all the same."""
        try:
            opened = where.open(store, ids.mint(self.now, self.edge.entropy))
        except CoopError as error:
            self._cannot_write(error)
            return where.look(store)
        self.notes += opened.notes
        if not os.access(opened.box.mail, os.W_OK | os.X_OK):
            self._cannot_write(StoreFault(f"cannot write in '{os.fsdecode(store.root)}'", path=store.root))
        return opened.box

    def _cannot_write(self, error: CoopError) -> None:
        self.can_write = False
        self.token = ""
        self.faults.append(f"nothing can be recorded, and mail will be shown again: {error.sentence}")

    def _tidy(self, box: "Box") -> None:
        """Sweep what killed writers staged, and return what they left claimed; delivery goes on where that fails."""
        try:
            box.store.sweep()
            returned, faults = inbox.recover(box)
        except CoopError as error:
            self.faults.append(error.sentence)
            return
        self.notes += [f"returned stranded message {name} to the inbox" for name in returned]
        self.faults += faults

    def list_inbox(self, box: "Box") -> "Listing":
        listing = inbox.listed(box.inbox)
        self.faults += [f"'{name}' in the inbox is no message name" for name in listing.rejected]
        return listing

    # the turn

    def turn(self, box: "Box") -> None:
        """Bring the session's turn up to this event, as the event's first act, and learn which turn it is in."""
        from git_coop import turns

        if self.session is None:
            self.moved = turns.read(box, NOBODY)  # where its looking ended the last time
        elif self.event.kind == STOP and not self.event.interrupted:
            self.moved = turns.read(box, self.session)
            self.token = turns.at_stop(self.state, self.event) if self.can_write else ""
        elif self.can_write:
            self._move(box, self.session)

    def _move(self, box: "Box", session: str) -> None:
        from git_coop import turns

        try:
            with turns.locked(box, session):
                before = turns.read(box, session)
                self.moved, self.token = self._moved(before)
                if self.moved != before:
                    turns.write(box, session, self.moved)
        except Busy as error:
            self.token = ""
            self.faults.append(f"nothing can be marked as shown: {error.sentence}")
        except CoopError as error:
            self._cannot_write(error)

    def take_channel(self, box: "Box") -> bool:
        """Take the turn's one continuation before anything is said: two stops of a turn may run at the same time."""
        return self._deliver(box, lambda standing: standing != self.token, self.token)

    def return_channel(self, box: "Box") -> None:
        """Give it back where nothing was shown."""
        self._deliver(box, lambda standing: standing == self.token, self.state.delivered)

    def _deliver(self, box: "Box", may: "Callable[[str], bool]", turn: str) -> bool:
        """Write down that ``turn`` was continued, if what stands there allows it; whether that was done."""
        from git_coop import turns

        session = self.session or NOBODY
        try:
            with turns.locked(box, session):
                before = turns.read(box, session)
                if may(before.delivered):
                    turns.write(box, session, before.replace(delivered=turn))
                    return True
        except CoopError as error:
            self.faults.append(f"what waits is not shown at this stop: {error.sentence}")
        return False

    def _moved(self, state: "Turn") -> "tuple[Turn, str]":
        from git_coop import turns

        fresh = f"{clock.id_stamp(self.now)}-{self.edge.entropy(4).hex()}"
        if self.event.kind == START:
            state = turns.started(state, fresh)
            return state, state.start
        if self.event.kind == PROMPT:
            after = turns.opened(state, self.event, fresh)
            self.lifts = not self.order.prompt_carries and after.lifted > state.lifted
            return after, after.token
        return turns.interrupted(state, self.event), ""

    def lift(self, box: "Box") -> None:
        """Where a prompt hook carries no text, the first prompt proves that the start before it was a real one."""
        if not self.lifts or self.session is None:
            return
        from git_coop import receipts

        marks = {}
        for name in sorted(filter(ids.is_id, self.marked(box))):
            marker = receipts.read_marker(box, self.session, name)
            if marker is not None and marker.event == START and marker.turn == self.state.start:
                marks[name] = marker.replace(event=PROMPT, turn=self.token)
        self.note_state(box, marks)

    # markers and filing

    def marked(self, box: "Box") -> "set[str]":
        """The ids of what this session was shown, as far as its markers tell."""
        if self.session is None:
            return set()
        from git_coop import receipts

        try:
            return receipts.marked(box, self.session)
        except CoopError as error:
            self._cannot_write(error)
            return set()

    def due(self, box: "Box", waiting: "Listing") -> "dict[str, Marker]":
        """What was live in the turn that ends, and still is the file that was shown."""
        from git_coop import receipts, turns

        found: dict[str, Marker] = {}
        names = waiting.ids.only(turns.live(self.state, self.token)) if self.session else ()
        for name in names:
            marker = receipts.read_marker(box, self.session or NOBODY, name)
            if marker is not None and marker.live_in(self.token) and self._is_as_shown(box, name, marker):
                found[name] = marker
        return found

    def _is_as_shown(self, box: "Box", name: str, marker: "Marker") -> bool:
        from git_coop.files import sha256
        from git_coop.message import FILE_LIMIT

        try:
            return sha256(files.read_cut(message_path(box.inbox, name), FILE_LIMIT + 1).data) == marker.sha256
        except CoopError:
            return False  # looked at again, it says for itself what is wrong with it

    def begin(self, box: "Box", names: "Collection[str]") -> str:
        """Where to begin to look: where this session's last drain met its bound, else where another one's did.

        What lies there in the way of one new session is in the way of them all, and sessions are thrown away.
        """
        from git_coop import choose, turns

        if self.state.cursor or self.session is None or len(names) <= choose.OPENED:
            return self.state.cursor

        return turns.read(box, NOBODY).cursor

    def mark_shown(self, box: "Box", choice: "Choice", batch: "Batch", **changes: object) -> "dict[str, Marker]":
        """The markers of what an output showed, and ``changes`` of the state, written now that it got out."""
        from git_coop import receipts

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
        self.note_state(box, made if self.session is not None and self.token else {}, **changes)
        if choice.cursor and not choice.found and self.session is not None and self.can_write:
            self._record(box, NOBODY, {}, {"cursor": choice.cursor})  # a new session begins behind what shows nothing
        return made

    def note_state(self, box: "Box", marks: "Mapping[str, Marker] | None" = None, **changes: object) -> None:
        """Store markers and changes of the session's state, where there is anything to store and it can be."""
        if self.can_write and (marks or any(getattr(self.state, name) != value for name, value in changes.items())):
            self._record(box, self.session or NOBODY, marks or {}, changes)

    def _record(self, box: "Box", session: str, marks: "Mapping[str, Marker]", changes: "dict[str, object]") -> None:
        from git_coop import turns

        try:
            with turns.locked(box, session):
                before = turns.read(box, session)
                done = [name for name, marker in marks.items() if self._marked_one(box, session, name, marker)]
                after = before.replace(**changes)
                if done and (self.event.kind == STOP or self.token == before.token):  # else a later prompt was quicker
                    after = turns.with_live(after, self.token, done)
                if after != before:
                    turns.write(box, session, after)
        except CoopError as error:
            self.faults.append(f"what was shown is not marked and will be shown again: {error.sentence}")

    def _marked_one(self, box: "Box", session: str, name: str, marker: "Marker") -> bool:
        from git_coop import receipts

        try:
            receipts.mark(box, session, name, marker)
        except CoopError as error:
            self.faults.append(f"message {name} is not marked and will be shown again: {error.sentence}")
            return False
        return True

    def consume(self, box: "Box", due: "dict[str, Marker]") -> "list[str]":
        """File what was shown in the turn that ends; each failure is told, and leaves its message queued."""
        from git_coop.filing import consume

        filed = []
        for name, marker in due.items() if self.can_write else ():
            try:
                if consume(box, name, marker, self.actor):
                    filed.append(name)
            except Busy:
                self.faults.append(f"claim on message {name} lost: another process holds it, or a move is under way")
            except CoopError as error:
                self.faults.append(_unfiled(box, name, error))
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


def _unfiled(box: "Box", name: str, error: CoopError) -> str:
    """The fault of a filing that failed; a failure after the rename, the one commit point, is one of durability."""
    if files.exists(message_path(box.inbox, name)):
        return f"message {name} was not filed and will be shown again: {error.sentence}"
    return f"message {name} was filed, and may come back after a power cut: {error.sentence}"


def blind(run: Run, error: CoopError, emit: "Emit") -> Outcome:
    """The store cannot be looked into: never to be taken for an empty box. Outside any repository all is silent."""
    from git_coop.discover import NotARepository

    if isinstance(error, NotARepository) or run.order.text:
        emit(Say())
    else:
        from git_coop.render import render_blind

        text = render_blind(run.now, error.sentence)
        emit(Say(human=text) if run.event.kind == STOP else Say(text))
    return Outcome((), tuple(run.faults), tuple(run.notes), error)

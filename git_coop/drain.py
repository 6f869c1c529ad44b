"""The drain: show what waits, remember what was shown in which turn, file what a surviving turn was shown.

One function for every caller: an event comes in, a text and an account of what was shown go out. What is shown is
marked only after the output was written; what is consumed was shown whole in the turn that ends.

Nearly every turn ends with nothing to do. So a stop looks first whether that is so, with no more of the program than
this look takes; whatever it meets that is not nothing is left to the whole drain.
"""

import os

from git_coop import files, place
from git_coop.errors import CoopError
from git_coop.event import STOP, Outcome, Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.edge import Edge
    from git_coop.event import Emit, Order
    from git_coop.layout import Box
    from git_coop.place import Place


def run(order: "Order", edge: "Edge", emit: "Emit") -> Outcome:
    """Drain for one event. ``OSError`` from ``emit`` leaves with no marker written and nothing shown consumed."""
    if not order.event.kind or order.event.subagent:
        emit(Say())
        return Outcome()
    try:
        where = place.find(order.start, order.env, order.anchor)
    except CoopError as error:
        from git_coop.drain_run import Run, blind

        return blind(Run(order, edge), error, emit)
    if order.event.kind == STOP and not order.event.interrupted:
        quiet, box = _look(where)
        if quiet:
            return _nothing(order, box, edge, emit)
    return _whole(order, where, edge, emit)


def _look(where: "Place") -> "tuple[bool, Box | None]":
    """Whether nothing at all is to be done at a place, and its box, if anything was ever stored there."""
    try:
        store = where.store()
        box = None if store is None else where.settled(store)
        return store is None or (box is not None and _is_quiet(box)), box
    except CoopError:
        return False, None  # the whole drain says what is wrong


def _is_quiet(box: "Box") -> bool:
    """Whether nothing waits in a box, and nobody who was killed has left anything."""
    return (
        os.access(box.mail, os.W_OK | os.X_OK)
        and not files.exists(box.store.root + b"/OFF")
        and not any(map(files.entries, (box.inbox, box.claiming, box.store.tmp)))
    )


def _nothing(order: "Order", box: "Box | None", edge: "Edge", emit: "Emit") -> Outcome:
    """A stop at which nothing is to be done; where anything was ever stored, the proof that its hook ran is left."""
    emit(Say())
    if box is not None:
        from git_coop import drained

        try:
            drained.stamp(box, order.event.kind, order.event.client, edge.clock())
        except CoopError as error:
            return Outcome(faults=(error.sentence,))
    return Outcome()


def _whole(order: "Order", where: "Place", edge: "Edge", emit: "Emit") -> Outcome:
    from git_coop import events
    from git_coop.drain_run import Run, blind

    run = Run(order, edge)
    try:
        box = run.enter(where)
    except CoopError as error:
        return blind(run, error, emit)
    return events.handle(run, box, emit)

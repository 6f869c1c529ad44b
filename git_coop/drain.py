"""The drain: show what waits, remember what was shown in which turn, file what a surviving turn was shown.

One function for every caller: an event comes in, a text and an account of what was shown go out. What is shown is
marked only after the output was written; what is consumed was shown whole in the turn that ends.
"""

from git_coop import events, place
from git_coop.clients.event import Say
from git_coop.drain_run import Order, Outcome, Run, blind
from git_coop.errors import CoopError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.drain_run import Emit
    from git_coop.edge import Edge


def run(order: Order, edge: "Edge", emit: "Emit") -> Outcome:
    """Drain for one event. ``OSError`` from ``emit`` leaves with no marker written and nothing shown consumed."""
    if not order.event.kind or order.event.subagent:
        emit(Say())
        return Outcome()
    run = Run(order, edge)
    try:
        where = place.find(order.start, order.env, order.anchor)
        box = run.enter(where)
    except CoopError as error:
        return blind(run, error, emit)
    return events.handle(run, box, emit)

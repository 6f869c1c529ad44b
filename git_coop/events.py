"""What each event of a session does with its box: start, prompt and stop, and delivery that is held."""

from git_coop.choose import Choice, Reader, choose
from git_coop.clients.event import PROMPT, START, STOP, Say
from git_coop.drain_run import Outcome, Run, blind
from git_coop.errors import CoopError, StoreFault
from git_coop.files import exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from git_coop.drain_run import Emit
    from git_coop.inbox import Listing
    from git_coop.layout import Box
    from git_coop.receipts import Marker
    from git_coop.render import Batch


def handle(run: Run, box: "Box | None", emit: "Emit") -> Outcome:
    """The event's work; ``box`` is ``None`` where nothing was ever stored."""
    if box is None:
        emit(Say(_empty(run) if _speaks_of_nothing(run) else ""))
        return Outcome(notes=tuple(run.notes))
    try:
        off = exists(box.store.root + b"/OFF")
        run.turn(box)
        if run.event.kind == START and not off:
            _tell_sender(run, box)
        listing = run.list_inbox(box)
    except StoreFault as error:
        return blind(run, error, emit)
    if off:
        _hold(run, box, listing, emit)
        consumed: list[str] = []
    elif run.event.kind == STOP:
        consumed = _stop(run, box, listing, emit)
    else:
        _show(run, box, listing, emit)
        consumed = []
    run.stamp(box)
    return Outcome(tuple(consumed), tuple(run.faults), tuple(run.notes))


def _speaks_of_nothing(run: Run) -> bool:
    """Whether an empty box is worth a line: at a start, and to a person who asked."""
    return run.event.kind == START or (run.order.text and run.event.kind == PROMPT)


def _empty(run: Run) -> str:
    from git_coop.render import render_empty

    return render_empty(run.now)


def _tell_sender(run: Run, box: "Box") -> None:
    """Make the notices about mail from here whose term is over; they are shown like any other."""
    if not run.can_write:
        return
    from git_coop import notices

    try:
        notices.for_sender(box, run.now)
    except CoopError as error:
        run.faults.append(error.sentence)


def _hold(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> None:
    """Delivery is off: letters and faults speak, mail is neither shown nor consumed nor expired."""
    from git_coop.render import render_off

    held = len(listing.ids)
    speaks = _speaks_of_nothing(run) or (run.event.kind == STOP and held > 0)
    line = render_off(run.now, held) if speaks else ""
    if run.event.kind == STOP:
        emit(Say(line) if run.order.text else Say(human=line + _faults(run)))
        return
    letter = _letter(run, box)
    emit(Say(_faults_ahead(run) + letter + line))
    _note_letter(run, box, letter)


def _show(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> None:
    """A start or a prompt: everything that carries no live marker of this turn, as far as it fits."""
    run.lift(box)
    if not run.event.arrives:
        emit(Say())
        return
    letter = _letter(run, box)
    markers = run.markers(box, listing)
    choice = _choose(run, box, listing, markers)
    batch = _render(run, box, choice, listing, markers, _faults_ahead(run) + letter)
    emit(Say(batch.text or _nothing(run, listing, choice)))
    run.mark_shown(box, choice, batch)
    _note_letter(run, box, letter)
    _keep_cursor(run, box, choice)


def _stop(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> "list[str]":
    """The end of a turn: what was live in it before this call is filed; what came since is shown where it can be."""
    if run.event.interrupted:
        emit(Say())
        return []
    markers = run.markers(box, listing)
    due = {name: marker for name, marker in markers.items() if marker is not None and marker.live_in(run.token)}
    if run.order.text:
        return _stop_in_text(run, box, listing, markers, due, emit)
    consumed = run.consume(box, due)
    choice, batch = _late(run, box, listing, markers)
    emit(Say(batch.text if batch is not None else "", _faults(run)))
    if batch is not None and choice is not None:
        run.mark_shown(box, choice, batch)
        run.update(box, said=_signature(batch.text), delivered=run.token, cursor=choice.cursor)
    return consumed


def _stop_in_text(
    run: Run,
    box: "Box",
    listing: "Listing",
    markers: "dict[str, Marker | None]",
    due: "dict[str, Marker]",
    emit: "Emit",
) -> "list[str]":
    """A person's or a script's stop: it shows what this turn has not seen, and files that with the rest."""
    choice = _choose(run, box, listing, markers)
    batch = _render(run, box, choice, listing, markers, "")
    emit(Say(batch.text))
    shown = run.mark_shown(box, choice, batch)
    _keep_cursor(run, box, choice)
    return run.consume(box, {**due, **shown})


def _late(
    run: Run, box: "Box", listing: "Listing", markers: "dict[str, Marker | None]"
) -> "tuple[Choice | None, Batch | None]":
    """What came after the prompt, where the client's stop can carry it: once a turn, and as the user wants it."""
    waiting = _candidates(run, listing, markers)
    if not any(waiting) or run.session is None or not run.token:
        return None, None
    if run.event.continued or run.state.delivered == run.token or not _may_show_at_stop(run):
        return None, None
    choice = _choose(run, box, listing, markers)
    batch = _render(run, box, choice, listing, markers, "")
    return (choice, batch) if batch.shown else (None, None)


def _may_show_at_stop(run: Run) -> bool:
    try:
        return run.order.stop_shows()
    except CoopError as error:
        run.faults.append(error.sentence)
        return False


def _candidates(
    run: Run, listing: "Listing", markers: "dict[str, Marker | None]"
) -> "tuple[Sequence[str], Sequence[str]]":
    """(never shown to this session, shown but not live in this turn), each oldest first.

    At a start nothing counts as seen: what was shown before a compaction or a resume may be gone.
    """
    if not markers:
        return listing.ids, ()
    token = "" if run.event.kind == START else run.token
    again = [name for name, marker in markers.items() if marker is None or not marker.live_in(token)]
    fresh = [name for name in listing.ids if name not in markers]
    return fresh, again


def _choose(run: Run, box: "Box", listing: "Listing", markers: "dict[str, Marker | None]") -> Choice:
    from git_coop.render import BOUNDS

    fresh, again = _candidates(run, listing, markers)
    cursor = run.state.cursor
    if cursor:  # the last drain met its bound here: go on behind it, and come round to the front again
        fresh = [*(name for name in fresh if name >= cursor), *(name for name in fresh if name < cursor)]
    choice = choose(box, fresh, again, BOUNDS.messages, Reader(run.session, run.actor, run.can_write))
    run.faults += choice.faults
    run.faults += [
        f"message {odd.id}: {odd.reason}" if _is_id(odd.id) else f"'{odd.id}': {odd.reason}" for odd in choice.odd
    ]
    return choice


def _is_id(name: str) -> bool:
    from git_coop.ids import is_id

    return is_id(name)


def _render(
    run: Run, box: "Box", choice: Choice, listing: "Listing", markers: "dict[str, Marker | None]", head: str
) -> "Batch":
    """The text of what was chosen, with true counts of what more waits."""
    from git_coop import ids
    from git_coop.render import render_batch

    fresh, again = _candidates(run, listing, markers)
    chosen = {found.message.id for found in choice.found}
    left = len(fresh) + len(again) + len(choice.noticed) - choice.settled - len(choice.found)
    rest = (name for name in (*again[:1], *fresh[: choice.opened + 1]) if name not in chosen)
    oldest = min(rest, default=None)
    return render_batch(
        [found.message for found in choice.found],
        now=run.now,
        waiting=max(left, 0),
        oldest_waiting=ids.time_of(oldest) if oldest is not None and left > 0 else None,
        head=head,
        mark_up=not run.order.text,
        notes=_notes(box, choice),
    )


def _notes(box: "Box", choice: Choice) -> "dict[str, list[str]]":
    """Our own words on single messages: the path is the address, whoever lived there when they were sent."""
    from git_coop.box import owners

    ours = owners(box)
    newest = ours[-1] if len(ours) > 1 else ""
    return {
        found.message.id: ["written for an earlier worktree at this path"]
        for found in choice.found
        if found.message.id < newest
    }


def _nothing(run: Run, listing: "Listing", choice: Choice) -> str:
    """The line for an output without a message: the box is empty, or nothing in it is for this session."""
    if not _speaks_of_nothing(run):
        return ""
    from git_coop.render import render_elsewhere

    if choice.elsewhere:
        return render_elsewhere(run.now, choice.elsewhere)
    return _empty(run) if len(listing.ids) <= choice.settled and not run.faults else ""


def _faults_ahead(run: Run) -> str:
    """Faults in a session's own text, ahead of the mail; a text answer has standard error for them."""
    return "" if run.order.text else _faults(run)


def _faults(run: Run) -> str:
    if not run.faults:
        return ""
    from git_coop.render import render_faults

    return render_faults(run.faults, now=run.now, mark_up=not run.order.text)


def _letter(run: Run, box: "Box") -> str:
    """The letter notice: at a start, and at the first prompt where no start's text is known to have arrived."""
    first = run.event.kind == PROMPT and not run.state.noticed and run.state.prompts == 1
    asked = run.order.text and run.session is None and run.event.kind == PROMPT
    if not run.event.arrives or not (run.event.kind == START or first or asked):
        return ""
    from git_coop import letter_notice

    try:
        return letter_notice.notice(box, run.now, mark_up=not run.order.text)
    except CoopError as error:
        run.faults.append(error.sentence)
        return ""


def _note_letter(run: Run, box: "Box", letter: str) -> None:
    if letter and not run.state.noticed:
        run.update(box, noticed=1)


def _keep_cursor(run: Run, box: "Box", choice: Choice) -> None:
    if choice.cursor != run.state.cursor:
        run.update(box, cursor=choice.cursor)


def _signature(text: str) -> str:
    """The first line of our own stop text, by which the prompt that some clients make of it is known."""
    return text.partition("\n")[0]

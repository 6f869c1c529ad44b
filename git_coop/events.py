"""What each event of a session does with its box: start, prompt and stop, and delivery that is held."""

from git_coop import files
from git_coop.drain_run import Run, blind
from git_coop.errors import CoopError, StoreFault
from git_coop.event import PROMPT, START, STOP, Outcome, Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.event import Emit
    from git_coop.inbox import Listing
    from git_coop.layout import Box
    from git_coop.receipts import Marker


def handle(run: Run, box: "Box | None", emit: "Emit") -> Outcome:
    """The event's work; ``box`` is ``None`` where nothing was ever stored."""
    if box is None:
        emit(Say(_nothing_stored(run)))
        return Outcome(notes=tuple(run.notes))
    try:
        off = files.exists(box.store.root + b"/OFF")
        run.turn(box)
        if run.event.kind == START and not off:
            _tell_sender(run, box)
        listing = run.list_inbox(box)
    except StoreFault as error:
        return blind(run, error, emit)
    consumed = _hold(run, box, listing, emit) if off else _deliver(run, box, listing, emit)
    run.stamp(box)
    return Outcome(tuple(consumed), tuple(run.faults), tuple(run.notes))


def _nothing_stored(run: Run) -> str:
    if not run.speaks_of_nothing:
        return ""
    from git_coop import offers

    return offers.empty(run)


def _tell_sender(run: Run, box: "Box") -> None:
    """Make the notices about mail from here whose term is over; they are shown like any other."""
    try:
        if not run.can_write or not files.entries(box.sent):
            return
        from git_coop import notices

        notices.for_sender(box, run.now)
    except CoopError as error:
        run.faults.append(error.sentence)


def _hold(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> "list[str]":
    """Delivery is off: letters and faults speak, mail is neither shown nor consumed nor expired."""
    from git_coop import offers
    from git_coop.render import render_off

    held, stop = len(listing.ids), run.event.kind == STOP
    line = render_off(run.now, held) if run.speaks_of_nothing or (stop and held) else ""
    if stop:
        emit(Say(line) if run.order.text else Say(human=line + offers.told(run)))
    else:
        letter = _letter(run, box)
        emit(Say(letter + offers.ahead(run) + line))
        run.note_state(box, {}, **_told_of_letters(run))
    return []


def _deliver(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> "list[str]":
    if run.event.kind != STOP:
        _show(run, box, listing, emit)
        return []
    if run.event.interrupted:
        from git_coop import offers

        emit(Say(human=offers.told(run)))
        return []
    due = run.due(box, listing)
    end = _stop_in_text if run.order.text else _stop
    return end(run, box, listing, due, emit)


def _show(run: Run, box: "Box", listing: "Listing", emit: "Emit") -> None:
    """A start or a prompt: everything that carries no live marker of this turn, as far as it fits.

    At a start nothing counts as seen: what was shown before a compaction or a resume may be gone.
    """
    run.lift(box)
    if not run.event.arrives:
        emit(Say())
        return
    letter = _letter(run, box)
    if not listing.ids:
        _show_no_mail(run, box, letter, emit)
        return
    from git_coop import offers, turns

    live = () if run.event.kind == START else turns.live(run.state, run.token)
    offered = offers.offer(run, box, offers.waiting(listing, run.marked(box), live))
    batch = offers.render(run, box, offered, letter)
    emit(Say(batch.text if batch.shown else batch.text + offers.nothing(run, offered, batch.text)))
    run.mark_shown(box, offered.choice, batch, cursor=offered.choice.cursor, **_told_of_letters(run))


def _show_no_mail(run: Run, box: "Box", text: str, emit: "Emit") -> None:
    """What there is to say where no mail waits: the letter notice, faults, that the box is empty, or nothing."""
    if run.faults or run.notes or (run.speaks_of_nothing and not text):
        from git_coop import offers

        text += offers.ahead(run)
        if run.speaks_of_nothing and not (text or run.faults):
            text = offers.empty(run)
    emit(Say(text))
    run.note_state(box, {}, cursor="", **_told_of_letters(run))


def _stop(run: Run, box: "Box", listing: "Listing", due: "dict[str, Marker]", emit: "Emit") -> "list[str]":
    """The end of a turn: what was live in it before this call is filed; what came since is shown where it can be."""
    from git_coop import offers

    consumed = run.consume(box, due)
    there = offers.waiting(listing, run.marked(box) | due.keys(), due)
    if not there or not _may_show(run) or not run.take_channel(box):
        emit(Say(human=offers.told(run)))
        return consumed
    shown = False
    try:
        offered = offers.offer(run, box, there)
        batch = offers.render(run, box, offered)
        emit(Say(batch.text, offers.told(run)))
        shown = bool(batch.shown)
    finally:
        if not shown:
            run.return_channel(box)
    said = {"said": _signature(run, batch.text)} if shown else {}
    run.mark_shown(box, offered.choice, batch, cursor=offered.choice.cursor, **said)
    return consumed


def _may_show(run: Run) -> bool:
    """Whether this stop may keep the turn going: once a turn, where the session can be told, as the user wants it."""
    if run.session is None or not run.token or run.event.continued or run.state.delivered == run.token:
        return False
    try:
        return run.order.stop_shows()
    except CoopError as error:
        run.faults.append(error.sentence)
        return False


def _signature(run: Run, text: str) -> str:
    """The first line of our own stop text, by which the prompt is known that some clients make of it."""
    return "" if run.event.marked else text.partition("\n")[0]


def _stop_in_text(run: Run, box: "Box", listing: "Listing", due: "dict[str, Marker]", emit: "Emit") -> "list[str]":
    """A person's or a script's stop: it shows what this turn has not seen, and files that with the rest."""
    from git_coop import offers

    offered = offers.offer(run, box, offers.waiting(listing, run.marked(box), due))
    batch = offers.render(run, box, offered)
    emit(Say(batch.text))
    shown = run.mark_shown(box, offered.choice, batch, cursor=offered.choice.cursor)
    return run.consume(box, {**due, **shown})


def _letter(run: Run, box: "Box") -> str:
    """The letter notice: at a start, and at the first prompt where no start's text is known to have arrived."""
    first = run.event.kind == PROMPT and bool(run.token) and not run.state.noticed
    asked = run.event.kind == PROMPT and run.order.text and run.session is None
    if not run.event.arrives or not (run.event.kind == START or first or asked):
        return ""
    from git_coop import letter_notice

    try:
        return letter_notice.notice(box, run.now, mark_up=not run.order.text)
    except CoopError as error:
        run.faults.append(error.sentence)
        return ""


def _told_of_letters(run: Run) -> "dict[str, int]":
    """After an output that had room for the letter notice."""
    return {"noticed": 1} if run.session is not None and run.event.arrives else {}

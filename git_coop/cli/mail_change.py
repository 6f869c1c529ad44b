"""``git coop mail read``, ``requeue``, ``off`` and ``on``: what moves mail or holds it."""

import click

from git_coop import addresses, clock, mail, mailbox
from git_coop import requeue as again
from git_coop.claims import remove, sync_folder
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.cli.mail_queued import PATH, drains_of, json_text
from git_coop.cli.mail_words import AS_JSON, ASKED, SESSION, term
from git_coop.errors import CoopError, NotFound, Refused
from git_coop.files import exists
from git_coop.layout import Box, boxes
from git_coop.place import Place
from git_coop.reading import Showing
from git_coop.requeue import Requeued
from git_coop.store import Store
from git_coop.text import quote_path

_OFF = b"/OFF"


@click.command(cls=Verb)
@SESSION
@AS_JSON
@click.pass_obj
def read(app: App, session: str | None, as_json: bool) -> int:
    """Show what waits for this worktree, and file exactly what was shown."""
    from git_coop import reading, text_drain

    def emit(showing: Showing) -> None:
        if as_json:
            app.json(_shown(showing))
        elif showing.text:
            app.write(showing.text.encode("utf-8", "replace"))

    outcome = reading.read(app.nearby, app.session(session), app.edge, emit, whole=as_json)
    return text_drain.report(outcome.replace(consumed=()) if as_json else outcome, app.edge)


def _shown(showing: Showing) -> dict[str, object]:
    from git_coop.cli.mail_record import message_record

    box = None if showing.box is None else showing.box.key
    return {
        "messages": [message_record(found, mailbox.INBOX, box, found.size, body=True) for found in showing.messages],
        "waiting": showing.waiting,
        "elsewhere": showing.elsewhere,
        "off": showing.off,
    }


@click.command(cls=Verb)
@ASKED
@click.option("--to", metavar="<path>", help="A worktree of this clone: where it is to wait now.")
@AS_JSON
@click.pass_obj
def requeue(app: App, asked: str, to: str | None, as_json: bool) -> None:
    """Queue a stranded or expired message again, with a new term.

    With --to, one that lies in the box of a worktree that is gone goes to another worktree.
    """
    here = app.nearby
    own = app.existing_box(here)
    box, identifier, state = _lost(app, own, asked, orphans=to is not None)
    there = own if to is None else _address(app, here, own.store, to)
    done = again.requeue(box, identifier, state, there, app.now, term(app, None))
    _requeued(app, done, state, as_json)


def _lost(app: App, own: Box, asked: str, *, orphans: bool) -> tuple[Box, str, str]:
    """(box, id, state) of the message: stranded or expired here, or in whatever state in an orphaned box."""
    try:
        identifier, state = mailbox.find(own, asked)
        if state in again.OVER:
            return own, identifier, state
        words = {mailbox.INBOX: "waits in the inbox already", mailbox.SEEN: "was consumed"}[state]
        raise Refused(f"message {identifier} {words}", hint="only a stranded or expired one is queued again")
    except NotFound as error:
        missing = error
    for box in boxes(own.store):
        try:
            identifier, state = mailbox.find(box, asked, again.WAITING)
        except CoopError:
            continue
        if not mailbox.is_gone(box, app.edge.env):
            where = quote_path(box.path(), PATH)
            raise Refused(f"message {identifier} lies in the box of '{where}'", hint="that worktree queues it again")
        if not orphans:
            raise Refused(
                f"message {identifier} lies in the box of a worktree that is gone",
                hint=f"say where it is to wait: git coop mail requeue {identifier} --to PATH",
            )
        return box, identifier, state
    raise missing


def _address(app: App, here: Place, store: Store, to: str) -> Box:
    target = addresses.resolve(to, here, app.directory, app.edge.env, outside=True)
    if not target.own:
        raise Refused(f"'{to}' is no worktree of this clone", hint="git coop mail send writes to another clone")
    opened = addresses.open_target(target, store, app.new_store, app.fresh_id())
    for text in opened.notes:
        app.note(text)
    return opened.box


def _requeued(app: App, done: Requeued, state: str, as_json: bool) -> None:
    last, off = mail.last_drain(done.box), exists(done.box.store.root + _OFF)
    path = done.box.path()
    if as_json:
        queued: dict[str, object] = {
            "id": done.id,
            "state": mailbox.INBOX,
            "box": done.box.key,
            "path": json_text(path),
            "was": state,
            "shown": done.shown,
            "expires": clock.rfc3339(done.expires),
            "drained": drains_of(done.box),
            "off": off,
        }
        app.json({"queued": [queued]})
    else:
        seen = "NEVER" if last is None else app.age(last.at)
        app.out(f"queued {done.id} again for {quote_path(path, PATH)}; it was {state}")
        app.out(f"  expires {clock.rfc3339(done.expires)}; that box was last drained: {seen}")
        if off:
            app.out("  delivery is OFF there: it is held and not lost, until git coop mail on")
    if done.shown or state == mailbox.STRANDED:
        app.warn("it may be shown twice: a session may have seen it before")
    if done.to_session:
        app.warn("it is addressed to one session: no other is shown it")


@click.command(cls=Verb)
@AS_JSON
@click.pass_obj
def off(app: App, as_json: bool) -> None:
    """Hold delivery in the whole clone: nothing is shown, consumed or expired, and nothing is lost."""
    store = app.new_store(app.nearby.clone)
    changed = not exists(store.root + _OFF) and store.create(store.root + _OFF, clock.rfc3339(app.now).encode() + b"\n")
    _switched(app, store, True, changed, as_json)


@click.command(cls=Verb)
@AS_JSON
@click.pass_obj
def on(app: App, as_json: bool) -> None:
    """Deliver again."""
    store = app.nearby.store()
    changed = store is not None and remove(store.root + _OFF)
    if store is not None and changed:
        sync_folder(store.root)
    _switched(app, store, False, changed, as_json)


def _switched(app: App, store: Store | None, off: bool, changed: bool, as_json: bool) -> None:
    waiting = 0 if store is None else mailbox.waiting(store)
    if as_json:
        app.json({"off": off, "changed": changed, "waiting": waiting})
        return
    word = ("OFF" if off else "on") + ("" if changed else " already")
    held = f"{waiting} message{'' if waiting == 1 else 's'} {'held' if off else 'waiting'}"
    app.out(f"delivery is {word} in this clone; {held}" + ("; git coop mail on ends it" if off else ""))

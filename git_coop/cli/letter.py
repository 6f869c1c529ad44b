"""``git coop letter``: the request from a worktree's session to its own next session."""

import os

import click

from git_coop import ids, letterbox, letters, mailbox
from git_coop.cli import bodies, filters, letter_log, letter_view, letter_write
from git_coop.cli.app import App
from git_coop.cli.bodies import Given
from git_coop.cli.frame import Family, Verb
from git_coop.errors import CoopError, NotFound, Refused, Usage
from git_coop.history import Wanted
from git_coop.layout import Box
from git_coop.letters import BODY_LIMIT, Letter

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
SESSION = click.option("--session", metavar="<id>", help="The calling session, where its client does not say.")
ASKED = click.argument("asked", metavar="[<id>]", required=False)


def _recipient() -> Usage:
    return Usage(
        "a letter has no recipient: it goes to the next session in this worktree",
        hint="git coop mail send --to PATH writes to another",
    )


def _no_recipient(_ctx: click.Context, _param: click.Parameter, value: object) -> None:
    if value:
        raise _recipient()


# What a person who thinks of mail would try. With a value or without one: the answer is the same.
RECIPIENT = click.option(
    *("-t", "--to", "--to-session", "--recipient", "--recipients", "--worktree", "--box", "--for", "--target"),
    *("--dest", "--destination", "--address", "--mailbox", "--peer", "--cc", "--bcc"),
    "recipient",
    is_flag=False,
    flag_value="somebody",
    multiple=True,
    expose_value=False,
    hidden=True,
    callback=_no_recipient,
)


LAZY = {"adopt": ("git_coop.cli.letter_adopt", "write another store's letter as this worktree's own")}


@click.group(cls=Family, lazy=LAZY)
@RECIPIENT
def letter() -> None:
    """The letter to the next session in this worktree."""


def _no_words(_ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    if value:
        raise Usage(
            f"a letter takes no argument: '{value[0]}'",
            hint="give its body with -m TEXT, --body - or -F FILE\n"
            "it goes to the next session in this worktree; git coop mail send --to PATH writes to another",
        )


@letter.command(cls=Verb)
@bodies.options(packet=True)
@click.option("--subject", metavar="<text>", help="A line about it (default: the body's first line that is not blank).")
@RECIPIENT
@SESSION
@AS_JSON
@click.argument("others", nargs=-1, metavar="", expose_value=False, callback=_no_words)
@click.pass_obj
def write(app: App, given: Given, subject: str | None, session: str | None, as_json: bool) -> None:
    """Write the letter to the next session; it supersedes the live one."""
    from git_coop import guard
    from git_coop.packets import CONTINUATION, TEMPLATES, claimed

    here = app.place
    line = _one_line(subject)
    template = TEMPLATES[CONTINUATION]
    text = bodies.demand(app, given, limit=BODY_LIMIT, what="letter", template=template, judge=guard.check)
    if given.packet is not None:
        bodies.advise(app, text)
    elif given.none and claimed(text):  # what stands of the template that the editor opened on
        bodies.advise(app, text, CONTINUATION)
    box = app.open_box(here)
    line = line or letters.subject_of(text, packet=given.packet is not None)
    sent = letter_write.store(app, here, box, text, line, app.session(session))
    letter_view.wrote(app, sent, as_json)


def _one_line(subject: str | None) -> str:
    """A subject, checked; empty for none."""
    if subject is None:
        return ""
    if len(subject.splitlines()) > 1:
        raise Usage("a subject is one line")
    try:
        os.fsencode(subject).decode()
    except UnicodeDecodeError as error:
        sentence = f"the subject is not valid UTF-8 at byte offset {error.start}"
        raise Refused(sentence, hint="offsets count from 0") from None
    return subject.strip()


@letter.command(cls=Verb)
@ASKED
@click.option("--raw", is_flag=True, help="The body alone, byte for byte.")
@RECIPIENT
@SESSION
@AS_JSON
@click.pass_obj
def read(app: App, asked: str | None, raw: bool, session: str | None, as_json: bool) -> None:
    """Read a letter (the live one without an id), and record that it was read."""
    box = _readable_box(app)
    found = _find(box, asked)
    letter_view.whole(app, box, found, as_json=as_json, raw=raw)
    if not found.live:
        app.note(f"note: letter {found.id} is {letter_view.state(found)}; nothing was changed")
    elif found.key != box.key:
        app.note("note: this is another worktree's letter; nothing was changed")
    else:
        _record_reading(app, found, app.session(session))


def _record_reading(app: App, found: Letter, who: str | None) -> None:
    """Count the reading, now that the output was written; a store that cannot be written costs only the count."""
    if who is not None and who == found.session:
        app.note("note: this session wrote the letter: its reading is not recorded, the next session is who it is for")
        return
    try:
        own = app.open_box(app.nearby)
        letterbox.change(own, found.id, lambda letter: letters.read(letter, app.now, who))
    except CoopError as error:
        app.warn(f"the reading could not be recorded: {error.sentence}")


@letter.command(cls=Verb)
@ASKED
@RECIPIENT
@SESSION
@AS_JSON
@click.pass_obj
def start(app: App, asked: str | None, session: str | None, as_json: bool) -> None:
    """Say that this session works on the letter it read."""
    who = app.session(session)
    _change(app, asked, lambda found: letters.start(found, app.now, who), "start", as_json)


@letter.command(cls=Verb)
@ASKED
@bodies.options(packet=False)
@RECIPIENT
@SESSION
@AS_JSON
@click.pass_obj
def ack(app: App, asked: str | None, given: Given, session: str | None, as_json: bool) -> None:
    """Close the letter as done, with what came of it."""
    text = bodies.guarded(bodies.read(app, given, limit=BODY_LIMIT, what="text"))
    who = app.session(session)
    _change(app, asked, lambda found: letters.ack(found, app.now, who, text), "acknowledge", as_json)


_REASON = "git coop letter abandon --reason TEXT"


@letter.command(cls=Verb)
@ASKED
@click.option("--reason", metavar="<text>", help="Why it is not followed (needed).")
@RECIPIENT
@SESSION
@AS_JSON
@click.pass_obj
def abandon(app: App, asked: str | None, reason: str | None, session: str | None, as_json: bool) -> None:
    """Close the letter without doing what it asks."""
    from git_coop import body

    if reason is None:
        raise Usage("abandoning needs a reason", hint=_REASON)
    given = body.from_bytes(body.paragraphs([reason]), limit=BODY_LIMIT, what="reason", ways=_REASON)
    text = bodies.guarded(given) or ""
    who = app.session(session)
    _change(app, asked, lambda found: letters.abandon(found, app.now, who, text), "abandon", as_json)


def _change(app: App, asked: str | None, transition: letter_view.Transition, verb: str, as_json: bool) -> None:
    box = _readable_box(app)
    found = _find(box, asked)
    if found.key != box.key:
        raise Refused(
            f"cannot {verb} letter {found.id}: it is another worktree's",
            hint=_who_may(app, Box(box.store, found.key), found),
        )
    letter_view.changed(app, letterbox.change(app.open_box(app.place), found.id, transition), as_json)


def _who_may(app: App, home: Box, found: Letter) -> str:
    if mailbox.is_gone(home, app.edge.env):
        return f"its worktree is gone: git coop letter adopt {ids.tail(found.id)} takes it over"
    return "only the next session there may close it"


@letter.command("list", cls=Verb)
@click.option("--all", "closed", is_flag=True, help="The closed ones too.")
@click.option("--all-worktrees", "everywhere", is_flag=True, help="The letters of every worktree of the clone.")
@click.option("--fleet", is_flag=True, help="The letters of other clones, as the last sync brought them.")
@RECIPIENT
@AS_JSON
@click.pass_obj
@filters.options
def list_(app: App, want: Wanted, closed: bool, everywhere: bool, fleet: bool, as_json: bool) -> None:
    """List the letters of this worktree, newest first."""
    if fleet:
        from git_coop.cli import letter_fleet  # and with it pygit2

        if everywhere:
            raise Usage("--fleet and --all-worktrees exclude each other")
        letter_fleet.listing(app, app.nearby, want, closed=closed, as_json=as_json)
        return
    letter_view.listing(app, app.nearby, want, closed=closed, everywhere=everywhere, as_json=as_json)


@letter.command(cls=Verb)
@ASKED
@click.option("--raw", is_flag=True, help="The body alone, byte for byte.")
@RECIPIENT
@AS_JSON
@click.pass_obj
def show(app: App, asked: str | None, raw: bool, as_json: bool) -> None:
    """Show a letter and change nothing."""
    box = _readable_box(app)
    try:
        found = _find(box, asked)
    except NotFound:
        if asked is None or not _show_far(app, box, asked, as_json=as_json, raw=raw):
            raise
        return
    letter_view.whole(app, box, found, as_json=as_json, raw=raw)


def _show_far(app: App, box: Box, asked: str, *, as_json: bool, raw: bool) -> bool:
    """Show the letter of another clone that the words name; whether they name one."""
    from git_coop.cli import letter_fleet  # and with it pygit2

    far = letter_fleet.find(box.store, asked)
    if far is not None:
        letter_fleet.whole(app, far, as_json=as_json, raw=raw)
    return far is not None


@letter.command(cls=Verb)
@ASKED
@click.option("--graph", is_flag=True, help="Draw the lines that lead from each letter to what it superseded.")
@click.option("--oneline", is_flag=True, help="One line for each letter.")
@RECIPIENT
@AS_JSON
@click.pass_obj
@filters.options
def log(app: App, asked: str | None, want: Wanted, graph: bool, oneline: bool, as_json: bool) -> None:
    """Show the chain of letters, newest first, as git log shows commits."""
    box = _readable_box(app)
    letter_log.show(app, box, asked, want, graph=graph, oneline=oneline, as_json=as_json)


@letter.command(hidden=True, cls=Verb, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def send() -> None:
    """Say what to use instead."""
    raise _recipient()


def _readable_box(app: App) -> Box:
    box = app.own_box(app.nearby)
    if box is None:
        raise NotFound("no live letter here: nothing is stored in this clone yet")
    return box


def _find(box: Box, asked: str | None) -> Letter:
    """The letter that the words name: the own box's, else any box's of the clone."""
    try:
        return letterbox.demand(box, asked)
    except NotFound:
        if asked is None:
            raise
    return letterbox.anywhere(box.store, asked)

"""``git coop request``: work for another worktree, from its brief to its result."""

import os

import click

from git_coop import addresses, ids, layout, mail, packets, requestbox, requests
from git_coop.addresses import Target
from git_coop.cli import bodies, request_view
from git_coop.cli.app import App
from git_coop.cli.bodies import Given
from git_coop.cli.frame import Family, Verb
from git_coop.discover import Worktree
from git_coop.errors import NotFound, Refused, Usage
from git_coop.layout import Box
from git_coop.mail import Content, Letterhead, Queued
from git_coop.message import BODY_LIMIT
from git_coop.packets import BRIEF, RESULT
from git_coop.requests import Request, Side
from git_coop.store import Store

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
SESSION = click.option("--session", metavar="<id>", help="The calling session, where its client does not say.")
ASKED = click.argument("asked", metavar="<id>")
_FRAME = 1024  # bytes that a mail needs around the packet it carries
LIMIT = BODY_LIMIT - _FRAME


@click.group(cls=Family)
def request() -> None:
    """Ask another worktree for work, and answer with its result."""


@request.command("open", cls=Verb)
@click.option("--to", metavar="<path>", help="The worktree that is asked (needed).")
@bodies.options(packet=True)
@SESSION
@AS_JSON
@click.pass_obj
def open_(app: App, to: str | None, given: Given, session: str | None, as_json: bool) -> None:
    """Ask a worktree of this clone for work: its session is mailed the brief."""
    if to is None:
        raise Usage("a request needs a recipient", hint="git coop request open --to PATH")
    if to == addresses.ALL:
        raise Usage("a request is for one worktree", hint="git coop mail send --to all reaches every one")
    here = app.place
    target = _target(app, to, outside=False)
    text = _packet(app, given, BRIEF)
    box = app.open_box(here)
    there = _open(app, box.store, target)
    asker, asked = (
        _side(box, here.root, None if here.outside else here.clone),
        _side(there, target.path, target.worktree),
    )
    who = app.session(session)
    post = _Post(app, box, who)

    def draft(identifier: str) -> Request:
        return requests.opened(identifier, asker, asked, text, ids.time_of(identifier), who)

    def send(one: Request) -> str:
        subject = f"request: {one.subject}" if one.subject else "request"
        content = Content(requests.brief_message(one), subject[: mail.SUBJECT_LIMIT], "request", _term(app))
        return post.queue(there, target.path, content)

    opened = requestbox.open_request(box.store, draft, app.now, app.edge.entropy, send)
    request_view.opened(app, opened, post.queued, as_json)


@request.command(cls=Verb)
@ASKED
@bodies.options(packet=True)
@SESSION
@AS_JSON
@click.pass_obj
def close(app: App, asked: str, given: Given, session: str | None, as_json: bool) -> None:
    """Answer a request with its result: the worktree that asked is mailed it. Only the recipient closes."""
    here = app.place
    box = app.existing_box(here)
    side, who = _side(box, here.root, None if here.outside else here.clone), app.session(session)
    one = requestbox.demand(box.store, asked)
    requests.closed(one, side, "", app.now, who)  # what is refused is refused before a person writes a result
    text = _packet(app, given, RESULT)
    post = _Post(app, box, who)

    def send(closed: Request) -> str:
        path = requestbox.home(box.store, closed.from_key, closed.from_worktree)
        target = _target(app, os.fsdecode(path) or closed.from_path, outside=True)
        subject = f"result: {closed.subject}" if closed.subject else "result"
        reply = closed.brief_mail if ids.is_id(closed.brief_mail or "") else None
        body = requests.result_message(closed)
        content = Content(body, subject[: mail.SUBJECT_LIMIT], "result", _term(app), in_reply_to=reply)
        return post.queue(_open(app, box.store, target), target.path, content)

    closed = requestbox.close_request(
        box.store, one.id, lambda found: requests.closed(found, side, text, app.now, who), send
    )
    request_view.closed(app, closed, post.queued, as_json)


class _Post:
    """Queues one mail from this worktree and remembers what became of it."""

    def __init__(self, app: App, box: Box, who: str | None) -> None:
        self.app = app
        self.box = box
        self.head = Letterhead(box.key, app.place.root, app.head(app.place).branch, who)
        self.queued: Queued | None = None

    def queue(self, there: Box, path: bytes, content: Content) -> str:
        edge = self.app.edge
        checked = mail.checked(content)
        self.queued = mail.queue(self.box, there, path, self.head, checked, edge.entropy, self.app.now)
        return self.queued.id


def _packet(app: App, given: Given, kind: str) -> str:
    """The body as a packet of this type; what is missing in it is only a warning."""
    text = bodies.demand(app, given, limit=LIMIT, what=kind, template=packets.TEMPLATES[kind])
    text = packets.titled(text, kind)
    bodies.advise(app, text, kind)
    return text


def _target(app: App, path: str, *, outside: bool) -> Target:
    """The other side: a worktree of this clone, for the record of a request lies in the clone's store."""
    target = addresses.resolve(path, app.place, app.directory, app.edge.env, outside=outside)
    if not target.own:
        raise Refused(
            f"'{path}' is no worktree of this clone", hint="git coop mail send --to PATH writes to another clone"
        )
    if target.path == app.place.root:
        raise Refused("a request is for another worktree", hint="for this one there are todos and letters")
    return target


def _open(app: App, store: Store, target: Target) -> Box:
    """The other side's box, ready for a message."""
    opened = addresses.open_target(target, store, app.new_store, app.fresh_id())
    for text in opened.notes:
        app.note(text)
    return opened.box


def _side(box: Box, root: bytes, worktree: Worktree | None) -> Side:
    return requestbox.side(box, root, None if worktree is None else layout.identity(worktree))


def _term(app: App) -> int:
    """How long the mails of a request wait: ``coop.ttl``, else the default."""
    from git_coop import config
    from git_coop.message import DEFAULT_TERM

    return config.load(app.directory, app.edge.env).ttl() or DEFAULT_TERM


@request.command("list", cls=Verb)
@click.option("--all", "closed", is_flag=True, help="The closed ones too.")
@click.option("--all-worktrees", "everywhere", is_flag=True, help="The requests of every worktree of the clone.")
@AS_JSON
@click.pass_obj
def list_(app: App, closed: bool, everywhere: bool, as_json: bool) -> int:
    """List the requests to and from this worktree, oldest first; exit 1 where a record cannot be read."""
    here = app.nearby
    store = here.store()
    if store is None:
        return request_view.listing(app, requestbox.Shelf(), None, closed=closed, as_json=as_json)
    side = None if everywhere else _side(here.look(store), here.root, None if here.outside else here.clone)
    return request_view.listing(app, requestbox.shelf(store), side, closed=closed, as_json=as_json)


@request.command(cls=Verb)
@ASKED
@click.option("--brief", "part", flag_value=BRIEF, help="The brief alone, byte for byte.")
@click.option("--result", "part", flag_value=RESULT, help="The result alone, byte for byte.")
@AS_JSON
@click.pass_obj
def show(app: App, asked: str, part: str | None, as_json: bool) -> None:
    """Show a request, its brief, and its result where it has one."""
    store = app.nearby.store()
    if store is None:
        raise NotFound("nothing is stored in this clone yet")
    one = requestbox.demand(store, asked)
    text = one.brief if part == BRIEF else one.result
    if part is None or as_json:
        request_view.whole(app, one, as_json)
    elif text is None:
        raise NotFound(f"request {one.id} is open: it has no result yet")
    else:
        app.write(text.encode("utf-8", "replace"))

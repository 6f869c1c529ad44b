"""``git coop mail send`` and ``reply``: words in, messages queued, the answer that they are queued and no more."""

import os
from collections.abc import Callable
from typing import Any

import click

from git_coop import addresses, head, mail
from git_coop.addresses import ALL, Target
from git_coop.cli import bodies, mail_queued
from git_coop.cli.app import App
from git_coop.cli.bodies import Given
from git_coop.cli.frame import Verb
from git_coop.cli.mail_queued import Failure, Sending
from git_coop.cli.mail_words import AS_JSON, ASKED, BOX, SESSION, box_of, term
from git_coop.errors import CoopError, NotFound, Refused, Usage
from git_coop.layout import Box
from git_coop.mail import SUBJECT_LIMIT, Content, Letterhead
from git_coop.message import BODY_LIMIT
from git_coop.place import Place
from git_coop.text import safe_line


def _content(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of whatever sends."""
    for option in (
        click.option("--to-session", metavar="<id>", help="Show it to this session only; the address stays the path."),
        click.option("--ttl", metavar="<time>", help="How long it waits: minutes, 90m, 36h, 3d (default: coop.ttl)."),
        click.option("--kind", metavar="<word>", help="A label of up to 16 characters; it changes nothing."),
        click.option("--subject", metavar="<text>", help="A line about it."),
        bodies.options(packet=True),
    ):
        command = option(command)
    return command


@click.command(cls=Verb)
@click.option("--to", metavar="<path>", multiple=True, help="A worktree (needed, repeatable), or 'all': every other.")
@_content
@click.option("--in-reply-to", metavar="<id>", help="The message that this one answers.")
@click.option("--outside", is_flag=True, help="The path may be a directory in no repository.")
@SESSION
@AS_JSON
@click.pass_obj
def send(
    app: App,
    to: tuple[str, ...],
    given: Given,
    subject: str | None,
    kind: str | None,
    ttl: str | None,
    to_session: str | None,
    in_reply_to: str | None,
    outside: bool,
    session: str | None,
    as_json: bool,
) -> int:
    """Queue a message for the sessions in other worktrees."""
    if not to:
        raise Usage("a message needs a recipient", hint="git coop mail send --to PATH, or --to all")
    here = app.nearby
    text = bodies.demand(app, given, limit=BODY_LIMIT, what="message", template="")
    if given.packet is not None:
        bodies.advise(app, text)
    content = mail.checked(Content(text, subject, kind, term(app, ttl), to_session))
    if in_reply_to is not None:
        content = content.replace(in_reply_to=_known(app, here, in_reply_to))
    targets, failures = _targets(app, here, to, outside)
    return _send(app, here, targets, failures, content, app.session(session), as_json)


@click.command(cls=Verb)
@ASKED
@_content
@BOX
@SESSION
@AS_JSON
@click.pass_obj
def reply(
    app: App,
    asked: str,
    given: Given,
    subject: str | None,
    kind: str | None,
    ttl: str | None,
    to_session: str | None,
    box: str | None,
    session: str | None,
    as_json: bool,
) -> int:
    """Answer a message: its sender's worktree is mailed, where git lists it in this clone."""
    from git_coop import mailbox

    here = app.nearby
    home = box_of(app, here, box)
    identifier, state = mailbox.find(home, asked)
    answered = mailbox.read(home, identifier, state)
    path = _sender(app, here, identifier, answered.from_path)
    text = bodies.demand(app, given, limit=BODY_LIMIT, what="message", template="")
    if given.packet is not None:
        bodies.advise(app, text)
    if subject is None and answered.subject:
        subject = _about(answered.subject)
    content = mail.checked(Content(text, subject, kind, term(app, ttl), to_session, identifier))
    target = addresses.resolve(os.fsdecode(path), here, app.directory, app.edge.env, outside=False)
    return _send(app, here, [target], [], content, app.session(session), as_json)


def _sender(app: App, here: Place, identifier: str, claimed: str | None) -> bytes:
    """The path to answer to: a sender's path is a claim, and counts where git lists a worktree of this clone there."""
    from git_coop import header

    by_hand = f"name the recipient yourself: git coop mail send --to PATH --in-reply-to {identifier}"
    if not claimed:
        raise Refused(f"message {identifier} names no sender to answer", hint=by_hand)
    path = addresses.peer(here, app.edge.env, header.value_bytes(claimed))
    if path is None:
        raise Refused(f"the sender of {identifier} says '{claimed}', which is no worktree of this clone", hint=by_hand)
    return path


def _about(subject: str) -> str:
    safe = safe_line(subject)
    return safe_line(safe if safe[:3].lower() == "re:" else f"Re: {safe}", SUBJECT_LIMIT)


def _known(app: App, here: Place, asked: str) -> str:
    """The message that is answered: one that came here or that was sent from here."""
    from git_coop import ids, mailbox, sent

    box = app.own_box(here)
    if box is None:
        raise NotFound(f"no message '{asked}' is known here: nothing is stored in this clone yet")
    try:
        return mailbox.find(box, asked)[0]
    except NotFound:
        known = sent.known(box)
    try:
        return ids.pick(asked, known, what="message")
    except NotFound as error:
        hint = "it answers a message in this worktree's box, or one that was sent from here"
        raise NotFound(f"{error.sentence} is known here", hint=hint) from None


def _targets(app: App, here: Place, to: tuple[str, ...], outside: bool) -> tuple[list[Target], list[Failure]]:
    """Every address resolved, each place once; what fails hides no other."""
    found: dict[bytes, Target] = {}
    failures: list[Failure] = []
    for word, text in _addressed(app, here, to, failures):
        try:
            target = addresses.resolve(text, here, app.directory, app.edge.env, outside=outside)
            found.setdefault(target.path, target)
        except CoopError as error:
            failures.append(Failure(word, error))
    return list(found.values()), failures


def _addressed(app: App, here: Place, to: tuple[str, ...], failures: list[Failure]) -> list[tuple[str, str]]:
    """(as the failure names it, path) of every recipient; ``all`` is every other worktree that git lists."""
    paths = []
    for word in to:
        if word != ALL:
            paths.append((word, word))
            continue
        try:
            paths += [(os.fsdecode(path), os.fsdecode(path)) for path in addresses.everyone(here, app.edge.env)]
        except CoopError as error:
            failures.append(Failure(word, error))
    return paths


def _send(
    app: App,
    here: Place,
    targets: list[Target],
    failures: list[Failure],
    content: Content,
    who: str | None,
    as_json: bool,
) -> int:
    """Queue one copy for each box, and answer; the exit status."""
    done: list[Sending] = []
    if targets:
        own = app.open_box(here)
        branch = None if here.outside else head.branch(here.clone, app.edge.env)
        letterhead = Letterhead(own.key, here.root, branch, who)
        run = app.fresh_id() if len(targets) > 1 else ""
        boxes: set[Box] = set()
        for target in targets:
            try:
                box = _open(app, own, target)
                if box not in boxes:
                    boxes.add(box)
                    queued = mail.queue(own, box, target.path, letterhead, content, app.edge.entropy, app.now, run)
                    done.append(Sending(queued, target.own))
            except CoopError as error:
                failures.append(Failure(os.fsdecode(target.path), error))
    return mail_queued.answer(app, done, failures, content, as_json)


def _open(app: App, own: Box, target: Target) -> Box:
    opened = addresses.open_target(target, own.store, app.new_store, app.fresh_id())
    for text in opened.notes:
        app.note(f"{os.fsdecode(target.path)}: {text}")
    return opened.box

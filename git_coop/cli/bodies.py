"""The options that give a body, the same wherever a command takes one."""

import os
from collections.abc import Callable
from typing import Any

import click

from git_coop import body, guard
from git_coop.cli.app import App
from git_coop.errors import Refused, Usage
from git_coop.record import Record


class Given(Record):
    """The body options of one call, as the words had them."""

    texts: tuple[str, ...]
    file: str | None
    packet: str | None = None

    @property
    def none(self) -> bool:
        return not self.texts and self.file is None and self.packet is None


def options(*, packet: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``-m``, ``-F`` and, where ``packet``, ``--from-packet``; the command gets one ``given``."""

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        def called(
            *args: Any, texts: tuple[str, ...], file: str | None, from_packet: str | None = None, **rest: Any
        ) -> Any:
            return command(*args, given=Given(texts, file, from_packet), **rest)

        called.__name__, called.__doc__ = command.__name__, command.__doc__
        called.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
        if packet:
            called = click.option("--from-packet", metavar="<file>", help="The body is this handoff packet, whole.")(
                called
            )
        called = click.option(
            "-F", "--file", metavar="<file>", help="Read the body from a file; '-' is standard input."
        )(called)
        text = click.option("-m", "--body", "texts", metavar="<text>", multiple=True)
        called = text(called)
        called.__click_params__[-1].help = "The body; several make paragraphs; '-' reads it from standard input."  # type: ignore[attr-defined]
        return called

    return wrap


def read(app: App, given: Given, *, limit: int, what: str) -> str | None:
    """The body that the options name, checked; ``None`` where none of them was given."""
    if given.packet is not None:
        if given.texts or given.file is not None:
            raise Usage("option '--from-packet' cannot be used with '-m' or '-F'")
        return _packet(app, given.packet, limit, what)
    return body.gather(given.texts, given.file, stdin=app.edge.stdin, cwd=app.edge.cwd, limit=limit, what=what)


def _packet(app: App, path: str, limit: int, what: str) -> str:
    """A packet, whole, of the type that such a thing is written from."""
    from git_coop import packet_file, packets

    text = body.from_bytes(packet_file.read(path, app.edge), limit=limit, what=what)
    kind = packets.kind_of(text)
    if packets.CARRIED.get(what, kind) != kind:
        raise Refused(f"a {what} is written from a {packets.CARRIED[what]}, and this packet is a {kind}")
    return text


def advise(app: App, text: str, kind: str | None = None) -> None:
    """Warn of what a packet lacks; it is never refused for that, for it may hold its session's last words.

    ``kind`` is its type, where its first line does not say.
    """
    from git_coop import packets

    for finding in packets.check(text, kind or packets.kind_of(text)):
        app.warn(f"{finding.section}: {finding.problem}")


def demand(
    app: App,
    given: Given,
    *,
    limit: int,
    what: str,
    template: str | None = None,
    ways: str = "",
    judge: Callable[[str], None] | None = None,
) -> str:
    """The body; without options the editor's on a terminal, else a usage error: an open pipe is never waited on.

    ``judge`` refuses a body that will not do.
    """
    text = read(app, given, limit=limit, what=what)
    if text is None and template is not None and app.edge.stdin.isatty() and app.edge.stdout.isatty():
        return edit(app, template, limit=limit, what=what, judge=judge)
    if text is not None:
        if judge is not None:
            judge(text)
        return text
    raise Usage(f"the {what} needs a body", hint=ways or body.WAYS)


def edit(app: App, template: str, *, limit: int, what: str, judge: Callable[[str], None] | None = None) -> str:
    """The body as the user's editor leaves it; one left as it was is no body. One that is refused is kept in a file."""
    from git_coop import packet_file

    text = packet_file.edited(template, app.edge)
    if text.strip() == template.strip():
        left = "left as its template" if template else "left empty"
        raise Refused(f"the {what} was {left}", hint="nothing was stored")
    try:
        checked = body.from_bytes(text.encode(), limit=limit, what=what)
        if judge is not None:
            judge(checked)
    except Refused as error:
        if text.strip():
            kept = os.fsdecode(packet_file.write_fresh(text.encode(), app.edge))
            error.hint += f"\nwhat was written is kept in '{kept}'"
        raise
    return checked


def guarded(text: str | None) -> str | None:
    """The body, past the guard against pointers in place of a handoff."""
    if text is not None:
        guard.check(text)
    return text

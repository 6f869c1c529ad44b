"""``git coop handoff``: packets that say what a good message contains, for as long as it takes to read them."""

import os
import shlex

import click

from git_coop import body, packet_file, packets
from git_coop.cli import bodies
from git_coop.cli.app import App
from git_coop.cli.bodies import Given
from git_coop.cli.frame import Family, Verb
from git_coop.errors import Refused, Usage
from git_coop.packets import BRIEF, CONTINUATION, RESULT, TYPES, Finding
from git_coop.text import quote_path, visible

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
LIMIT = packet_file.LIMIT
_LASTING = {
    BRIEF: "git coop request open --to PATH --from-packet {} makes it a request",
    RESULT: "git coop request close ID --from-packet {} answers a request with it",
    CONTINUATION: "git coop letter write --from-packet {} makes it a letter",
}


@click.group(cls=Family)
def handoff() -> None:
    """Briefs, results and continuations: templates, checks, and files to pass them on."""


def _kind(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if value in TYPES:
        return value
    raise Usage(f"no packet type '{value[:40]}'", hint="the types are " + ", ".join(TYPES))


@handoff.command(cls=Verb)
@click.argument("kind", metavar="[brief|result|continuation]", default=CONTINUATION, callback=_kind)
@click.option("-m", "--body", "texts", metavar="<text>", multiple=True, help="The packet; '-' reads standard input.")
@click.option("-F", "source", metavar="<file>", help="Read the packet from a file; '-' is standard input.")
@click.option("--file", "target", metavar="<out>", help="The output: this file, which must not exist yet.")
@AS_JSON
@click.pass_obj
def write(app: App, kind: str, texts: tuple[str, ...], source: str | None, target: str | None, as_json: bool) -> None:
    """Write a packet, and print how to read it (a result that is not bulky is printed itself)."""
    given = Given(texts, source)
    text = bodies.demand(app, given, limit=LIMIT, what="packet", template=packets.TEMPLATES[kind])
    text = packets.titled(text, kind)
    data, findings = text.encode(), packets.check(text, kind)
    path = _store(app, kind, data, target)
    shown = None if path is None else quote_path(path)
    if as_json:
        packet = text if path is None else None
        app.json({"type": kind, "path": shown, "bytes": len(data), "packet": packet, "findings": _records(findings)})
    elif shown is None:
        app.write(_on_terminal(app, text).encode())
    else:
        app.out(f"read {shown}")
    for finding in findings:
        app.warn(f"{finding.section}: {finding.problem}")
    if shown is not None:
        word = shlex.quote(shown)
        app.hint(f"git coop handoff read {word} prints it with what to do")
        app.hint(f"this file does not last; {_LASTING[kind].format(word)}")


def _store(app: App, kind: str, data: bytes, target: str | None) -> bytes | None:
    """Where the packet was written; ``None`` where it is to be printed."""
    if target is not None:
        return packet_file.write_to(target, data, app.edge)
    if kind == RESULT and len(data) <= packets.BULKY:
        return None
    return packet_file.write_fresh(data, app.edge)


def _on_terminal(app: App, text: str) -> str:
    return visible(text) if app.edge.stdout.isatty() else text


def _records(findings: tuple[Finding, ...]) -> list[dict[str, object]]:
    return [finding.values() for finding in findings]


@handoff.command(cls=Verb)
@click.argument("path", metavar="<file>")
@click.option("--raw", is_flag=True, help="The packet alone, byte for byte.")
@AS_JSON
@click.pass_obj
def read(app: App, path: str, raw: bool, as_json: bool) -> None:
    """Print a packet, and what to do with one of its type."""
    data = packet_file.read(path, app.edge)
    text = body.from_bytes(data, limit=LIMIT, what="packet")
    kind = packets.kind_of(text)
    if as_json:
        shown = quote_path(os.fsencode(path))
        app.json({"type": kind, "path": shown, "bytes": len(data), "advice": packets.ADVICE[kind], "packet": text})
        return
    if raw:
        app.write(data)
        return
    app.out(f"packet {quote_path(os.fsencode(path))}\nType:    {kind}\nTo do:   {packets.ADVICE[kind]}\n")
    shown = _on_terminal(app, text)
    app.write((shown if shown.endswith("\n") else shown + "\n").encode())


@handoff.command(cls=Verb)
@click.argument("path", metavar="[<file>]", required=False)
@AS_JSON
@click.pass_obj
def check(app: App, path: str | None, as_json: bool) -> int:
    """Judge a packet, a file's or standard input's: name what is missing, and exit 1 where anything is."""
    text = body.from_bytes(_packet(app, path), limit=LIMIT, what="packet")
    try:
        kind: str | None = packets.kind_of(text)
    except Refused:
        kind = None
    findings = (_untyped(),) if kind is None else packets.check(text, kind)
    if as_json:
        app.json({"type": kind, "complete": not findings, "findings": _records(findings)})
    else:
        for finding in findings:
            app.out(f"{finding.section}: {finding.problem}")
        if not findings:
            app.out(f"{kind}: complete")
    return 1 if findings else 0


def _packet(app: App, path: str | None) -> bytes:
    if path is not None and path != "-":
        return packet_file.read(path, app.edge)
    if app.edge.stdin.isatty():
        raise Usage("checking needs a packet", hint="name its file, or give it on standard input")
    return body.read_stream(app.edge.stdin, LIMIT)


def _untyped() -> Finding:
    lines = ", ".join(f"'{packets.title(kind)}'" for kind in TYPES)
    return Finding("first line", f"it names no packet type: make it one of {lines}")


@handoff.command(cls=Verb)
@click.argument("kind", metavar="brief|result|continuation", callback=_kind)
@AS_JSON
@click.pass_obj
def template(app: App, kind: str, as_json: bool) -> None:
    """Print the template of a packet: each section with one line of guidance, which the text replaces."""
    if as_json:
        app.json({"type": kind, "template": packets.TEMPLATES[kind]})
    else:
        app.write(packets.TEMPLATES[kind].encode())

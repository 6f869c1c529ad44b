"""``git coop drain`` as hooks call it: the words, the payload, the answer, and no way to disturb a client.

Where a client is there, the exit status is 0 and standard error is empty, whatever happens: clients read 2 as
"block", and show a hook's errors to their users at every turn. Without one, it is a command like any other.
"""

import os

from git_coop import drain
from git_coop.clients import payload
from git_coop.clients.event import PROMPT, START, STOP, Event, Say
from git_coop.drain_run import Order
from git_coop.errors import CoopError, Usage
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.clients import Adapter
    from git_coop.edge import Edge

OPTIONS = ("event", "client", "session", "cwd", "anchor")


class Words(Record):
    """The options of one call; an option that was not given is ``None``."""

    event: "str | None" = None
    client: "str | None" = None
    session: "str | None" = None
    cwd: "str | None" = None
    anchor: "str | None" = None


def main(argv: "list[str]", edge: "Edge") -> "int | None":
    """Drain with these words; ``None``: they are none of the plain forms, and the command line proper reads them.

    The plain forms are ``--name VALUE`` and ``--name=VALUE`` for the options of a drain. With ``--client`` among
    words that are none, the answer is still the client's.
    """
    try:
        words = parsed(argv)
    except Usage as error:
        if not any(word.startswith("--client") for word in argv):
            return None
        return _misused(argv, edge, error)
    return call(words, edge)


def parsed(argv: "list[str]") -> Words:
    """The options in ``argv``; ``Usage`` for anything that is none, has no value, or stands twice."""
    given: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in OPTIONS or name in given:
            raise Usage(f"'{word}' is no option of a drain, or stands twice")
        if not equals:
            value = next(words, "")
        if not value:
            raise Usage(f"option '--{name}' needs a value")
        given[name] = value
    if given.get("event", START) not in (START, PROMPT, STOP):
        raise Usage(f"'{given['event']}' is no event", hint="the events are start, prompt and stop")
    return Words(**given)


def call(words: Words, edge: "Edge") -> int:
    """Drain; a payload on standard input or a named client makes it a client's call."""
    try:
        data = payload.read(edge.stdin, expected=words.client is not None)
        fields = payload.decode(data) if data else None
        if fields is None and words.client is None:
            return _in_text(words, edge)
        return _for_client(words, fields or {}, edge)
    except (CoopError, OSError):
        if words.client is None:
            raise
        return 0


def _for_client(words: Words, fields: "dict[str, object]", edge: "Edge") -> int:
    from git_coop import clients

    try:
        name = clients.recognise(fields, edge.env, words.client)
        adapter = clients.adapter(name)
        event = adapter.event(fields, edge.env)
    except CoopError as error:  # an unknown client's name: nobody's shape is known
        return _quietly(edge, Say(human=error.sentence), None, Event(""))
    if words.event is not None:
        event = event.replace(kind=words.event)
    if words.session is not None:
        event = event.replace(session=words.session)

    def emit(say: Say) -> None:
        answer = adapter.answer(event, say)
        if answer:
            edge.stdout.write(answer)

    try:
        drain.run(_order(words, event, edge, adapter), edge, emit)
    except OSError:
        return 0  # the client has left: what was not shown is not marked
    except Exception as error:
        _trace(edge)
        return _quietly(edge, _crash(event, error, edge), adapter, event)
    return 0


def _order(words: Words, event: Event, edge: "Edge", adapter: "Adapter | None") -> Order:
    """The order for a drain; a directory that a payload or an option names is taken without git's variables."""
    from git_coop import discover

    named = words.cwd or event.directory
    start = _as_path(named) if named else edge.cwd
    env = discover.without_local(edge.env) if named else edge.env
    carries = adapter is None or adapter.PROMPT_CARRIES

    def stop_shows() -> bool:
        from git_coop import config

        return adapter is None or config.stop_shows(adapter.STOP_CHANNEL, start or b"/", env)

    return Order(event, start or b"", env, adapter is None, words.anchor, carries, stop_shows)


def _as_path(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _in_text(words: Words, edge: "Edge") -> int:
    from git_coop import session, text_drain

    event = Event(words.event or PROMPT, session=session.current(edge.env, words.session), directory=words.cwd)

    def emit(say: Say) -> None:
        if say.text:
            edge.stdout.write(say.text.encode("utf-8", "replace"))

    outcome = drain.run(_order(words, event, edge, None), edge, emit)
    return text_drain.report(outcome, edge)


def _crash(event: Event, error: Exception, edge: "Edge") -> Say:
    from git_coop.render import render_faults

    text = render_faults([f"the drain failed: {type(error).__name__}: {error}"], now=edge.clock(), mark_up=True)
    return Say(human=text) if event.kind == STOP else Say(text)


def _quietly(edge: "Edge", say: Say, adapter: "Adapter | None", event: Event) -> int:
    """Answer if it can be done at all; a client is never told by a status or by standard error."""
    try:
        edge.stdout.write(adapter.answer(event, say) if adapter is not None else b"{}\n")
    except Exception:
        _trace(edge)
    return 0


def _misused(argv: "list[str]", edge: "Edge", error: Usage) -> int:
    """Words that are no drain's, from a client: the fault goes where the client's own shape has a place for it."""
    name = next((word.partition("=")[2] for word in argv if word.startswith("--client=")), "")
    if not name:
        at = argv.index("--client") if "--client" in argv else len(argv)
        name = argv[at + 1] if at + 1 < len(argv) else ""
    from git_coop import clients
    from git_coop.render import render_faults

    data = payload.read(edge.stdin, expected=True)
    fields = (payload.decode(data) if data else None) or {}
    if name not in clients.NAMES:
        return _quietly(edge, Say(), None, Event(""))
    adapter = clients.adapter(clients.recognise(fields, edge.env, name))
    event = adapter.event(fields, edge.env)
    text = render_faults([f"the hook's command is wrong: {error.sentence}"], now=edge.clock(), mark_up=True)
    return _quietly(edge, Say(human=text) if event.kind == STOP else Say(text), adapter, event)


def _trace(edge: "Edge") -> None:
    """A traceback for who asked for one; a hook's standard error is empty otherwise."""
    if edge.env.get("GIT_COOP_DEBUG") != "1":
        return
    import traceback

    edge.stderr.write(traceback.format_exc().encode("utf-8", "replace"))

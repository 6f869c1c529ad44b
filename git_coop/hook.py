"""``git coop drain`` as hooks call it: the words, the payload, the answer, and no way to disturb a client.

Where a client is there, the exit status is 0 and standard error is empty, whatever happens: clients read 2 as
"block", and show a hook's errors to their users at every turn. Without one, it is a command like any other.
"""

import os

from git_coop import drain
from git_coop.edge import received
from git_coop.errors import Usage
from git_coop.event import PROMPT, START, STOP, Event, Order, Outcome, Say
from git_coop.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_coop.clients import Adapter
    from git_coop.edge import Edge

OPTIONS = ("event", "client", "session", "cwd", "anchor")
_HELP = ("-h", "--help")


class Words(Record):
    """The options of one call; an option that was not given is ``None``."""

    event: "str | None" = None
    client: "str | None" = None
    session: "str | None" = None
    cwd: "str | None" = None
    anchor: "str | None" = None


def main(argv: "list[str]", edge: "Edge") -> "int | None":
    """Drain with these words; ``None``: they are none of the plain forms, and the command line proper reads them.

    The plain forms are ``--name VALUE`` and ``--name=VALUE`` for the options of a drain; the last of several counts.
    Words that are none and come from a client, which a payload or ``--client`` shows, are answered as a client is.
    """
    if any(word in _HELP for word in argv):
        return None
    try:
        words = parsed(argv)
    except Usage as error:
        return _misused(argv, edge, error)
    try:
        fields = _payload(edge, words.client is not None)
    except KeyboardInterrupt:
        return _interrupted(words.client, edge)
    if fields is not None or words.client is not None:
        return _for_client(words, fields or {}, edge)
    try:
        return _in_text(words, edge)
    except (KeyboardInterrupt, Exception) as error:
        from git_coop.cli import root

        return root.failed(error, edge)


def call(words: Words, edge: "Edge") -> int:
    """Drain; a payload on standard input or a named client makes it a client's call. Text mode raises its errors."""
    fields = _payload(edge, words.client is not None)
    if fields is None and words.client is None:
        return _in_text(words, edge)
    return _for_client(words, fields or {}, edge)


def parsed(argv: "list[str]") -> Words:
    """The options in ``argv``; ``Usage`` for anything that is none or has no value."""
    given: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in OPTIONS:
            raise Usage(f"'{word}' is no option of a drain")
        if not equals:
            value = next(words, "")
        if not value:
            raise Usage(f"option '--{name}' needs a value")
        given[name] = value
    if given.get("event", START) not in (START, PROMPT, STOP):
        raise Usage(f"'{given['event']}' is no event", hint="the events are start, prompt and stop")
    return Words(**given)


def _payload(edge: "Edge", expected: bool) -> "dict[str, object] | None":
    data = received(edge.stdin, expected=expected)
    if not data:
        return None
    try:
        from git_coop import payload
    except Exception:  # an installation in pieces: the client's answer says so, as far as there is one
        return {} if data.lstrip().startswith(b"{") else None
    return payload.decode(data)


class Reply:
    """The answer to a client: one object at most, whatever happens."""

    def __init__(self, edge: "Edge") -> None:
        self.edge = edge
        self.adapter: Adapter | None = None
        self.event = Event("")
        self.begun = False  # whether anything was written, or could not be

    def meet(self, words: Words, fields: "Mapping[str, object]") -> None:
        """Learn which client is there and what happened to it; options beat the payload."""
        from git_coop import clients

        self.adapter = clients.adapter(clients.recognise(fields, self.edge.env, words.client))
        self.event = self.adapter.event(fields, self.edge.env)
        if words.event is not None:
            self.event = self.event.replace(kind=words.event)
        if words.session is not None:
            self.event = self.event.replace(session=words.session)

    def emit(self, say: Say) -> None:
        """Answer; ``OSError`` where that did not get out."""
        answer = b"{}\n" if self.adapter is None else self.adapter.answer(self.event, say)
        if answer:
            self.begun = True
            self.edge.stdout.write(answer)

    def last(self, sentence: str) -> None:
        """Answer with a fault, or with nothing, where no answer was begun. It raises nothing."""
        if self.begun:
            return
        try:
            self.emit(self._fault(sentence))
        except BaseException:
            self._bare()

    def _fault(self, sentence: str) -> Say:
        if not sentence:
            return Say()
        from git_coop.render import render_faults

        text = render_faults([sentence], now=self.edge.clock(), mark_up=True)
        return Say(human=text) if self.event.kind == STOP else Say(text)

    def _bare(self) -> None:
        """The one object that every client takes for silence, where not even the renderer works."""
        try:
            if not self.begun:
                self.edge.stdout.write(b"{}\n")
        except BaseException:
            pass


def _for_client(words: Words, fields: "dict[str, object]", edge: "Edge") -> int:
    reply = Reply(edge)
    try:
        reply.meet(words, fields)
        drain.run(_order(words, reply.event, edge, reply.adapter), edge, reply.emit)
    except KeyboardInterrupt:
        reply.last("")
    except BaseException as error:
        _trace(edge)
        reply.last(f"the drain failed: {type(error).__name__}: {error}")
    return 0


def _order(words: Words, event: Event, edge: "Edge", adapter: "Adapter | None") -> Order:
    """The order for a drain; a directory that a payload or an option names is taken without git's variables."""
    from git_coop import discover

    named = words.cwd or event.directory
    start = os.path.join(edge.cwd or b"", _as_path(named)) if named else edge.cwd or b""
    env = discover.without_local(edge.env) if named else edge.env

    def stop_shows() -> bool:
        from git_coop import config

        return adapter is None or config.stop_shows(adapter.STOP_CHANNEL, start, env)

    carries = adapter is None or adapter.PROMPT_CARRIES
    return Order(event, start, env, adapter is None, words.anchor, carries, stop_shows)


def _as_path(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _in_text(words: Words, edge: "Edge") -> int:
    event = Event(words.event or PROMPT, session=edge.session(words.session), directory=words.cwd)

    def emit(say: Say) -> None:
        if say.text:
            edge.stdout.write(say.text.encode("utf-8", "replace"))

    outcome = drain.run(_order(words, event, edge, None), edge, emit)
    if outcome == Outcome():  # a stop at which nothing waited
        return 0
    from git_coop import text_drain

    return text_drain.report(outcome, edge)


def _misused(argv: "list[str]", edge: "Edge", error: Usage) -> "int | None":
    """Words that are no drain's, from a client: the fault goes where the client's own shape has a place for it."""
    named = any(word.startswith("--client") for word in argv)
    try:
        fields = _payload(edge, named)
    except KeyboardInterrupt:
        return _interrupted(_named_client(argv), edge)
    if fields is None and not named:
        return None
    reply = Reply(edge)
    try:
        reply.meet(Words(client=_named_client(argv)), fields or {})
        reply.last(f"the hook's command is wrong: {error.sentence}" if reply.event.kind else "")
    except BaseException:
        reply.last("")
    return 0


def _interrupted(client: "str | None", edge: "Edge") -> int:
    """Interrupted before it was known what happened: a client gets its empty answer."""
    if client is None:
        return 130
    reply = Reply(edge)
    try:
        reply.meet(Words(client=client), {})
    except BaseException:
        pass  # one object, then, that every client takes for silence
    reply.last("")
    return 0


def _named_client(argv: "list[str]") -> "str | None":
    """The value of ``--client`` among words that are otherwise wrong, where it is a client's."""
    from git_coop import clients

    pairs = zip(argv, [*argv[1:], ""], strict=True)
    values = [after if word == "--client" else word.partition("=")[2] for word, after in pairs if "--client" in word]
    return next((value for value in values if value in clients.NAMES), None)


def _trace(edge: "Edge") -> None:
    """A traceback for who asked for one; a hook's standard error is empty otherwise."""
    if edge.env.get("GIT_COOP_DEBUG") != "1":
        return
    import traceback

    try:
        edge.stderr.write(traceback.format_exc().encode("utf-8", "replace"))
    except OSError:
        pass

"""The answer to whoever sent: what is queued, until when, and whether anybody has ever looked into that box."""

import os
from collections.abc import Mapping, Sequence

from git_coop import clock, drained
from git_coop.cli.app import App
from git_coop.errors import CoopError, StoreFault
from git_coop.layout import Box
from git_coop.mail import Content, Queued
from git_coop.record import Record
from git_coop.render import fits
from git_coop.text import quote_path, safe_line

EVENTS = ("start", "prompt", "stop")
PATH = 200  # characters of a path; its end is kept


class Failure(Record):
    """A recipient that could not be sent to, in the sender's word, and why."""

    to: str
    error: CoopError


class Sending(Record):
    """A message that is queued; ``own``: in the sender's own clone."""

    queued: Queued
    own: bool


def answer(app: App, done: list[Sending], failures: list[Failure], content: Content, as_json: bool) -> int:
    """Tell what is queued on standard output and what failed beside it; the exit status.

    The one recipient of a call decides it by its own error; one of several makes it 1.
    """
    if as_json:
        failed = [{"to": json_text(each.to), "reason": safe_line(each.error.sentence)} for each in failures]
        app.json({"queued": [record(each) for each in done], "failed": failed})
    else:
        for each in done:
            app.out("\n".join(_lines(app, each)))
        if not done and not failures:
            app.out("nobody to send to: this clone has no other worktree; nothing was queued")
    if done and not fits(content.body):
        app.warn("the body is larger than what a drain shows at once: it will be shown cut")
    warn_of_silence(app, [each.queued for each in done])
    return _fail(app, done, failures)


def warn_of_silence(app: App, done: Sequence[Queued]) -> None:
    """Say loudly where nobody has ever looked: mail that waits there may wait for ever."""
    silent = [quote_path(each.path, PATH) for each in done if each.drained is None]
    if len(silent) == 1:
        app.warn(f"'{silent[0]}' was never drained: is a hook installed there? (git coop hooks status)")
    elif silent:
        app.warn(
            f"'{silent[0]}' and {len(silent) - 1} more were never drained: are hooks installed there?"
            " (git coop hooks status)"
        )


def _fail(app: App, done: list[Sending], failures: list[Failure]) -> int:
    lone = len(failures) == 1 and not done
    for each in failures:
        label = each.error.label if lone else "error"
        named = "" if lone or each.to in each.error.sentence else f"cannot send to '{each.to}': "
        app.note(f"{label}: {named}{each.error.sentence}")
        for line in each.error.hint.split("\n"):
            if line:
                app.hint(line)
    return 0 if not failures else failures[0].error.status if lone else 1


def _lines(app: App, each: Sending) -> list[str]:
    queued = each.queued
    where = " (this worktree)" if each.own and queued.path == app.nearby.root else ""
    lines = [f"queued {queued.id} for {quote_path(queued.path, PATH)}{where}"]
    if not each.own:
        lines.append(f"  in another clone, whose own drain will look: {quote_path(queued.box.store.root, PATH)}")
    last = "NEVER" if queued.drained is None else app.age(queued.drained.at)
    lines.append(f"  expires {clock.rfc3339(queued.expires)}; that box was last drained: {last}")
    if queued.off:
        lines.append("  delivery is OFF there: it is held and not lost, until git coop mail on")
    return lines


def drains_of(box: Box) -> dict[str, object]:
    """``drains`` of a box; a record that cannot be read tells of none, and stands in no answer's way."""
    try:
        return drains(drained.read(box))
    except StoreFault:
        return drains({})


def drains(seen: Mapping[str, drained.Last]) -> dict[str, object]:
    """When each event was last drained, and by which client, for ``--json``; null for one that never was."""
    return {event: _drain(seen[event]) if event in seen else None for event in EVENTS}


def _drain(last: drained.Last) -> dict[str, object]:
    return {"at": clock.rfc3339(last.at), "client": None if last.client in ("", "-") else safe_line(last.client)}


def record(each: Sending) -> dict[str, object]:
    """A queued message for ``--json``."""
    queued = each.queued
    return {
        "id": queued.id,
        "state": "inbox",
        "box": queued.box.key,
        "path": json_text(queued.path),
        "store": json_text(queued.box.store.root),
        "own_clone": each.own,
        "expires": clock.rfc3339(queued.expires),
        "drained": drains_of(queued.box),
        "off": queued.off,
    }


def json_text(value: str | bytes) -> str:
    """Text for JSON, as it is; bytes that are not UTF-8 and lone surrogates become ``?``."""
    text = os.fsdecode(value) if isinstance(value, bytes) else value
    return text.encode("utf-8", "replace").decode()

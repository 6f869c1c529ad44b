"""The commands that are killed, failed and traced, each with its beginning and with what its success promises.

A command that is new gets a row here, and with it every test of this folder.
"""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.faults.beginnings import (
    BODY,
    SESSION,
    asked,
    expired,
    held,
    left_by_a_kill,
    letters,
    mailed,
    moved,
    moved_into_the_old,
    nothing,
    old,
    over,
    room_for_packets,
    settings,
    shown,
    stranded,
    unmarked,
    untold,
    waiting,
    wired,
    with_letter,
    with_todo,
)
from tests.faults.promises import (
    Facts,
    a_ledger_more,
    brought_over,
    delivery,
    either_settings,
    every_filed,
    every_marked,
    every_shown,
    expired_and_told,
    filed,
    hooks_there,
    in_client,
    ledger_says,
    letter_is,
    letter_shown,
    mended,
    packet_named,
    packet_whole,
    parked,
    requeued,
    sender_told,
    sent_to,
    swept,
    written,
)
from tests.faults.stage import Ended, Stage
from tests.invariants import State

CLAUDE = ("drain", "--client", "claude")
TO_MAIN = ("--body", "-")


class Command(NamedTuple):
    """One row. ``promise`` is what an exit status of 0 says; a client's status is always 0 and says nothing.

    The word ``ID`` in ``argv`` stands for what ``prepare`` answers. ``speaks_last``: the output comes after the effect.
    ``status`` is that of a run without a fault. ``settles``: what it left is settled by running it again, before the
    drain. ``elsewhere`` says what is wrong outside the store.
    """

    name: str
    argv: tuple[str, ...]
    prepare: Callable[[Stage], str | None]
    promise: Callable[[Facts], bool]
    where: str = "main"
    stdin: bytes = b""
    env: Mapping[str, str] = {}
    client: bool = False
    speaks_last: bool = True
    status: int = 0
    settles: bool = False
    requeues: bool = False
    elsewhere: Callable[[Stage, Ended], list[str]] = lambda _stage, _ended: []
    removes: Callable[[State], frozenset[str]] = lambda _before: frozenset()


def payload(event: str, **more: str) -> bytes:
    """What a client writes to a hook's standard input."""
    fields = {"hook_event_name": event, "session_id": "one", "cwd": "", **more}
    return json.dumps({name: value for name, value in fields.items() if value}).encode()


COMMANDS = [
    Command(
        "send, first run in a fresh clone",
        ("mail", "send", "--to", "../alpha", *TO_MAIN),
        nothing,
        sent_to("alpha"),
        stdin=BODY.encode(),
    ),
    Command(
        "send to one", ("mail", "send", "--to", "../alpha", *TO_MAIN), mailed, sent_to("alpha"), stdin=BODY.encode()
    ),
    Command(
        "send to all", ("mail", "send", "--to", "all", *TO_MAIN), mailed, sent_to("alpha", "beta"), stdin=BODY.encode()
    ),
    Command("drain at start", ("drain", "--event", "start", *SESSION), with_letter, every_marked, speaks_last=False),
    Command("drain at prompt", ("drain", "--event", "prompt", *SESSION), shown, every_marked, speaks_last=False),
    Command("drain at prompt, no session", ("drain",), with_letter, every_shown, speaks_last=False),
    Command("drain at stop", ("drain", "--event", "stop", *SESSION), shown, every_filed),
    Command("drain at stop, nothing shown before", ("drain", "--event", "stop", *SESSION), with_letter, every_filed),
    Command(
        "client at start",
        CLAUDE,
        with_letter,
        in_client(every_shown),
        stdin=payload("SessionStart"),
        client=True,
        speaks_last=False,
    ),
    Command(
        "client at prompt",
        CLAUDE,
        shown,
        in_client(every_shown),
        stdin=payload("UserPromptSubmit", prompt="go on"),
        client=True,
        speaks_last=False,
    ),
    Command(
        "client at stop", CLAUDE, shown, in_client(every_filed), stdin=payload("Stop"), client=True, speaks_last=False
    ),
    Command(
        "expiry at the recipient's", ("drain", "--event", "start", *SESSION), over, expired_and_told, speaks_last=False
    ),
    Command(
        "expiry, told to the sender", ("drain", "--event", "start", *SESSION), untold, sender_told, speaks_last=False
    ),
    Command("recovery of what kills left", ("drain", "--event", "stop", *SESSION), left_by_a_kill, every_filed),
    Command(
        "adopting a move",
        ("drain", "--event", "start", *SESSION),
        moved,
        brought_over,
        where="alpha",
        speaks_last=False,
    ),
    Command(
        "adopting a move, by a sender",
        ("mail", "send", "--to", "../alpha-moved", *TO_MAIN),
        moved,
        sent_to("alpha-moved"),
        stdin=BODY.encode(),
    ),
    Command(
        "parking the box of a worktree that moved on",
        ("drain", "--event", "start", *SESSION),
        moved_into_the_old,
        parked,
        where="gamma",
        speaks_last=False,
    ),
    Command(
        "letter write, first run in a fresh clone", ("letter", "write", *TO_MAIN), nothing, written, stdin=BODY.encode()
    ),
    Command("letter write", ("letter", "write", *TO_MAIN), letters, written, stdin=BODY.encode()),
    Command("letter write over unmarked ones", ("letter", "write", *TO_MAIN), unmarked, written, stdin=BODY.encode()),
    Command("letter read", ("letter", "read", *SESSION), letters, letter_shown, speaks_last=False),
    Command("letter start", ("letter", "start", *SESSION), letters, letter_is("working")),
    Command("letter ack", ("letter", "ack", "-m", "all done", *SESSION), letters, letter_is("done")),
    Command("letter abandon", ("letter", "abandon", "--reason", "no", *SESSION), letters, letter_is("abandoned")),
    Command("mail read", ("mail", "read"), with_letter, every_filed),
    Command("mail reply", ("mail", "reply", "ID", *TO_MAIN), waiting, sent_to("beta"), stdin=BODY.encode()),
    Command("mail requeue of an expired one", ("mail", "requeue", "ID"), expired, requeued, requeues=True),
    Command("mail requeue of a stranded one", ("mail", "requeue", "ID"), stranded, requeued, requeues=True),
    Command("mail off", ("mail", "off"), mailed, delivery(off=True)),
    Command("mail on", ("mail", "on"), held, delivery(off=False)),
    Command("gc", ("gc",), old, swept, settles=True, removes=filed),
    Command("doctor --fix", ("doctor", "--fix"), left_by_a_kill, mended, status=1),
    Command("todo add", ("todo", "add", "second"), with_todo, a_ledger_more),
    Command("todo done", ("todo", "done", "ID"), with_todo, ledger_says("done")),
    Command(
        "request open", ("request", "open", "--to", "../alpha", *TO_MAIN), mailed, a_ledger_more, stdin=BODY.encode()
    ),
    Command("request close", ("request", "close", "ID", *TO_MAIN), asked, ledger_says("closed"), stdin=BODY.encode()),
    Command(
        "hooks install",
        ("hooks", "install", "claude"),
        settings,
        hooks_there(there=True),
        settles=True,
        elsewhere=either_settings,
    ),
    Command(
        "hooks uninstall",
        ("hooks", "uninstall", "claude"),
        wired,
        hooks_there(there=False),
        settles=True,
        elsewhere=either_settings,
    ),
    Command(
        "handoff write",
        ("handoff", "write", *TO_MAIN),
        room_for_packets,
        packet_named,
        stdin=BODY.encode(),
        elsewhere=packet_whole,
    ),
]

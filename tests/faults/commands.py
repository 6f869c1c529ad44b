"""The commands that are killed, failed and traced, each with its beginning and with what its success promises.

A command that is new gets a row here, and with it every test of this folder.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from git_coop import clock, mail
from git_coop.layout import Box
from git_coop.message import DEFAULT_TERM
from tests.faults.stage import Ended, Stage
from tests.invariants import State

BODY = "the state of the work\nand the end of the body\n"
OVER = 40 * clock.DAY
THEIRS = '{\n  "theme": "dark"\n}\n'
OURS = "drain --client claude"
SESSION = ("--session", "one")


class Facts(NamedTuple):
    """What a promise is judged by: the store before and after, what was said, and the key of the command's box."""

    before: State
    after: State
    ended: Ended
    key: str

    def new(self) -> set[str]:
        """The messages that came into an inbox."""
        return self.after.lying("inbox") - self.before.messages.keys()

    def shown(self, *names: str) -> bool:
        return all(name.encode() in self.ended.out for name in names)

    def letter(self, field: str) -> list[object]:
        """A field of each letter of the box, oldest first."""
        letters = self.after.letters.get(self.key, {})
        return [(letters[name] or {}).get(field) for name in sorted(letters)]


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


# Beginnings


def nothing(stage: Stage) -> None:
    """A fresh clone: no store."""


def send(stage: Stage, where: str = "main", body: str = BODY, term: int = DEFAULT_TERM, sender: str = "beta") -> str:
    """A message in the box of ``where``; its id."""
    stage.run("letter", "write", "-m", "to make the store", where=sender) if not stage.clone.coop.exists() else None
    own, there = _box(stage, sender), _box(stage, where)
    stage.now += clock.SECOND
    stage.runs += 1
    number = stage.runs
    head = mail.Letterhead(own.key, bytes(stage.roots[sender]), "work", "session of the sender")
    content = mail.Content(body, "a subject", term=term)
    path = bytes(stage.roots[where])
    return mail.queue(own, there, path, head, content, lambda size: number.to_bytes(size, "big"), stage.now).id


def _box(stage: Stage, name: str) -> Box:
    from git_coop import discover, layout, moves

    store = layout.open_store(bytes(stage.clone.coop))
    assert store is not None
    fresh = f"{clock.id_stamp(stage.now)}-{stage.key(name)[-8:]}"
    return moves.open_box(store, discover.find(bytes(stage.roots[name]), {}), fresh).box


def mailed(stage: Stage) -> None:
    """Three messages wait in the main worktree."""
    for _each in range(3):
        send(stage)


def waiting(stage: Stage) -> str:
    """A message waits in the main worktree; its id."""
    return send(stage)


def shown(stage: Stage) -> None:
    """Three messages wait, and a session was shown them in its turn."""
    mailed(stage)
    stage.run("drain", "--event", "start", *SESSION)
    stage.run("drain", "--event", "prompt", *SESSION)


def with_letter(stage: Stage) -> None:
    """A letter waits as well."""
    stage.run("letter", "write", "-m", BODY, "--session", "earlier")
    mailed(stage)


def over(stage: Stage) -> None:
    """Two messages whose term is over, one of them shown once, and a fresh one."""
    stage.now -= OVER  # into the past: no file's own time may lie far behind the clock of the run
    send(stage, term=clock.HOUR)
    stage.run("drain", "--event", "start", "--session", "thrown away")
    send(stage, term=clock.HOUR)
    stage.age()
    stage.now += OVER
    send(stage)


def untold(stage: Stage) -> None:
    """Two messages from the main worktree whose term is over, and nobody came to drain them."""
    stage.now -= OVER
    send(stage, "alpha", term=clock.HOUR, sender="main")
    send(stage, "beta", term=clock.HOUR, sender="main")
    stage.now += OVER


def letters(stage: Stage) -> None:
    """A closed letter, and a live one that was read."""
    stage.run("letter", "write", "-m", BODY, "--session", "earlier")
    stage.run("letter", "read", "--session", "reader")
    stage.run("letter", "ack", "--session", "reader")
    stage.run("letter", "write", "-m", BODY, "--session", "earlier")
    stage.run("letter", "read", "--session", "reader")


def unmarked(stage: Stage) -> None:
    """What a kill between publishing a letter and marking the older one leaves."""
    letters(stage)
    old = max(stage.clone.coop.glob(f"letters/{stage.key('main')}/*.toml"))
    data = old.read_bytes()
    stage.run("letter", "write", "-m", BODY, "--session", "earlier")
    old.write_bytes(data)


def moved(stage: Stage) -> None:
    """The main worktree's neighbour has mail, a letter, a todo and a shown message, and then it moves."""
    for _each in range(2):
        send(stage, "alpha")
    stage.run("drain", "--event", "prompt", "--session", "there", where="alpha")
    stage.run("drain", "--event", "stop", "--session", "there", where="alpha")
    send(stage, "alpha")
    stage.run("drain", "--event", "start", "--session", "there", where="alpha")
    stage.run("letter", "write", "-m", BODY, where="alpha")
    stage.run("todo", "add", "carry it on", where="alpha")
    _move(stage, "alpha", "alpha-moved")


def moved_into_the_old(stage: Stage) -> None:
    """The same, and another worktree came to live where it was: letters of both lie there."""
    moved(stage)
    stage.clone.worktree("gamma", at=stage.clone.root.parent / "alpha")
    stage.roots["gamma"] = stage.clone.root.parent / "alpha"


def _move(stage: Stage, name: str, to: str) -> None:
    new = stage.clone.root.parent / to
    stage.clone.git("worktree", "move", str(stage.roots[name]), str(new))
    stage.roots[name] = new


def left_by_a_kill(stage: Stage) -> None:
    """What kills at several points left: strays, a stranded message, an orphaned receipt, a marker without its file."""
    shown(stage)
    with_letter(stage)
    box = stage.clone.coop / "mail" / "box" / stage.key("main")
    first, second, third = sorted((box / "inbox").iterdir())[:3]
    first.rename(box / "claiming" / first.name)
    session = next(path.parent.name for path in box.glob(f"shown/*/{second.stem}"))
    _put(box / "receipts" / f"{second.stem}.{session}.toml", _receipt(second.stem, session))
    third.rename(box / "seen" / third.name)
    _put(box / "receipts" / f"{third.stem}.{session}.toml", _receipt(third.stem, session))
    _put(stage.clone.coop / "mail" / "tmp" / "4000-0", b"half of a mess")


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def _receipt(name: str, session: str) -> bytes:
    at = "2026-11-30T11:00:00Z"
    return (
        f'id = "{name}"\nbox = "x"\nsession = "{session}"\nshown_at = {at}\nshown = "whole"\nbytes = 1\n'
        f'bytes_shown = 1\noutcome = "consumed"\nat = {at}\n'
    ).encode()


def expired(stage: Stage) -> str:
    """A message lies among the expired; its id."""
    over(stage)
    stage.run("drain", "--event", "prompt", "--session", "one")
    return min(stage.state().lying("expired"))


def stranded(stage: Stage) -> str:
    """A message lies in ``claiming/``; its id."""
    mailed(stage)
    box = stage.clone.coop / "mail" / "box" / stage.key("main")
    first = min((box / "inbox").iterdir())
    first.rename(box / "claiming" / first.name)
    return first.stem


def held(stage: Stage) -> None:
    """Delivery is off."""
    mailed(stage)
    stage.run("mail", "off")


def old(stage: Stage) -> None:
    """Filed mail that is long past retention, of which nobody waits to be told; and mail that waits."""
    stage.now -= OVER
    shown(stage)
    stage.run("drain", "--event", "stop", *SESSION)
    stage.age()
    stage.now += OVER
    for path in stage.clone.coop.glob(f"mail/box/{stage.key('beta')}/sent/*"):
        path.unlink()
    send(stage)


def with_todo(stage: Stage) -> str:
    """An open todo; its id."""
    return stage.run("todo", "add", "first").out.split()[1].decode()


def asked(stage: Stage) -> str:
    """A request from the neighbour to the main worktree; its id."""
    brief = "# Handoff: brief\n\n## Task\nDo it.\n- done\n- tested\n\n## Context\nNone.\n\n## Return\nA result.\n"
    stage.run("request", "open", "--to", str(stage.roots["main"]), "-m", brief, where="alpha")
    return max(stage.state().ledgers).removeprefix("requests/").removesuffix(".toml")


# Promises


def every_shown(facts: Facts) -> bool:
    """Each message that waited was shown, or expired; nothing was filed."""
    waited = facts.before.lying("inbox", facts.key) | facts.before.lying("claiming", facts.key)
    return facts.shown(*(name for name in waited if facts.after.where(name) != "expired"))


def every_marked(facts: Facts) -> bool:
    """Shown, and this session's marker is there."""
    marked = {name for key, _session, name in facts.after.markers if key == facts.key}
    return every_shown(facts) and facts.before.lying("inbox", facts.key) <= marked | facts.after.lying("expired")


def every_filed(facts: Facts) -> bool:
    """Each message that waited was consumed."""
    waited = facts.before.lying("inbox", facts.key) | facts.before.lying("claiming", facts.key)
    return waited <= facts.after.lying("seen", facts.key)


def expired_and_told(facts: Facts) -> bool:
    """What was over lies among the expired, and each has its notice, which was shown."""
    notices = facts.new()
    return len(facts.after.lying("expired")) == 2 and len(notices) == 2 and facts.shown(*notices)


def sender_told(facts: Facts) -> bool:
    """A notice for each message that nobody consumed."""
    return len(facts.new()) == 2 and facts.shown(*facts.new())


def sent_to(*where: str) -> Callable[[Facts], bool]:
    """A whole new message in the box of each, and its id was said."""

    def promise(facts: Facts) -> bool:
        copies = [copy for name in facts.new() for copy in facts.after.messages[name]]
        boxes = sorted(copy.key.rpartition("-")[0] for copy in copies)
        return boxes == sorted(where) and all(BODY.encode() in copy.data for copy in copies)

    return promise


def letter_is(status: str) -> Callable[[Facts], bool]:
    """The newest letter is in this state."""
    return lambda facts: facts.letter("status")[-1] == status


def written(facts: Facts) -> bool:
    """One letter more, live, with the body; the others are closed."""
    before = facts.before.letters.get(facts.key, {})
    *older, newest = facts.letter("status")
    return newest == "unread" and facts.letter("body")[-1] == BODY and len(older) == len(before)


def letter_shown(facts: Facts) -> bool:
    """The body was printed, and the reading counted; a store that cannot be written costs the count, and is told."""
    counted = facts.letter("read_count")[-1] == 2
    return BODY.encode() in facts.ended.out and (counted or b"warning: the reading could not" in facts.ended.err)


def requeued(facts: Facts) -> bool:
    """A message that was over or stranded waits again."""
    before = facts.before.lying("expired") | facts.before.lying("claiming")
    return bool(before & facts.after.lying("inbox"))


def swept(facts: Facts) -> bool:
    """What was filed is gone with its receipts; what waits is there."""
    return not facts.after.lying("seen") and not facts.after.receipts and bool(facts.after.lying("inbox"))


def filed(before: State) -> frozenset[str]:
    """What retention may remove."""
    return frozenset(before.lying("seen") | before.lying("expired"))


def mended(facts: Facts) -> bool:
    """What kills left is taken away, or it is said what could not be."""
    left = facts.after.staged or facts.after.lying("claiming")
    return not left or bool(re.search(rb"not mended|cannot (look|read|lock)", facts.ended.out))


def delivery(*, off: bool) -> Callable[[Facts], bool]:
    return lambda facts: ("OFF" in facts.after.tree) == off


def a_ledger_more(facts: Facts) -> bool:
    return len(facts.after.ledgers) == len(facts.before.ledgers) + 1


def ledger_says(status: str) -> Callable[[Facts], bool]:
    return lambda facts: [(record or {}).get("status") for record in facts.after.ledgers.values()] == [status]


def brought_over(facts: Facts) -> bool:
    """All that lay in the old box lies in the new one."""
    before = {name for name, copies in facts.before.messages.items() if copies[0].key.startswith("alpha-")}
    return all(facts.after.messages[name][0].key == facts.key for name in before) and len(facts.letter("body")) == 1


def parked(facts: Facts) -> bool:
    """What waits for the worktree that moved on lies in a box of its own, and nothing of it was shown here."""
    waiting = facts.before.lying("inbox")
    return (
        waiting == facts.after.lying("inbox")
        and not facts.after.lying("inbox", facts.key)
        and b"is empty" in facts.ended.out
    )


def payload(event: str, **more: str) -> bytes:
    """What a client writes to a hook's standard input."""
    fields = {"hook_event_name": event, "session_id": "one", "cwd": "", **more}
    return json.dumps({name: value for name, value in fields.items() if value}).encode()


def in_client(promise: Callable[[Facts], bool]) -> Callable[[Facts], bool]:
    """A client's answer holds what was promised, or says in its shape what went wrong."""

    def judge(facts: Facts) -> bool:
        out = facts.ended.out
        assert not out or isinstance(json.loads(out), dict), out
        return promise(facts) or bool(re.search(rb"cannot |not filed|nothing can be|claim on|the drain failed", out))

    return judge


# Outside the store


def settings(stage: Stage) -> None:
    """A client's settings, as a person has them."""
    place = Path(os.environ["HOME"], ".claude")
    place.mkdir()
    (place / "settings.json").write_text(THEIRS)
    stage.watched.append(place)


def wired(stage: Stage) -> None:
    """The same with the drain's hooks in it."""
    settings(stage)
    stage.run("hooks", "install", "claude")


def either_settings(stage: Stage, ended: Ended) -> list[str]:
    """The file is the old one or the new one, whole; once a run came to its end nothing lies beside it."""
    place = Path(os.environ["HOME"], ".claude")
    text = (place / "settings.json").read_text()
    beside = [path.name for path in place.iterdir() if path.name != "settings.json"]
    wrong = (
        [] if text == THEIRS or OURS in json.dumps(json.loads(text)["hooks"]) else [f"the settings are torn: {text}"]
    )
    return wrong + ([f"{', '.join(beside)} is left over"] if beside and ended.code == 0 else [])


def hooks_there(*, there: bool) -> Callable[[Facts], bool]:
    return lambda _facts: (Path(os.environ["HOME"], ".claude", "settings.json").read_text() != THEIRS) == there


def room_for_packets(stage: Stage) -> None:
    """An empty temporary directory."""
    stage.watched.append(stage.temporary)


def packet_whole(stage: Stage, ended: Ended) -> list[str]:
    """Whoever was not killed leaves a whole packet or none."""
    found = [path.read_text() for path in stage.temporary.iterdir()]
    torn = [text for text in found if not text.endswith(BODY)]
    excused = ended.code == -9 or b"read-only" in ended.err  # nobody could take it away
    return ["half a packet is left"] if torn and not excused else []


def packet_named(facts: Facts) -> bool:
    """The packet whose path was printed is there."""
    path = facts.ended.out.decode().removeprefix("read ").split("\n")[0]
    return path != "" and Path(path).read_text().endswith(BODY)


CLAUDE = ("drain", "--client", "claude")
TO_MAIN = ("--body", "-")

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

"""What the success of a command says: each function judges, by the store before and after, whether it is so."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.faults.beginnings import BODY, THEIRS
from tests.faults.stage import Ended, Stage
from tests.invariants import State

OURS = "drain --client claude"


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


def in_client(promise: Callable[[Facts], bool]) -> Callable[[Facts], bool]:
    """A client's answer holds what was promised, or says in its shape what went wrong."""

    def judge(facts: Facts) -> bool:
        out = facts.ended.out
        assert not out or isinstance(json.loads(out), dict), out
        return promise(facts) or bool(re.search(rb"cannot |not filed|nothing can be|claim on|the drain failed", out))

    return judge


# Outside the store


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

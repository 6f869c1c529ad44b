"""The tools that work on a maildir: mblaze, maildrop, and Python's own module."""

import sys
from itertools import repeat
from pathlib import Path

from tests.bench.cases import Case
from tests.bench.peer_tasks import COUNTS, FILE, MAIL, SEND
from tests.bench.processes import Call
from tests.bench.provide import debian, program, version
from tests.bench.stage import Stage


class Maildirs:
    """Maildirs of one tool, filled by writing files."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.made = 0
        place.mkdir()

    def make(self, name: str, count: int = 0) -> Path:
        """A maildir with ``count`` messages in ``cur/``, as a reader that has looked once leaves them."""
        for folder in ("tmp", "new", "cur"):
            (self.place / name / folder).mkdir(parents=True)
        for _ in range(count):
            self.deliver(self.place / name)
        return self.place / name

    def deliver(self, maildir: Path) -> None:
        """One more message."""
        self.made += 1
        text = MAIL.replace("NUMBER", str(self.made))
        (maildir / "cur" / f"1796035512.{self.made}.bench:2,").write_text(text)


def mblaze(stage: Stage) -> tuple[str, list[Case]]:
    """mdeliver(1), mlist(1) with mscan(1), mshow(1) with mrefile(1)."""
    deliver = debian("mblaze", "mdeliver")
    boxes, main, shell = Maildirs(stage.place / "mblaze"), stage.main, program("sh")
    source, seen = boxes.make("source"), boxes.make("seen")
    cases = [Case(SEND, repeat(Call([deliver, str(boxes.make("target"))], main, MAIL.encode())))]
    for number, (task, count) in enumerate(COUNTS.items()):
        listed = boxes.make(f"list-{number}", count)
        cases.append(Case(task, repeat(Call([shell, "-c", 'mlist "$0" | mscan', str(listed)], main)), says="two calle"))
    words = 'm=$(mlist "$0") && mshow "$m" && mrefile "$m" "$1"'
    file = Call([shell, "-c", words, str(source), str(seen)], main)
    cases.append(Case(FILE, repeat(file), says="module7.py", before=lambda: boxes.deliver(source)))
    return version(["dpkg-query", "-W", "-f", "${Version}", "mblaze"]), cases


def maildrop(stage: Stage) -> tuple[str, list[Case]]:
    """maildrop(1) delivers; reading is another program's."""
    deliver = debian("maildrop", "maildrop")
    boxes = Maildirs(stage.place / "maildrop")
    rules = boxes.place / "rules"
    rules.write_text(f'to "{boxes.make("target")}/"\n')
    rules.chmod(0o600)
    send = Call([deliver, str(rules)], stage.main, MAIL.encode())
    return version(["dpkg-query", "-W", "-f", "${Version}", "maildrop"]), [Case(SEND, repeat(send))]


_SEND = "import mailbox, sys; mailbox.Maildir(sys.argv[1]).add(sys.stdin.buffer.read())"
_LIST = """\
import mailbox, sys
for message in mailbox.Maildir(sys.argv[1]):
    print(message["Date"], message["From"], message["Subject"])
"""
_FILE = """\
import mailbox, sys
box, seen = mailbox.Maildir(sys.argv[1]), mailbox.Maildir(sys.argv[2])
for key in box.keys():
    text = box.get_bytes(key)
    sys.stdout.buffer.write(text)
    seen.add(text)
    box.remove(key)
"""


def mailbox(stage: Stage) -> tuple[str, list[Case]]:
    """``mailbox.Maildir`` in a script of a few lines."""
    boxes, main = Maildirs(stage.place / "mailbox"), stage.main
    target, source, seen = boxes.make("target"), boxes.make("source"), boxes.make("seen")

    def script(text: str, *words: Path) -> list[str]:
        return [sys.executable, "-I", "-c", text, *map(str, words)]

    cases = [Case(SEND, repeat(Call(script(_SEND, target), main, MAIL.encode())))]
    for number, (task, count) in enumerate(COUNTS.items()):
        listed = boxes.make(f"list-{number}", count)
        cases.append(Case(task, repeat(Call(script(_LIST, listed), main)), says="two callers"))
    file = Call(script(_FILE, source, seen), main)
    cases.append(Case(FILE, repeat(file), says="module7.py", before=lambda: boxes.deliver(source)))
    return sys.version.partition(" ")[0], cases

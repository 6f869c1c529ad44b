"""The cases: what is called in which state, and how much it may cost in units of a bare interpreter."""

import sys
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from tests.bench.processes import Call
from tests.bench.stage import LETTER, Stage, payload, turns

BARE = "python -I -c pass"
REV_PARSE = "git rev-parse"
MANY, MORE, WAITING = 10_000, 100_000, 5


class Case(NamedTuple):
    """One row. ``calls`` gives the next call; ``before`` is done, outside the time, ahead of each.

    ``bound`` and ``aim`` are multiples of the bare interpreter's median. ``says`` is a part of the output by which a
    run is known to have done its work; empty where it prints nothing.
    """

    name: str
    calls: Iterator[Call]
    bound: float | None = None
    aim: float | None = None
    says: str = ""
    before: Callable[[], object] = lambda: None


_EAGER = """\
import click, pygit2
@click.command()
def main():
    pygit2.discover_repository(".")
main()
"""


def build(stage: Stage) -> list[Case]:
    """Every case, on a stage that is furnished for it here."""
    groups = (_scale, _empty, _waiting, _crowded, _stop_with_mail, _commands)
    return [case for group in groups for case in group(stage)]


def _scale(stage: Stage) -> list[Case]:
    eager = stage.place / "eager.py"
    eager.write_text(_EAGER)
    python = sys.executable
    return [
        Case(BARE, repeat(Call([python, "-I", "-c", "pass"], stage.main))),
        Case(REV_PARSE, repeat(Call([stage.git_program, "rev-parse", "--git-common-dir"], stage.main)), says=".git"),
        Case("an eager click + pygit2 program", repeat(Call([python, str(eager)], stage.main))),
    ]


def _drain(stage: Stage, *words: str) -> list[str]:
    return [stage.program, "drain", *words]


def _claude(stage: Stage, payloads: Iterator[bytes], cwd: Path) -> Iterator[Call]:
    command = _drain(stage, "--client", "claude")
    return (Call(command, cwd, data) for data in payloads)


def _empty(stage: Stage) -> list[Case]:
    """Nothing waits: what is paid at every turn of every session. Each box is drained by one client, as boxes are."""
    texts, root = stage.worktree("empty-text"), stage.worktree("empty")
    stage.call_program("drain", "--event", "prompt", cwd=texts)
    stage.call_program("drain", "--client", "claude", cwd=root, stdin=_claude_payload(root, "UserPromptSubmit"))
    stop, prompt = _claude_payload(root, "Stop"), turns("UserPromptSubmit", "empty", root)
    return [
        Case("drain --event stop, empty box", repeat(Call(_drain(stage, "--event", "stop"), texts)), 1.3, 1.15),
        Case("drain --client claude, stop payload, empty box", _claude(stage, repeat(stop), root), 1.9, 1.5),
        Case("drain --client claude, prompt payload, empty box", _claude(stage, prompt, root)),
    ]


def _claude_payload(root: Path, event: str, turn: str = "turn-0") -> bytes:
    return payload(event, root.name, root, turn)


def _prompts(stage: Stage, root: Path) -> Iterator[Call]:
    """One session's prompts, each of a new turn, so that every one of them shows and marks what waits."""
    return _claude(stage, turns("UserPromptSubmit", root.name, root), root)


def _waiting(stage: Stage) -> list[Case]:
    texts, hooks = stage.worktree("five-text"), stage.worktree("five")
    for root in (texts, hooks):
        stage.fill(stage.box(root), WAITING)
    words = _drain(stage, "--event", "prompt", "--session", "five-text")
    follow = f"{WAITING} messages follow"
    return [
        Case("drain --event prompt, 5 messages waiting", repeat(Call(words, texts)), 1.9, 1.4, follow),
        Case("drain --client claude, prompt payload, 5 waiting", _prompts(stage, hooks), 2.4, 1.8, follow),
    ]


def _crowded(stage: Stage) -> list[Case]:
    queue, past = stage.worktree("queue"), stage.worktree("past")
    stage.fill(stage.box(queue), MANY)
    stage.file_away(stage.box(past), MORE)
    stage.fill(stage.box(past), WAITING)
    follow = f"{WAITING} messages follow"
    return [
        Case(f"the same, {MANY:,} queued", _prompts(stage, queue), 2.6, 2.0, follow),
        Case(f"the same, 5 waiting and {MORE:,} in seen/", _prompts(stage, past), 2.5, 1.8, follow),
    ]


def _stop_with_mail(stage: Stage) -> list[Case]:
    """The stops that have work: mail that came during the turn, and mail that the turn was shown."""
    late, filing = stage.worktree("late"), stage.worktree("filing")
    stage.fill(stage.box(late), WAITING)
    late_stops = _claude(stage, turns("Stop", "late", late), late)
    names = turns("UserPromptSubmit", "filing", filing)
    stops = turns("Stop", "filing", filing)

    def show() -> None:
        stage.fill(stage.box(filing), WAITING)
        stage.call_program("drain", "--client", "claude", cwd=filing, stdin=next(names))

    return [
        Case("drain --client claude, stop payload, 5 came late", late_stops, says=f"{WAITING} messages follow"),
        Case("drain --client claude, stop payload, 5 to file", _claude(stage, stops, filing), before=show),
    ]


def _commands(stage: Stage) -> list[Case]:
    letter, peer = stage.worktree("letter"), stage.worktree("peer")
    stage.call_program("letter", "write", "--body", "-", cwd=letter, stdin=LETTER.encode())
    start = repeat(_claude_payload(letter, "SessionStart"))
    send = [stage.program, "mail", "send", "--to", str(peer), "-m", "the parser is done"]
    read = [stage.program, "letter", "read"]
    return [
        Case("drain --client claude, start payload, a 14 kB letter", _claude(stage, start, letter), 3.2, 2.6, "letter"),
        Case("mail send, durable", repeat(Call(send, letter)), 5.5, 4, "queued"),
        Case("letter read", repeat(Call(read, letter)), 7, 5, "step 199"),
        Case("status", repeat(Call([stage.program, "status"], letter)), 7, 5, "as of"),
        Case("git coop drain --event stop, through git", repeat(_through_git(stage, "empty-text"))),
    ]


def _through_git(stage: Stage, worktree: str) -> Call:
    return Call([stage.git_program, "coop", "drain", "--event", "stop"], stage.place / worktree)

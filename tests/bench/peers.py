"""The same work by what a user would have otherwise: send one, list a hundred and ten thousand, show and file one.

Each tool is used as its own manual shows it. What a tool does not do has a reason in place of a time; so has a tool
that is neither here nor can be installed.
"""

from collections.abc import Callable
from itertools import repeat
from typing import NamedTuple

from tests.bench import peer_agents, peer_maildirs
from tests.bench.cases import Case
from tests.bench.peer_tasks import COUNTS, FILE, SEND, TASKS, named
from tests.bench.processes import Call
from tests.bench.provide import Unavailable
from tests.bench.stage import BODY, Stage


class Peer(NamedTuple):
    """A tool: its version, a case for each task that it can be set, and for the others why not."""

    name: str
    version: str
    cases: list[Case]
    reasons: dict[str, str]


def build(stage: Stage) -> list[Peer]:
    """Every tool, git coop itself first."""
    makers: dict[str, Callable[[Stage], tuple[str, list[Case]]]] = {
        "git coop": _coop,
        "mblaze": peer_maildirs.mblaze,
        "maildrop": peer_maildirs.maildrop,
        "Python mailbox": peer_maildirs.mailbox,
        "git notes": peer_agents.notes,
        "agent-mail-cli": peer_agents.agent_mail,
    }
    return [_peer(name, maker, stage) for name, maker in makers.items()]


def _peer(name: str, maker: Callable[[Stage], tuple[str, list[Case]]], stage: Stage) -> Peer:
    try:
        version, cases = maker(stage)
    except Unavailable as error:
        return Peer(name, "", [], dict.fromkeys((named(name, task) for task in TASKS), str(error)))
    done = {case.name for case in cases}
    reasons = {named(name, task): "not what it does" for task in TASKS if task not in done}
    return Peer(name, version, [case._replace(name=named(name, case.name)) for case in cases], reasons)


def _coop(stage: Stage) -> tuple[str, list[Case]]:
    from git_coop import __version__

    peer, reader = stage.worktree("coop-peer"), stage.worktree("coop-reader")
    send = [stage.program, "mail", "send", "--to", str(peer), "--body", "-"]
    cases = [Case(SEND, repeat(Call(send, reader, BODY.encode())), says="queued")]
    for number, (task, count) in enumerate(COUNTS.items()):
        listed = stage.worktree(f"coop-list-{number}")
        stage.fill(stage.box(listed), count)
        cases.append(Case(task, repeat(Call([stage.program, "mail", "list"], listed)), says="two callers"))
    box = stage.box(reader)
    read = Call([stage.program, "mail", "read"], reader)
    return __version__, [*cases, Case(FILE, repeat(read), says="module7.py", before=lambda: stage.fill(box, 1))]

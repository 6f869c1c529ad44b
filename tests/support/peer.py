"""A worktree that is written to from another, with a message in its box."""

import os
from collections.abc import Callable

from tests import invariants
from tests.support.clones import Clone
from tests.support.post import Post
from tests.support.world import Worlds


class Room:
    """The worktree ``peer`` with a message in its box, and a sender in the main one."""

    def __init__(self, edge: Worlds, clone: Clone) -> None:
        self.post = Post(edge, clone)
        self.clone = clone
        self.peer = clone.worktree("peer")
        self.one = self.post.send(self.peer, "the one")
        self.box = self.post.file(self.peer, "inbox", self.one).parents[1]

    def send(self) -> tuple[int, str, str]:
        return self.post("mail", "send", "--to", str(self.peer), "-m", "another")

    def drain(self, event: str = "stop", session: str = "one", **more: str) -> tuple[int, str, str]:
        return self.post("drain", "--event", event, "--session", session, cwd=self.peer, **more)  # type: ignore[arg-type]

    def where(self, identifier: str = "") -> str:
        return invariants.read(self.clone.coop).where(identifier or self.one)

    def staged(self) -> list[str]:
        return invariants.read(self.clone.coop).staged


def in_child(act: Callable[[], int]) -> int:
    """Start ``act`` in a process of its own, whose exit status is what it gives; the process id."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()
        finally:
            os._exit(code)
    return child

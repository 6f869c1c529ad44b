"""What every command is given: its world, its place in a clone, and its three ways of speaking.

Commands translate: words in, one call of the core, one rendering out. They never touch ``sys``.
"""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from git_coop import clock, ids, layout, making, place
from git_coop.discover import Worktree
from git_coop.edge import Edge
from git_coop.errors import CoopError, Fatal, NotFound
from git_coop.layout import Box
from git_coop.place import Place
from git_coop.store import Store
from git_coop.text import safe_line

if TYPE_CHECKING:
    from git_coop.git import Head


class App:
    """One run of a command."""

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.now = edge.clock()
        self.open_line = False  # whether the answer so far ends within a line, on a terminal

    # speaking

    def write(self, data: bytes) -> None:
        """The answer's bytes, on standard output, at once."""
        self.edge.stdout.write(data)
        if data:
            self.open_line = not data.endswith(b"\n") and self.edge.stdout.isatty()

    def out(self, text: str) -> None:
        """A line of the answer; characters that cannot be encoded are shown as ``?``."""
        self.write((text + "\n").encode("utf-8", "replace"))

    def note(self, text: str) -> None:
        """A line beside the answer, on standard error; text from outside in it is made safe here.

        On a terminal it begins a line of its own, also behind a body that ends without a newline.
        """
        before = "\n" if self.open_line and self.edge.stderr.isatty() else ""
        self.open_line = False
        self.edge.stderr.write((before + safe_line(text) + "\n").encode("utf-8", "replace"))

    def warn(self, text: str) -> None:
        self.note(f"warning: {text}")

    def hint(self, text: str) -> None:
        self.note(f"hint: {text}")

    def json(self, record: Mapping[str, object]) -> None:
        """The answer as one JSON object in ASCII, ``as_of`` first."""
        import json

        answer = {"as_of": clock.rfc3339(self.now), **record}
        self.write((json.dumps(answer, indent=2) + "\n").encode())

    # the place

    @cached_property
    def directory(self) -> bytes:
        """Where the command works. A current directory that is gone is an error of git's own kind."""
        if self.edge.cwd is None:
            raise Fatal("cannot read the current directory: it is gone")
        return self.edge.cwd

    @cached_property
    def place(self) -> Place:
        """Where the command stands, found through pygit2 and checked for trust."""
        from git_coop import repo  # pygit2 costs more than all the rest: commands with a price use `nearby`

        return place.find(self.directory, self.edge.env, None, repo.find)

    @cached_property
    def nearby(self) -> Place:
        """The same place, found without pygit2: for the commands that agents call all day."""
        return place.find(self.directory, self.edge.env, None)

    def new_store(self, worktree: Worktree) -> Store:
        """The store of a worktree's clone, made with the mode that ``core.sharedRepository`` asks for."""
        store = layout.open_store(worktree.coop)
        if store is not None and making.is_finished(store):
            return store
        from git_coop import git

        mode = git.config_value(b"core.sharedRepository", worktree.common_dir, self.edge.env)
        return making.make_store(worktree.coop, making.shared_mode(mode or ""))

    def own_box(self, here: Place) -> Box | None:
        """The box of this place to look at, or ``None`` where there is no store; nothing is changed."""
        store = here.store()
        return None if store is None else here.look(store)

    def path_of(self, box: Box) -> bytes:
        """Where a box's worktree is: of the own one here, whatever it says while a move was not noted yet."""
        here = self.nearby
        return here.root if box == here.look(box.store) else box.path()

    def open_box(self, here: Place) -> Box:
        """The box of this place, ready to be written; store and box are made where they are missing."""
        opened = here.open(here.guarded(self.new_store(here.clone)), self.fresh_id())
        for text in opened.notes:
            self.note(text)
        return opened.box

    def existing_box(self, here: Place) -> Box:
        """The box of this place to change what lies in it; ``NotFound`` where the clone has no store."""
        if here.store() is None:
            raise NotFound("nothing is stored in this clone yet")
        return self.open_box(here)

    def head(self, here: Place) -> "Head":
        """The branch and commit checked out here; neither for a place outside any worktree."""
        from git_coop import repo
        from git_coop.git import Head

        found = Head(None, None) if here.outside else repo.describe(here.clone, self.edge.env)
        # a branch may have a name that is no UTF-8; a record holds text
        return found.replace(branch=found.branch and os.fsencode(found.branch).decode("utf-8", "replace"))

    def fresh_id(self) -> str:
        return ids.mint(self.now, self.edge.entropy)

    def last_seen(self) -> dict[str, tuple[int, str]]:
        """When each event was last drained in this place, and by which client; empty where none ever was."""
        from git_coop import drained

        try:
            box = self.own_box(self.nearby)
        except CoopError:  # outside any repository, or where the store cannot be read: nothing is known
            return {}
        return {} if box is None else {event: (last.at, last.client) for event, last in drained.read(box).items()}

    def session(self, given: str | None = None) -> str | None:
        return self.edge.session(given)

    # the terminal

    @cached_property
    def columns(self) -> int | None:
        """The terminal's width in cells; ``None`` where the answer goes elsewhere and nothing is cut to fit."""
        if not self.edge.stdout.isatty():
            return None
        given = self.edge.env.get("COLUMNS", "")
        if given.isdigit() and int(given) > 0:
            return int(given)
        try:
            return os.get_terminal_size(1).columns or 80
        except OSError:
            return 80

    def age(self, since: int) -> str:
        return f"{clock.age(since, self.now)} ago"

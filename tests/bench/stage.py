"""The throwaway clone in which everything is measured, and the states of its boxes.

A state is made through the functions of the store, or by writing the files that they would write, without a flush.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from json import dumps
from pathlib import Path

from git_coop import clock, discover, ids, layout, making, message, moves, receipts
from git_coop.layout import Box, message_path
from git_coop.message import Draft
from git_coop.receipts import Receipt

BODY = "The parser now refuses a doubled header. Two callers still pass one:\n" + "".join(
    f"  - module{number}.py, line {100 * number}: it joins what the reader gave with what the person typed\n"
    for number in range(1, 12)
)
LETTER = "".join(f"- step {number}: what was done, what is left and how to go on from there\n" for number in range(200))
_PASSED = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_LINKS = 1000  # names of one file; file systems differ in how many they allow


class Stage:
    """One clone, a worktree for each state."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.env = environment(place)
        self.now = time.time_ns()
        self.main = place / "clone"
        self.program = str(Path(sys.executable).parent / "git-coop")
        self.git_program = shutil.which("git") or "git"
        self.git("init", "-q", "-b", "main", str(self.main), cwd=place)
        self.git("commit", "-q", "--allow-empty", "-m", "First", cwd=self.main)
        self._names = 0

    def git(self, *words: str, cwd: Path, stdin: bytes = b"") -> str:
        """What git prints there."""
        command = [self.git_program, *words]
        done = subprocess.run(command, cwd=cwd, env=self.env, check=True, input=stdin, stdout=subprocess.PIPE)
        return done.stdout.decode()

    def worktree(self, name: str) -> Path:
        """A new worktree of the clone, with a box of its own."""
        root = self.place / name
        self.git("worktree", "add", "-q", "-b", name, str(root), cwd=self.main)
        self.box(root)
        return root

    def box(self, root: Path) -> Box:
        """The box of a worktree, made where it is missing."""
        worktree = discover.find(os.fsencode(root), self.env)
        store = making.make_store(worktree.coop, 0o700)
        return moves.open_box(store, worktree, self.fresh()).box

    def fresh(self) -> str:
        """An id that was never given, later than the one before, all within the last hour."""
        self._names += 1
        return ids.mint(self.now - clock.HOUR + self._names * 1_000_000, os.urandom)

    def composed(self, box: Box, identifier: str) -> bytes:
        """A message of about a thousand bytes, as another worktree would send it."""
        sent = ids.time_of(identifier)
        draft = Draft(
            identifier,
            sent,
            sent + message.DEFAULT_TERM,
            box.key,
            BODY,
            from_key="sender-" + "0" * 32,
            from_path=os.fsencode(self.place / "sender"),
            from_branch="topic/parser",
            subject="two callers pass a doubled header",
        )
        return message.compose(draft)

    def fill(self, box: Box, count: int) -> None:
        """Put ``count`` messages into an inbox."""
        for _ in range(count):
            name = self.fresh()
            _write(message_path(box.inbox, name), self.composed(box, name))

    def file_away(self, box: Box, count: int) -> None:
        """Put ``count`` messages and their receipts where a drain files them: some files, under many names."""
        session = "feedfeedfeedfeed"
        folder = layout.session_folder(box, session)
        box.store.ensure_folder(folder)
        first, written = "", Receipt("", box.key, session, receipts.CONSUMED, self.now, "claude", "stop", "turn")
        for number in range(count):
            name = self.fresh()
            mail, receipt = message_path(box.seen, name), receipts.receipt_path(box, session, name)
            if number % _LINKS:
                os.link(message_path(box.seen, first), mail)
                os.link(receipts.receipt_path(box, session, first), receipt)
            else:
                first = name
                _write(mail, self.composed(box, name))
                receipts.write_receipt(box, written.replace(id=name))

    def call_program(self, *words: str, cwd: Path, stdin: bytes = b"") -> bytes:
        """Run the program itself, to bring about a state that only it makes."""
        command = [self.program, *words]
        return subprocess.run(command, cwd=cwd, env=self.env, check=True, input=stdin, stdout=subprocess.PIPE).stdout


def environment(place: Path) -> dict[str, str]:
    """What every measured process is given: no configuration, no client, no session of whoever runs this."""
    home = place / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name in _PASSED}
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    who = {"NAME": "Bench", "EMAIL": "bench@example.org"}
    signed = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in who.items()}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **signed, **quiet, "HOME": str(home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}


def sparse(box: Box, identifier: str, size: int) -> None:
    """A file of ``size`` bytes in the place of a message, next to none of which are on the disk."""
    path = message_path(box.inbox, identifier)
    _write(path, b"Date: x\n\nx")
    os.truncate(path, size)


def _write(path: bytes, data: bytes) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(number, data)
    finally:
        os.close(number)


_OWN: dict[str, dict[str, object]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "go on with the parser"},
    "Stop": {
        "effort": {"level": "medium"},
        "stop_hook_active": False,
        "last_assistant_message": "The parser refuses doubled headers now; the tests pass.",
        "background_tasks": [],
        "session_crons": [],
    },
}


def turns(event: str, session: str, cwd: Path) -> Iterator[bytes]:
    """The payloads of one session's turns, one after the other; each has an id of its own."""
    number = 0
    while True:
        number += 1
        yield payload(event, session, cwd, f"turn-{number}")


def payload(event: str, session: str, cwd: Path, turn: str) -> bytes:
    """One hook payload, with the fields that Claude Code sends at that event."""
    common = {"session_id": session, "transcript_path": f"{cwd}/transcript.jsonl", "cwd": str(cwd)}
    return dumps({**common, "hook_event_name": event, **_OWN[event], **_named(event, turn)}).encode()


def _named(event: str, turn: str) -> dict[str, str]:
    """A start belongs to no turn."""
    return {} if event == "SessionStart" else {"prompt_id": turn, "permission_mode": "default"}

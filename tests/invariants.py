"""What must be true of a store, whatever was killed, failed or raced before it is looked at.

Read from the bytes on the disk alone, with none of the program's own readers. ``violations`` holds at every
instant; ``leftovers`` holds once one more ordinary drain went over the store; ``losses`` compares two instants.
Each gives sentences, one a violation; an empty list is the proof.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from errno import ELOOP, ENXIO
from pathlib import Path
from typing import Any, NamedTuple

Tree = dict[str, bytes | None]
"""A store's files and folders by path from its root; a folder is ``None``."""

BOUND = 32 << 20  # bytes of a file that are read: no file of a store has more
FOLDERS = ("inbox", "claiming", "seen", "expired", "receipts", "shown", "sent")
LIVE = ("unread", "read", "working")
STAMPS = {"read": "read_at", "working": "started_at", "done": "acked_at", "abandoned": "abandoned_at"}
OUTCOME = {"seen": "consumed", "expired": "expired"}
_ID = r"\d{8}T\d{9}Z-[0-9a-f]{8}"
_KEY = r"[a-z0-9-]{1,32}-[0-9a-f]{32}"
_TODO = r"t-[0-9a-z]{5}"
# Every name that may stand in a store outside `mail/tmp`. Anything else was published by mistake.
_NAMES = re.compile(
    rf"""
    format | OFF | replica
    | (letters|todos)/{_KEY}/\.lock | requests/\.lock | mail/box/\.lock
    | letters/{_KEY}/{_ID}\.toml | todos/{_KEY}/{_TODO}\.toml | requests/{_ID}\.toml
    | mail/box/{_KEY}/(path|owner|drained|\.lock)
    | mail/box/{_KEY}/(inbox|claiming|seen|expired)/{_ID}\.eml
    | mail/box/{_KEY}/receipts/{_ID}\.[0-9a-f]{{16}}\.toml
    | mail/box/{_KEY}/shown/[0-9a-f]{{16}}/({_ID}|turn)
    | mail/box/{_KEY}/sent/{_ID}
    """,
    re.VERBOSE,
)


class Copy(NamedTuple):
    """One place where a message lies."""

    key: str
    folder: str
    data: bytes


class State(NamedTuple):
    """A store as its bytes say it. Records that do not parse are ``None``."""

    tree: Tree
    messages: dict[str, list[Copy]]
    receipts: dict[tuple[str, str, str], dict[str, Any] | None]  # key, message, session
    markers: dict[tuple[str, str, str], dict[str, Any] | None]  # key, session, message
    letters: dict[str, dict[str, dict[str, Any] | None]]  # key, letter
    ledgers: dict[str, dict[str, Any] | None]  # todos and requests by path
    staged: list[str]

    def where(self, identifier: str) -> str:
        """The folder in which a message lies; ``nowhere``, or several joined by ``+``."""
        return "+".join(copy.folder for copy in self.messages.get(identifier, [])) or "nowhere"

    def lying(self, folder: str, key: str | None = None) -> set[str]:
        """The messages of a folder, of one box or of all."""
        found = self.messages.items()
        return {name for name, copies in found for copy in copies if copy.folder == folder and key in (None, copy.key)}

    def live(self, key: str) -> str | None:
        """The live letter of a box: the newest, if it says so."""
        newest = max(self.letters.get(key, {}), default=None)
        record = None if newest is None else self.letters[key][newest]
        return newest if record is not None and record.get("status") in LIVE else None


def tree(root: Path) -> Tree:
    """Everything below ``root``; empty where it is not there. A file that vanishes meanwhile is left out."""
    found: Tree = {}
    pending = [(str(root), "")]
    while pending:
        folder, prefix = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                found[name] = None
                pending.append((entry.path, name + "/"))
            elif (data := _bytes(entry.path)) is not None:
                found[name] = data
    return found


def _bytes(path: str) -> bytes | None:
    """A file's bytes, what a symbolic link says, nothing of a socket; ``None`` where it vanished."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (ELOOP, ENXIO):
            raise
        return os.fsencode(os.readlink(path)) if error.errno == ELOOP else b""
    try:
        parts, left = [], BOUND
        while left > 0 and (part := os.read(number, 1 << 20)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(number)


def read(root: Path) -> State:
    """The store at ``root``."""
    return state(tree(root))


def state(files: Tree) -> State:
    """The store that these files are."""
    found = State(files, {}, {}, {}, {}, {}, [])
    for path, data in sorted(files.items()):
        if data is not None:
            _sort_in(found, path.split("/"), path, data)
    return found


def _sort_in(found: State, parts: list[str], path: str, data: bytes) -> None:
    match parts:
        case ["mail", "tmp", *_]:
            found.staged.append(path)
        case ["mail", "box", key, ("inbox" | "claiming" | "seen" | "expired") as folder, name]:
            found.messages.setdefault(name.removesuffix(".eml"), []).append(Copy(key, folder, data))
        case ["mail", "box", key, "receipts", name]:
            identifier, _, session = name.removesuffix(".toml").partition(".")
            found.receipts[key, identifier, session] = _toml(data)
        case ["mail", "box", key, "shown", session, name] if name != "turn":
            found.markers[key, session, name] = _toml(data)
        case ["letters", key, name] if name.endswith(".toml"):
            found.letters.setdefault(key, {})[name.removesuffix(".toml")] = _toml(data)
        case ["todos" | "requests", *_] if path.endswith(".toml"):
            found.ledgers[path] = _toml(data)


def _toml(data: bytes) -> dict[str, Any] | None:
    try:
        return tomllib.loads(data.decode())
    except ValueError:
        return None


# At every instant


def violations(found: State) -> list[str]:
    """What is wrong at this very instant, in the middle of a crash or not."""
    return [*_misnamed(found), *_messages(found), *_receipts(found), *_markers(found), *_letters(found), *_rest(found)]


def _misnamed(found: State) -> Iterator[str]:
    for path, data in found.tree.items():
        if data is not None and not path.startswith("mail/tmp/") and not _NAMES.fullmatch(path):
            yield f"{path}: no file of a store has this name"


def _messages(found: State) -> Iterator[str]:
    """Each message in one state, whole, with the one receipt that its state needs."""
    for name, copies in found.messages.items():
        if len(copies) != 1:
            yield f"message {name} is in {len(copies)} places: {found.where(name)}"
        for copy in copies:
            head, blank, body = copy.data.partition(b"\n\n")
            if not (head.strip() and blank and body):
                yield f"message {name} in {copy.folder} is not whole"
            if copy.folder in OUTCOME:
                yield from _filed(found, name, copy)


def _filed(found: State, name: str, copy: Copy) -> Iterator[str]:
    # Of any box: a worktree's move brings messages and receipts over one by one.
    own = {session: record for (_key, about, session), record in found.receipts.items() if about == name}
    if not own:
        yield f"message {name} is in {copy.folder} without a receipt"
    elif len(own) > 1:
        yield f"message {name} has {len(own)} receipts"
    for session, record in own.items():
        if record is None:
            yield f"the receipt of message {name} cannot be parsed"
        elif (record.get("outcome"), record.get("session")) != (OUTCOME[copy.folder], session):
            yield f"the receipt of message {name} in {copy.folder} says {record.get('outcome')}"
        elif copy.folder == "seen" and not (record.get("shown_at") and record.get("shown") in ("whole", "cut")):
            yield f"message {name} was consumed, and its receipt knows of no showing"


def _receipts(found: State) -> Iterator[str]:
    for (_key, name, session), record in found.receipts.items():
        if record is None or record.get("id") != name or "at" not in record:
            yield f"the receipt of message {name} by {session} is not whole"


def _markers(found: State) -> Iterator[str]:
    for (_key, session, name), record in found.markers.items():
        if record is None or not {"event", "turn", "sha256", "at"} <= record.keys():
            yield f"the marker of message {name} by {session} is not whole"


def _letters(found: State) -> Iterator[str]:
    """Whole records, a chain that names only letters that exist, and each state with its time."""
    for key, letters in found.letters.items():
        for name, record in letters.items():
            if record is None or not record.get("body"):
                yield f"letter {name} is not whole"
                continue
            status, newer = record.get("status"), record.get("superseded_by")
            if status == "superseded" and (newer not in letters or newer <= name):
                yield f"letter {name} gave way to {newer}, which is no later letter of {key}"
            if status in STAMPS and STAMPS[status] not in record:
                yield f"letter {name} is {status} without a time"
            for older in record.get("supersedes", ()):
                if older not in letters:
                    yield f"letter {name} supersedes {older}, which is not there"


def _rest(found: State) -> Iterator[str]:
    if found.tree.get("format", b"1\n") != b"1\n":
        yield "the format is not whole"
    if "format" not in found.tree and (found.messages or found.letters or found.ledgers):
        yield "something is stored, and the store has no format"
    for path, record in found.ledgers.items():
        if record is None or "id" not in record:
            yield f"{path} is not whole"
    for path, data in found.tree.items():
        if (
            path.startswith("mail/box/")
            and path.endswith(("/path", "/owner"))
            and (data or b"")[-1:] not in (b"\n", b"")
        ):
            yield f"{path} is not whole"


# After one more drain


def leftovers(found: State) -> list[str]:
    """What a crash left and an ordinary drain should have taken away."""
    return [*violations(found), *_strays(found), *_orphans(found)]


def _strays(found: State) -> Iterator[str]:
    for path in found.staged:
        yield f"{path} was left over"
    for name in found.lying("claiming"):
        yield f"message {name} is stranded in claiming"
    boxes = {path.split("/")[2] for path in found.tree if re.match(rf"mail/box/{_KEY}/", path)}  # an empty one is none
    for key in boxes:
        missing = [name for name in (*FOLDERS, "path") if f"mail/box/{key}/{name}" not in found.tree]
        if missing:
            yield f"box {key} has no {', '.join(missing)}"


def _orphans(found: State) -> Iterator[str]:
    filed = {(name, copy.key) for name, copies in found.messages.items() for copy in copies if copy.folder in OUTCOME}
    for name, _key in filed - {(name, key) for key, name, _session in found.receipts}:
        yield f"message {name} has no receipt in its own box"
    for (key, name, session), record in found.receipts.items():
        folders = {copy.folder for copy in found.messages.get(name, []) if copy.key == key}
        outcome = None if record is None else record.get("outcome")
        if outcome not in {OUTCOME.get(folder) for folder in folders}:
            yield f"the receipt of message {name} by {session} has no message"


def untold(found: State) -> list[str]:
    """Expired messages of which no notice tells the worktree that they were for."""
    notices = [copy.data for copies in found.messages.values() for copy in copies if _is_notice(copy.data)]
    return [
        f"message {name} expired, and nobody is told"
        for name in sorted(found.lying("expired"))
        if not _is_notice(found.messages[name][0].data)
        and not any(f"message {name} to this worktree".encode() in data for data in notices)
    ]


def _is_notice(data: bytes) -> bool:
    return b"\nCoop-Kind: expired\n" in data.partition(b"\n\n")[0] + b"\n"


def unsettled(found: State) -> list[str]:
    """Older letters whose own record still says live: the next change of a letter marks them."""
    return [
        f"letter {name} says {record['status']}, and a newer one stands"
        for letters in found.letters.values()
        for name, record in letters.items()
        if name != max(letters) and record is not None and record["status"] in LIVE
    ]


# Between two instants


def losses(
    before: State, after: State, *, removed: frozenset[str] = frozenset(), requeued: frozenset[str] = frozenset()
) -> list[str]:
    """What was there and is not, or came back from an end.

    ``removed`` names messages that were to go, ``requeued`` those that were to come back with a new term.
    """
    return [
        *_lost_messages(before, after, removed, requeued),
        *_lost_letters(before, after),
        *_lost_ledgers(before, after),
        *_lost_boxes(before, after),
    ]


def _lost_messages(before: State, after: State, removed: frozenset[str], requeued: frozenset[str]) -> Iterator[str]:
    for name, copies in before.messages.items():
        now = after.messages.get(name, [])
        if not now:
            if name not in removed:
                yield f"message {name} was lost"
        elif name in requeued:
            if _body(now[0].data) != _body(copies[0].data):
                yield f"message {name} has another body"
        elif now[0].data != copies[0].data:
            yield f"message {name} was changed"
        elif copies[0].folder in OUTCOME and now[0].folder != copies[0].folder:
            yield f"message {name} came back from {copies[0].folder} to {now[0].folder}"


def _body(data: bytes) -> bytes:
    return data.partition(b"\n\n")[2]


def _lost_letters(before: State, after: State) -> Iterator[str]:
    now = {name: record for letters in after.letters.values() for name, record in letters.items()}
    for letters in before.letters.values():
        for name, old in letters.items():
            new = now.get(name)
            if new is None:
                yield f"letter {name} was lost"
            elif old is not None and new["body"] != old["body"]:
                yield f"letter {name} has another body"
            elif old is not None and old["status"] not in LIVE and new["status"] != old["status"]:
                yield f"letter {name} came back from {old['status']} to {new['status']}"
            elif old is not None and new.get("read_count", 0) < old.get("read_count", 0):
                yield f"readings of letter {name} were lost"


def _lost_ledgers(before: State, after: State) -> Iterator[str]:
    """Todos may move with their worktree, requests stay; the file's name is the id."""
    there = {os.path.basename(path) for path in after.ledgers}
    yield from (f"{path} was lost" for path in before.ledgers if os.path.basename(path) not in there)


def _lost_boxes(before: State, after: State) -> Iterator[str]:
    """Nothing lies in a folder of a box that nobody would look into."""
    for path, data in before.tree.items():
        if path.startswith("mail/box/") and path.endswith("/path") and after.tree.get(path) != data:
            key = path.split("/")[2]
            if any(copy.key == key for copies in after.messages.values() for copy in copies):
                yield f"box {key} holds messages and has lost its path"


def unseen(before: State, after: State, shown: bytes) -> list[str]:
    """Messages that were filed as consumed, or marked as shown, and that no output held: never filed unseen."""
    known = {name for _key, _session, name in before.markers} | set(re.findall(_ID, shown.decode("utf-8", "replace")))
    filed = after.lying("seen") - before.lying("seen")
    marked = {name for key, session, name in after.markers.keys() - before.markers.keys()}
    return [
        *(f"message {name} was consumed unseen" for name in sorted(filed - known)),
        *(f"message {name} was marked before it was shown" for name in sorted(marked - known)),
        *(f"letter {name} was read before it was shown" for name in sorted(_read(before, after) - known)),
    ]


def _read(before: State, after: State) -> set[str]:
    """The letters that were read since."""
    old = {name: record for letters in before.letters.values() for name, record in letters.items()}
    return {
        name
        for letters in after.letters.values()
        for name, record in letters.items()
        if (record or {}).get("read_count", 0) > (old.get(name) or {}).get("read_count", 0)
    }

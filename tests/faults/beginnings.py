"""What a command finds: each function makes one state of a store, and answers the id that the command needs, if any."""

import os
from pathlib import Path

from git_coop import clock, mail
from git_coop.layout import Box
from git_coop.message import DEFAULT_TERM
from tests.faults.stage import Stage

BODY = "the state of the work\nand the end of the body\n"
OVER = 40 * clock.DAY
THEIRS = '{\n  "theme": "dark"\n}\n'  # a client's settings as a person has them
SESSION = ("--session", "one")


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


def room_for_packets(stage: Stage) -> None:
    """An empty temporary directory."""
    stage.watched.append(stage.temporary)

"""Faults that somebody might well build in. Each function plants one in the running process.

``put(place, name, value)`` puts something in the place of what is there; ``applied()`` says that the fault was run.
"""

import os
import time
from collections.abc import Callable
from typing import Any

from git_coop import (
    claims,
    drain_run,
    events,
    files,
    filing,
    ids,
    layout,
    letter_glance,
    letter_record,
    letterbox,
    locks,
    receipts,
    staged,
    store,
    turns,
)
from git_coop import hook as hooks
from git_coop.cli import letter as letter_words
from git_coop.cli import letter_view
from git_coop.errors import StoreFault
from git_coop.layout import Box

Applied = Callable[[], None]
Put = Callable[[object, str, object], None]


def seam() -> Any:
    """What stands for ``os`` in the store, so that a planted write can be killed as any other."""
    return store.__dict__["os"]


def marker_before_output(put: Put, applied: Applied) -> None:
    real = events._show

    def show(run: Any, box: Any, listing: Any, emit: Any) -> None:
        said: list[Any] = []
        real(run, box, listing, said.append)
        applied()
        emit(said[0])

    put(events, "_show", show)


def receipt_after_the_move(put: Put, applied: Applied) -> None:
    later: list[Callable[[], None]] = []
    real_write, real_move = receipts.write_receipt, claims.Claim.move
    put(filing, "write_receipt", lambda box, receipt: later.append(lambda: real_write(box, receipt)))

    def move(claim: claims.Claim, target: bytes) -> bool:
        moved = real_move(claim, target)
        while later:
            applied()
            later.pop()()
        return moved

    put(claims.Claim, "move", move)


def supersede_first(put: Put, applied: Applied) -> None:
    real = store.Store.create

    def create(self: store.Store, path: bytes, data: bytes, **named: Any) -> bool:
        parts = path.split(b"/")
        if b"letters" in parts:
            box, new = Box(self, parts[-2].decode()), parts[-1].decode().removesuffix(".toml")
            for old in letter_glance.known(box):
                letter = letter_record.stored(box, old)
                if letter.live:
                    applied()
                    marked = letter.replace(status="superseded", superseded_by=new)
                    self.rewrite(layout.letter_path(box, old), letter_record.encode(marked))
        return real(self, path, data, **named)

    put(store.Store, "create", create)


def copy_instead_of_rename(put: Put, applied: Applied) -> None:
    def move(claim: claims.Claim, target: bytes) -> bool:
        applied()
        disk = seam()
        number = disk.open(target, disk.O_WRONLY | disk.O_CREAT, 0o600)
        disk.write(number, claim.read(1 << 21))
        disk.close(number)
        return claims.remove(claim.path)

    put(claims.Claim, "move", move)


def publish_without_staging(put: Put, applied: Applied) -> None:
    def create(self: store.Store, path: bytes, data: bytes, *, durable: bool = True) -> bool:
        applied()
        disk = seam()
        try:
            number = disk.open(path, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL, 0o600)
        except FileExistsError:
            return False
        disk.write(number, data)
        disk.fsync(number)
        disk.close(number)
        claims.sync_folder(path.rpartition(b"/")[0])
        return durable or True

    put(store.Store, "create", create)


def no_flush_of_data(put: Put, applied: Applied) -> None:
    real = staged.Staged.fill

    def fill(self: staged.Staged, data: bytes, *, durable: bool, mode: int) -> None:
        applied()
        real(self, data, durable=durable and False, mode=mode)

    put(staged.Staged, "fill", fill)


def no_flush_of_folders(put: Put, applied: Applied) -> None:
    put(claims, "sync_folder", lambda _path: applied())


def an_error_swallowed(put: Put, applied: Applied) -> None:
    real = store.Store.create

    def create(self: store.Store, path: bytes, data: bytes, **named: Any) -> bool:
        try:
            return real(self, path, data, **named)
        except StoreFault:
            applied()
            return True

    put(store.Store, "create", create)


def an_error_of_no_kind(put: Put, applied: Applied) -> None:
    def fault(action: str, path: bytes, error: OSError) -> Exception:
        applied()
        return RuntimeError(f"cannot {action}")

    for module in (store, claims, staged, locks):
        put(module, "fault", fault)


def a_client_told_by_status(put: Put, applied: Applied) -> None:
    real = hooks._for_client

    def for_client(words: Any, fields: Any, edge: Any) -> int:
        written = edge.stdout.write

        def write(data: bytes) -> None:
            written(data)
            if b"cannot " in data:
                applied()
                edge.stderr.write(b"error: see above\n")

        edge.stdout.write = write
        try:
            return real(words, fields, edge)
        finally:
            del edge.stdout.write

    put(hooks, "_for_client", for_client)


def notice_after_expiry(put: Put, applied: Applied) -> None:
    real = filing.expire

    def expire(box: Any, identifier: str, digest: str, actor: Any, tell: Any = lambda: None) -> bool:
        filed = real(box, identifier, digest, actor)
        applied()
        tell()
        return filed

    put(filing, "expire", expire)


def no_inode_check(put: Put, applied: Applied) -> None:
    def same(_number: int, _path: bytes) -> bool:
        applied()
        return True

    for module in (locks, claims, staged):
        put(module, "names_same", same)


def no_inode_check_between_slow_steps(put: Put, applied: Applied) -> None:
    """The same on a machine that is slow between the opening of a file and its lock, so that others come in between."""
    no_inode_check(put, applied)
    slow_steps(put)


def slow_steps(put: Put) -> None:
    """No fault."""
    real = locks.lock_now

    def lock_now(number: int, path: bytes) -> None:
        time.sleep(0.003)
        real(number, path)

    put(claims, "lock_now", lock_now)


def no_lock(put: Put, applied: Applied) -> None:
    for module in (locks, claims):
        put(module, "lock_now", lambda _number, _path: applied())
        put(module, "demand_working_locks", lambda *_words: None)


def sweep_takes_what_is_held(put: Put, applied: Applied) -> None:
    def sweep(self: store.Store) -> int:
        for name in files.names(self.tmp):
            applied()
            claims.remove(self.tmp + b"/" + name)
        return 0

    put(store.Store, "sweep", sweep)


def publish_over_another(put: Put, applied: Applied) -> None:
    def link(self: staged.Staged, path: bytes) -> bool:
        applied()
        self.rename(path)
        return True

    put(staged.Staged, "link", link)


def read_counted_before_it_is_shown(put: Put, applied: Applied) -> None:
    real, record = letter_view.whole, letter_words._record_reading
    put(letter_words, "_record_reading", lambda _app, _found, _who: None)

    def whole(app: Any, box: Any, found: Any, **named: Any) -> None:
        applied()
        record(app, found, None)
        real(app, box, found, **named)

    put(letter_view, "whole", whole)


def note_before_the_reader_is_asked(put: Put, applied: Applied) -> None:
    """The count is taken from what was read before the lock."""
    real = letterbox.change

    def change(box: Any, identifier: str, transition: Any) -> Any:
        letter = letterbox.load(box, identifier)
        applied()
        return real(box, identifier, lambda _current: transition(letter))

    put(letterbox, "change", change)


def changed_file_not_checked(put: Put, applied: Applied) -> None:
    class Whatever(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            applied()
            return True

        def __ne__(self, other: object) -> bool:
            applied()
            return False

        def __hash__(self) -> int:
            return 0

    put(filing, "sha256", lambda _data: Whatever())
    put(drain_run.Run, "_is_as_shown", lambda _run, _box, _name, _marker: True)


def live_in_any_turn(put: Put, applied: Applied) -> None:
    def live_in(marker: receipts.Marker, _turn: str) -> bool:
        applied()
        return marker.event != "start"

    put(receipts.Marker, "live_in", live_in)
    put(turns, "live", lambda state, _turn: tuple(state.live.split(" ")[1:]))


def any_marker_files(put: Put, applied: Applied) -> None:
    def due(run: drain_run.Run, box: Any, waiting: Any) -> dict[str, Any]:
        applied()
        session = run.session or ""
        names = receipts.marked(box, session) & set(waiting.ids)
        return {name: receipts.read_marker(box, session, name) for name in names}

    put(drain_run.Run, "due", due)


def move_over_another(put: Put, applied: Applied) -> None:
    def move(claim: claims.Claim, target: bytes) -> bool:
        applied()
        seam().rename(claim.path, target)
        return True

    put(claims.Claim, "move", move)


def ids_by_the_clock(put: Put, applied: Applied) -> None:
    real = ids.mint

    def mint(now: int, entropy: Callable[[int], bytes], *, after: str = "") -> str:
        if after:
            applied()
        return real(now, entropy)

    put(ids, "mint", mint)


def symlinks_followed(put: Put, applied: Applied) -> None:
    real = files.open_regular

    def open_regular(path: bytes) -> Any:
        applied()
        return real(os.path.realpath(path))

    put(files, "open_regular", open_regular)


def session_ids_as_names(put: Put, applied: Applied) -> None:
    def hashed(session: str) -> str:
        applied()
        return session

    put(drain_run, "hashed", hashed)

"""The drain's promises as traces: lost or filed unseen never, shown twice at times; and what it says when it cannot."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from git_coop import clock, files, offers, receipts, turns
from git_coop.choose import PEEKED
from git_coop.drain_run import Run
from git_coop.errors import CoopError
from git_coop.layout import hashed, session_folder
from tests.support.clones import Clone
from tests.support.drains import Drained, Killed, Room, killed_after
from tests.support.program import Program
from tests.support.users import NOBODY, NOT_ROOT, give, run_as
from tests.support.world import Worlds

AS_OF = "git coop, 2026-11-30T10:45:12Z: "
EMPTY = AS_OF + "the box is empty; to leave the next session a letter: git coop letter write -m TEXT\n"


@pytest.fixture
def room(clone: Clone, edge: Worlds) -> Room:
    return Room(edge, clone.worktree("peer"))


def consumed(drained: Drained) -> tuple[str, ...]:
    assert drained.outcome is not None
    assert drained.outcome.faults == ()
    return drained.outcome.consumed


# Traces: each is the shortest in which a simpler rule loses a message, or files it unseen.


def test_six_starts_and_one_that_goes_on(room: Room) -> None:
    name = room.send()
    for number in range(6):
        assert room.drain("start", f"s{number}").shown == (name,)
    assert room.place(name) == "inbox"
    assert room.drain("prompt", "s3", "p").shown == (name,)
    assert room.place(name) == "inbox"
    assert consumed(room.drain("stop", "s3", "p")) == (name,)
    assert (room.place(name), room.receipts(name)) == ("seen", {(hashed("s3"), "consumed")})
    for number in range(6):
        assert room.drain("prompt", f"s{number}", "q").shown == ()


def test_two_starts_and_the_stop_of_a_third_that_was_shown_nothing(room: Room) -> None:
    name = room.send()
    room.drain("start", "a")
    room.drain("start", "b")
    stop = room.drain("stop", "c", "c1")
    assert (stop.shown, consumed(stop), room.place(name)) == ((name,), (), "inbox")
    assert consumed(room.drain("stop", "c", "c1", continued=True)) == (name,)
    assert room.receipts(name) == {(hashed("c"), "consumed")}


def test_new_sessions_get_past_a_heap_of_mail_for_one_that_is_gone(room: Room) -> None:
    """Each is thrown away after its start: what one has passed the next need not pass again."""
    for _ in range(3 * PEEKED):
        room.send(to_session="gone")
    name = room.send()
    assert [room.drain("start", f"s{number}").shown for number in range(4)] == [(), (), (), (name,)]
    assert room.drain("prompt", "s4", "p").shown == (name,)
    assert len(room.queued()) == 3 * PEEKED + 1


def test_a_stop_under_the_id_of_a_session_that_was_thrown_away(room: Room) -> None:
    """The start was shown to a process that is no more; its id says nothing."""
    name = room.send()
    room.drain("start", "x")
    stop = room.drain("stop", "x", "x1")
    assert (stop.shown, consumed(stop), room.place(name)) == ((name,), (), "inbox")


@pytest.mark.parametrize("ids", [True, False])
def test_a_relaunch_under_the_same_id_after_a_crash(room: Room, ids: bool) -> None:
    name = room.send()
    assert room.drain("prompt", "x", "p1" if ids else None).shown == (name,)
    # the process dies in its turn, and the next one has its id
    assert room.drain("start", "x").shown == (name,)
    assert room.marked("x") == {name: "prompt"}
    assert room.drain("prompt", "x", "p2" if ids else None).shown == (name,)
    assert consumed(room.drain("stop", "x", "p2" if ids else None)) == (name,)


def test_a_stop_of_the_next_process_consumes_nothing_that_only_the_last_one_saw(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "x", "p1")
    stop = room.drain("stop", "x", "p2", stop_shows=lambda: False)  # its prompt hook never ran
    assert (consumed(stop), room.place(name)) == ((), "inbox")


@pytest.mark.parametrize("between", [1, 2])
def test_a_resume_and_a_compaction_between_start_and_prompt(room: Room, between: int) -> None:
    name = room.send()
    for _ in range(1 + between):
        assert room.drain("start", "s").shown == (name,)
    assert room.drain("prompt", "s", "p").shown == (name,)
    assert consumed(room.drain("stop", "s", "p")) == (name,)


def test_a_compaction_within_a_turn_shows_again_and_keeps_the_live_marker(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    assert room.drain("start", "s").shown == (name,)
    assert room.marked("s") == {name: "prompt"}
    assert consumed(room.drain("stop", "s", "p")) == (name,)


def test_a_start_hook_that_is_slower_than_the_prompt_hook_of_the_same_launch(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s")
    room.drain("start", "s")
    assert consumed(room.drain("stop", "s")) == (name,)


def test_a_file_that_changed_after_it_was_shown_is_shown_again(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s", "p1")
    room.rewrite(name)
    stop = room.drain("stop", "s", "p1")
    assert (stop.shown, consumed(stop), room.place(name)) == ((name,), (), "inbox")
    assert consumed(room.drain("stop", "s", "p1", continued=True)) == (name,)


def test_a_file_that_changed_is_not_filed_where_a_stop_is_mute(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s", "p1")
    room.rewrite(name)
    stop = room.drain("stop", "s", "p1", stop_shows=lambda: False)
    assert (stop.shown, consumed(stop), room.place(name)) == ((), (), "inbox")
    assert room.drain("prompt", "s", "p2").shown == (name,)
    assert consumed(room.drain("stop", "s", "p2")) == (name,)


def test_one_id_live_in_two_worktrees(clone: Clone, edge: Worlds) -> None:
    one = Room(edge, clone.worktree("one"))
    two = Room(edge, clone.worktree("two"), one)
    first, second = one.send(), two.send()
    one.drain("prompt", "s", "p")
    assert consumed(two.drain("stop", "s", "p", stop_shows=lambda: False)) == ()
    assert (one.place(first), two.place(second)) == ("inbox", "inbox")
    assert consumed(one.drain("stop", "s", "p")) == (first,)


def test_one_id_live_in_two_processes(room: Room) -> None:
    """The stop of one consumes nothing that only the other's running turn has."""
    room.drain("prompt", "s", "one")
    name = room.send()
    assert room.drain("prompt", "s", "two").shown == (name,)
    stop = room.drain("stop", "s", "one", stop_shows=lambda: False)
    assert (consumed(stop), room.place(name)) == ((), "inbox")
    assert consumed(room.drain("stop", "s", "two")) == (name,)


def test_a_receipt_without_its_rename_and_the_stop_of_another(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "a", "a1")
    room.drain("prompt", "b", "b1")
    for last in range(1, 100):
        with pytest.raises(Killed), killed_after(last):
            room.drain("stop", "a", "a1")
        if room.receipts(name):
            break
    assert (room.place(name), room.receipts(name)) == ("inbox", {(hashed("a"), "consumed")})
    assert receipts.receipt_of(room.box, name) is None  # it does not count
    assert consumed(room.drain("stop", "b", "b1")) == (name,)
    assert room.receipts(name) == {(hashed("b"), "consumed")}


def test_a_prompt_that_is_withdrawn_and_sent_again_word_for_word(room: Room) -> None:
    """The client's turn id is the hash of the prompt: the same for both."""
    name = room.send()
    assert room.drain("prompt", "s", "hash", turn_is_unique=False).shown == (name,)
    stop = room.drain("stop", "s", "hash", turn_is_unique=False, interrupted=True)
    assert (stop.text, stop.human, consumed(stop), room.place(name)) == ("", "", (), "inbox")
    assert room.drain("prompt", "s", "hash", turn_is_unique=False).shown == (name,)
    assert consumed(room.drain("stop", "s", "hash", turn_is_unique=False)) == (name,)


def test_a_prompt_that_is_withdrawn_without_a_word(room: Room) -> None:
    """The client fires no stop for it, and the next prompt's stop comes under the same session id."""
    name = room.send()
    room.drain("prompt", "s", "p1")
    assert room.drain("prompt", "s", "p2", out="closed").shown == ()
    assert consumed(room.drain("stop", "s", "p2", stop_shows=lambda: False)) == ()
    assert room.drain("prompt", "s", "p3").shown == (name,)
    assert consumed(room.drain("stop", "s", "p3")) == (name,)


def test_a_stop_after_an_interrupt_consumes_nothing(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s")
    room.drain("stop", "s", interrupted=True)
    assert consumed(room.drain("stop", "s", stop_shows=lambda: False)) == ()
    assert room.place(name) == "inbox"


@pytest.mark.parametrize("filed", [True, False], ids=["each turn ends", "no turn ever ends"])
def test_more_mail_than_fits_before_every_prompt_starves_neither_new_nor_old(room: Room, filed: bool) -> None:
    first = [room.send(f"first {number}") for number in range(3)]
    room.drain("prompt", "s", "interrupted")
    shown: set[str] = set()
    sent: list[str] = []
    for turn in range(4):
        room.tick(clock.MINUTE)
        sent += [room.send(f"mail {turn} {number}") for number in range(6)]
        prompt = room.drain("prompt", "s", f"p{turn}")
        assert len(prompt.shown) == 5
        if turn < 3:
            assert prompt.shown[1] == first[turn if filed else 0]  # the oldest that was shown before
        assert sum(name in sent and name not in shown for name in prompt.shown) >= 4
        shown |= set(prompt.shown)
        if filed:
            assert set(consumed(room.drain("stop", "s", f"p{turn}", stop_shows=lambda: False))) == set(prompt.shown)
    assert shown.issuperset(sent[:14])
    if filed:
        while room.queued():
            turn += 1
            room.drain("prompt", "s", f"p{turn}")
            room.drain("stop", "s", f"p{turn}", stop_shows=lambda: False)
        assert turn <= 8
        assert {room.place(name) for name in (*first, *sent)} == {"seen"}


def test_forty_messages_are_drained_in_order_with_true_counts(room: Room) -> None:
    names = [room.send("x" * 1900) for _ in range(40)]
    got: list[str] = []
    for turn in range(40):
        prompt = room.drain("prompt", "s", f"p{turn}")
        if not prompt.shown:
            break
        left = len(names) - len(got) - len(prompt.shown)
        plural, verb = ("s", "") if len(prompt.shown) > 1 else ("", "s")
        more = f"; {left} more wait{'s' if left == 1 else ''}, the oldest sent 0 seconds ago" if left else ""
        assert f"{len(prompt.shown)} message{plural} follow{verb}{more}\n" in prompt.text
        assert len(prompt.text.encode()) <= 8000
        got += consumed(room.drain("stop", "s", f"p{turn}", stop_shows=lambda: False))
    assert got == names


def test_a_term_that_passes_while_a_turn_runs(room: Room) -> None:
    name, late = room.send(term=clock.HOUR), room.send("never shown", term=clock.HOUR, to_session="other")
    room.drain("prompt", "s", "p")
    room.tick(clock.DAY)
    stop = room.drain("stop", "s", "p")
    assert consumed(stop) == (name,)
    assert (room.place(name), room.place(late)) == ("seen", "expired")
    start = room.drain("start", "other")
    assert (room.place(late), room.receipts(late)) == ("expired", {(hashed("s"), "expired")})
    assert len(start.shown) == 1  # the notice about it
    assert f"expired unread: message {late} to this worktree" in start.text


def test_the_text_of_a_stop_that_comes_back_as_a_prompt_goes_on_with_the_turn(room: Room) -> None:
    room.drain("prompt", "s", "p1", marked=False)
    name = room.send()
    stop = room.drain("stop", "s", "p1", marked=False)
    assert (stop.shown, consumed(stop)) == ((name,), ())
    back = room.drain("prompt", "s", "p2", prompt=f"<when>now</when>\n{stop.text}", marked=False)
    assert (back.text, back.shown) == ("", ())
    assert consumed(room.drain("stop", "s", "p2", marked=False, continued=True)) == (name,)


def test_another_prompt_after_such_a_stop_opens_a_turn(room: Room) -> None:
    room.drain("prompt", "s", "p1", marked=False)
    name = room.send()
    stop = room.drain("stop", "s", "p1", marked=False)
    assert room.drain("prompt", "s", "p2", prompt="something else", marked=False).shown == (name,)
    # and from then on the same text is a person's quotation
    assert room.drain("prompt", "s", "p3", prompt=stop.text, marked=False).shown == (name,)


def test_a_stop_speaks_once_a_turn_and_not_after_another_hook_did(room: Room) -> None:
    room.drain("prompt", "s", "p1")
    first = room.send()
    assert room.drain("stop", "s", "p1").shown == (first,)
    second = room.send()
    stop = room.drain("stop", "s", "p1")
    assert (stop.shown, consumed(stop)) == ((), (first,))
    assert room.drain("prompt", "s", "p2").shown == (second,)
    third = room.send()
    assert room.drain("stop", "s", "p2", continued=True).shown == ()
    assert room.place(third) == "inbox"


def test_a_client_whose_prompt_carries_nothing(room: Room) -> None:
    """Its first prompt proves that the session is a real one, and with it what its latest start was shown."""
    name = room.send()
    cursor: dict[str, Any] = {"carries": False, "marked": False}
    assert room.drain("start", "c", **cursor).shown == (name,)
    assert room.drain("start", "c", **cursor).shown == (name,)
    prompt = room.drain("prompt", "c", "g1", arrives=False, **cursor)
    assert (prompt.text, room.marked("c")) == ("", {name: "prompt"})
    late = room.send()
    room.drain("start", "c", **cursor)
    stop = room.drain("stop", "c", "g1", **cursor)
    assert (consumed(stop), stop.shown) == ((name,), (late,))
    room.drain("prompt", "c", "g2", arrives=False, prompt=stop.text, **cursor)
    assert consumed(room.drain("stop", "c", "g2", continued=True, **cursor)) == (late,)


def test_what_only_an_earlier_start_was_shown_is_not_proved_by_a_prompt(room: Room) -> None:
    cursor: dict[str, Any] = {"carries": False}
    old = [room.send() for _ in range(3)]
    room.drain("start", "c", **cursor)
    new = [room.send() for _ in range(5)]
    start = room.drain("start", "c", **cursor)
    assert start.shown == (new[0], old[0], *new[1:4])
    room.drain("prompt", "c", "g1", arrives=False, **cursor)
    stop = room.drain("stop", "c", "g1", stop_shows=lambda: False, **cursor)
    assert set(consumed(stop)) == set(start.shown)


def test_a_second_prompt_lifts_nothing(room: Room) -> None:
    room.drain("start", "c", carries=False)
    room.drain("prompt", "c", "g1", arrives=False, carries=False)
    name = room.send()
    room.drain("start", "c", carries=False)
    room.drain("prompt", "c", "g2", arrives=False, carries=False)
    assert room.marked("c") == {name: "start"}
    assert consumed(room.drain("stop", "c", "g2", carries=False, stop_shows=lambda: False)) == ()


def test_a_start_whose_text_does_not_arrive_marks_nothing(room: Room) -> None:
    name = room.send()
    start = room.drain("start", "g", arrives=False)
    assert (start.text, room.marked("g")) == ("", {})
    assert room.drain("start", "g").shown == (name,)  # the control
    assert room.marked("g") == {name: "start"}


@pytest.mark.parametrize("kind", ["start", "prompt", "stop"])
def test_a_subagent_is_shown_nothing_and_consumes_nothing(room: Room, kind: str) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    before = room.saved()
    drained = room.drain(kind, "s", "p", subagent=True)
    assert (drained.text, drained.human, room.saved(), room.place(name)) == ("", "", before, "inbox")
    assert room.drain("", "s", "p").text == ""  # an event that is none of ours
    assert room.saved() == before
    assert consumed(room.drain("stop", "s", "p")) == (name,)


def test_without_a_session_id(room: Room) -> None:
    name = room.send()
    for kind in ("start", "prompt", "prompt"):
        assert room.drain(kind, None).shown == (name,)
    assert files.entries(room.box.shown) == []
    stop = room.drain("stop", None)
    assert (stop.text, stop.human, room.place(name)) == ("", "", "inbox")
    text = room.drain("stop", None, text=True)
    assert (text.shown, consumed(text)) == ((name,), (name,))
    assert room.receipts(name) == {("0" * 16, "consumed")}


def test_a_session_id_that_is_a_path(room: Room) -> None:
    for number, session in enumerate(("../../../evil", "/etc/evil", "x\ny", "x" * 4000, "\ud800", "\0")):
        name = room.send()
        assert room.drain("prompt", session, f"p{number}").shown == (name,)
        assert consumed(room.drain("stop", session, f"p{number}")) == (name,)
    names = files.entries(room.box.shown)
    assert len(names) == 6
    assert all(len(name) == 16 and not name.strip("0123456789abcdef") for name in names)


def test_mail_for_another_session_is_counted_and_not_shown(room: Room) -> None:
    other = room.send(to_session="other")
    start = room.drain("start", "s")
    assert start.text == AS_OF + "nothing for this session; 1 message for others\n"
    mine = room.send(to_session="s")
    start = room.drain("start", "s")
    assert start.shown == (mine,)
    assert start.text.startswith(AS_OF + "1 message for other sessions\n")
    assert room.drain("prompt", "s", "p").shown == (mine,)
    assert consumed(room.drain("stop", "s", "p")) == (mine,)
    assert room.drain("prompt", "other", "p").shown == (other,)


def test_a_damaged_addressee_is_shown_to_nobody_and_said(room: Room) -> None:
    name = room.send(to_session="s")
    data = room.path(name).read_bytes()
    room.put(name, data.replace(b"Coop-To-Session: s\n", b"Coop-To-Session: s\nCoop-To-Session: t\n"))
    start = room.drain("start", "s")
    assert start.shown == ()
    assert start.outcome is not None
    assert start.outcome.faults == (f"message {name}: it is addressed to one session, and nobody can tell which",)


def test_the_order_new_mail_first_and_one_place_for_the_old(room: Room) -> None:
    old = [room.send(f"old {number}") for number in range(2)]
    room.drain("prompt", "s", "p1")
    new = [room.send(f"new {number}") for number in range(2)]
    assert room.drain("prompt", "s", "p2").shown == (new[0], old[0], new[1], old[1])


def test_a_second_hook_of_the_same_turn_shows_the_rest(room: Room) -> None:
    names = [room.send() for _ in range(7)]
    assert room.drain("prompt", "s", "p").shown == tuple(names[:5])
    assert room.drain("prompt", "s", "p").shown == tuple(names[5:])
    assert sorted(consumed(room.drain("stop", "s", "p"))) == names


def test_mail_that_comes_in_a_long_session_is_shown_at_its_stop(room: Room) -> None:
    room.drain("start", "s")
    room.drain("prompt", "s", "p")
    name = room.send()
    assert room.drain("stop", "s", "p").shown == (name,)
    assert room.marked("s") == {name: "stop"}


# Output that does not get out.


@pytest.mark.parametrize("kind", ["start", "prompt", "stop"])
@pytest.mark.parametrize("text", [True, False], ids=["text", "client"])
def test_output_that_fails_marks_nothing_and_consumes_nothing(room: Room, kind: str, text: bool) -> None:
    name = room.send()
    assert room.drain(kind, "s", "p", text=text, out="closed").outcome is None
    assert (room.place(name), room.marked("s"), room.receipts(name)) == ("inbox", {}, set())
    assert room.drain(kind, "s", "p", text=text).shown == (name,)  # shown again


@pytest.mark.parametrize("where", [">&-", ">/dev/full", "| true"])
@pytest.mark.parametrize("kind", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_a_real_client_whose_pipe_is_closed_or_full(room: Room, coop: Program, where: str, kind: str) -> None:
    name = room.send()
    done = shell(coop, room, f'"$@" --client claude {where}', payload(room, kind))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if where != "| true":  # a pipe takes what fits into it, whoever reads
        assert (room.place(name), room.marked("s")) == ("inbox", {})
    done = shell(coop, room, '"$@" --client claude', payload(room, "UserPromptSubmit"))
    assert name.encode() in done.stdout
    assert room.marked("s") == {name: "prompt"}


@pytest.mark.parametrize(("where", "status"), [(">&-", 128), (">/dev/full", 128)])
@pytest.mark.parametrize("kind", ["start", "prompt", "stop"])
def test_real_text_whose_output_is_closed_or_full(
    room: Room, coop: Program, where: str, status: int, kind: str
) -> None:
    name = room.send()
    done = shell(coop, room, f'"$@" --event {kind} --session s {where}; echo "exit $?" >&2', b"")
    assert done.stderr.splitlines()[-1] == b"exit %d" % status
    assert b"Traceback" not in done.stderr
    assert (room.place(name), room.marked("s"), room.receipts(name)) == ("inbox", {}, set())


def payload(room: Room, name: str) -> bytes:
    turn = "" if name == "SessionStart" else '"prompt_id": "p", '
    return f'{{"hook_event_name": "{name}", "session_id": "s", {turn}"cwd": "{room.root}"}}'.encode()


def shell(coop: Program, room: Room, line: str, stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    words = ["sh", "-c", line, "sh", *coop.argv("drain", now=room.clock())]
    return subprocess.run(words, cwd=room.root, input=stdin, env=coop.environment(), capture_output=True, timeout=60)


# States and faults: each its own sentence, each with its time.


def test_empty_off_elsewhere_and_blind_are_four_sentences(room: Room) -> None:
    assert room.drain("start").text == EMPTY
    assert room.drain("prompt").text == ""
    assert room.drain("stop") == Drained("", "", (), room.drain("stop").outcome)
    name = room.send(to_session="other")
    assert room.drain("start").text == AS_OF + "nothing for this session; 1 message for others\n"
    room.switch(off=True)
    assert room.drain("start").text == AS_OF + "delivery is OFF; 1 message held; git coop mail on ends it\n"
    room.switch(off=False)
    room.path(name).unlink()
    Path(os.fsdecode(room.box.inbox)).rmdir()
    Path(os.fsdecode(room.box.inbox)).write_text("")
    start = room.drain("start").text
    assert start.startswith(AS_OF + "cannot look into the box; mail may wait:\n    | ")
    assert start.endswith("inbox': it is a file\n")


def test_while_off_nothing_is_shown_consumed_or_expired(room: Room) -> None:
    shown, old = room.send(), room.send(term=clock.HOUR)
    room.drain("prompt", "s", "p")
    room.switch(off=True)
    room.tick(clock.DAY)
    off = "git coop, 2026-12-01T10:45:12Z: delivery is OFF; 2 messages held; git coop mail on ends it\n"
    stop = room.drain("stop", "s", "p")
    assert (stop.text, stop.human, consumed(stop)) == ("", off, ())
    assert room.drain("prompt", "s", "p2").text == ""
    assert room.drain("start", "s").text == off
    text = room.drain("stop", "s", text=True)
    assert (text.text, consumed(text)) == (off, ())
    assert (room.place(shown), room.place(old)) == ("inbox", "inbox")
    room.switch(off=False)
    assert room.drain("prompt", "s", "p3").shown[0] == shown
    assert room.place(old) == "expired"


def test_off_with_an_empty_box_is_silent_at_a_stop(room: Room) -> None:
    room.switch(off=True)
    stop = room.drain("stop")
    assert (stop.text, stop.human) == ("", "")
    assert room.drain("start").text == AS_OF + "delivery is OFF; 0 messages held; git coop mail on ends it\n"


def test_no_store_is_an_empty_box_and_none_is_made(clone: Clone, coop: Program) -> None:
    for kind in ("start", "prompt"):
        result = coop("drain", "--event", kind, cwd=clone.root, now=1_796_035_512_123_000_000)
        assert (result.code, result.out, result.err) == (0, EMPTY, "")
    assert coop("drain", "--event", "stop", cwd=clone.root).out == ""
    assert not clone.coop.exists()


def test_an_unknown_format_stops_the_drain(room: Room, coop: Program) -> None:
    name = room.send()
    (Path(os.fsdecode(room.store.root)) / "format").write_text("7\n")
    before = room.saved()
    start = room.drain("start")
    assert start.text.startswith(AS_OF + "cannot look into the box; mail may wait:\n    | unknown store format '7'")
    stop = room.drain("stop")
    assert (stop.text, stop.human) == ("", start.text)
    text = coop("drain", cwd=room.root)
    assert (text.code, text.out) == (128, "")
    assert text.err.startswith("fatal: unknown store format '7' in ")
    assert (room.saved(), room.place(name)) == (before, "inbox")


def test_a_name_that_is_none_and_a_file_that_is_none_are_said_and_the_rest_is_delivered(room: Room) -> None:
    name = room.send()
    bad = "20261130T104512123Z-0000000f"
    room.put(bad, b"")
    (Path(os.fsdecode(room.box.inbox)) / "note\n\x1b[31m.txt").write_text("")
    start = room.drain("start")
    assert start.shown == (name,)
    assert start.text.startswith(
        AS_OF + "2 faults; names are quoted as they were found:\n"
        "    | 'note??[31m.txt' in the inbox is no message name\n"
        f"    | message {bad}: it is no message: empty\n"
    )
    text = room.drain("prompt", text=True)
    assert text.shown == (name,)
    assert text.outcome is not None
    assert len(text.outcome.faults) == 2


def test_a_folder_of_filed_mail_that_is_a_file(room: Room) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    seen = Path(os.fsdecode(room.box.seen))
    seen.rmdir()
    seen.write_text("")
    stop = room.drain("stop", "s", "p")
    assert stop.text == ""
    assert stop.human.startswith(
        AS_OF + "1 fault; names are quoted as they were found:\n"
        "    | nothing can be recorded, and mail will be shown again: '"
    )
    assert room.place(name) == "inbox"
    seen.unlink()
    assert consumed(room.drain("stop", "s", "p")) == (name,)


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_faults_of_a_stop_are_told_to_the_person(room: Room, clone: Clone) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    give(clone.root.parent, NOBODY)
    seen = Path(os.fsdecode(room.box.seen))
    seen.chmod(0o500)
    stop = run_as(NOBODY, lambda: "\n".join(room.drain("stop", "s", "p")[:2]))
    assert stop.startswith(
        "\n" + AS_OF + "1 fault; names are quoted as they were found:\n"
        f"    | message {name} was not filed and will be shown again: cannot move '"
    )
    assert room.place(name) == "inbox"
    seen.chmod(0o700)
    assert run_as(NOBODY, lambda: repr(consumed(room.drain("stop", "s", "p")))) == f"('{name}',)"


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_box_that_cannot_be_read(room: Room, clone: Clone) -> None:
    room.send()
    give(clone.root.parent, NOBODY)
    inbox = Path(os.fsdecode(room.box.inbox))
    inbox.chmod(0)
    said = run_as(NOBODY, lambda: room.drain("start").text)
    assert said == (
        AS_OF + f"cannot look into the box; mail may wait:\n    | cannot list '{inbox}': permission denied\n"
    )
    inbox.chmod(0o700)
    assert "hello" in run_as(NOBODY, lambda: room.drain("start").text)  # the control


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_store_that_cannot_be_written_shows_records_nothing_and_says_so(room: Room, clone: Clone) -> None:
    name = room.send()
    room.drain("prompt", "s", "p0")
    give(clone.root.parent, NOBODY)
    store = Path(os.fsdecode(room.store.root))
    for top, _, names in os.walk(store):
        os.chmod(top, 0o500)
        for each in names:
            os.chmod(os.path.join(top, each), 0o400)
    before = room.saved()
    fault = f"    | nothing can be recorded, and mail will be shown again: cannot write in '{store}'\n"
    for session in ("s", None):
        said = run_as(NOBODY, lambda session=session: room.drain("start", session).text)  # type: ignore[misc]
        assert said.startswith(AS_OF + "1 fault; names are quoted as they were found:\n" + fault)
        assert name in said
    assert name in run_as(NOBODY, lambda: room.drain("prompt", "s", "p1").text)
    stop = run_as(NOBODY, lambda: repr(room.drain("stop", "s", "p0")[:3]))
    assert "nothing can be recorded" in stop
    assert name not in stop
    text = run_as(NOBODY, lambda: repr(room.drain("stop", "s", text=True).outcome))
    assert "consumed=()" in text
    assert (room.saved(), room.place(name)) == (before, "inbox")


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_folder_of_filed_mail_that_cannot_be_looked_into_hides_no_mail(room: Room, clone: Clone) -> None:
    names = [room.send() for _ in range(2)]
    give(clone.root.parent, NOBODY)
    Path(os.fsdecode(room.box.seen)).chmod(0)
    said = run_as(NOBODY, lambda: room.drain("start").text)
    assert all(name in said for name in names)
    assert "1 fault;" in said


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_what_belongs_to_a_stranger_is_named_and_neither_shown_nor_touched(room: Room, clone: Clone) -> None:
    mine, theirs, stranded = room.send("mine"), room.send("theirs", term=clock.HOUR), room.send("stranded")
    room.path(stranded).rename(room.path(stranded, "claiming"))
    for path in (room.path(theirs), room.path(stranded, "claiming")):
        os.chown(path, NOBODY, NOBODY)
    start = room.drain("start")
    assert start.shown == (mine,)
    assert f"    | message {theirs}: it belongs to uid {NOBODY}, not to you\n" in start.text
    assert f"    | stranded message {stranded} is left alone: it belongs to uid {NOBODY}, not to you\n" in start.text
    assert "theirs" not in start.text
    room.tick(clock.DAY)
    assert room.drain("prompt", "s", "p").shown == (mine,)
    room.drain("stop", "s", "p")
    assert [room.place(name) for name in (mine, theirs, stranded)] == ["seen", "inbox", "claiming"]
    clone.git("config", "core.sharedRepository", "group")  # the control: git lets others write there
    assert stranded in room.drain("prompt", "s", "p2").shown
    assert (room.place(theirs), room.place(stranded)) == ("expired", "inbox")


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
@pytest.mark.parametrize("event", ["start", "prompt", "stop"])
def test_an_inbox_of_a_stranger_is_not_looked_into(room: Room, clone: Clone, event: str) -> None:
    name = room.send()
    inbox = Path(os.fsdecode(room.box.inbox))
    os.chown(inbox, NOBODY, NOBODY)
    before = room.saved()
    drained = room.drain(event, "s", "p")
    fault = (
        f"cannot look into the box; mail may wait:\n    | cannot use '{inbox}': it belongs to uid {NOBODY}, not to you"
    )
    assert fault in drained.text + drained.human
    assert (drained.shown, room.saved()) == ((), before)
    clone.git("config", "core.sharedRepository", "group")
    assert room.drain("prompt", "s", "p").shown == (name,)


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_letter_of_a_stranger_is_a_named_fault(room: Room, clone: Clone, coop: Program) -> None:
    coop("letter", "write", "-m", "what is left to do", cwd=room.root, check=0)
    (record,) = Path(os.fsdecode(room.box.letters)).glob("*.toml")
    assert "read it with: git coop letter read" in room.drain("start").text
    os.chown(record, NOBODY, NOBODY)
    why = f"cannot read '{record}': it belongs to uid {NOBODY}, not to you"
    start = room.drain("start")
    assert why in start.text
    assert "git coop letter read" not in start.text
    read = coop("letter", "read", cwd=room.root)
    assert (read.code, read.out, read.err) == (128, "", f"fatal: {why}\n")
    listed = coop("letter", "list", cwd=room.root)
    assert (listed.code, why in listed.err, "what is left" in listed.out) == (1, True, False)
    clone.git("config", "core.sharedRepository", "true")
    assert "what is left to do" in coop("letter", "read", cwd=room.root, check=0).out


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
@pytest.mark.parametrize("part", ["marker", "turn", "neither"])
def test_a_marker_or_a_turn_of_a_stranger_consumes_nothing(room: Room, part: str) -> None:
    name = room.send()
    room.drain("prompt", "s", "p")
    folder = Path(os.fsdecode(session_folder(room.box, hashed("s"))))
    if part != "neither":
        os.chown(folder / (name if part == "marker" else "turn"), NOBODY, NOBODY)
    room.drain("stop", "s", "p")
    assert room.place(name) == ("seen" if part == "neither" else "inbox")


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
@pytest.mark.parametrize("part", ["marker", "turn"])
def test_a_marker_or_a_turn_of_a_stranger_gives_way_to_the_session_s_own(room: Room, part: str) -> None:
    name = room.send()
    room.drain("prompt", "s", "p1")
    folder = Path(os.fsdecode(session_folder(room.box, hashed("s"))))
    os.chown(folder / (name if part == "marker" else "turn"), NOBODY, NOBODY)
    for turn in ("p2", "p3"):
        room.drain("prompt", "s", turn)
        room.drain("stop", "s", turn)
    assert room.place(name) == "seen"


@pytest.mark.skipif(os.geteuid() != 0, reason=NOT_ROOT)
def test_a_todo_of_a_stranger_is_a_named_fault(room: Room, clone: Clone, coop: Program) -> None:
    coop("todo", "add", "what is left to do", cwd=room.root, check=0)
    (record,) = Path(os.fsdecode(room.box.todos)).glob("*.toml")
    os.chown(record, NOBODY, NOBODY)
    listed = coop("todo", "list", cwd=room.root)
    why = f"cannot read '{record}': it belongs to uid {NOBODY}, not to you"
    assert (listed.code, why in listed.err, "what is left" in listed.out) == (1, True, False)
    status = coop("status", cwd=room.root)
    assert (why in status.err, "1 open" in status.out) == (True, False)
    coop("todo", "add", "my own", cwd=room.root, check=0)
    saved = coop("backup", "../x.bundle", cwd=room.root)
    assert f"'{record}' is left alone: it belongs to uid {NOBODY}, not to you" in saved.err
    clone.git("config", "core.sharedRepository", "true")
    assert "what is left to do" in coop("todo", "list", cwd=room.root, check=0).out


def test_what_is_found_in_claiming_goes_back_and_is_said(room: Room) -> None:
    name = room.send()
    room.path(name).rename(room.path(name, "claiming"))
    start = room.drain("start")
    assert start.shown == (name,)
    assert (
        f"1 note; names are quoted as they were found:\n    | returned stranded message {name} to the inbox\n"
        in start.text
    )


def test_a_claiming_that_is_no_folder_hides_no_mail(room: Room) -> None:
    name = room.send()
    claiming = Path(os.fsdecode(room.box.claiming))
    claiming.rmdir()
    claiming.symlink_to("/etc")
    start = room.drain("start")
    assert start.shown == (name,) or "cannot look" in start.text


# The letter notice.


def letter(room: Room, coop: Program) -> None:
    coop("letter", "write", "-m", "go on with the parser", cwd=room.root, check=0)


def test_the_letter_notice_at_each_start_and_not_again_at_the_prompt(room: Room, coop: Program) -> None:
    letter(room, coop)
    assert "a letter from the session before waits here" in room.drain("start").text
    assert room.drain("prompt", "s", "p").text == ""
    assert "a letter from the session before waits here" in room.drain("start").text


def test_the_notice_of_a_long_letter_reads_the_head_of_its_record(
    room: Room, coop: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "\x01" * 500_000 + "\nbody = 'not this one'\n"
    coop("letter", "write", "--subject", "long", "--body", "-", cwd=room.root, stdin=body.encode(), check=0)
    (record,) = Path(os.fsdecode(room.box.letters)).glob("*.toml")
    asked: list[int] = []
    real = files.read_open

    def counting(number: int, limit: int) -> bytes:
        data = real(number, limit)
        asked.append(len(data))
        return data

    monkeypatch.setattr(files, "read_open", counting)
    text = room.drain("start").text
    assert f"{record.stem}, unread, written " in text
    assert f", a record of {record.stat().st_size} bytes\n    | branch: peer\n    | subject: long\n" in text
    assert max(asked) <= 1 << 18
    coop("letter", "write", "-m", "short", cwd=room.root, check=0)
    assert ", 5 bytes\n" in room.drain("start").text  # the control


def test_the_letter_notice_at_the_first_prompt_that_gets_out_where_no_start_arrived(room: Room, coop: Program) -> None:
    letter(room, coop)
    assert room.drain("start", arrives=False).text == ""
    assert room.drain("prompt", "s", "p1", out="closed").outcome is None
    assert "a letter from the session before waits here" in room.drain("prompt", "s", "p2").text
    assert room.drain("prompt", "s", "p3").text == ""


def test_a_letter_stands_before_faults_and_both_before_mail(room: Room, coop: Program) -> None:
    letter(room, coop)
    name = room.send()
    (Path(os.fsdecode(room.box.inbox)) / "odd").write_text("")
    text = room.drain("start").text
    assert text.index("a letter from") < text.index("1 fault;") < text.index(name)


# Where a worktree moved, or another one took its place.


def test_a_moved_worktree_gets_its_old_mail_and_says_so(room: Room, clone: Clone, edge: Worlds) -> None:
    name = room.send()
    room.drain("prompt", "s", "p1")
    there = clone.root.parent / "elsewhere"
    clone.git("worktree", "move", str(room.root), str(there))
    room.root, world = there, edge(cwd=there).replace(clock=room.clock, entropy=room.entropy)
    start = room.drain("start", "s", world=world)
    assert start.shown == (name,)
    assert (
        f"1 note; names are quoted as they were found:\n    | moved from {clone.root.parent / 'peer'}\n" in start.text
    )
    assert "note" not in room.drain("start", "s", world=world).text


def test_a_worktree_made_again_at_the_same_path_gets_the_mail_with_a_word(room: Room, clone: Clone) -> None:
    name = room.send()
    clone.git("worktree", "remove", str(room.root))
    room.tick(clock.HOUR)
    clone.git("worktree", "add", "-q", "-b", "two", str(room.root))
    start = room.drain("start")
    assert start.shown == (name,)
    assert "\n(written for an earlier worktree at this path)\n" in start.text
    room.tick()
    new = room.send()
    start = room.drain("start")
    assert start.shown == (new, name)
    assert start.text.count("(written for an earlier worktree at this path)") == 1


# The work is bounded.


class Counted:
    """What one drain asks of the system, by name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: dict[str, int] = {}
        for name in ("open", "stat", "lstat", "listdir", "rename", "link", "unlink", "fsync", "scandir", "mkdir"):
            monkeypatch.setattr(os, name, self.counting(name, getattr(os, name)))

    def counting(self, name: str, real: object) -> object:
        def act(*args: object, **named: object) -> object:
            self.calls[name] = self.calls.get(name, 0) + 1
            return real(*args, **named)  # type: ignore[operator]

        return act


def test_the_work_does_not_grow_with_the_queue_or_with_what_was_filed(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = 20, 2000
    counts = []
    for queued in (few, many):
        for _ in range(queued - len(room.queued())):
            room.send()
        seen = Path(os.fsdecode(room.box.seen))
        for number in range(queued):
            (seen / f"20200101T000000000Z-{number:08x}.eml").touch()
        with monkeypatch.context() as patch:
            counted = Counted(patch)
            assert len(room.drain("prompt", "s", f"p{queued}").shown) == 5
            assert len(consumed(room.drain("stop", "s", f"p{queued}", stop_shows=lambda: False))) == 5
            counts.append(counted.calls)
    assert counts[1]["open"] <= counts[0]["open"] + 5 < 150  # the first drain of a session makes its folder
    assert all(count <= counts[0].get(name, 0) + 5 for name, count in counts[1].items())


def test_markers_of_thousands_that_were_shown_and_never_filed_are_not_read(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [room.send() for _ in range(600)]
    marker = receipts.Marker("prompt", "an old turn", "0" * 64, room.clock())
    monkeypatch.setattr(os, "fsync", lambda _number: None)
    for name in names:
        receipts.mark(room.box, hashed("s"), name, marker)
    with monkeypatch.context() as patch:
        counted = Counted(patch)
        assert room.drain("prompt", "s", "p").shown == tuple(names[:5])
        assert consumed(room.drain("stop", "s", "p", stop_shows=lambda: False)) == tuple(names[:5])
    assert counted.calls["open"] < 150


def test_a_heap_of_what_cannot_be_shown_is_passed_by_and_by(room: Room) -> None:
    """Mail for others and files that are none stand before; what is for this session comes within a few drains."""
    for _ in range(2 * PEEKED):
        room.send(to_session="other")
    names = [room.send() for _ in range(7)]
    first = room.drain("start", "s")
    assert first.text == AS_OF + "nothing for this session; 256 messages for others; 263 messages not looked at yet\n"
    assert room.drain("start", "s").shown == ()
    assert room.drain("start", "s").shown == tuple(names[:5])
    assert room.drain("prompt", "s", "p").shown[:2] == (names[5], names[0])
    assert room.drain("start", None).shown == tuple(names[:5])  # nobody's own looking goes on behind the heap as well


def test_two_stops_of_one_turn_at_the_same_time(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hooks installed, or a client that asks twice: the turn is continued once."""
    room.drain("prompt", "s", "p")
    name = room.send()
    inner: list[Drained] = []
    real = offers.offer

    def slow(*args: Any) -> Any:
        if not inner:
            inner.append(Drained("", "", (), None))
            inner.append(room.drain("stop", "s", "p"))
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(offers, "offer", slow)
        assert room.drain("stop", "s", "p").shown == (name,)
    assert inner[1].text == ""
    assert consumed(room.drain("stop", "s", "p", continued=True)) == (name,)


def test_a_stop_whose_output_fails_leaves_the_turn_its_continuation(room: Room) -> None:
    room.drain("prompt", "s", "p")
    name = room.send()
    assert room.drain("stop", "s", "p", out="closed").outcome is None
    assert room.drain("stop", "s", "p").shown == (name,)
    assert room.drain("stop", "s", "p").shown == ()


def test_two_prompts_of_one_session_at_the_same_time(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slower one writes its marker last, of a turn that is over: nothing is filed by it, nothing lost."""
    name = room.send()
    inner: list[Drained] = []
    real = Run.mark_shown

    def slow(run: Run, *args: Any, **named: Any) -> Any:
        if not inner:
            inner.append(Drained("", "", (), None))
            inner.append(room.drain("prompt", "s", "p2"))
        return real(run, *args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "mark_shown", slow)
        assert room.drain("prompt", "s", "p1").shown == (name,)
    assert inner[1].shown == (name,)
    assert consumed(room.drain("stop", "s", "p2", stop_shows=lambda: False)) == ()
    assert room.drain("prompt", "s", "p3").shown == (name,)
    assert consumed(room.drain("stop", "s", "p3")) == (name,)


def test_a_session_whose_lock_is_held_is_shown_mail_that_is_not_marked(room: Room) -> None:
    name = room.send()
    with pytest.MonkeyPatch.context() as patch, turns.locked(room.box, hashed("s")):
        patch.setattr(turns, "LOCK_WAIT", 0.0)
        prompt = room.drain("prompt", "s", "p")
    assert prompt.shown == (name,)
    assert "nothing can be marked as shown" in prompt.text
    assert room.marked("s") == {}
    assert room.drain("prompt", "s", "p").shown == (name,)


def test_a_crash_within_is_an_error_of_the_program_and_not_of_the_mail(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = room.send()

    def broken(*_args: object) -> None:
        raise CoopError("something of ours broke")

    monkeypatch.setattr(receipts, "mark", broken)
    prompt = room.drain("prompt", "s", "p")
    assert prompt.shown == (name,)
    assert prompt.outcome is not None
    assert prompt.outcome.faults == (f"message {name} is not marked and will be shown again: something of ours broke",)

"""Every check: what it finds, its remedy, its fix, and that it says ``ok`` where nothing is wrong."""

import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from git_coop import checks_mail, clock, discover, doctor, inbox, layout, letter_record, letterbox, place, store
from git_coop.checks import FIXED, FOUND, NOTE, OK, UNKNOWN, Case, Finding
from git_coop.errors import StoreFault
from tests.support.clones import Clone
from tests.support.desk import Desk, tree
from tests.support.world import START, Worlds


class Ward:
    """A clone with a letter, a todo, mail for a peer, and a doctor who looks at it."""

    def __init__(self, desk: Desk, clone: Clone, home: Path) -> None:
        self.desk = desk
        self.clone = clone
        self.home = home
        self.peer = clone.worktree("peer")
        self.letter = desk.letter("a letter")
        desk.done("todo", "add", "a todo")
        self.mail = self.send()

    def send(self) -> str:
        return self.desk("mail", "send", "--to", str(self.peer), "-m", "hello")[1].split()[1]

    @property
    def coop(self) -> Path:
        return self.clone.coop

    def box(self, name: str = "peer") -> Path:
        return next(self.coop.glob(f"mail/box/{name}-*"))

    def case(self, now: int = START, env: dict[str, str] | None = None) -> Case:
        world = {**os.environ, **(env or {})}
        where = place.find(os.fsencode(self.clone.root), world, None, discover.find)
        return doctor.case(where, world, now)

    def look(self, name: str, now: int = START, env: dict[str, str] | None = None) -> list[Finding]:
        """What one check finds; the checks look and change nothing."""
        before = tree(self.coop)
        found = [finding for finding in doctor.examine(self.case(now, env)) if finding.name == name]
        assert tree(self.coop) == before
        return found

    def said(self, name: str, now: int = START) -> list[str]:
        return [finding.what for finding in self.look(name, now) if finding.outcome == FOUND]

    def mended(self, name: str) -> list[str]:
        """What ``--fix`` did; afterwards the check finds nothing more."""
        after = doctor.mend(self.look(name))
        assert {finding.outcome for finding in after} == {FIXED}
        assert [finding.outcome for finding in self.look(name)] == [OK]
        return [finding.what for finding in after]


@pytest.fixture
def ward(edge: Worlds, clone: Clone, sealed: Path) -> Ward:
    return Ward(Desk(edge, clone.root), clone, sealed)


def test_a_healthy_store_passes_every_check(ward: Ward) -> None:
    found = doctor.examine(ward.case(env={"PATH": "/usr/bin"}), doctor.STORE)
    assert {finding.name for finding in found} == set(doctor.STORE)
    assert {finding.outcome for finding in found} == {OK, NOTE}
    assert [finding.name for finding in found if finding.outcome == NOTE] == ["copies"]
    assert doctor.is_well(found)


def test_where_nothing_is_stored_nothing_is_made(clone: Clone) -> None:
    where = place.find(os.fsencode(clone.root), os.environ, None, discover.find)
    found = doctor.examine(doctor.case(where, os.environ, START), {"format": doctor.CHECKS["format"]})
    assert [(each.outcome, each.what) for each in found] == [
        (OK, "there is no store yet: nothing was ever written in this clone")
    ]
    assert not clone.coop.exists()


def test_an_unknown_format_is_named_and_nothing_else_is_looked_at_or_mended(ward: Ward) -> None:
    (ward.coop / "format").write_text("2\n")
    (ward.coop / "mail" / "tmp" / "1-0").write_text("stray")
    found = doctor.examine(ward.case())
    assert {finding.name for finding in found} == set(doctor.ALWAYS)
    assert ward.said("format") == ["the store has the unknown format '2'; nothing else of it was looked at"]
    before = tree(ward.coop)
    doctor.mend(found)
    assert tree(ward.coop) == before


def test_a_store_whose_making_was_cut_short_is_finished(ward: Ward) -> None:
    (ward.coop / "format").unlink()
    assert ward.mended("format") == ["the making of the store was cut short: it has no file 'format': wrote 'format'"]
    assert (ward.coop / "format").read_text() == "1\n"


def test_modes_are_set_back(ward: Ward) -> None:
    message = next(ward.box().glob("inbox/*.eml"))
    message.chmod(0o644)
    ward.box().chmod(0o755)
    name, box = message.relative_to(ward.coop), ward.box().relative_to(ward.coop)
    assert ward.mended("permissions") == [
        f"'{box}' has mode 0755, not 0700: set the mode of '{box}' to 0700",
        f"'{name}' has mode 0644, not 0600: set the mode of '{name}' to 0600",
    ]
    assert (message.stat().st_mode & 0o777, ward.box().stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_shared_repository_has_other_modes(ward: Ward) -> None:
    ward.clone.git("config", "core.sharedRepository", "group")
    assert len(ward.said("permissions")) > 10
    doctor.mend(doctor.examine(ward.case()))
    assert ward.said("permissions") == []
    assert ward.box().stat().st_mode & 0o7777 == 0o2770


def test_what_is_no_file_and_no_folder_is_named_and_left(ward: Ward) -> None:
    (ward.box() / "inbox" / "link").symlink_to("/etc/passwd")
    os.mkfifo(ward.box() / "seen" / "pipe")
    found = ward.look("symlinks")
    assert [finding.what.rpartition("' ")[2] for finding in found] == ["is a symbolic link", "is a named pipe"]
    assert all(finding.fix is None and finding.remedy for finding in found)


def test_a_folder_that_is_a_link_is_said_by_every_check_that_meets_it(ward: Ward, tmp_path: Path) -> None:
    (ward.coop / "letters").rename(tmp_path / "letters")
    (ward.coop / "letters").symlink_to(tmp_path / "letters")
    assert ward.said("symlinks") == ["'letters' is a symbolic link"]
    assert [finding.outcome for finding in ward.look("letters")] == [UNKNOWN]
    assert not doctor.is_well(ward.look("letters"))


def test_a_stray_is_swept_and_a_file_being_written_is_not(ward: Ward) -> None:
    (ward.coop / "mail" / "tmp" / "11-0").write_text("half")
    held = ward.coop / "mail" / "tmp" / "12-0"
    held.write_text("being written")
    with open(held, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert ward.mended("leftovers") == [
            "'mail/tmp/11-0' was left by a command that was killed: removed 'mail/tmp/11-0'"
        ]
        assert held.exists()
    assert ward.mended("leftovers") == [
        "'mail/tmp/12-0' was left by a command that was killed: removed 'mail/tmp/12-0'"
    ]


def test_strange_names_are_counted_and_left(ward: Ward) -> None:
    (ward.coop / "notes.txt").write_text("mine")
    (ward.coop / ".DS_Store").write_text("")
    (ward.coop / "letters" / "Strange Key").mkdir()
    for number in range(7):
        (ward.box() / "inbox" / f"{number}\n").write_text("")
    box = ward.box().relative_to(ward.coop)
    inside = f"{box}/inbox/"
    assert ward.said("names") == [
        "1 strange name in the store: 'notes.txt'",
        "1 strange name in letters/: 'Strange Key'",
        f"7 strange names in {inside}: '0\n', '1\n', '2\n', '3\n', '4\n' and 2 more",
    ]


def test_letters_that_cannot_be_read_are_named(ward: Ward) -> None:
    (ward.coop / "letters" / ward.box("main").name / f"{ward.letter}.toml").write_text("half = ")
    (found,) = ward.look("letters")
    assert found.outcome == FOUND
    assert found.what.startswith("cannot parse '")
    assert f"{ward.letter}.toml'" in found.what


def test_todos_and_requests_that_cannot_be_read_are_named(ward: Ward) -> None:
    todo = next((ward.coop / "todos").glob("*/t-*.toml"))
    todo.write_bytes(b"\xff")
    (ward.coop / "requests").mkdir(exist_ok=True)
    request = ward.coop / "requests" / f"{ward.letter}.toml"
    request.write_text("")
    assert ward.said("todos") == [f"cannot parse '{todo}': it is not valid UTF-8 at byte 0"]
    assert len(ward.said("requests")) == 1
    assert str(request) in ward.said("requests")[0]


def test_an_older_letter_that_still_says_live_is_marked(ward: Ward) -> None:
    first = ward.coop / "letters" / ward.box("main").name / f"{ward.letter}.toml"
    unmarked = first.read_bytes()
    second = _second(ward)
    first.write_bytes(unmarked)
    assert ward.mended("live-letters") == [
        (
            f"letter {ward.letter} says 'unread' and is superseded by a newer one:"
            f" marked letter {ward.letter} as superseded"
        )
    ]
    box = layout.Box(_store(ward), ward.box("main").name)
    marked = letter_record.stored(box, ward.letter)
    assert (marked.status, marked.superseded_by) == ("superseded", second)
    live = letterbox.live(box)
    assert live is not None
    assert live.id == second


def _second(ward: Ward) -> str:
    ward.desk.clock.tick()
    return ward.desk("letter", "write", "-m", "newer")[1].split()[1]


def _store(ward: Ward) -> store.Store:
    found = layout.open_store(os.fsencode(ward.coop))
    assert found is not None
    return found


def test_a_record_that_was_removed_by_hand_is_missed(ward: Ward) -> None:
    second = _second(ward)
    (ward.coop / "letters" / ward.box("main").name / f"{second}.toml").unlink()
    assert ward.said("letter-chains") == [f"letter {ward.letter} points to {second}, which is not there"]
    assert ward.said("live-letters") == []


def test_a_message_that_is_none_is_named(ward: Ward) -> None:
    message = ward.box() / "inbox" / f"{ward.mail}.eml"
    message.write_bytes(b"")
    name = message.relative_to(ward.coop)
    assert ward.said("messages") == [f"'{name}': it is no message: empty"]


def test_a_stranded_message_goes_back_to_the_inbox(ward: Ward) -> None:
    source, target = (ward.box() / folder / f"{ward.mail}.eml" for folder in ("inbox", "claiming"))
    source.rename(target)
    assert ward.mended("claiming") == [
        (
            f"message {ward.mail} is stranded in 'mail/box/{ward.box().name}/claiming':"
            f" returned message {ward.mail} to the inbox"
        )
    ]
    assert source.exists()


def test_a_message_with_both_names_keeps_the_filed_one(ward: Ward) -> None:
    waiting, seen = (ward.box() / folder / f"{ward.mail}.eml" for folder in ("inbox", "seen"))
    os.link(waiting, seen)
    (what,) = ward.mended("both-names")
    assert what.endswith(f": removed the inbox's name of message {ward.mail}")
    assert (waiting.exists(), seen.exists()) == (False, True)


def test_two_contents_under_one_id_are_touched_by_nobody(ward: Ward) -> None:
    waiting, seen = (ward.box() / folder / f"{ward.mail}.eml" for folder in ("inbox", "seen"))
    seen.write_bytes(waiting.read_bytes() + b"more")
    seen.chmod(0o600)
    (found,) = ward.look("both-names")
    assert found.what.endswith("with different contents")
    assert found.fix is None
    doctor.mend(doctor.examine(ward.case()))
    assert waiting.exists()
    assert seen.exists()


def test_a_filed_message_without_a_receipt_is_said(ward: Ward) -> None:
    (ward.box() / "inbox" / f"{ward.mail}.eml").rename(ward.box() / "seen" / f"{ward.mail}.eml")
    assert ward.said("receipts") == [f"1 message in 'mail/box/{ward.box().name}/seen' without a receipt: '{ward.mail}'"]


def test_a_filed_message_with_its_receipt_is_well(ward: Ward) -> None:
    for event in ("prompt", "stop"):
        ward.desk("drain", "--event", event, "--session", "s", cwd=ward.peer)
    assert list((ward.box() / "seen").iterdir()) != []
    assert ward.said("receipts") == []


@pytest.mark.parametrize("by_git", [True, False])
def test_a_box_whose_worktree_is_gone_is_listed_with_what_it_holds(ward: Ward, by_git: bool) -> None:
    if by_git:
        ward.clone.git("worktree", "remove", "--force", str(ward.peer))
    else:
        ward.peer.rename(ward.peer.parent / "elsewhere")
    assert ward.said("orphans") == [f"no worktree at '{ward.peer}', whose box holds 1 undelivered message"]


def test_a_letter_whose_worktree_is_gone_is_a_finding_until_it_is_adopted(ward: Ward) -> None:
    (ward.box() / "inbox" / f"{ward.mail}.eml").unlink()
    letter = ward.desk.letter("how far I came", cwd=ward.peer)
    ward.clone.git("worktree", "remove", "--force", str(ward.peer))
    (found,) = ward.look("orphans")
    assert (found.outcome, found.what) == (
        FOUND,
        f"no worktree at '{ward.peer}', whose box holds the live letter {letter}",
    )
    way = f"go on with the letter here: git coop letter adopt {letter}"
    assert found.remedy == f"make a worktree there again, or {way}"
    ward.desk("letter", "adopt", letter)
    (found,) = ward.look("orphans")
    assert (found.outcome, found.what) == (NOTE, f"no worktree at '{ward.peer}'; its letter was adopted")


def test_an_empty_box_without_a_worktree_is_a_note(ward: Ward) -> None:
    (ward.box() / "inbox" / f"{ward.mail}.eml").unlink()
    ward.clone.git("worktree", "remove", "--force", str(ward.peer))
    (found,) = ward.look("orphans")
    assert found.outcome == NOTE


def test_one_directory_with_two_boxes_is_said(ward: Ward, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(ward.peer)  # stands for a bind mount, which has a real path of its own
    box = ward.coop / "mail" / "box" / layout.key(os.fsencode(alias))
    box.mkdir(mode=0o700)
    (box / "path").write_text(f"{alias}\n")
    assert ward.said("twins") == [f"one directory has 2 boxes, by the paths '{alias}', '{ward.peer}'"]


def test_mail_that_is_shown_again_and_again_names_the_missing_stop_hook(ward: Ward) -> None:
    for number in range(10):
        ward.desk("drain", "--event", "start", "--session", f"s{number}", cwd=ward.peer)
    assert ward.said("consuming") == [
        f"mail in the box of '{ward.peer}' was shown 10 times, never consumed: no stop hook has run there"
    ]
    ward.desk("drain", "--event", "stop", "--session", "s1", cwd=ward.peer)
    assert ward.said("consuming") == []


def test_a_clock_before_the_newest_id_is_said(ward: Ward) -> None:
    assert ward.said("clock", now=START - clock.DAY) == [f"the clock stands before the newest id, {ward.mail}"]
    assert ward.said("clock", now=START) == []


def test_a_file_system_without_working_locks_is_said(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda _number, _how: None)
    (found,) = ward.look("locks")
    assert found.what.endswith("this file system has no working locks")


def test_held_delivery_is_a_note(ward: Ward) -> None:
    (ward.coop / "OFF").mkdir()
    (found,) = ward.look("delivery")
    assert (found.outcome, found.what) == (NOTE, "delivery is held in the whole clone")


def test_settings_are_listed_with_their_origin_and_unknown_keys_are_found(ward: Ward) -> None:
    ward.clone.git("config", "coop.ttl", "90m")
    ward.clone.git("config", "coop.retension", "9")
    ward.clone.git("config", "coop.retention", "soon")
    ward.clone.git("config", "coop.anchor", "/tmp")
    origin = "file:.git/config"
    found = [(each.outcome, each.what) for each in ward.look("settings")]
    assert found == [
        (FOUND, f"'coop.retension' in {origin} (local) is no setting of git coop"),
        (
            FOUND,
            f"bad value 'soon' for 'coop.retention' in {origin}: it is a number of days up to 36500, such as 30 or 30d",
        ),
        (FOUND, f"'coop.anchor' in {origin} is not read: an anchor is the person's word, not a repository's"),
        (NOTE, "coop.anchor is none (default)"),
        (NOTE, "coop.remote is none (default)"),
        (NOTE, f"coop.retention is 'soon', from {origin} (local)"),
        (NOTE, "coop.stopDelivery is auto (default)"),
        (NOTE, f"coop.ttl is '90m', from {origin} (local)"),
    ]


def test_a_program_that_is_not_on_the_path_is_said(ward: Ward) -> None:
    (found,) = ward.look("program", env={"PATH": "/usr/bin:/bin"})
    assert found.what == "'git-coop' is not on the PATH, so that 'git coop' does not work there"
    assert [each.outcome for each in ward.look("program")] == [OK]


def test_clients_without_hooks_are_found_and_wired_ones_are_well(ward: Ward) -> None:
    (ward.home / ".claude").mkdir()
    env = {"HOME": str(ward.home), "PATH": "/usr/bin:/bin"}
    assert [each.what for each in ward.look("hooks", env=env)] == ["no client has the hooks; found here: claude"]
    assert ward.desk("hooks", "install", "claude")[0] == 0
    assert [each.outcome for each in ward.look("hooks", env=env)] == [OK]
    (seen,) = ward.look("hooks-seen", env=env)
    assert (seen.outcome, seen.what) == (NOTE, "never seen in this worktree: start, prompt, stop")


def test_settings_that_cannot_be_parsed_are_found_once(ward: Ward) -> None:
    (ward.home / ".claude").mkdir()
    (ward.home / ".claude" / "settings.json").write_text("{")
    env = {"HOME": str(ward.home), "PATH": "/usr/bin:/bin"}
    (found,) = ward.look("hooks", env=env)
    assert found.what.startswith(f"Claude Code: cannot parse '{ward.home}/.claude/settings.json': ")


def test_a_socket_in_place_of_a_message_is_named(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ward.box() / "inbox")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"{ward.mail[:-1]}f.eml" if not ward.mail.endswith("f") else f"{ward.mail[:-1]}e.eml")
    monkeypatch.chdir(ward.clone.root)
    assert len(ward.said("messages")) == 1
    assert ward.said("messages")[0].endswith("it is a socket")


def test_a_fix_that_fails_leaves_its_finding(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    (ward.coop / "mail" / "tmp" / "11-0").write_text("half")

    def fails(path: bytes) -> bool:
        raise StoreFault("cannot remove: read-only file system", path=path)

    found = ward.look("leftovers")
    monkeypatch.setattr("git_coop.checks_store.remove", fails)
    (after,) = doctor.mend(found)
    assert after.outcome == FOUND
    assert after.what.endswith(
        "was left by a command that was killed: not mended: cannot remove: read-only file system"
    )
    assert not doctor.is_well([after])


def test_a_check_that_cannot_look_says_so_and_stops_no_other(ward: Ward) -> None:
    def breaks(_case: Case) -> list[Finding]:
        raise StoreFault("cannot list", path=b"x")

    def raises(_case: Case) -> list[Finding]:
        raise OSError(5, "Input/output error")

    checks: dict[str, Callable[[Case], list[Finding]]] = {"a": breaks, "b": raises, "c": lambda _case: []}
    assert [(each.outcome, each.what) for each in doctor.examine(ward.case(), checks)] == [
        (UNKNOWN, "cannot look: cannot list"),
        (UNKNOWN, "cannot look: input/output error"),
        (OK, "nothing found"),
    ]


def test_fixes_race_with_drains_and_nothing_is_lost(ward: Ward) -> None:
    """The drain's own repair between the look and the fix: the fix finds the work done and says so."""
    source, target = (ward.box() / folder / f"{ward.mail}.eml" for folder in ("inbox", "claiming"))
    source.rename(target)
    found = ward.look("claiming")
    inbox.recover(layout.Box(_store(ward), ward.box().name))
    (after,) = doctor.mend(found)
    assert after.what.endswith(f"message {ward.mail} was returned already")
    assert source.exists()
    assert list(checks_mail.stranded(ward.case())) == []

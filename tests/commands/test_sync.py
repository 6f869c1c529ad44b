"""``git coop sync``, ``backup``, ``restore``, ``letter list --fleet`` and ``letter adopt``, as a person meets them."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from git_coop import carrier, replica
from git_coop.layout import open_store
from tests.support.clones import copy_template, git
from tests.support.fleets import Fleet, Machine
from tests.support.program import Program
from tests.support.world import START

AS_OF = "2026-11-30T10:45:12Z"


def test_nothing_is_set(fleet: Fleet) -> None:
    one = fleet.machine("one", "")
    said = "error: no remote is set for the ledger\n"
    hint = "hint: the ledger needs a repository of its own: git config coop.remote <url of an empty repository>\n"
    assert one("sync") == (1, "", said + hint)
    assert not one.clone.coop.exists()


def test_two_machines_from_beginning_to_end(fleet: Fleet) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    identifier = one.write("how far I came\n\nand the rest")
    one.ok("todo", "add", "the rest")
    assert one("sync", "--dry-run") == (
        0,
        f"would send 1 letter, 1 todo to {fleet.remote}\nother stores sent nothing new\n",
        "",
    )
    assert not (one.clone.coop / "replica").exists()
    assert one("sync") == (0, f"synced as laptop-01000005 with {fleet.remote}: 1 letter, 1 todo sent\n", "")
    assert one("sync") == (0, f"synced as laptop-01000005 with {fleet.remote}: nothing new sent\n", "")
    assert two("sync") == (
        0,
        f"synced as laptop-02000001 with {fleet.remote}: nothing new sent\nnew from laptop-01000005\n",
        "",
    )
    row = f"  {identifier}  unread      0 seconds   how far I came  [{one.clone.root}]\n"
    assert two("letter", "list", "--fleet") == (0, f"laptop-01000005 (laptop.example.org: {one.clone.root})\n{row}", "")
    assert two("letter", "show", identifier[-8:]) == (
        0,
        (
            f"letter {identifier}\n"
            "Store:   laptop-01000005; the lines with a bar are quoted from it\n"
            f"Path:    {one.clone.root}\n"
            "State:   unread\n"
            f"Written: {AS_OF}, 0 seconds ago\n"
            "Subject: how far I came\n"
            f"As of:   {AS_OF}\n"
            "\n"
            "    | how far I came\n    | \n    | and the rest\n"
        ),
        "",
    )
    adopted = two.ok("letter", "adopt", identifier).split()[1]
    assert two("letter", "adopt", identifier) == (
        1,
        "",
        (
            f"error: letter {identifier} of laptop-01000005 was adopted here as {adopted}\n"
            f"hint: git coop letter read {adopted[-8:]} reads it\n"
        ),
    )
    assert two.json("letter", "show")["letter"]["adopted_from"] == f"laptop-01000005/{identifier}"
    two.ok("sync")
    before = one.store()
    one.ok("sync")
    assert one.store() == before
    row = f"{identifier}  unread      0 seconds   how far I came, adopted on laptop-02000001\n"
    assert one("letter", "list") == (0, row, "")
    assert one.json("letter", "show")["letter"]["adopted_on"] == ["laptop-02000001"]
    assert "12 bytes" not in one.ok("drain", "--event", "prompt")
    assert ", adopted on laptop-02000001" in one.ok("drain", "--event", "start")


def test_n_is_a_count_everywhere_and_nothing_here(fleet: Fleet) -> None:
    one = fleet.machine("one")
    one.write("x")
    code, out, err = one("sync", "-n")
    assert (code, out) == (129, "")
    assert err.startswith("usage: ")
    assert one("sync", "--dry-run")[0] == 0


def test_what_json_says(fleet: Fleet) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    one.write("x")
    counts = {"letters": 1, "todos": 0, "requests": 0}
    plan = {"as_of": AS_OF, "replica": None, "remote": str(fleet.remote), "dry_run": True, "sent": counts}
    assert one.json("sync", "--dry-run") == {**plan, "news": False, "faults": []}
    assert one.json("sync") == {
        "as_of": AS_OF,
        "replica": one.replica,
        "remote": str(fleet.remote),
        "dry_run": False,
        "sent": counts,
        "pushed": True,
        "attempts": 1,
        "changed": [],
        "notes": [],
        "faults": [],
    }
    assert two.json("sync", "--dry-run")["news"] is True
    assert two.json("sync")["changed"] == [one.replica]
    assert two.json("letter", "list", "--fleet", "-n", "0")["letters"] == []
    assert two.json("letter", "list", "--fleet", "--grep", "y")["letters"] == []
    found = two.json("letter", "list", "--fleet", "--grep", "^x")
    assert found == two.json("letter", "list", "--fleet")
    assert [letter["replica"] for letter in found["letters"]] == [one.replica]
    assert found["stores"] == [{"replica": one.replica, "name": f"laptop.example.org: {one.clone.root}"}]


def test_what_is_sent_is_what_the_remote_had_not(fleet: Fleet) -> None:
    one = fleet.machine("one")
    one.write("x")
    one.ok("backup", "../x.bundle")  # which puts it into the ledger, and nowhere else
    sent = f"synced as {one.replica} with {fleet.remote}: 1 letter sent\n"
    assert one.ok("sync", "--dry-run").startswith("would send 1 letter to ")
    assert one.ok("sync") == sent
    assert one.ok("sync", "--dry-run").startswith("would send nothing new to ")
    shutil.rmtree(fleet.remote)
    git("init", "-q", "--bare", str(fleet.remote), cwd=one.clone.root)
    assert one.ok("sync", "--dry-run").startswith("would send 1 letter to ")
    assert one.ok("sync") == sent
    assert one.ok("sync") == sent.replace("1 letter", "nothing new")


def test_what_was_sent_after_a_backup_outlives_a_restore_from_it(fleet: Fleet) -> None:
    one = fleet.machine("one")
    identifier = one.write("what is to do")
    one.ok("backup", "../x.bundle")
    one("letter", "read", env={"GIT_COOP_SESSION": "next"})
    one("letter", "ack", "-m", "done, as abc1234", env={"GIT_COOP_SESSION": "next"})
    one.ok("sync")
    shutil.rmtree(one.clone.coop)
    one.ok("restore", "../x.bundle")
    code, out, err = one("sync")
    assert (code, f"set aside as {one.replica}.strays\n" in err, "nothing new sent" in out) == (0, True, False)
    kept = [
        letter for letter in one.json("letter", "list", "--fleet", "--all")["letters"] if letter["id"] == identifier
    ]
    assert [(letter["status"], letter["ack_body"]) for letter in kept] == [("done", "done, as abc1234")]
    assert one.ok("sync") == f"synced as {one.replica} with {fleet.remote}: nothing new sent\n"
    assert one.json("letter", "list", "--fleet", "--all")["letters"] == kept


@pytest.mark.parametrize("first", ["refused", "beaten", "neither"])
def test_what_is_set_aside_outlives_a_push_that_was_not_the_first(fleet: Fleet, first: str) -> None:
    one, other = fleet.machine("one"), fleet.machine("other")
    bodies = set()

    def life(body: str) -> None:
        shutil.rmtree(one.clone.coop, ignore_errors=True)
        one.ok("restore", "../x.bundle")
        one("sync")
        fleet.clock.tick()
        bodies.add(one.write(body))
        one.ok("sync")

    bodies.add(one.write("first"))
    one.ok("backup", "../x.bundle")
    life("second")
    life("third")
    shutil.rmtree(one.clone.coop)
    one.ok("restore", "../x.bundle")
    hook = fleet.remote / "hooks" / "pre-receive"
    if first == "refused":
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        assert one("sync")[0] != 0
        hook.unlink()
    elif first == "beaten":
        other.write("of another clone")
        real = carrier.push
        done: list[str] = []

        def push(*words: Any) -> Any:
            if not done:
                done.append("")
                other.ok("sync")
            return real(*words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(carrier, "push", push)
            assert one.json("sync")["attempts"] == 2
    one.ok("sync")
    here = {letter["id"] for letter in one.json("letter", "list", "--all")["letters"]}
    fleets = {letter["id"] for letter in one.json("letter", "list", "--fleet", "--all")["letters"]}
    assert bodies <= here | fleets


def test_a_state_that_was_set_aside_and_gives_way_is_told(fleet: Fleet) -> None:
    one = fleet.machine("one")
    one.write("what is to do")
    one.ok("backup", "../x.bundle")
    said = []
    for result in ("in one life", "in another"):
        one("letter", "read", env={"GIT_COOP_SESSION": "next"})
        one("letter", "ack", "-m", result, env={"GIT_COOP_SESSION": "next"})
        one.ok("sync")
        shutil.rmtree(one.clone.coop)
        one.ok("restore", "../x.bundle")
        said.append(one("sync")[2])
    word = "note: 1 of them takes the place of a state set aside before, which the ledger's history has\n"
    assert [word in each for each in said] == [False, True]


def test_a_ledger_that_is_lost_is_made_again_and_nothing_of_the_store_is_set_aside(fleet: Fleet) -> None:
    one = fleet.machine("one")
    one.write("what is to do")
    one.ok("sync")
    one("letter", "read", env={"GIT_COOP_SESSION": "next"})
    shutil.rmtree(one.ledger)
    assert one("sync") == (0, f"synced as {one.replica} with {fleet.remote}: 1 letter sent\n", "")


def test_closed_letters_of_the_fleet_need_all(fleet: Fleet) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    old, new = one.write("first"), one.write("second")
    one.ok("sync")
    two.ok("sync")
    assert [letter["id"] for letter in two.json("letter", "list", "--fleet")["letters"]] == [new]
    every = two.json("letter", "list", "--fleet", "--all")["letters"]
    assert [(letter["id"], letter["status"]) for letter in every] == [(new, "unread"), (old, "superseded")]
    assert two("letter", "list", "--fleet", "--all-worktrees")[0] == 129


FORBIDDEN = [
    ("--upload-pack=touch marker", "begins with '-'"),
    ("-x", "begins with '-'"),
    ("ext::sh -c touch% marker", "names the protocol 'ext::'"),
    ("http://127.0.0.1/x", "names the protocol 'http'"),
    ("origin", "is a remote of this project"),
    ("../project.git", "is the same place as the project's remote 'origin'"),
    ("file://{base}/project", "is the same place as the project's remote 'origin'"),
    ("short:ject", "is the same place as the project's remote 'origin'"),
    ("{base}/pushed.git/", "is the same place as the project's remote 'origin'"),
    (".", "is this clone itself"),
    ("{base}/mirror.git", "which this project has too"),
    ("{base}/other.git", "holds something else"),
]


def test_a_remote_that_may_not_be(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("x")
    for name in ("project.git", "pushed.git", "mirror.git", "other.git"):
        git("init", "-q", "--bare", name, cwd=tmp_path)
    one.clone.git("remote", "add", "origin", str(tmp_path / "project.git"))
    one.clone.git("config", "remote.origin.pushurl", str(tmp_path / "pushed.git"))
    one.clone.git("config", f"url.file://{tmp_path}/pro.insteadOf", "short:")
    one.clone.git("push", "-q", "--mirror", str(tmp_path / "mirror.git"))
    tree = git("hash-object", "-t", "tree", "-w", "/dev/null", cwd=tmp_path / "other.git").strip()
    commit = git("commit-tree", tree, "-m", "else", cwd=tmp_path / "other.git").strip()
    git("branch", "main", commit, cwd=tmp_path / "other.git")
    before = one.store()
    for value, sentence in FORBIDDEN:
        one.clone.git("config", "coop.remote", value.replace("{base}", str(tmp_path)))
        code, out, err = one("sync")
        assert (value, code, out) == (value, 1, "")
        assert sentence in err, value
        assert one.store() == before, value
        assert not list(tmp_path.rglob("marker")), value


def test_the_same_remote_with_nothing_of_the_project_in_it_is_taken(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.clone.git("remote", "add", "origin", str(tmp_path / "project.git"))
    one.write("x")
    assert one("sync")[0] == 0


def test_git_itself_refuses_a_rewritten_protocol(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one", "/srv/ledger.git")
    one.write("x")
    git("config", "--global", f"url.ext::touch {tmp_path}/marker .insteadOf", "/srv/", cwd=tmp_path)
    git("config", "--global", "protocol.ext.allow", "always", cwd=tmp_path)
    code, _out, err = one("sync")
    assert code == 128
    assert err.startswith("fatal: cannot reach the ledger's remote: transport 'ext' not allowed")
    assert not (tmp_path / "marker").exists()


def test_no_hook_runs(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction", "pre-auto-gc", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\npwd >>{tmp_path}/marker\n")
        (hooks / name).chmod(0o755)
    git("config", "--global", "core.hooksPath", str(hooks), cwd=tmp_path)
    one.write("x")
    one.ok("sync")
    one.ok("backup", "x.bundle")
    ran = (tmp_path / "marker").read_text().splitlines()
    assert set(ran) == {str(fleet.remote)}  # a repository on this machine runs the hooks that its own user asked for
    git("update-ref", "refs/heads/x", "coop", cwd=one.ledger)
    assert str(one.ledger) not in (tmp_path / "marker").read_text()
    one.clone.git("update-ref", "refs/heads/x", "HEAD")
    assert str(one.clone.root) in (tmp_path / "marker").read_text()  # where hooks run, this one would


def test_a_remote_that_fails_leaves_everything_working(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one", str(tmp_path / "gone.git"))
    one.write("x")
    before = one.store()
    code, out, err = one("sync")
    assert (code, out) == (128, "")
    assert err == (
        f"fatal: cannot reach the ledger's remote: '{tmp_path}/gone.git' does not appear to be a git repository\n"
    )
    assert one.store() == before
    assert one("letter", "read")[0] == 0
    one.clone.git("config", "coop.remote", "https://127.0.0.1:1/l.git")
    code, _out, err = one("sync")
    assert code == 128
    assert "127.0.0.1" in err
    git("init", "-q", "--bare", "gone.git", cwd=tmp_path)
    one.clone.git("config", "coop.remote", str(tmp_path / "gone.git"))
    assert one("sync")[0] == 0


def test_git_s_words_of_a_failure_are_one_line() -> None:
    always = b"Please make sure you have the correct access rights\nand the repository exists.\n"
    read = b"fatal: Could not read from remote repository.\n\n"
    ssh = b"ssh: connect to host h port 22: Connection refused\n"
    assert carrier.said(ssh + read + always) == "ssh: connect to host h port 22: Connection refused"
    assert carrier.said(read + always) == "Could not read from remote repository"
    assert carrier.said(b"error: one\nhint: no\nfatal: two.\nfatal: two.\n") == "one; two"
    assert carrier.said(b"") == ""


def test_a_remote_that_takes_nothing(fleet: Fleet) -> None:
    one = fleet.machine("one")
    hook = fleet.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'No space left on device' >&2\nexit 1\n")
    hook.chmod(0o755)
    one.write("x")
    code, _out, err = one("sync")
    assert code == 128
    assert err.startswith("fatal: cannot push to the ledger's remote: ")
    hook.unlink()
    assert one("sync")[0] == 0


def test_the_project_carries_nothing_of_the_ledger(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("the body that must not travel")
    one.ok("sync")
    one.ok("backup", str(tmp_path / "x.bundle"))
    git("init", "-q", "--bare", "origin.git", cwd=tmp_path)
    one.clone.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    before = (one.tree(), one.store())
    for words in (["push", "--mirror", "origin"], ["push", "--all", "origin"], ["fetch", "--all"], ["gc", "-q"]):
        one.clone.git(*words)
    git("clone", "-q", "one", "copy", cwd=tmp_path)
    git("clone", "-q", "--mirror", "one", "mirror.git", cwd=tmp_path)
    refs = [git("for-each-ref", cwd=tmp_path / name) for name in ("origin.git", "copy", "mirror.git")]
    assert not any("coop" in text for text in refs)
    letter = git("ls-tree", "-r", "coop", cwd=one.ledger).split()[2]
    for name in ("origin.git", "copy/.git", "mirror.git"):
        found = subprocess.run(["git", "cat-file", "-e", letter], cwd=tmp_path / name, capture_output=True)
        assert found.returncode
        assert not (tmp_path / name / "coop").exists()
    assert (one.tree(), one.store()) == before
    assert one("sync")[0] == 0


def test_a_disk_dies_and_its_letters_are_read_elsewhere(fleet: Fleet, tmp_path: Path, template: Path) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    side = one.clone.worktree("side")
    identifier = one.write("for the main one")
    one.ok("letter", "write", "-m", "for the side", cwd=side)
    one.ok("todo", "add", "something")
    one.ok("sync")
    name = one.replica
    out = one.ok("backup", str(tmp_path / "x.bundle"))
    size = (tmp_path / "x.bundle").stat().st_size
    assert out == f"3 records of {name} in {tmp_path}/x.bundle, {size} bytes\n"
    assert (tmp_path / "x.bundle").stat().st_mode & 0o777 == 0o600
    git("bundle", "verify", str(tmp_path / "x.bundle"), cwd=template)
    shutil.rmtree(one.clone.root)
    shutil.rmtree(side)

    new = fleet.machine("elsewhere")
    other = new.clone.worktree("other-side")
    code, out, err = new("restore", "../x.bundle")
    assert (code, out, err) == (
        0,
        (
            f"restored 3 records as {name}\n"
            f"no worktree here: {one.clone.root} (2 records)\n"
            f"no worktree here: {side} (1 record)\n"
        ),
        "hint: git coop restore ../x.bundle --map OLD=NEW gives such a path its worktree of today\n",
    )
    maps = ("--map", f"{one.clone.root}=.", "--map", f"{side}=../other-side")
    assert new("restore", "../x.bundle", *maps) == (0, f"restored 0 records as {name}, 3 were there\n", "")
    assert new("letter", "read", "--raw") == (0, "for the main one", "")
    assert new("letter", "read", "--raw", cwd=other) == (0, "for the side", "")
    assert new("sync")[1].startswith(f"synced as {name} with ")
    two.ok("sync")
    new.ok("sync")
    found = {letter["id"]: letter["status"] for letter in two.json("letter", "list", "--fleet")["letters"]}
    assert found[identifier] == "read"
    assert new.tree() == two.tree()


def test_a_restore_where_letters_are(fleet: Fleet, tmp_path: Path) -> None:
    one, two = fleet.machine("one"), fleet.machine("two")
    first = one.write("x")
    one.ok("backup", str(tmp_path / "x.bundle"))
    two.write("y")
    before = two.store()
    assert two("restore", "../x.bundle") == (
        1,
        "",
        (
            f"error: this store has letters, and is not {one.replica}\n"
            "hint: --merge takes the bundle's records as another store's\n"
        ),
    )
    said = f"{one.replica} is known here as another store: git coop letter list --fleet\n"
    assert two("restore", "../x.bundle", "--merge") == (0, said, "")
    assert two.store() == before
    assert [letter["id"] for letter in two.json("letter", "list", "--fleet")["letters"]] == [first]
    two.ok("letter", "adopt", first[-8:])
    two.ok("backup", str(tmp_path / "y.bundle"))
    one.ok("restore", "../y.bundle", "--merge")
    assert len(one.json("letter", "list", "--fleet", "--all")["letters"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("backup", "."), 1, "error: nothing is stored in this clone yet\n"),
        (("restore", "../nothing"), 128, "fatal: cannot read '{base}/nothing': no such file or directory\n"),
        (("restore", "README"), 128, "fatal: '{base}/one/README' is not a bundle that git can read: '{base}/"),
        (("restore", "../project.bundle"), 128, "names no store of git coop\n"),
        (("restore", "README", "--map", "x"), 129, "usage: 'x' is not OLD=NEW\n"),
    ],
)
def test_what_backup_and_restore_refuse(
    fleet: Fleet, tmp_path: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    one = fleet.machine("one")
    one.clone.git("bundle", "create", "-q", "../project.bundle", "main")
    found, out, err = one(*words)
    assert (found, out) == (code, "")
    assert sentence.replace("{base}", str(tmp_path)) in err
    assert not one.clone.coop.exists()


def test_a_new_place_must_be_a_worktree(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("x")
    one.ok("backup", "../x.bundle")
    new = fleet.machine("new")
    code, _out, err = new("restore", "../x.bundle", "--map", f"{one.clone.root}={tmp_path}")
    assert (code, err.splitlines()[0]) == (1, f"error: '{tmp_path}' is not the root of a worktree of this clone")
    assert not (new.clone.coop / "letters").exists()


def test_letters_that_exist_in_one_place_only(fleet: Fleet) -> None:
    one = fleet.machine("one")

    def said(remote: str | None = None) -> str:
        store = open_store(bytes(one.clone.coop))
        assert store is not None
        return replica.warning(replica.only_here(store), remote, START)

    one.write("x")
    way = "set coop.remote and run git coop sync, or git coop backup FILE"
    assert said() == f"1 letter exists in this place only: {way}"
    assert said("x") == "1 letter exists in this place only: run git coop sync"
    one.ok("sync")
    assert said() == ""
    one.write("y")
    assert said("x") == "1 letter of 2 exists in this place only (last sync 0 seconds ago): run git coop sync"
    one.ok("backup", "../x.bundle")
    assert said() == ""


def test_a_copied_clone_takes_a_name_of_its_own(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("x")
    one.ok("sync")
    shutil.copytree(one.clone.root, tmp_path / "copy", symlinks=True)
    copy = Machine(fleet.worlds, type(one.clone)(tmp_path / "copy"), fleet.clock, 9)
    code, out, err = copy("sync")
    assert code == 0
    assert copy.replica != one.replica
    assert f"synced as {copy.replica}" in out
    assert err == f"note: this clone is a copy of '{one.clone.coop}': it has the name {copy.replica} from now on\n"
    shutil.move(one.clone.root, tmp_path / "moved")
    moved = Machine(fleet.worlds, type(one.clone)(tmp_path / "moved"), fleet.clock, 8)
    name = moved.replica
    moved.ok("sync")
    assert moved.replica == name


def test_the_real_program(coop: Program, template: Path, tmp_path: Path) -> None:
    clone = copy_template(template, tmp_path / "main")
    git("init", "-q", "--bare", "l.git", cwd=tmp_path)
    clone.git("config", "coop.remote", f"file://{tmp_path}/l.git")
    coop("letter", "write", "-m", "x", cwd=clone.root, check=0)
    coop("sync", cwd=clone.root, check=0)
    done = coop("sync", "-h", cwd=clone.root, check=0)
    assert done.out.startswith("usage: git coop sync [<options>]\n")


def test_a_backup_replaces_an_earlier_one_and_nothing_else(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("x")
    bundle, notes, pipe = tmp_path / "x.bundle", tmp_path / "notes", tmp_path / "pipe"
    one.ok("backup", str(bundle))
    one.write("y")
    one.ok("backup", str(bundle))
    notes.write_text("precious")
    os.mkfifo(pipe)
    one.clone.git("bundle", "create", "-q", "../project.bundle", "main")
    for path in (notes, pipe, tmp_path / "project.bundle", tmp_path):
        code, out, err = one("backup", str(path))
        assert (code, out, err.splitlines()[-1]) == (1, "", "hint: name a file that is not there")
        assert err.startswith(f"error: '{path}' is there and is no backup: ")
    assert notes.read_text() == "precious"
    assert one("restore", str(pipe))[::2] == (128, f"fatal: cannot read '{pipe}': it is not a regular file\n")

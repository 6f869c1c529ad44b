"""``git coop restore`` a second time, beside the store it came from, and the names of letters that are there twice."""

import shutil
from pathlib import Path

from git_coop import ids
from git_coop.letter_record import encode
from git_coop.letters import Letter, read, written
from tests.support.clones import git
from tests.support.fleets import Fleet, Machine, Pusher

ELSE = "else-0badcafe"
LATER = "20261231T000000000Z-0000000a"
OLD, NEW = "old-00112233445566778899aabbccddeeff", "new-00112233445566778899aabbccddeeff"


def dead(fleet: Fleet) -> Machine:
    """A machine with a letter, a todo and a request, of which a bundle is left; its clone is gone."""
    one = fleet.machine("one")
    one.clone.worktree("side")
    one.write("how far I came")
    one.ok("todo", "add", "the rest")
    one.ok("request", "open", "--to", "../side", "-m", "look at this")
    one.ok("backup", "../l.bundle")
    for name in ("one", "side"):
        shutil.rmtree(fleet.base / name)
    return one


def records(machine: Machine) -> list[str]:
    return [path for path in machine.store() if path.endswith(".toml") and not path.startswith("mail/")]


def test_a_restore_without_the_map_brings_no_old_box_back(fleet: Fleet) -> None:
    one = dead(fleet)
    new = fleet.machine("new")
    said = new.ok("restore", "../l.bundle", "--map", f"{one.clone.root}=.")
    assert said == f"restored 3 records as {new.replica}\n"
    new.ok("letter", "read")
    new.ok("sync")
    before = new.store()
    assert len(records(new)) == 3
    again = (0, f"restored 0 records as {new.replica}, 3 were there\n", "")
    assert new("restore", "../l.bundle") == again
    assert new("restore", "../l.bundle", "--map", f"{one.clone.root}=.") == again
    assert new.store() == before
    new.ok("sync")
    two = fleet.machine("two")
    two.ok("sync")
    listed = two.json("letter", "list", "--fleet", "--all")["letters"]
    assert [(far["status"], far["path"]) for far in listed] == [("read", str(one.clone.root))]
    two.ok("letter", "adopt", listed[0]["id"])


def test_a_map_after_a_restore_without_one_moves_what_lies_there(fleet: Fleet) -> None:
    one = dead(fleet)
    new = fleet.machine("new")
    said = f"restored 3 records as {one_name(fleet)}\nno worktree here: {one.clone.root} (2 records)\n"
    hint = "hint: git coop restore ../l.bundle --map OLD=NEW gives such a path its worktree of today\n"
    assert new("restore", "../l.bundle") == (0, said, hint)
    assert new("restore", "../l.bundle") == (
        0,
        said.replace("3 records as", "0 records as", 1).replace("\n", ", 3 were there\n", 1),
        hint,
    )
    assert len(records(new)) == 3
    done = new("restore", "../l.bundle", "--map", f"{one.clone.root}=.")
    assert done == (0, f"restored 0 records as {new.replica}, 3 were there\n", "")
    assert len(records(new)) == 3
    assert len(new.json("letter", "list")["letters"]) == len(new.json("todo", "list")["todos"]) == 1


def one_name(fleet: Fleet) -> str:
    heads = git("bundle", "list-heads", str(fleet.base / "l.bundle"), cwd=fleet.base)
    return heads.split("/")[-1].strip()


def test_two_boxes_of_a_bundle_may_have_todos_of_one_id(fleet: Fleet) -> None:
    one = fleet.machine("one")
    side = one.clone.worktree("side")
    identifier = one.ok("todo", "add", "of the main one").split()[1]
    other = one.ok("todo", "add", "of the side", cwd=side).split()[1]
    [path] = (one.clone.coop / "todos").glob(f"*/{other}.toml")
    path.rename(path.with_name(f"{identifier}.toml"))
    one.ok("backup", "../l.bundle")
    for name in ("one", "side"):
        shutil.rmtree(fleet.base / name)
    new = fleet.machine("new")
    for _time in range(2):
        new("restore", "../l.bundle", "--map", f"{one.clone.root}=.")
        assert len(records(new)) == 2


def test_a_store_that_is_alive_here_is_not_taken_over(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("x")
    one.ok("backup", "../l.bundle")
    new = fleet.machine("new")
    assert new("restore", "../l.bundle") == (
        1,
        "",
        (
            f"error: {one.replica} is alive on this machine, in '{one.clone.coop}'\n"
            "hint: --merge takes the bundle's records as another store's, which can be adopted\n"
            f"hint: where that clone is not used any more, remove '{one.clone.coop}/replica'\n"
        ),
    )
    assert new.store() == {}
    assert not (new.clone.coop / "replica").exists()
    assert one("restore", "../l.bundle")[0] == 0  # itself it may be
    new.ok("restore", "../l.bundle", "--merge")
    (one.clone.coop / "replica").unlink()
    name = one_name(fleet)
    assert new.ok("restore", "../l.bundle").startswith(f"restored 1 record as {name}\n")


def test_a_letter_twice_in_one_store_is_one_letter_as_it_is_now(fleet: Fleet) -> None:
    one = fleet.machine("one")
    one.ok("sync")
    old = written(Letter(LATER, OLD, "/old", "twice", "twice", ids.time_of(LATER)))
    new = read(old.replace(key=NEW), ids.time_of(LATER) + 1, "s")
    pusher = Pusher(fleet.remote)
    pusher.replace(
        {
            f"replicas/{ELSE}/letters/{each.key}/0/a/{LATER}.toml": ("100644", pusher.blob(encode(each)))
            for each in (old, new)
        }
    )
    one.ok("sync")
    [far] = one.json("letter", "list", "--fleet", "--all")["letters"]
    assert (far["to"], far["status"]) == (NEW, "read")
    assert one.json("letter", "show", LATER)["letter"]["id"] == LATER
    one.ok("letter", "adopt", f"{ELSE}/{LATER}")


def test_of_two_stores_with_one_name_each_sees_the_others_letters_once(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.machine("one")
    one.write("before")
    one.ok("backup", "../l.bundle")
    later = one.write("after")
    one.ok("sync")
    one.clone.root.rename(tmp_path / "another-machine")
    new = fleet.machine("one")
    new.ok("restore", "../l.bundle")
    fleet.clock.tick()
    mine = new.write("restored")
    new("sync")
    new.clone.root.rename(tmp_path / "new")
    (tmp_path / "another-machine").rename(one.clone.root)
    one("sync")
    three = fleet.machine("three")
    three.ok("sync")
    names = [(far["id"], far["replica"]) for far in three.json("letter", "list", "--fleet")["letters"]]
    assert names == [(later, one.replica), (mine, f"{one.replica}.strays")]
    assert three.ok("letter", "list", "--fleet").count(f"[{one.clone.root}]") == 2
    for identifier in (later, mine):
        three.ok("letter", "adopt", identifier)
    assert [far["id"] for far in one.json("letter", "list", "--fleet")["letters"]] == [mine]
    found = [each for each in one.json("doctor")["checks"] if each["name"] == "strays"]
    assert [(each["outcome"], each["what"]) for each in found] == [
        ("note", f"1 letter of another clone that has or had the name {one.replica} too")
    ]


def test_what_is_homeless_after_a_restore_can_be_adopted(fleet: Fleet) -> None:
    one = dead(fleet)
    new = fleet.machine("new")
    new("restore", "../l.bundle")
    (letter,) = new.json("letter", "list", "--all-worktrees")["letters"]
    new.ok("letter", "adopt", letter["id"])
    assert new.json("letter", "show")["letter"]["adopted_from"] == f"{one.clone.root}/{letter['id']}"
    new.ok("sync")
    two = fleet.machine("two")
    two.ok("sync")
    assert len(two.json("letter", "list", "--fleet")["letters"]) == 2

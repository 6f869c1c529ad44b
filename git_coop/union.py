"""The union of ledgers: trees in, a tree out. Nothing here knows of remotes; no reference is changed but by ``keep``.

Each store writes its own subtree alone, so that a merge chooses, store by store, which version is the later one.
"""

from collections.abc import Mapping

from git_coop import adopted
from git_coop.errors import StoreFault
from git_coop.ledger import BLOB, BRANCH, FORMAT, MARK, SEEN, TREE, Child, Ledger, Unsound
from git_coop.ledger_walk import Found, Problems, folders, records
from git_coop.letter_record import decode
from git_coop.own import LIMIT
from git_coop.record import Record

_HISTORY = 2000  # commits of our own that are looked through for an older version of a subtree


class Union(Record):
    """A tree of everybody's records: which stores in it are new or changed, and what there is to say about it.

    ``before`` is this store's own tree as the remote had it, empty where it had none.
    """

    tree: str
    changed: tuple[str, ...]
    notes: tuple[str, ...]
    before: str = ""


def replicas(book: Ledger, tree: str) -> dict[str, str]:
    """The subtrees of every store in a ledger's tree by name; names that are none are left out."""
    if not tree:
        return {}
    return dict(folders(book, book.subtree(tree, "replicas"), "", Problems(), adopted.is_store))


def unite(book: Ledger, theirs: str, known: str, own: str, mine: str, *, rewritten: bool) -> Union:
    """The union of the remote's tree, what this store knows, and its own subtree.

    Its own is always its own. Another's is the remote's, which is never behind what came from there, unless its history
    was ``rewritten``: then an older version gives way to a newer one. A store the remote has lost is put back.
    """
    remote, local = replicas(book, theirs), replicas(book, known)
    changes: dict[str, Child | None] = {} if theirs else {MARK: Child(b"", BLOB, book.blob(FORMAT))}
    notes: list[str] = []
    for name, tree in local.items():
        if name != mine and (name not in remote or (rewritten and _is_older(book, name, remote[name], tree))):
            changes[f"replicas/{name}"] = Child(b"", TREE, tree)
    changes[f"replicas/{mine}"] = Child(b"", TREE, own)
    strays = _strays(book, remote.get(mine, ""), local.get(mine, ""), own)
    if strays:
        name = mine + adopted.STRAYS
        kept = remote.get(name) or local.get(name, "")
        changes[f"replicas/{name}"] = Child(
            b"", TREE, book.edit(kept, {**_places(book, remote[mine], strays), **strays})
        )
        many = f"{len(strays)} records stood" if len(strays) > 1 else "1 record stood"
        notes.append(f"{many} under this store's name that it does not have, or not in that state: set aside as {name}")
        notes += _replaced(book, kept, strays)
        if replica_doubled(strays):
            after = "git coop letter list --fleet --all shows what came after it"
            notes.append(f"after a restore from an older backup: {after}")
            notes.append("where another clone has the same name, remove coop/replica in one of the two")
    changed = tuple(sorted(name for name, tree in remote.items() if name != mine and local.get(name) != tree))
    return Union(book.edit(theirs, changes), changed, tuple(notes), remote.get(mine, ""))


def _replaced(book: Ledger, kept: str, strays: "Mapping[str, Child | None]") -> "list[str]":
    """A word about states that were set aside before and give way to later ones of the same records."""
    before = {one.path: one.blob for one in records(book, kept, "", Problems())} if kept else {}
    count = sum(child is not None and before.get(path, child.id) != child.id for path, child in strays.items())
    many = f"{count} of them take" if count > 1 else "1 of them takes"
    return [f"{many} the place of a state set aside before, which the ledger's history has"] if count else []


def replica_doubled(strays: "Mapping[str, Child | None]") -> bool:
    """Whether letters are among what somebody else wrote under our name: two stores may share it."""
    return any(path.startswith("letters/") for path in strays)


def _is_older(book: Ledger, name: str, theirs: str, ours: str) -> bool:
    """Whether a store's subtree as the remote has it is one that this ledger knew before."""
    return theirs != ours and theirs in _versions(book, name)


def _versions(book: Ledger, name: str) -> set[str]:
    found: set[str] = set()
    commit = book.tip(SEEN) or book.tip()
    for _step in range(_HISTORY):
        if not commit:
            break
        try:
            found.add(book.subtree(book.tree_of(commit), "replicas", name))
            parents = book.parents(commit)
        except Unsound:
            break
        commit = parents[0] if parents else ""
    return found


def _strays(book: Ledger, theirs: str, before: str, own: str) -> "dict[str, Child | None]":
    """Records that stand under our name at the remote in a state that we have not and never had: not lost, not ours.

    Another clone of our name wrote them, or we ourselves did after the backup that this store was restored from.
    """
    if not theirs or theirs in (before, own):
        return {}
    known = {(one.kind, one.id, one.blob) for tree in (before, own) for one in records(book, tree, "", Problems())}
    mine_now = {one.id: one.blob for one in records(book, own, "", Problems(), "letters")}
    return {
        one.path: Child(b"", BLOB, one.blob)
        for one in records(book, theirs, "", Problems())
        if (one.kind, one.id, one.blob) not in known
        and not (one.kind == "letters" and _is_past(book, one, mine_now.get(one.id, "")))
    }


def _is_past(book: Ledger, old: Found, blob: str) -> bool:
    """Whether a letter's record is an earlier state of the one in ``blob``: what happened to it, that one has too."""
    if not blob:
        return False
    try:
        then, now = (decode(book.data(each, LIMIT), b"", old.id) for each in (old.blob, blob))
    except (Unsound, StoreFault):
        return False
    same = (then.body, then.subject) == (now.body, now.subject)
    return same and bool(then.events) and now.events[: len(then.events)] == then.events


def _places(book: Ledger, theirs: str, strays: "Mapping[str, Child | None]") -> "dict[str, Child | None]":
    """Where the boxes of the strays are, as those who wrote them say."""
    try:
        folder = book.subtree(theirs, "boxes")
        keys = {path.split("/")[1] for path in strays if not path.startswith("requests/")}
        found = {key: book.child(folder, key) for key in sorted(keys)} if folder else {}
    except Unsound:
        return {}
    return {f"boxes/{key}": child for key, child in found.items() if child is not None and child.mode == BLOB}


def absorb(book: Ledger, known: str, other: str, mine: str) -> str:
    """What is known with the stores of another ledger's tree; our own and what is newer here stay."""
    local = replicas(book, known)
    changes: dict[str, Child | None] = {}
    for name, tree in replicas(book, other).items():
        mine_here = name in local and (name == mine or _is_older(book, name, tree, local[name]))
        if not mine_here:
            changes[f"replicas/{name}"] = Child(b"", TREE, tree)
    return book.edit(known, changes)


def keep(book: Ledger, mine: str, own: str, now: int) -> str:
    """The commit that holds all that is known and this store's tree; made where the last one does not."""
    tip = book.tip()
    known = book.tree_of(tip) if tip else ""
    tree = unite(book, known, known, own, mine, rewritten=False).tree
    if tree == known:
        return tip
    commit = book.commit(tree, [tip] if tip else [], f"Keep {mine}\n", mine, now)
    book.point(BRANCH, commit)
    return commit

"""The ledger's transport: git commands with the user's own credentials, ssh and proxies.

Every command names the repository by ``--git-dir`` and puts ``--`` before what a person or a remote gave. No hook
runs, no reference is written (``ledger`` does that), no protocol is spoken but file, git, ssh and https. Variables that
tie git to another repository are dropped; ``git -c`` is kept.
"""

import os
from collections.abc import Mapping, Sequence

from git_coop import discover, files, git
from git_coop.errors import Fatal, GitFailed
from git_coop.git import Answer
from git_coop.ledger import BRANCH, OWN
from git_coop.record import Record
from git_coop.remote import PROTOCOLS

LISTING, TRANSFER = 120.0, 3600.0  # seconds that a remote may take
REFERENCES = 100_000  # names of a remote that are looked at
_KEPT = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT")
_OFF = ("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false")
_QUIET = ("push.followTags=false", "push.gpgSign=false", "push.recurseSubmodules=no", "fetch.recurseSubmodules=no")
_SAID = 5  # lines of git's own words
_ALWAYS = (  # what git says after every failure to reach a remote
    "Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
)


class Carrier(Record):
    """A ledger's directory and the environment for git."""

    root: bytes
    env: Mapping[str, str]

    def call(self, *args: str | bytes, timeout: float | None = LISTING, stdin: bytes = b"") -> Answer:
        """Run a git command on the ledger."""
        return git.call(self.words(*args), cwd=self.root, env=self.environment(), timeout=timeout, stdin=stdin)

    def words(self, *args: str | bytes) -> "Sequence[str | bytes]":
        options = [word for setting in (*_OFF, *_QUIET) for word in ("-c", setting)]
        return [b"--git-dir=" + self.root, *options, *args]

    def environment(self) -> dict[str, str]:
        """The caller's environment without another repository, and with the protocols bounded."""
        kept = {name: value for name, value in self.env.items() if name in _KEPT}
        clean = {name: value for name, value in discover.without_local(self.env).items() if name != "GIT_NAMESPACE"}
        given = self.env.get("GIT_ALLOW_PROTOCOL")
        allowed = [word for word in PROTOCOLS if given is None or word in given.split(":")]
        return {**clean, **kept, "GIT_ALLOW_PROTOCOL": ":".join(allowed)}


def references(carrier: Carrier, remote: str) -> dict[str, str]:
    """What a remote has: names and object ids. Raises ``GitFailed`` with git's own sentence."""
    answer = carrier.call("ls-remote", "--quiet", "--", remote)
    if answer.code:
        raise failed("reach", answer)
    found = {}
    for line in answer.out.splitlines()[:REFERENCES]:
        oid, _tab, name = line.decode("utf-8", "surrogateescape").partition("\t")
        if name and len(oid) in (40, 64):
            found[name] = oid
    return found


def fetch(carrier: Carrier, remote: str, *names: str) -> None:
    """Bring the objects of a remote's references here; no reference is written."""
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    answer = carrier.call("fetch", *options, "--", remote, *(names or (BRANCH,)), timeout=TRANSFER)
    if answer.code:
        raise failed("fetch from", answer)


def push(carrier: Carrier, remote: str, commit: str) -> "str | None":
    """Send a commit as the ledger's branch; ``None``, or git's reason where the remote did not take it.

    Raises ``GitFailed`` where the push did not come to that.
    """
    answer = carrier.call("push", "--porcelain", "--no-verify", "--", remote, f"{commit}:{BRANCH}", timeout=TRANSFER)
    if not answer.code:
        return None
    rejected = [line for line in answer.out.splitlines() if line.startswith(b"!")]
    if not rejected or b"unpack" in answer.err or b"unpacker error" in answer.out:
        raise failed("push to", answer)
    return rejected[0].split(b"\t")[-1].decode("utf-8", "replace")


def failed(action: str, answer: Answer) -> GitFailed:
    """The error for a remote that failed: one sentence, with git's own words in it."""
    words = said(answer.err) or f"git's status is {answer.code}"
    return GitFailed(f"cannot {action} the ledger's remote: {words}", stderr=answer.err, returncode=answer.code)


def said(err: bytes) -> str:
    """What git said of a failure, in one line: without its prefixes, its hints, and what it says of every failure."""
    lines = [line.strip() for line in os.fsdecode(err).splitlines() if not line.startswith("hint:")]
    words = [_bare(line) for line in lines if line]
    kept = [word for word in words if word not in map(_bare, _ALWAYS)] or words[:1]
    return "; ".join(dict.fromkeys(kept[:_SAID]))


def _bare(line: str) -> str:
    return line.removeprefix("fatal: ").removeprefix("error: ").rstrip(".")


def shared(common_dir: bytes, references: Mapping[str, str], env: Mapping[str, str]) -> list[str]:
    """The names among a remote's references whose commits this clone's project has.

    The ledger's own branch is left out: it is looked at by what it holds. Nothing is fetched for the answer, not even
    in a partial clone.
    """
    asked = {name: oid for name, oid in references.items() if name.startswith("refs/") and name != BRANCH}
    if not asked:
        return []
    clean = {**discover.without_local(env), "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
    oids = sorted(set(asked.values()))
    where = b"--git-dir=" + common_dir
    stdin = "".join(f"{oid}\n" for oid in oids).encode()
    answer = git.call([where, "cat-file", "--batch-check"], cwd=common_dir, env=clean, stdin=stdin)
    lines = [line.split() for line in answer.out.splitlines()]
    here = {words[0].decode() for words in lines if len(words) == 3 and words[1] in (b"commit", b"tag")}
    if answer.code:  # a partial clone's git that would not look without fetching: the tips at least
        tips = git.call([where, "for-each-ref", "--format=%(objectname)"], cwd=common_dir, env=clean)
        here |= set(tips.out.decode("ascii", "replace").split())
    return [name for name, oid in asked.items() if oid in here]


def tidy(carrier: Carrier) -> None:
    """Pack loose objects once there are many, here and now; a failure costs nothing but space."""
    arguments = (
        "-c",
        "gc.auto=4000",
        "-c",
        "gc.autoDetach=false",
        "-c",
        "gc.packRefs=false",
        "gc",
        "--auto",
        "--quiet",
    )
    try:
        carrier.call(*arguments, timeout=TRANSFER)
    except GitFailed:
        return


def bundle(carrier: Carrier, path: bytes, replica: str) -> None:
    """Write a bundle of the ledger that names its replica, and have git verify it."""
    answer = carrier.call("bundle", "create", "--quiet", path, OWN + replica, timeout=TRANSFER)
    if answer.code == 0:
        answer = carrier.call("bundle", "verify", "--quiet", path, timeout=TRANSFER)
    if answer.code:
        error = git.failed(["bundle"], answer)
        raise GitFailed(error.sentence, stderr=answer.err, returncode=answer.code)


def bundled(path: bytes, env: Mapping[str, str]) -> dict[str, str]:
    """The references of a bundle. Raises ``Fatal`` for a file that is none or cannot be read."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise Fatal(f"cannot read '{os.fsdecode(path)}': {files.words(error)}") from error
    answer = git.call(["bundle", "list-heads", path], cwd=b"/", env=discover.without_local(env), timeout=LISTING)
    if answer.code:
        raise Fatal(f"'{os.fsdecode(path)}' is not a bundle that git can read: {said(answer.err)}")
    pairs = [line.decode("utf-8", "replace").partition(" ") for line in answer.out.splitlines()]
    return {name: oid for oid, _space, name in pairs if len(oid) == 40}

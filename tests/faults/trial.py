"""One command under trial: run once without a fault, then with each, and every run judged."""

import os
import re
from collections import Counter as Tally
from collections.abc import Iterator

from tests import invariants
from tests.faults.commands import Command
from tests.faults.promises import Facts
from tests.faults.seam import SAY, Act, Call, Count, Fail, Kill
from tests.faults.stage import Ended, Stage
from tests.invariants import State

SHOWN = re.compile(rb"^message \d+ of \d+: (\d{8}T\d{9}Z-[0-9a-f]{8})", re.MULTILINE)
KILLED = -9


class Trial:
    """A command on its stage. ``calls`` are those of a run without a fault, ``tally`` counts what was done."""

    def __init__(self, stage: Stage, command: Command) -> None:
        self.stage = stage
        found = command.prepare(stage)
        self.command = command._replace(argv=tuple(found or "" if word == "ID" else word for word in command.argv))
        self.key = stage.key(command.where)
        self.before = stage.begin()
        self.tally: Tally[str] = Tally()
        self.states: dict[int, State] = {}  # by a hash of all that is watched: equal stores are one state,
        self.judged: dict[int, list[str]] = {}  # and are judged once; by the state's identity
        self.recovered: dict[int, list[str]] = {}
        self.here: dict[str, bytes | None] | None = None  # what the disk holds, while that is known
        count = Count()
        self.normal = self.run(count)
        self.calls = count.calls
        self.finished = self.look()
        assert self.normal.code == command.status, self.normal
        assert command.promise(self.facts(self.finished, self.normal)), self.normal
        found_wrong = [*self.at_once(self.finished, self.normal), *self.after_recovery(self.finished)]
        assert not found_wrong, found_wrong
        self.rewind()

    # running

    def run(self, act: Act, *, looking: bool = False) -> Ended:
        """One run, at the same time and with the same randomness as every other."""
        command = self.command
        self.here = None
        return self.stage.again(command.argv, command.where, command.stdin, command.env, act, looking=looking)

    def look(self) -> State:
        """The store as it is now."""
        self.here = self.stage.everything()
        known = hash(tuple(sorted(self.here.items())))
        if known not in self.states:
            self.states[known] = invariants.state(self.stage.inside(self.here))
        return self.states[known]

    def rewind(self) -> None:
        self.stage.rewind(self.here)

    def facts(self, after: State, ended: Ended) -> Facts:
        return Facts(self.before, after, ended, self.key)

    # with a fault

    def killed(self, call: Call, *, torn: bool = False) -> list[str]:
        """What is wrong after the command was killed at this call."""
        ended = self.stage.in_child(lambda: self.run(Kill(call.number, torn=torn)))
        self.tally["kills"] += 1
        assert ended.code == KILLED, f"{call} was never made: {ended}"
        after = self.look()
        wrong = [*self.at_once(after, ended), *self._too_early(after, ended), *self.after_recovery(after)]
        self.rewind()
        return [f"killed at {call}{' halfway' if torn else ''}: {sentence}" for sentence in wrong]

    def failed(self, call: Call, errno: int, *, lasting: bool = False) -> list[str]:
        """What is wrong after this call failed."""
        act = Fail(call.number, errno, lasting=lasting)
        opened = _descriptors()
        ended = self.run(act)
        self.tally["errors"] += 1
        after = self.look()
        wrong = [*self.at_once(after, ended), *self._unsaid(call, after, ended), *self.after_recovery(after)]
        wrong += ["a descriptor stays open"] if _descriptors() != opened else []
        self.rewind()
        name = f"{os.strerror(errno).lower()}{', lasting' if lasting else ''}"
        return [f"{call} failed with {name}: {sentence}" for sentence in wrong]

    def blinded(self, call: Call, errno: int) -> list[str]:
        """What is wrong after this call, which only opens or locks a file, failed.

        A drain, and a sweep, may put off what it cannot see: then the next one does it, as after a kill.
        """
        opened = _descriptors()
        ended = self.run(Fail(call.number, errno), looking=True)
        self.tally["errors"] += 1
        after = self.look()
        wrong = [*self.at_once(after, ended), *self.after_recovery(after)]
        wrong += [] if self.command.argv[0] in ("drain", "gc") else self._unsaid(call, after, ended)
        wrong += ["a descriptor stays open"] if _descriptors() != opened else []
        self.rewind()
        return [f"{call} failed with {os.strerror(errno).lower()}: {sentence}" for sentence in wrong]

    # judging

    def at_once(self, after: State, ended: Ended) -> Iterator[str]:
        """The invariants, and that nothing was lost or filed unseen."""
        if id(after) not in self.judged:
            removed = self.command.removes(self.before)
            requeued = frozenset(self.before.messages if self.command.requeues else ())
            lost = invariants.losses(self.before, after, removed=removed, requeued=requeued)
            self.judged[id(after)] = [*invariants.violations(after), *lost]
        yield from self.judged[id(after)]
        yield from invariants.unseen(self.before, after, ended.out)
        yield from self.command.elsewhere(self.stage, ended)
        if b"Traceback" in ended.said or b"unexpected" in ended.err:
            yield f"a traceback or an internal error: {ended.err.decode()}"

    def _too_early(self, after: State, ended: Ended) -> Iterator[str]:
        """Whoever said all that a whole run says has done what it promises."""
        everything = self.command.speaks_last and ended.out and ended.out == self.normal.out
        if everything and not self.command.promise(self.facts(after, ended)):
            yield "it was reported as done, and is not"

    def _unsaid(self, call: Call, after: State, ended: Ended) -> Iterator[str]:
        """An exit status of 0 means done; another says why. A client is told in its own shape, and never by these."""
        silenced = call.kind == SAY
        if self.command.client:
            if ended.code or ended.err:
                yield f"a client is disturbed: exit {ended.code}, {ended.err.decode()}"
            if not silenced and not self.command.promise(self.facts(after, ended)):
                yield f"not done, and the client is not told: {ended.out.decode()}"
            return
        if ended.code in (0, self.command.status) and not self.command.promise(self.facts(after, ended)):
            yield f"exit {ended.code}, and it is not done: {ended.said.decode()}"
        if ended.code not in (0, 1, 128, 141):
            yield f"exit {ended.code}"
        if (
            ended.code not in (0, 141, self.command.status)
            and not silenced
            and not re.search(rb"^(error|fatal): .", ended.err, re.MULTILINE)
        ):
            yield f"exit {ended.code} without a word: {ended.said.decode()}"

    def after_recovery(self, after: State) -> list[str]:
        """What is wrong after one more ordinary drain in every worktree; equal states are judged once."""
        if id(after) not in self.recovered:
            self.here = None
            self.recovered[id(after)] = list(self._recover(after))
            self.tally["recoveries"] += 1
        return self.recovered[id(after)]

    def _recover(self, after: State) -> Iterator[str]:
        out = b""
        if self.command.settles:
            yield from self.command.elsewhere(self.stage, self.run(Count()))
        if "OFF" in after.tree:
            self.stage.run("mail", "on")
        for where in self._inhabited(after):
            ended = self.stage.run("drain", "--event", "stop", "--session", "the next", where=where)
            out += ended.out
            if ended.code or re.search(rb"^(error|fatal):", ended.err, re.MULTILINE):
                yield f"a drain after it ends with {ended.code}: {ended.err.decode()}"
        drained = self.stage.state()
        removed = self.command.removes(self.before)
        yield from (f"after a drain: {sentence}" for sentence in self._rest(after, drained, removed))
        waiting = {name for name in after.messages if after.where(name) in ("inbox", "claiming")}
        notices = drained.messages.keys() - after.messages.keys()
        shown = {name.decode() for name in SHOWN.findall(out)}
        if not (waiting - drained.lying("expired") <= shown <= waiting | notices):
            yield f"a drain after it shows {sorted(shown)} where {sorted(waiting)} wait"
        yield from self._letters_settle(drained)

    def _inhabited(self, after: State) -> list[str]:
        """The worktrees that have a box or had one before they moved, and the one of the command."""
        stage = self.stage
        known = {name for name, root in stage.roots.items() if (stage.git_dir(root) / "coop-worktree").exists()}
        known |= {name for name in stage.roots if f"mail/box/{stage.key(name)}" in after.tree}
        return sorted(known | {self.command.where})

    def _rest(self, after: State, drained: State, removed: frozenset[str]) -> Iterator[str]:
        yield from invariants.leftovers(drained)
        yield from invariants.untold(drained)
        yield from invariants.losses(after, drained, removed=removed)
        for name in drained.lying("inbox"):
            yield f"message {name} still waits"

    def _letters_settle(self, drained: State) -> Iterator[str]:
        """The live letter can be read, and the next change, or a mending, marks what was left unmarked."""
        for where in self.stage.roots:
            key = self.stage.key(where)
            live = drained.live(key)
            if live is None or (
                drained.letters[key] == self.before.letters.get(key) and not invariants.unsettled(drained)
            ):
                continue
            ended = self.stage.run("letter", "read", "--session", "the next", where=where)
            if ended.code or live.encode() not in ended.out:
                yield f"letter {live} cannot be read: {ended.said.decode()}"
        settled = self.stage.state()
        if invariants.unsettled(settled):
            self.stage.run("doctor", "--fix", where=self.command.where)
            settled = self.stage.state()
        yield from invariants.unsettled(settled)


def _descriptors() -> int:
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 0

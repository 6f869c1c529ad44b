"""The end of a drain in text mode: what was consumed on standard output, the rest on standard error, the status."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from git_coop.edge import Edge
    from git_coop.event import Outcome


def report(outcome: "Outcome", edge: "Edge") -> int:
    """Say what happened; the exit status: 0, 1 for single bad files and names, 128 for an unusable store."""
    if outcome.consumed:
        edge.stdout.write("".join(f"consumed {name}\n" for name in outcome.consumed).encode())
    lines = [*outcome.notes, *(f"error: {fault}" for fault in outcome.faults)]
    if lines:
        from git_coop.text import safe_line

        _say(edge, "".join(f"{safe_line(line)}\n" for line in lines).encode("utf-8", "replace"))
    if outcome.fatal is not None:
        raise outcome.fatal
    return 1 if outcome.faults else 0


def _say(edge: "Edge", data: bytes) -> None:
    try:
        edge.stderr.write(data)
    except OSError:
        pass  # nobody is left to tell

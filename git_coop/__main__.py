"""The dispatch: a drain goes its short way, before click and pygit2 are loaded; everything else is a click command."""

import os
import sys

from git_coop import edge as world

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from git_coop.edge import Edge


def main(argv: "list[str] | None" = None, edge: "Edge | None" = None) -> int:
    """Run ``git coop`` with these words in this world; its exit status."""
    words = sys.argv[1:] if argv is None else argv
    try:
        return _main(words, world.real() if edge is None else edge)
    except KeyboardInterrupt:  # while modules are loaded; a command that runs answers by itself
        return 130


def _main(words: "list[str]", here: "Edge") -> int:
    if words[:1] == ["drain"]:
        status = _drain(words[1:], here)
        if status is not None:
            return status
    from git_coop.cli import root

    return root.run(words, here)


def _drain(words: "list[str]", here: "Edge") -> "int | None":
    """The short way. A client gets an answer even from an installation in pieces, for it takes errors for orders."""
    try:
        from git_coop import hook
    except Exception:
        if not any(word.startswith("--client") for word in words):
            raise
        here.stdout.write(b"{}\n")
        return 0
    return hook.main(words, here)


def leave(status: int) -> "NoReturn":
    """End the process at once, after what libraries print through Python's own streams.

    Taking the interpreter apart is a fifth of a drain's whole life, and gives back nothing that the system does not.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError as error:
        status = 141 if isinstance(error, BrokenPipeError) else 128
    os._exit(status)


if __name__ == "__main__":
    leave(main())

"""The dispatch: a drain goes its short way, before click and pygit2 are loaded; everything else is a click command."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from git_coop.edge import Edge, Stream


_BROKEN = "fatal: the installation is broken: {}: {}\nhint: install git-coop again\n"


def main(argv: "list[str] | None" = None, edge: "Edge | None" = None) -> int:
    """Run ``git coop`` with these words in this world; its exit status."""
    words = sys.argv[1:] if argv is None else argv
    try:
        if edge is None:
            try:
                from git_coop import edge as world
            except Exception as error:
                return _nowhere(words, error)
            edge = world.real()
        return _main(words, edge)
    except KeyboardInterrupt:  # while modules are loaded; a command that runs answers by itself
        return 130


def _nowhere(words: "list[str]", error: Exception) -> int:
    """Not even the streams can be had: a client's empty answer, and for anybody else a sentence."""
    if words[:1] == ["drain"] and any(word.startswith("--client") for word in words):
        sys.stdout.write("{}\n")
        return 0
    sys.stderr.write(_BROKEN.format(type(error).__name__, error))
    return 128


def _main(words: "list[str]", here: "Edge") -> int:
    if words[:1] == ["drain"]:
        status = _drain(words[1:], here)
        if status is not None:
            return status
    try:
        from git_coop.cli import root
    except Exception as error:
        return _broken(error, here)
    return root.run(words, here)


def _drain(words: "list[str]", here: "Edge") -> "int | None":
    """The short way. A client gets an answer even from an installation in pieces, for it takes errors for orders."""
    try:
        from git_coop import hook
    except (KeyboardInterrupt, Exception) as error:
        if any(word.startswith("--client") for word in words) or _is_payload(here.stdin):
            return _answer(b"{}\n", here)
        if isinstance(error, KeyboardInterrupt):
            raise
        return _broken(error, here)
    return hook.main(words, here)


def _is_payload(stdin: "Stream") -> bool:
    """Whether an object seems to come from a client, where the module that would read it may be in pieces itself."""
    try:
        there = not stdin.isatty() and stdin.ready(0.2)
        return there and stdin.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except (KeyboardInterrupt, Exception):
        return False


def _answer(data: bytes, here: "Edge") -> int:
    try:
        here.stdout.write(data)
    except OSError:
        pass  # the client has left
    return 0


def _broken(error: BaseException, here: "Edge") -> int:
    """A part of the program cannot be loaded: said in a sentence, with what is loaded already."""
    if here.env.get("GIT_COOP_DEBUG") == "1":
        raise error
    try:
        here.stderr.write(_BROKEN.format(type(error).__name__, error).encode("utf-8", "replace"))
    except OSError:
        pass  # nobody is left to tell
    return 128


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

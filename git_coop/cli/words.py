"""Words of the command line before click sees them, and click's complaints in git's words."""

import click

from git_coop.edge import Edge
from git_coop.errors import Usage


def normalised(argv: list[str]) -> list[str]:
    """``--end-of-options`` is git's other spelling of ``--`` (gitcli(7)); click knows only one."""
    for index, word in enumerate(argv):
        if word == "--":
            break
        if word == "--end-of-options":
            return [*argv[:index], "--", *argv[index + 1 :]]
    return argv


def on_help(arguments: list[str], edge: Edge, root: click.Group) -> int | None:
    """Open the manual page for ``--help`` and ``help``, as git does; ``None``: the words ask for something else."""
    if arguments[:1] == ["help"]:
        return _manual(arguments[1:2], edge, root)
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--help" not in before:
        return None
    families = [word for word in before[: before.index("--help")] if not word.startswith("-")][:1]
    if _swallowed(before):
        return None
    return _manual(families, edge, root)


def _swallowed(words: list[str]) -> bool:
    """Whether ``--help`` is the value of the option before it, as in ``-m --help``."""
    at = words.index("--help")
    return at > 0 and words[at - 1] in (
        "-m",
        "--body",
        "--subject",
        "--reason",
        "-F",
        "--file",
        "--to",
        "--kind",
        "--session",
    )


def _manual(families: list[str], edge: Edge, root: click.Group) -> int:
    from git_coop import git

    known = [name for name in families if name in root.list_commands(click.Context(root))]
    if families and not known:
        raise Usage(f"'{families[0]}' is not a git coop command", hint="git coop -h lists them")
    page = "-".join(["git-coop", *known])
    return git.manual(page, edge.env)


def as_usage(error: click.ClickException) -> Usage:
    """A usage error with a sentence in git's manner and the way to the command's usage."""
    context = getattr(error, "ctx", None)
    words = context.command_path if context is not None else "git coop"
    message = error.format_message().rstrip(".").replace("\n", " ")
    return Usage(message[:1].lower() + message[1:], hint=f"{words} -h shows its usage")

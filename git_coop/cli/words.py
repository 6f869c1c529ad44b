"""Words of the command line before click reads them, its complaints in git's words, and manual pages."""

import click

from git_coop.edge import Edge
from git_coop.errors import Usage

# Families with a page of their own; other commands are in that of the program.
_PAGES = ("letter", "mail", "drain", "hooks", "handoff", "todo", "request", "sync", "doctor", "status")
_ALSO = {"backup": "sync", "restore": "sync", "gc": "doctor", "watch": "status"}


def prepared(command: click.Command, ctx: click.Context, words: list[str]) -> list[str]:
    """The words as click knows them: ``--end-of-options`` is git's other spelling of ``--`` (gitcli(7)).

    Raises ``Usage`` for an option that takes one value and is given twice: one of the two would go unheard.
    """
    options = {name: each for each in command.get_params(ctx) if isinstance(each, click.Option) for name in each.opts}
    heard: set[str] = set()
    at = 0
    while at < len(words) and words[at] != "--":
        word = words[at]
        if word == "--end-of-options":
            return [*words[:at], "--", *words[at + 1 :]]
        if word[:1] != "-" and not ctx.allow_interspersed_args:
            break
        option, attached = _option(word, options)
        if option is not None:
            _hear(option, heard)
            at += not attached
        at += 1
    return words


def _option(word: str, options: dict[str, click.Option]) -> tuple[click.Option | None, bool]:
    """The option in ``word`` that takes a value, if any, and whether the value is in the same word."""
    name, equals, _value = word.partition("=")
    if name in options:
        return (None if options[name].is_flag else options[name]), bool(equals)
    for place, letter in enumerate(word[1:] if word[:1] == "-" != word[1:2] else "", 2):
        found = options.get(f"-{letter}")
        if found is None:
            break
        if not found.is_flag:
            return found, place < len(word)
    return None, False


def _hear(option: click.Option, heard: set[str]) -> None:
    if option.opts[0] in heard and not option.multiple:
        raise Usage(f"option '{option.opts[-1]}' is given twice")
    heard.add(option.opts[0])


def on_help(arguments: list[str], edge: Edge, root: click.Group) -> int | None:
    """Open the manual page for ``help``, as git does; ``None``: the words ask for something else."""
    if arguments[:1] != ["help"]:
        return None
    family = arguments[1] if len(arguments) > 1 else None
    if family is not None and family not in root.list_commands(click.Context(root)):
        raise Usage(f"'{family}' is not a git coop command", hint="git coop -h lists them")
    return manual(family, edge)


def family_of(ctx: click.Context) -> str | None:
    """The first word behind ``git coop``, if any."""
    while ctx.parent is not None and ctx.parent.parent is not None:
        ctx = ctx.parent
    return ctx.info_name if ctx.parent is not None else None


def manual(family: str | None, edge: Edge) -> int:
    """Open the page that describes this family of commands; the exit status."""
    from git_coop import git

    name = _ALSO.get(family or "", family)
    return git.manual(f"git-coop-{name}" if name in _PAGES else "git-coop", edge.env)


def as_usage(error: click.ClickException) -> Usage:
    """A usage error with a sentence in git's manner and the way to the command's usage."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "git coop"
    message = error.message.rstrip(".").replace("\n", " ")
    hint = f"{path} -h shows its usage"
    meant = [name for name in getattr(error, "possibilities", None) or () if not _is_hidden(context, name)]
    return Usage(
        message[:1].lower() + message[1:], hint=f"did you mean {' or '.join(meant)}?\n{hint}" if meant else hint
    )


def _is_hidden(context: click.Context | None, name: str) -> bool:
    """Whether a command or an option is there only to say what to use instead."""
    command = context.command if context is not None else None
    if isinstance(command, click.Group) and name in command.commands:
        return command.commands[name].hidden
    options = [each for each in command.params if isinstance(each, click.Option)] if command is not None else []
    return any(each.hidden for each in options if name in each.opts)

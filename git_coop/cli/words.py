"""Words of the command line before click reads them, its complaints in git's words, and manual pages."""

import click

from git_coop.edge import Edge
from git_coop.errors import Usage

# Families with a page of their own; other commands are in that of the program.
_PAGES = ("letter", "mail", "drain", "hooks", "handoff", "todo", "request", "sync", "doctor", "status")
_NEAR = 0.7  # how alike two words are that one is taken for a slip of the other: `mial` and `mail` are at 0.75
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
    context = click.Context(root, info_name="git coop")
    if family is not None and family not in root.list_commands(context):
        raise unknown(context, family, root.list_commands(context))
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
    status = git.manual(f"git-coop-{name}" if name in _PAGES else "git-coop", edge.env)
    if status:
        usage = f"git coop {family} -h" if family else "git coop -h"
        edge.stderr.write(f"hint: {usage} prints the usage\n".encode("utf-8", "replace"))
    return status


def as_usage(error: click.ClickException) -> Usage:
    """A usage error with a sentence in git's manner and the way to the command's usage."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "git coop"
    named = isinstance(error, click.BadParameter)  # only its whole message names what is missing or wrong
    message = (error.format_message() if named else error.message).rstrip(".").replace("\n", " ")
    hint = f"{path} -h shows its usage"
    meant = [name for name in getattr(error, "possibilities", None) or () if _is_near(context, error, name)]
    return Usage(
        message[:1].lower() + message[1:],
        hint=f"did you mean {' or '.join(repr(name) for name in meant)}?\n{hint}" if meant else hint,
    )


def unknown(ctx: click.Context, word: str, names: list[str]) -> Usage:
    """The error for a word that is none of these commands, with those that it may be a slip of."""
    from difflib import get_close_matches

    meant = get_close_matches(word.lower(), names, 2, _NEAR)
    hint = f"{ctx.command_path} -h lists the commands"
    return Usage(
        f"'{word}' is not a {ctx.command_path} command",
        hint=f"did you mean {' or '.join(repr(name) for name in meant)}?\n{hint}" if meant else hint,
    )


def _is_near(context: click.Context | None, error: click.ClickException, name: str) -> bool:
    """Whether an option may be what was meant: click also guesses what shares three letters."""
    from difflib import SequenceMatcher

    given = getattr(error, "option_name", name).lstrip("-")
    return not _is_hidden(context, name) and (
        name.lstrip("-").startswith(given) or SequenceMatcher(None, given, name.lstrip("-")).ratio() >= _NEAR
    )


def _is_hidden(context: click.Context | None, name: str) -> bool:
    """Whether a command or an option is there only to say what to use instead."""
    command = context.command if context is not None else None
    if isinstance(command, click.Group) and name in command.commands:
        return command.commands[name].hidden
    options = [each for each in command.params if isinstance(each, click.Option)] if command is not None else []
    return any(each.hidden for each in options if name in each.opts)

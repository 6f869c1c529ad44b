#!/usr/bin/env python3
"""Write the tables of commands and options into the three completion files of this directory.

The command line's own definition (``git_coop.cli.root``) is the source. Only the lines between the two marks of a
file are written; the rest is by hand. ``generate.py --check`` writes nothing and exits with 1 where a file is not
up to date, as a test does.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # the checkout's command line, whatever is installed

from git_coop.cli.root import root  # noqa: E402
from git_coop.clients import NAMES as CLIENTS  # noqa: E402

FIRST, LAST = "# The table: written by generate.py", "# The table ends here"

# What the value of an option, or an argument, is: by command and name where one is not like the others, else by name
# or metavar. A kind is the name of a function in each of the three files, or `a|b`: these words.
EVENTS = "start|prompt|stop"
KINDS = {
    "<client>": "|".join(CLIENTS),
    "<id>...": "",
    "<text>...": "text",
    "<file>": "file",
    "<dir>": "directory",
    "--event": EVENTS,
    "--client": "|".join(CLIENTS),
    "--to": "peer",
    "--box": "worktree",
    "--in-reply-to": "message",
    "--cwd": "directory",
    "--anchor": "directory",
    "--file": "file",
    "-F": "file",
    "--from-packet": "file",
    "--state": "inbox|seen|expired|stranded",
}
TEXTS = (
    *("--body", "--subject", "--reason", "--session", "--kind", "--ttl", "--to-session", "--since", "--grep", "-n"),
    *("--map", "--interval", "--number", "--max-count", "--advice"),
)
IDS = {
    "letter": "letter",
    "letter start": "live_letter",
    "letter ack": "live_letter",
    "letter abandon": "live_letter",
    "letter adopt": "text",  # another store's: they are in the ledger, which takes a git process a letter to read
    "mail": "message",
    "mail trace": "sent_message",
    "mail requeue": "undelivered_message",
    "request": "request",
    "request close": "open_request",
    "todo": "todo",
    "todo done": "open_todo",
    "todo reopen": "done_todo",
}


class Option(NamedTuple):
    """An option: its spellings, what its value is (empty: it takes none), its help, whether it may stand twice."""

    names: tuple[str, ...]
    kind: str
    help: str
    multiple: bool


class Command(NamedTuple):
    """A command: the words that name it, its help, its commands (name and help), options, and its argument's kind."""

    words: str
    commands: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    argument: str
    repeated: bool


HELP = (Option(("-h",), "", "Print the usage", False), Option(("--help",), "", "Open the manual page", False))


def walk(command: click.Command = root, words: tuple[str, ...] = ()) -> Iterator[Command]:
    """Every command, the root first, each as it stands in the click tree; hidden ones are left out."""
    context = click.Context(command, info_name=words[-1] if words else "git coop")
    options = tuple(_options(command, words))
    if not isinstance(command, click.Group):
        argument, repeated = _argument(command, words)
        yield Command(" ".join(words), (), options, argument, repeated)
        return
    inner = {name: command.get_command(context, name) for name in command.list_commands(context)}
    shown = {name: each for name, each in inner.items() if each is not None and not each.hidden}
    lazy = getattr(command, "lazy", {})
    helps = tuple((name, lazy[name][1] if name in lazy else _line(each.help)) for name, each in shown.items())
    yield Command(" ".join(words), helps, options, "", False)
    for name, each in shown.items():
        yield from walk(each, (*words, name))


def help_pages() -> Command:
    """``help``, which is no command of the tree: it takes one that stands first."""
    names = [name for name, _help in next(walk()).commands]
    return Command("help", (), (), "|".join(names), False)


def _options(command: click.Command, words: tuple[str, ...]) -> Iterator[Option]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            names = (*parameter.opts, *parameter.secondary_opts)
            takes = not parameter.is_flag and not parameter.count
            kind = _kind(parameter, words, names) if takes else ""
            yield Option(names, kind, _line(parameter.help), parameter.multiple)
    yield from HELP


def _argument(command: click.Command, words: tuple[str, ...]) -> tuple[str, bool]:
    # One without a metavar takes words only to refuse them.
    arguments = [each for each in command.params if isinstance(each, click.Argument) and each.metavar != ""]
    if not arguments:
        return "", False
    return _kind(arguments[0], words, ()), arguments[0].nargs == -1


def _kind(parameter: click.Parameter, words: tuple[str, ...], names: tuple[str, ...]) -> str:
    """What a value is. An option or argument that the tables do not know stops the script, and names itself."""
    if isinstance(parameter.type, click.Choice):
        return "|".join(parameter.type.choices)
    for name in names:
        if name in KINDS:
            return KINDS[name]
        if name in TEXTS:
            return "text"
    metavar = (parameter.metavar or "").strip("[]")
    if re.fullmatch(r"[a-z]+(\|[a-z]+)+", metavar):
        return metavar
    if metavar.removesuffix("...") == "<id>":
        return IDS.get(" ".join(words)) or IDS[words[0]]
    if metavar in KINDS:
        return KINDS[metavar]
    raise SystemExit(f"generate.py: {' '.join(words)}: {names or metavar} has no kind: give it one in KINDS or TEXTS")


def _line(text: str | None) -> str:
    """The first sentence of a help text, on one line, without its full stop."""
    first = re.split(r"\n\s*\n|(?<=[.])\s", (text or "").strip(), maxsplit=1)[0]
    return " ".join(first.split()).removesuffix(".")


# one writer a shell


def bash(commands: list[Command]) -> Iterator[str]:
    """A function that sets what completion needs to know about one command."""
    yield "__git_coop_table ()"
    yield "{"
    yield "\tcommands= options= argument= repeated="
    yield '\tcase "$1" in'
    for each in commands:
        yield f"\t'{each.words}')"
        if each.commands:
            yield f"\t\tcommands='{' '.join(name for name, _help in each.commands)}'"
        options = (
            name + (f"={option.kind}" if option.kind else "") for option in each.options for name in option.names
        )
        yield f"\t\toptions='{' '.join(options)}'"
        if each.argument:
            yield f"\t\targument='{each.argument}'{' repeated=1' if each.repeated else ''}"
        yield "\t\t;;"
    yield "\tesac"
    yield "}"


def zsh(commands: list[Command]) -> Iterator[str]:
    """A function that sets the specifications that _arguments takes, and the commands that _describe takes."""
    yield "(( $+functions[__git_coop_table] )) ||"
    yield "__git_coop_table () {"
    yield "  commands=() specs=()"
    yield "  case $1 in"
    for each in commands:
        yield f"    ('{each.words}')"
        if each.commands:
            yield "      commands=("
            yield from (f"        {_zsh_quote(_colons(name) + ':' + text)}" for name, text in each.commands)
            yield "      )"
        yield "      specs=("
        yield from (f"        {line}" for option in each.options for line in _zsh_option(option))
        if each.argument:
            star = "*" if each.repeated else ""
            yield f"        {_zsh_quote(f'{star}:{_zsh_value(each.argument)}')}"
        yield "      )"
        yield "      ;;"
    yield "  esac"
    yield "}"


def _zsh_option(option: Option) -> Iterator[str]:
    others = "" if option.multiple or len(option.names) == 1 else f"({' '.join(option.names)})"
    value = f":{_zsh_value(option.kind)}" if option.kind else ""
    for name in option.names:
        join = "" if not option.kind else "=" if name.startswith("--") else "+"
        text = re.sub(r"([\\\[\]])", r"\\\1", option.help)
        yield _zsh_quote(f"{'*' if option.multiple else others}{name}{join}[{text}]{value}")


def _zsh_value(kind: str) -> str:
    if "|" in kind:
        return f"word:({kind.replace('|', ' ')})"
    builtin = {"file": "_files", "directory": "_directories", "text": ""}
    return f"{kind.replace('_', ' ')}:{builtin.get(kind, f'__git_coop_{kind}')}"


def _colons(text: str) -> str:
    return text.replace(":", r"\:")


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(commands: list[Command]) -> Iterator[str]:
    """One line for each command, option and argument."""
    for each in commands:
        needs = _fish_quote(f"__fish_git_coop_needs_command {each.words}".strip())
        at = _fish_quote(f"__fish_git_coop_at {each.words}") if each.words else needs
        for name, text in each.commands:
            yield f"complete -c git-coop -f -n {needs} -a {name} -d {_fish_quote(text)}"
        for option in each.options:
            yield f"complete -c git-coop -n {at if not each.commands else needs} {_fish_option(option)}"
        if each.argument:
            value = _fish_value(each.argument).removeprefix("-x ")
            yield f"complete -c git-coop -n {at} {value if value == '-F' else f'-f {value}'.strip()}"
        elif each.words and not each.commands:
            yield f"complete -c git-coop -f -n {at}"


def _fish_option(option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = "-f" if not option.kind else _fish_value(option.kind)
    return f"{names} {value.replace('-F', '-r -F')} -d {_fish_quote(option.help)}"


def _fish_value(kind: str) -> str:
    if kind == "file":
        return "-F"
    if kind == "directory":
        return "-x -a '(__fish_complete_directories)'"
    if kind == "text":
        return "-x"
    return f"-x -a {_fish_quote(kind.replace('|', ' ') if '|' in kind else f'(__fish_git_coop_{kind})')}"


def _fish_quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


WRITERS: dict[str, Callable[[list[Command]], Iterator[str]]] = {
    "git-coop.bash": bash,
    "_git-coop": zsh,
    "git-coop.fish": fish,
}


def written(name: str) -> str:
    """The text of a completion file with a fresh table between its marks."""
    text = (HERE / name).read_text(encoding="utf-8")
    head, first, rest = text.partition(f"{FIRST}\n")
    _old, last, tail = rest.partition(f"{LAST}\n")
    assert first, f"{name} has no line '{FIRST}'"
    assert last, f"{name} has no line '{LAST}'"
    return head + first + "".join(f"{line}\n" for line in WRITERS[name]([*walk(), help_pages()])) + last + tail


def main(words: list[str]) -> int:
    """Bring the files up to date, or say which are not."""
    stale = [name for name in WRITERS if (HERE / name).read_text(encoding="utf-8") != written(name)]
    for name in stale:
        if words == ["--check"]:
            sys.stderr.write(f"{name} is not up to date: run contrib/completion/generate.py\n")
        else:
            (HERE / name).write_text(written(name), encoding="utf-8")
    return 1 if stale and words == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

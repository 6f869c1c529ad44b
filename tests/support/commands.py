"""The command line as it is defined: every command that a person can call, with its options as they are spelled."""

from typing import NamedTuple

import click

from git_coop.cli.root import root


class Command(NamedTuple):
    """A command: the words behind ``git coop``, its click object, and the names of the commands below it."""

    words: tuple[str, ...]
    click: click.Command
    below: tuple[str, ...]

    @property
    def name(self) -> str:
        """The words as they are typed behind ``git``."""
        return " ".join(("coop", *self.words))

    @property
    def options(self) -> set[str]:
        """Every spelling of every option that ``-h`` shows, ``-h`` itself left out."""
        shown = [each for each in self.click.params if isinstance(each, click.Option) and not each.hidden]
        return {name for each in shown for name in (*each.opts, *each.secondary_opts)}


def tree(command: click.Command = root, words: tuple[str, ...] = ()) -> list[Command]:
    """The command and all below it; families are loaded, for nothing else tells what is in them."""
    if not isinstance(command, click.Group):
        return [Command(words, command, ())]
    context = click.Context(command)
    inner = {name: command.get_command(context, name) for name in command.list_commands(context)}
    shown = {name: each for name, each in inner.items() if each is not None and not each.hidden}
    found = [Command(words, command, tuple(shown))]
    for name, each in shown.items():
        found += tree(each, (*words, name))
    return found

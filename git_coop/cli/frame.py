"""Git's manners for click: usage lines in git's form, families that load one command at a time."""

from importlib import import_module
from typing import Any

import click

from git_coop.cli import words
from git_coop.cli.app import App
from git_coop.errors import Usage

SETTINGS = {"max_content_width": 100}


def _usage(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.ensure_object(App).out(ctx.get_help())
        ctx.exit()


def _manual(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.exit(words.manual(words.family_of(ctx), ctx.ensure_object(App).edge))


# Not among a command's own parameters: every command has them, as every git command has.
_HELP = click.Option(
    ["-h"], is_flag=True, expose_value=False, is_eager=True, callback=_usage, help="Print this usage and exit."
)
_MANUAL = click.Option(
    ["--help"], is_flag=True, expose_value=False, is_eager=True, callback=_manual, help="Open the manual page."
)


class _Mannered(click.Command):
    """``-h`` prints the usage as git prints one, ``--help`` opens the manual page."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return _HELP

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _MANUAL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, words.prepared(self, ctx, args))
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click leaves it out where an option has no value
            raise

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="usage: ")


class Verb(_Mannered):
    """A command."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", SETTINGS)
        kwargs.setdefault("options_metavar", "[<options>]")
        super().__init__(*args, **kwargs)


class Family(_Mannered, click.Group):
    """A group of commands. ``lazy`` maps a name to (module, short help): listing it imports nothing."""

    command_class = Verb

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", SETTINGS)
        kwargs.setdefault("options_metavar", "[<options>]")
        kwargs.setdefault("subcommand_metavar", "<command> [<args>]")
        kwargs.setdefault("no_args_is_help", False)
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:  # a bare family
            names = ", ".join(name for name in self.list_commands(ctx) if not self._is_hidden(name))
            raise Usage(f"{ctx.command_path} needs a command", hint=f"one of {names}")
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*(name for name in self.commands if name not in self.lazy), *self.lazy]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0][:1] != "-" and self.get_command(ctx, args[0]) is None:
            names = [name for name in self.list_commands(ctx) if not self._is_hidden(name)]
            raise words.unknown(ctx, args[0], names)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy and cmd_name not in self.commands:
            module, name = import_module(self.lazy[cmd_name][0]), cmd_name.replace("-", "_")
            command = getattr(module, name, None) or getattr(module, f"{name}_")  # `list_` hides no builtin
            self.add_command(command, cmd_name)
        return super().get_command(ctx, cmd_name)

    def _is_hidden(self, name: str) -> bool:
        return name in self.commands and self.commands[name].hidden

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._short_help(name)) for name in self.list_commands(ctx) if not self._is_hidden(name)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _short_help(self, name: str) -> str:
        return self.lazy[name][1] if name in self.lazy else short_help(self.commands[name])


def short_help(command: click.Command) -> str:
    """A command in a line of its family's usage, in the style of git's: what its sentence says before it goes on."""
    sentence = (command.help or "").split("\n\n")[0].split(". ")[0].removesuffix(".")
    said = command.short_help or min((sentence.split(mark)[0] for mark in (";", ":", " (")), key=len)
    return " ".join((said[:1].lower() + said[1:]).split())

"""Git's manners for click: usage lines in git's form, families that load one command at a time."""

from importlib import import_module
from typing import Any

import click

from git_coop.errors import Usage

SETTINGS = {"help_option_names": ["-h"], "max_content_width": 100}


class Verb(click.Command):
    """A command: ``-h`` prints its usage as git prints one, ``--help`` opens the manual page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", SETTINGS)
        kwargs.setdefault("options_metavar", "[<options>]")
        super().__init__(*args, **kwargs)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="usage: ")


class Family(click.Group):
    """A group of commands. ``lazy`` maps a name to (module, short help): listing it imports nothing."""

    command_class = Verb

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", SETTINGS)
        kwargs.setdefault("options_metavar", "[<options>]")
        kwargs.setdefault("subcommand_metavar", "<command> [<args>]")
        kwargs.setdefault("no_args_is_help", False)
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.lazy, *(name for name in super().list_commands(ctx) if name not in self.lazy)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy and cmd_name not in self.commands:
            command = getattr(import_module(self.lazy[cmd_name][0]), cmd_name.replace("-", "_"))
            self.add_command(command, cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="usage: ")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, self._short_help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([row for row in rows if row[1]])

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in self.lazy:
            return self.lazy[name][1]
        command = self.get_command(ctx, name)
        return command.get_short_help_str(80) if command is not None and not command.hidden else ""

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx._protected_args and not ctx.args and not self.invoke_without_command:  # a bare family
            names = ", ".join(self.list_commands(ctx))
            raise Usage(f"{ctx.command_path} needs a command", hint=f"one of {names}")
        return super().invoke(ctx)

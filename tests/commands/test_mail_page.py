"""The page of ``git coop mail`` names every command and every option, and none that is not there."""

import re

import click

from git_coop.cli.mail import mail
from tests.support.room import ROOT

PAGE = (ROOT / "man" / "git-coop-mail.1").read_text(encoding="utf-8")


def commands() -> dict[str, click.Command]:
    context = click.Context(mail)
    found = {name: mail.get_command(context, name) for name in mail.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def options(command: click.Command) -> set[str]:
    given = (param for param in command.params if isinstance(param, click.Option) and not param.hidden)
    return {word for param in given for word in param.opts}


def test_the_synopsis_has_each_commands_own_options() -> None:
    synopsis = PAGE.partition(".Sh SYNOPSIS\n")[2].partition(".Sh ")[0]
    blocks = dict(re.findall(r"\.Nm git coop mail (\S+)\n((?:(?!\.Nm).*\n)*)", synopsis))
    assert set(blocks) == set(commands())
    for name, block in blocks.items():
        words = {f"-{word}" for word in re.findall(r"(?:Fl |\| (?!Fl))(-?[a-zA-Z][a-z-]*)", block)}
        assert words == options(commands()[name]), name


def test_every_option_is_explained_once() -> None:
    explained = re.findall(r"^\.It (Fl .*)$", PAGE, re.MULTILINE)
    words = [f"-{word}" for line in explained for word in re.findall(r"Fl (\S+)", line)]
    assert len(words) == len(set(words))
    assert set(words) == set().union(*map(options, commands().values()))


def test_every_command_has_its_paragraph_and_its_short_help() -> None:
    sections = re.findall(r"^\.Ss (.*)$", PAGE, re.MULTILINE)
    assert {name for section in sections for name in section.split(", ")} == set(commands())
    assert set(mail.lazy) == set(commands())

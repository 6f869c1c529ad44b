"""``git coop``: the families, and the one place where errors become words and exit statuses."""

from errno import EPIPE

import click

from git_coop import __version__
from git_coop.cli.app import App
from git_coop.cli.frame import SETTINGS, Family
from git_coop.cli.words import as_usage, on_help
from git_coop.edge import OUTPUT, Edge
from git_coop.errors import CoopError
from git_coop.text import safe_line

INTERRUPTED, CLOSED, FATAL, USAGE = 130, 141, 128, 129

LAZY = {
    "status": ("git_coop.cli.status", "show what waits here, as git coop alone does, or in the clone"),
    "letter": ("git_coop.cli.letter", "write, read and close the letter to the next session here"),
    "mail": ("git_coop.cli.mail", "send messages to other worktrees, and read what came"),
    "handoff": ("git_coop.cli.handoff", "write, read and check packets: briefs, results, continuations"),
    "todo": ("git_coop.cli.todo", "what is to be done in this worktree"),
    "request": ("git_coop.cli.request", "ask another worktree for work, and answer with its result"),
    "sync": ("git_coop.cli.sync", "carry letters, todos and requests to other machines through git"),
    "backup": ("git_coop.cli.sync", "write them into a bundle"),
    "restore": ("git_coop.cli.sync", "read a bundle, and go on where the disk died"),
    "drain": ("git_coop.cli.drain", "show what waits and file what was shown (what hooks call)"),
    "watch": ("git_coop.cli.watch", "watch the boxes of the clone in the terminal"),
    "doctor": ("git_coop.cli.doctor", "check the store, the hooks and the settings, and mend what can be"),
    "gc": ("git_coop.cli.gc", "remove filed mail that is older than coop.retention"),
    "hooks": ("git_coop.cli.hooks", "put the drain into agent clients' settings, and see that it runs"),
}


def _version(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.ensure_object(App).out(f"git-coop version {__version__}")
        ctx.exit()


@click.group(cls=Family, lazy=LAZY, invoke_without_command=True, name="git coop", context_settings=SETTINGS)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
)
@click.pass_context
def root(ctx: click.Context) -> int:
    """Letters and mail between coding-agent sessions in the worktrees of one clone."""
    if ctx.invoked_subcommand is None:
        from git_coop.cli.status import status

        return int(ctx.invoke(status))
    return 0


def run(argv: list[str], edge: Edge) -> int:
    """Run one command; its exit status: 0, 1, 128, 129, 130 or 141, and never 2."""
    try:
        return _run(argv, edge)
    except (KeyboardInterrupt, Exception) as error:
        return failed(error, edge)


def failed(error: BaseException, edge: Edge) -> int:
    """Say what went wrong; the exit status."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, CoopError):
        return _report(error, edge)
    return _broken_stream(error, edge) if isinstance(error, OSError) else _internal(error, edge)


def _run(argv: list[str], edge: Edge) -> int:
    helped = on_help(argv, edge, root)
    if helped is not None:
        return helped
    try:  # not `root.main`: it answers a closed pipe by itself, with status 1, and writes on streams of its own
        with root.make_context("git coop", list(argv), obj=App(edge)) as context:
            result = root.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        raise as_usage(error) from None
    return result if isinstance(result, int) else 0


def _say(edge: Edge, *lines: str) -> None:
    try:
        edge.stderr.write("".join(f"{safe_line(line)}\n" for line in lines).encode("utf-8", "replace"))
    except OSError:
        pass  # nobody is left to tell


def _report(error: CoopError, edge: Edge) -> int:
    _trace(edge)
    hints = [f"hint: {line}" for line in error.hint.split("\n") if line]
    _say(edge, f"{error.label}: {error.sentence}", *hints)
    return error.status


def _broken_stream(error: OSError, edge: Edge) -> int:
    """The answer could not be written: quiet where the reader left, as every git command is with ``| head``."""
    _trace(edge)
    if error.errno == EPIPE:
        return CLOSED
    said = (error.strerror or str(error)).lower()
    if error.filename == OUTPUT:
        said = f"cannot write to {OUTPUT}: {said}"
    elif error.filename:
        said += f": '{error.filename}'"
    _say(edge, f"fatal: {said}")
    return FATAL


def _internal(error: BaseException, edge: Edge) -> int:
    _trace(edge)
    named = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        _say(edge, f"fatal: the installation is broken: {named}", "hint: install git-coop again")
    else:
        _say(edge, f"fatal: unexpected {named}", "hint: set GIT_COOP_DEBUG=1 to see where it came from")
    return FATAL


def _trace(edge: Edge) -> None:
    if edge.env.get("GIT_COOP_DEBUG") == "1":
        import traceback  # a noticeable part of what every command costs

        _say(edge, *traceback.format_exc().splitlines())

"""What each client's hooks are: in which files, at which events, in which words. Tables, and text in, text out.

Sources: the clients' own pages on hooks, and what the versions named in ``ran`` did when they were run.
"""

import os
import shlex

from git_coop import hook_command, hook_plugin, settings_hooks, settings_toml
from git_coop.errors import Usage
from git_coop.record import Record
from git_coop.settings_hooks import Found, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

USER, PROJECT, LOCAL = "user", "project", "local"
SECONDS = 10  # a hook's bound; the drain itself is done in a small part of one second
START, PROMPT, STOP = "start", "prompt", "stop"


class Client(Record):
    """An agent client. ``events`` holds its own names of start, prompt and stop."""

    name: str
    title: str
    events: "tuple[str, str, str]"
    folder: str  # its folder of settings, below the home
    home: str  # the variable that names another one; empty where it has none
    files: "Mapping[str, tuple[str, ...]]"  # by scope; in user scope below the folder, else below the worktree's root
    shape: "Shape | None"  # of its JSON; None for a plugin file
    programs: "tuple[str, ...]"
    ran: str  # the version that was run with these hooks; empty where they were only read about
    next_step: str

    def kinds(self) -> "dict[str, str]":
        """``start``, ``prompt`` and ``stop`` by the client's own names."""
        return dict(zip(self.events, (START, PROMPT, STOP), strict=True))


_CLAUDE_LIKE = ("SessionStart", "UserPromptSubmit", "Stop")
CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            _CLAUDE_LIKE,
            ".claude",
            "CLAUDE_CONFIG_DIR",
            {
                USER: ("settings.json",),
                PROJECT: (".claude/settings.json",),
                LOCAL: (".claude/settings.local.json",),
            },
            Shape(grouped=True),
            ("claude",),
            "2.1.332",
            "restart the sessions that run already; in a session, '/hooks' lists the hooks",
        ),
        Client(
            "codex",
            "Codex CLI",
            _CLAUDE_LIKE,
            ".codex",
            "CODEX_HOME",
            {USER: ("hooks.json", "config.toml"), PROJECT: (".codex/hooks.json", ".codex/config.toml")},
            Shape(grouped=True),
            ("codex",),
            "0.171.0",
            "start codex and trust the hooks in '/hooks'; until then it skips them and says nothing",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            ("SessionStart", "BeforeAgent", "AfterAgent"),
            ".gemini",
            "",
            {USER: ("settings.json",), PROJECT: (".gemini/settings.json",)},
            Shape(grouped=True),
            ("gemini",),
            "0.61.0",
            "restart gemini: it reads its settings at its start",
        ),
        Client(
            "cursor",
            "Cursor",
            ("sessionStart", "beforeSubmitPrompt", "stop"),
            ".cursor",
            "",
            {USER: ("hooks.json",), PROJECT: (".cursor/hooks.json",)},
            Shape(grouped=False, version=1),
            ("cursor-agent", "cursor"),
            "",
            "restart Cursor, and look for the hooks in its settings",
        ),
        Client(
            "copilot",
            "GitHub Copilot CLI",
            ("sessionStart", "userPromptSubmitted", "agentStop"),
            ".copilot",
            "COPILOT_HOME",
            {USER: ("hooks/git-coop.json",), PROJECT: (".github/hooks/git-coop.json",)},
            Shape(grouped=False, version=1),
            ("copilot",),
            "1.0.102",
            "restart copilot: it reads its hook files at its start",
        ),
        Client(
            "opencode",
            "OpenCode",
            ("session.created", "chat.message", "session.idle"),
            ".config/opencode",
            "",
            {USER: ("plugins/git-coop.js",), PROJECT: (".opencode/plugins/git-coop.js",)},
            None,
            ("opencode",),
            "1.18.33",
            "restart opencode; at its first start with a plugin it fetches the package @opencode-ai/plugin,"
            " and without a network it waits for that for a minute or more",
        ),
    )
}


def client(name: str) -> Client:
    """The client of this name. Raises ``Usage`` with the names that there are."""
    if name not in CLIENTS:
        raise Usage(f"there is no client '{name}'", hint=f"one of {', '.join(CLIENTS)}")
    return CLIENTS[name]


def folder(of: Client, env: "Mapping[str, str]") -> str:
    """The client's own folder of settings: where its variable says, else below the home."""
    home = env.get("HOME") or os.path.expanduser("~")
    if of.home and env.get(of.home):
        return os.path.join(home, env[of.home])
    if of.name == "opencode":  # the XDG base directory specification: a relative path is none
        base = env.get("XDG_CONFIG_HOME", "")
        return os.path.join(base if os.path.isabs(base) else os.path.join(home, ".config"), "opencode")
    if of.name == "gemini" and env.get("GEMINI_CLI_HOME"):  # a home in which its folder lies
        home = os.path.join(home, env["GEMINI_CLI_HOME"])
    return os.path.join(home, of.folder)


def paths(of: Client, scope: str, env: "Mapping[str, str]", root: "str | None") -> "tuple[str, ...]":
    """The files that may hold the client's hooks in ``scope``, the preferred first; none outside of a worktree."""
    base = folder(of, env) if scope == USER else root
    return () if base is None else tuple(os.path.join(base, file) for file in of.files.get(scope, ()))


def command(of: Client, scope: str, program: str) -> str:
    """What the hooks run in ``scope``; of a plugin, the program that it starts."""
    if of.shape is None:
        return hook_plugin.SHARED if scope == PROJECT else program
    return hook_command.shared(of.name) if scope == PROJECT else hook_command.personal(program, of.name)


def entries(of: Client, run: str) -> "dict[str, dict[str, object]]":
    """The entry of each event in the client's words, with ``run`` as its command."""
    return {event: _entry(of.name, kind, run) for event, kind in of.kinds().items()}


def _entry(name: str, kind: str, run: str) -> "dict[str, object]":
    if name == "cursor":
        return {"command": run, "timeout": SECONDS}
    if name == "copilot":
        return {"type": "command", "command": run, "timeoutSec": SECONDS}
    if name == "gemini":  # milliseconds; people switch hooks off by their names
        return {"name": f"git-coop-{kind}", "type": "command", "command": run, "timeout": SECONDS * 1000}
    return {"type": "command", "command": run, "timeout": SECONDS}


def fragment(of: Client, scope: str, program: str) -> str:
    """The whole file that installing writes where there is none."""
    return merge(of, "", None, command(of, scope, program))


def merge(of: Client, path: str, text: "str | None", run: str) -> str:
    """The text of the file at ``path`` with the hooks in it. Raises ``Damaged`` and ``Refused``."""
    if of.shape is None:
        current = hook_plugin.program(text or "")
        same = text is not None and _same_program(current, run)
        return hook_plugin.merge(text, current if same else run)
    if path.endswith(".toml"):
        return settings_toml.merge(text or "", entries(of, run))
    return settings_hooks.merge(text, of.shape, entries(of, run))


def _same_program(one: str, other: str) -> bool:
    if os.path.isabs(one) and os.path.isabs(other):
        return os.path.realpath(one) == os.path.realpath(other)
    return one == other


def strip(of: Client, path: str, text: str) -> "str | None":
    """The text without our hooks; ``None`` for a file that installing made. Raises ``Damaged`` and ``Refused``."""
    if of.shape is None:
        return hook_plugin.strip(text)
    return settings_toml.strip(text) if path.endswith(".toml") else settings_hooks.strip(text, of.shape)


def find(of: Client, path: str, text: str) -> "tuple[Found, ...]":
    """Our hooks in a file, and what people made of them; a plugin counts for each of its events. Raises ``Damaged``."""
    if of.shape is None:
        verdict = hook_plugin.judge(text)
        if verdict == hook_plugin.FOREIGN:
            return ()
        run = f"{shlex.quote(hook_plugin.program(text) or '?')} drain --client {of.name}"
        return tuple(Found(event, run, verdict, 1, 1) for event in of.events)
    return settings_toml.find(text) if path.endswith(".toml") else settings_hooks.find(text, of.shape)

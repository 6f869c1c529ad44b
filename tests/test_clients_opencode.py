import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from git_coop.clients import adapter, opencode
from git_coop.event import Event, Say
from tests.support.answers import HOSTILE, PAYLOADS, clean, said

if TYPE_CHECKING:
    from git_coop.clients import Adapter

CLIENT: "Adapter" = opencode
COMMON = {"sessionID": "ses_1", "directory": "/repo/wt"}
PLUGIN = Path(opencode.__file__).with_name("opencode_plugin.js")


def call(name: str, **fields: object) -> dict[str, object]:
    return {**COMMON, "hook_event_name": name, **fields}


def event(kind: str, name: str, **facts: object) -> Event:
    own = Event(kind, "opencode", name, session="ses_1", directory="/repo/wt", arrives=False, marked=False)
    return own.replace(**facts)


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (call("session.created"), event("start", "session.created")),
        (call("chat.message", prompt="hi"), event("prompt", "chat.message", prompt="hi", arrives=True)),
        (call("session.idle"), event("stop", "session.idle")),
        (call("session.idle", parentID="ses_0"), event("stop", "session.idle", subagent=True)),
        (call("session.idle", directory=None, cwd="/other"), event("stop", "session.idle", directory="/other")),
        (call("session.compacted"), event("", "session.compacted")),
        (call("session.error"), event("", "session.error")),
        (call("session.deleted"), event("", "session.deleted")),
    ],
)
def test_events(payload: dict[str, object], found: Event) -> None:
    assert opencode.event(payload, {}) == found


def test_wrong_types_are_absent_fields() -> None:
    wrong = {key: [1] for key in [*COMMON, "prompt", "parentID", "cwd"]}
    found = Event("prompt", "opencode", "chat.message", marked=False)
    assert opencode.event({**wrong, "hook_event_name": "chat.message"}, {}) == found


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_for_the_message_alone(text: str) -> None:
    assert said(opencode.answer(Event("prompt", "opencode"), Say(text, text))) == {"text": clean(text)}
    for kind in ("start", "stop", ""):
        assert opencode.answer(Event(kind, "opencode"), Say(text, text)) == b"{}\n"
    assert opencode.answer(Event("prompt", "opencode"), Say(human="a fault")) == b"{}\n"


def test_a_stop_carries_nothing() -> None:
    assert (opencode.PROMPT_CARRIES, opencode.STOP_CHANNEL) == (True, "none")
    assert adapter("opencode") is opencode


@given(PAYLOADS)
def test_any_payload_is_an_event_and_an_answer(payload: dict[str, object]) -> None:
    assert said(opencode.answer(opencode.event(payload, {}), Say("text", "human"))) is not None


# Plays OpenCode: loads the plugin, calls what a session calls, prints what became of the messages' parts.
PLAY = """
import { GitCoop } from "./plugin.mjs";
const parents = { ses_old_child: "ses_main" };
const client = { session: { get: async ({ path }) => {
  if (path.id === "ses_error") throw new Error("no");
  return { data: { id: path.id, parentID: parents[path.id] } };
} } };
const hooks = await GitCoop({ client, directory: process.argv[2], worktree: "/" });
const happen = (type, properties) => hooks.event({ event: { type, properties } });
const create = (id, parentID) => happen("session.created", { info: { id, parentID } });
const chat = async (id) => {
  const output = { message: { id: "msg_1", sessionID: id }, parts: [{ id: "prt_0", type: "text", text: "hello" }] };
  await hooks["chat.message"]({ sessionID: id }, output);
  return output.parts.slice(1);
};
const parts = {};
await create("ses_main");
await create("ses_child", "ses_main");
for (const id of ["ses_main", "ses_child", "ses_old_child", "ses_resumed", "ses_error"]) parts[id] = await chat(id);
await happen("session.idle", { sessionID: "ses_main" });
await happen("session.idle", { sessionID: "ses_child" });
await happen("session.compacted", { sessionID: "ses_main" });
await happen("session.idle");
await hooks.event({});
console.log(JSON.stringify(parts));
process.exit(0);
"""


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node")
    return found


def play(node: str, place: Path, program: str) -> dict[str, list[dict[str, object]]]:
    source = PLUGIN.read_text()
    assert source.count('"@GIT_COOP@"') == 1
    (place / "plugin.mjs").write_text(source.replace('"@GIT_COOP@"', json.dumps(program)))
    (place / "play.mjs").write_text(PLAY)
    done = subprocess.run([node, "play.mjs", str(place)], cwd=place, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return found


def script(place: Path, body: str) -> str:
    path = place / "it's a git-coop"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_plugin_is_valid(node: str, tmp_path: Path) -> None:
    module = tmp_path / "plugin.mjs"
    module.write_bytes(PLUGIN.read_bytes())
    subprocess.run([node, "--check", str(module)], check=True)
    assert PLUGIN.read_text().count("import ") == PLUGIN.read_text().count('from "node:')
    assert PLUGIN.read_text().count("export ") == 1  # every export is a plugin to OpenCode


def test_the_plugin_shows_at_a_message_and_leaves_subagents_alone(node: str, tmp_path: Path) -> None:
    program = script(
        tmp_path, 'echo "$*" >>args; cat >>calls; echo >>calls; printf \'{"text":"mail \\\\u2028 waits"}\\n\''
    )
    parts = play(node, tmp_path, program)
    shown = ["ses_main", "ses_resumed", "ses_error"]
    assert [name for name, added in parts.items() if added] == shown
    for name in shown:
        (part,) = parts[name]
        ident = str(part.pop("id"))
        assert ident.startswith("prt_")
        assert len(ident) == 30
        assert part == {
            "sessionID": name,
            "messageID": "msg_1",
            "type": "text",
            "text": "mail \u2028 waits",
            "synthetic": True,
        }
    calls = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    here = str(tmp_path)
    assert calls == [
        {"hook_event_name": "session.created", "sessionID": "ses_main", "directory": here},
        *(
            {"hook_event_name": "chat.message", "sessionID": name, "prompt": "hello", "directory": here}
            for name in shown
        ),
        {"hook_event_name": "session.idle", "sessionID": "ses_main", "directory": here},
    ]
    assert set((tmp_path / "args").read_text().splitlines()) == {"drain --client opencode"}


@pytest.mark.parametrize(
    "body",
    [
        *("exit 0", "echo '{}'", "echo junk", "echo '{\"text\": 7}'", "echo null", "exit 2"),
        *('echo \'{"text": "x"}\'; exit 1', "echo noise >&2"),
    ],
)
def test_the_plugin_is_silent_when_the_program_is(node: str, tmp_path: Path, body: str) -> None:
    assert set(map(len, play(node, tmp_path, script(tmp_path, body)).values())) == {0}


def test_the_plugin_is_silent_when_the_program_is_missing(node: str, tmp_path: Path) -> None:
    assert set(map(len, play(node, tmp_path, str(tmp_path / "missing")).values())) == {0}

"""git notes as a mailbox, and a mailbox for agents from the package index."""

import hashlib
import sqlite3
import subprocess
from itertools import repeat
from pathlib import Path

from tests.bench.cases import MANY, Case
from tests.bench.peer_tasks import COUNTS, FILE, SEND, SUBJECT
from tests.bench.processes import Call
from tests.bench.provide import distribution, package, program, version
from tests.bench.stage import BODY, Stage

# One note a message, on a blob of its own that stands for it, under a ref that is the recipient's.
_SEND = 'id=$(date +%s%N-$$ | git hash-object -w --stdin) && git notes --ref "$0" add -F - "$id"'
_LIST = 'git notes --ref "$0" list | cut -d " " -f 1 | git cat-file --batch | grep -a "^subject: "'
_FILE = """\
set -- $(git notes --ref "$0" list | head -n 1)
git notes --ref "$0" show "$2" && git notes --ref seen add -C "$1" "$2" && git notes --ref "$0" remove "$2"
"""
_NOTE = f"subject: {SUBJECT}\n\n{BODY}".encode()


def notes(stage: Stage) -> tuple[str, list[Case]]:
    """git-notes(1), with the few lines of shell that make a mailbox of it."""
    shell, root = program("sh"), stage.place / "notes"
    stage.git("init", "-q", str(root), cwd=stage.place)

    def call(script: str, ref: str, stdin: bytes | None = None) -> Call:
        return Call([shell, "-c", script, ref], root, stdin)

    cases = [Case(SEND, repeat(call(_SEND, "sent", _NOTE)))]
    for number, (task, count) in enumerate(COUNTS.items()):
        _import_notes(stage, root, f"list-{number}", count)
        cases.append(Case(task, repeat(call(_LIST, f"list-{number}")), says="two callers"))
    send = call(_SEND, "source", _NOTE)
    file = call(_FILE, "source")
    cases.append(Case(FILE, repeat(file), says="module7.py", before=lambda: _quietly(send, stage.env)))
    return version([stage.git_program, "version"]).rpartition(" ")[2], cases


def _import_notes(stage: Stage, root: Path, ref: str, count: int) -> None:
    """``count`` notes at once; what they are on need not exist to be listed."""
    lines = [b"commit refs/notes/%s\ncommitter Bench <bench@example.org> 1796035512 +0000\ndata 0\n" % ref.encode()]
    for number in range(count):
        about = hashlib.sha1(b"%d" % number, usedforsecurity=False).hexdigest().encode()
        text = _NOTE + b"%d\n" % number
        lines.append(b"M 100644 inline %s/%s\ndata %d\n%s\n" % (about[:2], about[2:], len(text), text))
    stage.git("fast-import", "--quiet", cwd=root, stdin=b"".join(lines))


def agent_mail(stage: Stage) -> tuple[str, list[Case]]:
    """agent-mail-cli: ``send``; ``read`` that marks nothing and gives the fields of a list; ``read --ack`` of one."""
    script = package("agent-mail-cli", "agent-mail")
    home = stage.place / "agent-mail"
    home.mkdir()

    def call(database: str, *words: str) -> Call:
        return Call([program("env"), f"AGENT_MAIL_DB={home / database}", script, *words], stage.main)

    text = ("--subject", SUBJECT, "--body", BODY)
    send = ("send", "--from", "bench:sender", "--to", "bench:clone", *text)
    cases = [Case(SEND, repeat(call("sent", *send)), says="bench:sender")]
    for number, (task, count) in enumerate(COUNTS.items()):
        _quietly(call(f"list-{number}", *send), stage.env)
        _multiply(home / f"list-{number}", count)
        listed = (
            "read",
            "bench:clone",
            "--no-mark-read",
            "--limit",
            str(MANY),
            "--fields",
            "id,sender,subject,created",
        )
        cases.append(Case(task, repeat(call(f"list-{number}", *listed)), says="two callers"))
    file, one = call("source", "read", "bench:clone", "--limit", "1", "--ack"), call("source", *send)
    cases.append(Case(FILE, repeat(file), says="module7.py", before=lambda: _quietly(one, stage.env)))
    return distribution(script, "agent-mail-cli"), cases


def _multiply(database: Path, count: int) -> None:
    """Copies of the one message in a mailbox, under ids of their own."""
    with sqlite3.connect(database) as mailbox:
        columns = [column[1] for column in mailbox.execute("PRAGMA table_info(messages)")]
        first = mailbox.execute("SELECT * FROM messages").fetchone()
        values = [dict(zip(columns, first, strict=True)) | {"id": f"{number:036d}"} for number in range(1, count)]
        places = ",".join(f":{column}" for column in columns)
        mailbox.executemany(f"INSERT INTO messages VALUES ({places})", values)


def _quietly(call: Call, env: "dict[str, str]") -> None:
    subprocess.run(call.argv, cwd=call.cwd, env=env, input=call.stdin or b"", stdout=subprocess.DEVNULL, check=True)

"""The tasks that every tool is set, and the message that they are about."""

from tests.bench.cases import MANY
from tests.bench.stage import BODY

SEND, FILE = "send one", "show and file one"
COUNTS = {"list 100": 100, f"list {MANY:,}": MANY}
TASKS = (SEND, *COUNTS, FILE)
SUBJECT = "two callers pass a doubled header"
MAIL = (
    "Date: Mon, 30 Nov 2026 10:45:12 +0000\nFrom: sender <sender@example.org>\nTo: clone <clone@example.org>\n"
    f"Subject: {SUBJECT}\nMessage-ID: <NUMBER@example.org>\n\n{BODY}"
)


def named(tool: str, task: str) -> str:
    """The name under which the samples of a tool's task are kept."""
    return f"{tool}: {task}"

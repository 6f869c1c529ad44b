"""``git coop mail``: messages from the session in one worktree to the session in another."""

import click

from git_coop.cli.frame import Family

_SEND, _LOOK, _CHANGE = "git_coop.cli.mail_send", "git_coop.cli.mail_look", "git_coop.cli.mail_change"


@click.group(
    cls=Family,
    lazy={
        "send": (_SEND, "queue a message for other worktrees"),
        "read": (_CHANGE, "show what waits for this worktree, and file it"),
        "list": (_LOOK, "list what lies in a box"),
        "show": (_LOOK, "show one message and change nothing"),
        "reply": (_SEND, "answer a message"),
        "status": (_LOOK, "count what lies in every box, and say when it was last drained"),
        "trace": (_LOOK, "tell what became of one message that was sent from here"),
        "sent": (_LOOK, "list what was sent from here and what became of it"),
        "requeue": (_CHANGE, "queue a stranded or expired message again"),
        "off": (_CHANGE, "hold delivery in the whole clone"),
        "on": (_CHANGE, "deliver again"),
    },
)
def mail() -> None:
    """Messages to the sessions in other worktrees, and what came from them."""

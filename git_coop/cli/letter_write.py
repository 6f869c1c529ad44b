"""Storing a letter, however its words came about."""

from git_coop import ids, letterbox, letters
from git_coop.cli.app import App
from git_coop.layout import Box
from git_coop.letterbox import Sent
from git_coop.letters import Letter
from git_coop.place import Place


def store(
    app: App, here: Place, box: Box, body: str, subject: str, session: str | None, adopted_from: str | None = None
) -> Sent:
    """Write the letter of ``session`` into the box of ``here``, with what is checked out there."""
    head = app.head(here)

    def draft(identifier: str) -> Letter:
        return letters.written(
            Letter(
                id=identifier,
                key=box.key,
                path=here.root.decode("utf-8", "replace"),
                body=body,
                subject=subject,
                created_at=ids.time_of(identifier),
                branch=head.branch,
                head=head.commit,
                session=session,
                adopted_from=adopted_from,
            )
        )

    return letterbox.write(box, draft, app.now, app.edge.entropy)

"""The letter notice: that a letter waits, what is known of it without its body, and how to read it."""

from git_coop import files
from git_coop.layout import Box


def notice(box: Box, now: int, *, mark_up: bool) -> str:
    """The notice about the box's live letter; empty where there is none.

    Only the newest record can be live, so only that one is opened. Raises ``StoreFault`` where it cannot be read:
    an unreadable letter is not no letter.
    """
    if not files.entries(box.letters):
        return ""
    from git_coop import letter_glance  # most boxes have no letter

    seen = letter_glance.live(box)
    if seen is None:
        return ""
    letter = seen.letter
    from git_coop import adopted
    from git_coop.layout import is_inherited
    from git_coop.render import render_letter

    return render_letter(
        letter.id,
        letter.status,
        written=letter.created_at,
        bytes_long=seen.size,
        of_record=not seen.exact,
        branch=letter.branch,
        subject=letter.subject,
        now=now,
        mark_up=mark_up,
        earlier=is_inherited(box, letter.id),
        elsewhere=adopted.said(adopted.adopted_on(box.store, letter.id)),
    ).text

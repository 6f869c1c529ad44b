"""The letter notice: that a letter waits, what is known of it without its body, and how to read it."""

from git_coop.layout import Box


def notice(box: Box, now: int, *, mark_up: bool) -> str:
    """The notice about the box's live letter; empty where there is none.

    Only the newest record can be live, so only that one is opened. Raises ``StoreFault`` where it cannot be read:
    an unreadable letter is not no letter.
    """
    newest = _newest(box)
    if not newest:
        return ""
    from git_coop import letterbox  # and with it a TOML reader, as dear as starting Python

    seen = letterbox.glance(box, newest)
    while not seen.letter.live:
        before, newest = newest, _newest(box)
        if newest == before:  # else it gave way while it was read
            return ""
        seen = letterbox.glance(box, newest)
    letter = seen.letter
    from git_coop import adopted
    from git_coop.box import is_inherited
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


def _newest(box: Box) -> str:
    """The id of the box's newest letter; empty where there is none."""
    from git_coop import files, ids

    names = files.entries(box.letters)
    found = [name[: ids.LENGTH] for name in names if len(name) == ids.LENGTH + 5 and name.endswith(".toml")]
    return max((name for name in found if ids.is_id(name)), default="")

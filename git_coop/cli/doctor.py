"""``git coop doctor``: what is wrong, what to do about it, and doing it where no person is needed."""

from collections.abc import Sequence

import click

from git_coop import doctor as core
from git_coop.checks import FIXED, FOUND, NOTE, OK, UNKNOWN, Finding, many
from git_coop.cli import colour
from git_coop.cli.app import App
from git_coop.cli.frame import Verb
from git_coop.cli.table import words
from git_coop.clock import rfc3339
from git_coop.text import pad, safe_line

_AT_MOST = 20  # findings of one check that are printed; JSON has all
_NARROW = 60  # cells of a terminal below which texts stand under their names
_NAME = 14
_CODES = {OK: colour.GREEN, FOUND: colour.RED, UNKNOWN: colour.RED, FIXED: colour.YELLOW, NOTE: colour.FAINT}


@click.command(cls=Verb)
@click.option("--fix", is_flag=True, help="Mend what needs no person, and say what was done.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
@click.pass_obj
def doctor(app: App, fix: bool, as_json: bool) -> int:
    """Check the store, the hooks and the settings; exit 1 where anything is left to be mended."""
    subject = core.case(app.nearby, app.edge.env, app.now)
    found = core.examine(subject)
    if fix:
        found = core.mend(found)
    if as_json:
        app.json({"well": core.is_well(found), "fix": fix, "checks": [_record(finding) for finding in found]})
    else:
        app.out("\n".join([*_lines(app, found), _summary(found), f"as of {rfc3339(app.now)}"]))
    return 0 if core.is_well(found) else 1


def _record(finding: Finding) -> dict[str, object]:
    return {
        "name": finding.name,
        "outcome": finding.outcome,
        "what": finding.what,
        "remedy": finding.remedy or None,
        "fixable": finding.fix is not None,
    }


def _lines(app: App, found: Sequence[Finding]) -> list[str]:
    paint = colour.paint(app)
    lines: list[str] = []
    printed: dict[str, int] = {}
    for finding in found:
        printed[finding.name] = printed.get(finding.name, 0) + 1
        if printed[finding.name] <= _AT_MOST:
            lines += _finding(app, finding, paint)
    for name, count in printed.items():
        if count > _AT_MOST:
            lines.append(f"{name}: {count - _AT_MOST} more, which --json lists")
    return lines


def _finding(app: App, finding: Finding, paint: colour.Paint) -> list[str]:
    """One finding: its outcome and name, then its text and its remedy, folded to the terminal."""
    head = f"{paint(_CODES[finding.outcome], pad(finding.outcome, 7))}  {pad(finding.name, _NAME)}"
    indent = 7 + 2 + _NAME + 2
    narrow = app.columns is not None and app.columns < _NARROW
    indent = 4 if narrow else indent
    room = None if app.columns is None else max(app.columns - indent, 8)
    texts = words(safe_line(finding.what), room)
    texts += words(f"remedy: {safe_line(finding.remedy)}", room) if finding.remedy else []
    rest = [" " * indent + text for text in texts]
    return [head.rstrip(), *rest] if narrow else [f"{head}  {texts[0]}", *rest[1:]]


def _summary(found: Sequence[Finding]) -> str:
    left = [finding for finding in found if finding.outcome in (FOUND, UNKNOWN)]
    fixed = sum(1 for finding in found if finding.outcome == FIXED)
    fixable = sum(1 for finding in left if finding.fix is not None)
    said = [f"{many(len(left), 'finding')}" if left else "all is well"]
    said += [f"{fixed} mended"] if fixed else []
    said += [f"--fix mends {fixable}"] if fixable else []
    return ", ".join(said)

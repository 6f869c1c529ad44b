"""The doctor: every check by its name, what each found, and the fixes of what may be mended without a person."""

from collections.abc import Callable, Mapping

from git_coop import checks_mail, checks_records, checks_setup, checks_store, files, git, layout, making
from git_coop.checks import FIXED, FOUND, NOTE, OK, UNKNOWN, Case, Check, Finding, walk
from git_coop.errors import CoopError
from git_coop.place import Place

# By the name that findings carry: first what needs no known format, then what looks into the store.
ALWAYS: "dict[str, Check]" = {
    "format": checks_store.store_format,
    "program": checks_setup.program,
    "hooks": checks_setup.hooks,
    "settings": checks_setup.settings,
}
STORE: "dict[str, Check]" = {
    "readable": checks_store.readable,
    "permissions": checks_store.permissions,
    "owners": checks_store.owners,
    "symlinks": checks_store.kinds,
    "file-system": checks_store.one_file_system,
    "locks": checks_store.locks,
    "clock": checks_store.time_of_day,
    "leftovers": checks_store.leftovers,
    "names": checks_store.names,
    "delivery": checks_store.delivery,
    "letters": checks_records.letters,
    "live-letters": checks_records.live_letters,
    "letter-chains": checks_records.chains,
    "todos": checks_records.todos,
    "requests": checks_records.requests,
    "copies": checks_records.one_place,
    "strays": checks_records.strays,
    "messages": checks_mail.messages,
    "claiming": checks_mail.stranded,
    "both-names": checks_mail.doubles,
    "receipts": checks_mail.filed,
    "orphans": checks_mail.orphans,
    "twins": checks_mail.twins,
    "consuming": checks_mail.consuming,
    "hooks-seen": checks_setup.hooks_seen,
}
CHECKS = {**ALWAYS, **STORE}


def case(place: Place, env: "Mapping[str, str]", now: int) -> Case:
    """What there is to look at; a store of any format is opened for it."""
    store = layout.open_store(place.clone.coop, any_format=True)
    shared = git.config_value("core.sharedRepository", place.clone.common_dir, env)
    tree, dark = walk(store) if store is not None and checks_store.knows_format(store) else ((), ())
    return Case(place, store, env, now, making.shared_mode(shared or ""), tree, dark)


def examine(subject: Case, checks: "Mapping[str, Check] | None" = None) -> "list[Finding]":
    """What every check says, in order; a check that finds nothing says ``ok``, one that cannot look says so."""
    if checks is None:
        checks = CHECKS if checks_store.knows_format(subject.store) else ALWAYS
    return [finding for name, check in checks.items() for finding in _run(subject, name, check)]


def _run(subject: Case, name: str, check: Check) -> "list[Finding]":
    try:
        return list(check(subject)) or [Finding(name, OK, "nothing found")]
    except CoopError as error:
        return [Finding(name, UNKNOWN, f"cannot look: {error.sentence}", error.hint)]
    except OSError as error:
        return [Finding(name, UNKNOWN, f"cannot look: {files.words(error)}")]


def mend(found: "list[Finding]", done: "Callable[[Finding], None]" = lambda _finding: None) -> "list[Finding]":
    """The findings after the fixes of those that have one; ``done`` is told of each as it is mended."""
    after = []
    for finding in found:
        if finding.outcome == FOUND and finding.fix is not None:
            finding = _mended(finding, finding.fix)
            done(finding)
        after.append(finding)
    return after


def _mended(finding: Finding, fix: "Callable[[], str]") -> Finding:
    try:
        return finding.replace(outcome=FIXED, what=f"{finding.what}: {fix()}", remedy="", fix=None)
    except CoopError as error:
        return finding.replace(
            what=f"{finding.what}: not mended: {error.sentence}", remedy=error.hint or finding.remedy
        )


def is_well(found: "list[Finding]") -> bool:
    """Whether nothing is left to be mended, and everything could be looked at."""
    return all(finding.outcome in (OK, FIXED, NOTE) for finding in found)

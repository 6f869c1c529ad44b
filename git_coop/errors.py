"""What can go wrong, as classes that know their sentence, their facts and their exit status.

Statuses are git's: 1 the answer is no, 128 cannot, 129 usage. Nothing here prints: the edge renders
``sentence`` and ``hint`` (both may hold text from outside) and exits with ``status``.
"""


class CoopError(Exception):
    """An error with a sentence for a person: lower case, no full stop, what failed first."""

    status = 1
    label = "error"

    def __init__(self, sentence: str, *, hint: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint


class Refused(CoopError):
    """The request is understood and the answer is no; nothing was changed."""


class NotFound(Refused):
    """The thing asked for is not there."""


class Busy(Refused):
    """Another process holds what is needed; trying again is the way out."""


class HandoffPointerError(Refused):
    """A body that points at a handoff instead of being one; ``pointer`` quotes it."""

    def __init__(self, sentence: str, *, pointer: str, hint: str) -> None:
        super().__init__(sentence, hint=hint)
        self.pointer = pointer


class Usage(CoopError):
    """The words of the command line are wrong."""

    status = 129
    label = "usage"


class Fatal(CoopError):
    """The command cannot run here: no repository, an unusable store, an unknown format."""

    status = 128
    label = "fatal"


class StoreFault(Fatal):
    """A file operation of the store failed; ``path`` and ``errno`` say where and how."""

    def __init__(self, sentence: str, *, path: bytes, errno: int | None = None, hint: str = "") -> None:
        super().__init__(sentence, hint=hint)
        self.path = path
        self.errno = errno


class Untrusted(Fatal):
    """A place that belongs to somebody else and that no trusted configuration names as safe."""


class GitFailed(Fatal):
    """A git process failed; ``stderr`` is its own text."""

    def __init__(self, sentence: str, *, stderr: bytes = b"", returncode: int = 128, hint: str = "") -> None:
        super().__init__(sentence, hint=hint)
        self.stderr = stderr
        self.returncode = returncode

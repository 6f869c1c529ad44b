"""The name of a session in the store.

A raw session id never becomes a file name: it may be ``../..`` or four thousand characters long.
"""

from git_coop.files import sha256

NOBODY = "0" * 16  # stands for the hash of a session, where a drain was given none


def hashed(session: str) -> str:
    """The name of a session in the store: 16 hex digits of the SHA-256 of its id's bytes."""
    return sha256(session.encode("utf-8", "surrogatepass"))[:16]

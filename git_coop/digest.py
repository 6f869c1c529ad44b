"""SHA-256 without OpenSSL.

``hashlib`` loads OpenSSL, a quarter of an interpreter's start, to hash some bytes of a path. The interpreter's
own implementation is used where it has one under the name that its version has for it; the answers are the same.
"""

import sys

try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as _sha256  # type: ignore[import-not-found, unused-ignore]
    else:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from hashlib import sha256 as _sha256


def sha256(data: bytes) -> str:
    """The SHA-256 of ``data`` as 64 lower-case hex digits."""
    digest: str = _sha256(data).hexdigest()
    return digest

"""A rename that refuses to replace, for file systems without hard links.

Linux has ``renameat2`` with ``RENAME_NOREPLACE``, macOS ``renamex_np`` with ``RENAME_EXCL``. Python offers
neither, so they are called through the C library; where there is neither, nothing is published.
"""

import ctypes
import os
import sys
from errno import ENOSYS

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_RENAME_EXCL = 4


def rename_exclusively(source: bytes, target: bytes) -> None:
    """Rename ``source`` to ``target``; ``FileExistsError`` where the target exists, ``OSError`` on any failure."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(source, target, _RENAME_EXCL)
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_NOREPLACE)
    else:
        raise OSError(ENOSYS, os.strerror(ENOSYS), os.fsdecode(target))
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(target))

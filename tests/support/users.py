"""Other users, where the tests run as root and can become one."""

import os
from collections.abc import Callable
from pathlib import Path

NOBODY = 65534
NOT_ROOT = "only root can give files away and become another user"


def run_as(uid: int, act: Callable[[], str]) -> str:
    """What ``act`` gives in a child process of user ``uid``, to whom the way to the current directory is opened."""
    here = Path.cwd()
    for place in (here, *here.parents):
        if place.stat().st_mode & 0o011 != 0o011:
            place.chmod(place.stat().st_mode | 0o011)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writer, act().encode("utf-8", "surrogateescape"))
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said.decode("utf-8", "surrogateescape")


def give(place: Path, uid: int) -> None:
    """Make ``place`` and all below it the property of ``uid``."""
    for top, folders, names in os.walk(place):
        os.chown(top, uid, uid)
        for name in (*folders, *names):
            os.chown(os.path.join(top, name), uid, uid, follow_symlinks=False)

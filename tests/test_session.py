"""Who is calling, and the name that a session has in the store."""

import hashlib

import pytest

from git_coop import files, layout
from git_coop.edge import SESSIONS
from tests.support.world import Worlds


def test_the_option_goes_before_the_variables_and_ours_before_a_clients(edge: Worlds) -> None:
    env = dict.fromkeys(reversed(SESSIONS), "")
    assert edge(env=env).session() is None
    for name in reversed(SESSIONS):
        env[name] = name.lower()
        assert edge(env=env).session() == name.lower()
    assert edge(env=env).session("given") == "given"
    assert edge(env=env).session("") == "git_coop_session"
    assert edge().session() is None


def test_an_id_is_text_that_a_record_can_hold(edge: Worlds) -> None:
    found = edge(env={"GIT_COOP_SESSION": "a\udcff\ud800b"}).session()
    assert found == "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdb"


@pytest.mark.parametrize("name", ["", "../../x", "a/b", "x" * 10_000, "é\n", "\udcff", "x\ud800"])
def test_a_name_in_the_store_is_sixteen_digits(name: str) -> None:
    found = layout.hashed(name)
    assert found == hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    assert files.sha256(b"") == hashlib.sha256(b"").hexdigest()

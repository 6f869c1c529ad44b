"""Where the ledger may go: forms of a remote, the same place in many spellings, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_coop import remote
from git_coop.errors import Refused
from git_coop.git import ConfigEntry
from git_coop.remote import Settings, checked, place, settings
from tests.support.clones import git


def entry(key: str, value: str) -> ConfigEntry:
    return ConfigEntry("local", "file:.git/config", key, value)


@pytest.mark.parametrize(
    ("value", "scheme"),
    [
        ("/srv/l.git", "file"),
        ("../l.git", "file"),
        ("l.git", "file"),
        ("./a:b", "file"),
        ("file:///srv/l.git", "file"),
        ("host:l.git", "ssh"),
        ("user@host:/l.git", "ssh"),
        ("[::1]:l.git", "ssh"),
        ("ssh://host/l.git", "ssh"),
        ("git://host/l.git", "git"),
        ("https://host/l.git", "https"),
        ("http://host/l.git", "http"),
        ("ftp://host/l.git", "ftp"),
        ("ext::sh -c id", "ext::"),
        ("::x", "::"),
        ("fd::17", "fd::"),
        ("git+ssh://host/x", "git+ssh"),
        ("HTTPS://host/x", "HTTPS"),
        ("ext://x", "ext"),
    ],
)
def test_the_protocol_that_git_would_use(value: str, scheme: str) -> None:
    assert remote.protocol(value) == scheme


@pytest.mark.parametrize("value", ["/srv/l.git", "host:l.git", "ssh://u@host:22/l.git", "https://h/l", "git://h/l"])
def test_what_git_takes_is_given_to_git_unchanged(value: str) -> None:
    assert checked(value, b"/base") == value


def test_a_relative_path_is_taken_from_the_clone() -> None:
    assert checked("../l.git", b"/home/ann/p") == "/home/ann/l.git"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "no remote is set for the ledger"),
        ("", "no remote is set for the ledger"),
        ("-x", "coop.remote '-x' begins with '-': git would take it for an option"),
        ("--upload-pack=id", "coop.remote '--upload-pack=id' begins with '-': git would take it for an option"),
        ("ext::sh -c id", "coop.remote 'ext::sh -c id' names the protocol 'ext::'"),
        ("http://h/l", "coop.remote 'http://h/l' names the protocol 'http'"),
        ("ssh://-oProxy=id/x", "coop.remote 'ssh://-oProxy=id/x' names a host or path that begins with '-'"),
        ("ssh://u@-oProxy=id/x", "coop.remote 'ssh://u@-oProxy=id/x' names a host or path that begins with '-'"),
        ("host:-x", "coop.remote 'host:-x' names a host or path that begins with '-'"),
        ("/a\nb", "coop.remote '/a?b' holds characters that no remote has"),
        ("https://u:secret@h/l\x1b", "coop.remote 'https://u@h/l?' holds characters that no remote has"),
    ],
)  # fmt: skip
def test_what_is_refused_before_git_sees_it(value: str | None, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        checked(value, b"/base")
    assert caught.value.sentence == sentence


def test_a_file_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "x.bundle").write_text("# v2 git bundle\n")
    with pytest.raises(Refused, match="is a file, not a repository"):
        checked("x.bundle", bytes(tmp_path))


def test_a_password_is_not_shown() -> None:
    assert remote.shown("https://ann:secret@host/l.git") == "https://ann@host/l.git"
    assert remote.shown("https://host/a:b@c") == "https://host/a:b@c"


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/ann/p.git",
        "https://example.org/ann/p",
        "https://example.org/ann/p/",
        "https://example.org//ann/./x/../p.git/",
        "https://EXAMPLE.org./ann/p.git",
        "https://bob:pw@example.org:8443/ann/p.git",
        "https://example.org/%61nn/p.git",
        "https://example.org/Ann/P.git",
        "git@example.org:ann/p.git",
        "example.org:/ann/p",
        "example.org:~/ann/p",
        "ssh://git@example.org:2222/ann/p",
        "git://example.org/ann/p.git",
    ],
)
def test_one_place_on_a_host_in_many_spellings(spelling: str) -> None:
    assert place(spelling) == place("https://example.org/ann/p")
    assert place(spelling) != place("https://example.org/ann/q")


def test_one_place_on_this_machine_in_many_spellings(tmp_path: Path) -> None:
    git("init", "-q", "--bare", "p.git", cwd=tmp_path)
    git("init", "-q", "w", cwd=tmp_path)
    (tmp_path / "link").symlink_to("p.git")
    (tmp_path / "gitfile").write_text("gitdir: p.git\n")
    for spelling in ("p.git", "p", "p.git/", "./x/../p.git", "link", "gitfile"):
        assert place(spelling, bytes(tmp_path)).path == bytes(tmp_path / "p.git"), spelling
    for spelling in (f"file://{tmp_path}/p.git", f"file://localhost{tmp_path}/p", f"file://{tmp_path}/%70.git/"):
        assert place(spelling).path == bytes(tmp_path / "p.git"), spelling
    assert place("w", bytes(tmp_path)) == place("w/.git", bytes(tmp_path))
    assert place("w", bytes(tmp_path)) != place("p", bytes(tmp_path))


PROJECT = settings(
    [
        entry("remote.origin.url", "https://example.org/ann/p.git"),
        entry("remote.fork.url", "work:bob/p"),
        entry("remote.fork.pushurl", "ssh://push.example.org/bob/p.git"),
        entry("remote.bare.fetch", "x"),
        entry("branch.main.remote", "/srv/direct.git"),
        entry("branch.dev.remote", "."),
        entry("remote.pushdefault", "host.example:pushed"),
        entry("url.ssh://git@example.net/.insteadof", "work:"),
        entry("url.ssh://only.example.com/.pushinsteadof", "https://example.org/"),
        entry("core.bare", "false"),
    ]
)


@pytest.mark.parametrize(
    "value",
    [
        "origin",
        "fork",
        "bare",
        "https://example.org/ann/p",
        "git@example.org:ann/p",
        "work:bob/p",
        "example.net:bob/p",
        "push.example.org:bob/p",
        "only.example.com:ann/p",
        "/srv/direct",
        "file:///srv/direct.git/",
        "host.example:pushed",
        "/clone",
        "/clone/.git",
        "file:///clone/.git/coop/ledger.git",
    ],
)
def test_a_place_of_the_project_is_refused(value: str) -> None:
    with pytest.raises(Refused, match="the ledger must not travel with the code"):
        remote.forbid_project(value, checked(value, b"/clone"), PROJECT, b"/clone/.git", b"/clone")


@pytest.mark.parametrize("value", ["https://example.org/ann/ledger", "/srv/ledger.git", "work:bob/ledger", "../l.git"])
def test_another_place_is_taken(value: str) -> None:
    remote.forbid_project(value, checked(value, b"/clone"), PROJECT, b"/clone/.git", b"/clone")


def test_remotes_that_older_gits_keep_as_files(tmp_path: Path) -> None:
    (tmp_path / "remotes").mkdir()
    (tmp_path / "remotes" / "old").write_text("URL: host:p\nPush: x\n")
    (tmp_path / "branches").mkdir()
    (tmp_path / "branches" / "cogito").write_text("host:q#main\n")
    found = remote.with_legacy(Settings({}, ()), bytes(tmp_path))
    assert found.remotes == {"old": ("host:p",), "cogito": ("host:q",)}


def test_the_longest_prefix_rewrites() -> None:
    rules = Settings({}, (), (("a:", "long1/"), ("a:b", "long2/")))
    assert remote.ways("a:bc", rules) == {"a:bc", "long2/c"}


def test_a_remote_with_something_else_in_it() -> None:
    remote.forbid_others("x", {}, "refs/heads/coop")
    remote.forbid_others("x", {"refs/pull/1/head": "1"}, "refs/heads/coop")
    remote.forbid_others("x", {"refs/heads/main": "1", "refs/heads/coop": "2"}, "refs/heads/coop")
    with pytest.raises(Refused, match="holds something else: it has 'refs/heads/main' and no ledger"):
        remote.forbid_others("x", {"HEAD": "1", "refs/heads/main": "1"}, "refs/heads/coop")


@given(st.text(max_size=60))
def test_no_value_is_more_than_refused(value: str) -> None:
    try:
        url = checked(value, b"/base")
    except Refused:
        return
    assert not url.startswith("-")
    assert remote.protocol(url) in remote.PROTOCOLS
    place(url, b"/base")

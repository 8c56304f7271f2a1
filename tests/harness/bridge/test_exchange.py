"""Pushes and listings of requests, with real git: one of two racers wins, and no other branch passes for a request."""

import threading
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.bridge.exchange import fetch, list_requests, push
from harness.bridge.git import GitError, Repository
from harness.bridge.names import RequestName, check_nonce, check_ref, check_remote, name_of, request_named
from harness.bridge.trees import commit_files
from harness.cli import run
from tests.harness.bridge.repositories import Remote, git, new_remote

NAME = RequestName("demo", "0123456789abcdef")
CONTROLS = [*map(chr, range(32)), *map(chr, range(127, 160)), "\u2028", "\u2029", "\u202e", "\ufeff"]
"""Whatever moves a cursor, ends a line for somebody, or turns text round."""


@pytest.fixture(name="remote")
def bare_remote(tmp_path: Path) -> Remote:
    return new_remote(tmp_path, {"notes.md": "x\n"})


def racer(remote: Remote, number: int) -> tuple[Repository, str, str]:
    """A clone, the commit of main, and one of its own on top of that."""
    clone = remote.clone(f"racer{number}")
    base = clone.commit("HEAD")
    assert base is not None
    return clone, base, commit_files(clone, base, {"by": f"{number}\n".encode()}, f"by {number}", None)


def test_of_pushes_at_once_one_wins_and_the_others_are_told(remote: Remote) -> None:
    racers = [racer(remote, number) for number in range(4)]
    start, won, lost = threading.Barrier(len(racers)), [], []

    def move(clone: Repository, own: str) -> None:
        start.wait()
        try:
            push(clone, "origin", NAME, "", own)
            won.append(own)
        except GitError as error:
            lost.append(str(error))

    threads = [threading.Thread(target=move, args=(clone, own)) for clone, _, own in racers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 3)
    assert remote.head(NAME.branch) == won[0]
    assert all(line.isprintable() for line in lost)
    assert list(remote.path.rglob("*.lock")) == []


def test_a_push_from_where_the_branch_no_longer_is_moves_nothing(remote: Remote) -> None:
    (first, base, own), (second, _, late) = racer(remote, 0), racer(remote, 1)
    push(first, "origin", NAME, "", base)
    push(first, "origin", NAME, base, own)
    with pytest.raises(GitError):
        push(second, "origin", NAME, base, late)
    with pytest.raises(GitError):
        push(second, "origin", NAME, "", late)
    assert remote.head(NAME.branch) == own
    fetch(second, "origin", [f"refs/heads/{NAME.branch}"])
    on_top = commit_files(second, own, {"by": b"second\n"}, "on top", None)
    push(second, "origin", NAME, own, on_top)
    assert remote.head(NAME.branch) == on_top


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_a_control_character_is_in_no_name_that_comes_in(control: str) -> None:
    for hostile in (f"main{control}", f"{control}main", f"ma{control}in"):
        for check in (check_ref, check_remote, check_nonce, request_named):
            with pytest.raises(UsageError) as refused:
                check(hostile)
            assert str(refused.value).isprintable()
    for branch in (f"{NAME.branch}{control}", f"k3-bridge/{control}{NAME.short}", f"k3-bridge/de{control}{NAME.short}"):
        assert name_of(branch) is None
        with pytest.raises(UsageError):
            request_named(branch)


@pytest.mark.parametrize("control", ["\x85", "\u2028", "\u2029", "\u202e", "\ufeff", "\x9b"], ids=ascii)
def test_a_branch_that_git_lets_pass_with_one_is_no_request(remote: Remote, control: str) -> None:
    """Git refuses ASCII's own; these it keeps, and some of them end a line elsewhere."""
    clone = remote.clone("looking")
    for branch in (f"{NAME.branch}{control}", f"{NAME.branch}{control}x", f"k3-bridge/a{control}{NAME.short}"):
        git(remote.path, "update-ref", f"refs/heads/{branch}", "main")
    assert list_requests(clone, "origin") == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ["request", "--preset", "demo", "--ref", "{}"],
        ["request", "--preset", "demo", "--remote", "{}"],
        ["request", "--preset", "demo", "--nonce", "{}"],
        ["request", "--preset", "{}"],
        ["status", "--remote", "{}"],
        ["run", "--environment", "running", "--remote", "{}"],
        ["fetch", "{}"],
        ["fetch", NAME.short, "--remote", "{}"],
        ["fetch", NAME.short, "--asked", "{}"],
        ["doctor", "--remote", "{}"],
        ["setup", "--remote", "{}"],
    ],
    ids=" ".join,
)
def test_a_command_refuses_one_in_one_line_and_repeats_none(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    clone = remote.clone("asker")
    monkeypatch.chdir(clone.root)
    hostile = "k3-bridge/demo\x1b]0;owned\x07\n\u2028-0123456789abcdef"
    assert run(["bridge", *(part.format(hostile) for part in arguments)]) in (3, 64)
    told = capsys.readouterr()
    (line,) = told.err.splitlines()
    assert line.isprintable()
    assert told.out.replace("\n", "").isprintable() or not told.out
    assert remote.branches() == []

"""Git runs nothing that a repository's content, another user's config or an address asks for."""

import os
from pathlib import Path

import pytest

from harness.base.errors import CannotRunError
from harness.bridge.git import GitError, Repository, open_repository
from harness.bridge.trees import SUBMODULE, changes, commit_files, entries, entry_at, parents, read_blob
from tests.harness.bridge.repositories import git, new_remote, new_repository


def test_a_hook_of_the_clone_does_not_run(tmp_path: Path) -> None:
    clone = new_remote(tmp_path, {"a": "1"}).clone("clone")
    for name in ("pre-push", "reference-transaction", "post-checkout"):
        hook = clone.root / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
        hook.chmod(0o755)
    clone.git("push", "origin", "HEAD:refs/heads/other")
    assert not (tmp_path / "pwned").exists()
    git(clone.root, "push", "--quiet", "origin", "HEAD:refs/heads/another")
    assert (tmp_path / "pwned").exists()


@pytest.mark.parametrize("address", ["ext::sh -c 'touch pwned'", "git://localhost/x", "http://localhost:9/x"])
def test_addresses_that_run_something_or_prove_nothing_are_refused(tmp_path: Path, address: str) -> None:
    clone = new_remote(tmp_path, {"a": "1"}).clone("clone")
    git(clone.root, "remote", "set-url", "origin", address)
    with pytest.raises(GitError, match="not allowed"):
        clone.git("fetch", "origin")
    assert not list(tmp_path.rglob("pwned"))


def test_config_of_the_user_and_the_environment_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1"})
    config = tmp_path / "config"
    config.write_text(f"[core]\n\tfsmonitor = touch {tmp_path}/pwned\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    Repository(folder).git("status")
    assert not (tmp_path / "pwned").exists()


def test_a_git_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1"})
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GitError, match="no answer in 1 s"):
        Repository(folder).git("config", "--file", str(tmp_path / "pipe"), "--list", seconds=1)


def test_a_fault_is_told_in_one_line(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1"})
    with pytest.raises(GitError, match=r"^git cat-file: fatal: Not a valid object name nothing$"):
        Repository(folder).git("cat-file", "blob", "nothing")
    with pytest.raises(CannotRunError, match="no git checkout"):
        open_repository(tmp_path)
    assert open_repository(folder / ".").root == folder
    assert Repository(folder).commit("--all") is None


def test_a_commit_is_made_without_touching_the_clone(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1", ".gitattributes": "* filter=evil\n"})
    git(folder, "config", "filter.evil.clean", f"touch {tmp_path}/pwned")
    (folder / "a").write_text("being edited")
    repository = Repository(folder)
    head = repository.commit("HEAD")
    assert head is not None
    made = commit_files(repository, head, {"x/y": b"\x00\r\n", "a": b"2"}, "more")
    assert parents(repository, made) == [head]
    assert {(change.letter, change.after.path) for change in changes(repository, head, made)} == {
        ("A", "x/y"),
        ("M", "a"),
    }
    found = entry_at(repository, made, "x/y")
    assert found is not None
    assert read_blob(repository, found.blob) == b"\x00\r\n"
    assert (folder / "a").read_text() == "being edited"
    assert repository.commit("HEAD") == head
    assert not (tmp_path / "pwned").exists()


def test_files_of_a_commit_are_told_with_their_kind(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", {"a": "1", "d/b": "2"})
    (folder / "link").symlink_to("/etc/passwd")
    git(folder, "add", "--all")
    commit = git(folder, "rev-parse", "HEAD")
    git(folder, "update-index", "--add", "--cacheinfo", f"{SUBMODULE},{commit},sub")
    git(folder, "commit", "--quiet", "--message", "second")
    repository = Repository(folder)
    modes = {entry.path: entry.mode for entry in entries(repository, "HEAD")}
    assert modes == {"a": "100644", "d/b": "100644", "link": "120000", "sub": "160000"}
    assert entry_at(repository, "HEAD", "d") is None
    assert entry_at(repository, "HEAD", "link/passwd") is None
    assert entry_at(repository, "HEAD", "*") is None

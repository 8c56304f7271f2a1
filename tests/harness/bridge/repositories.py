"""Real git for tests of the bridge: a bare remote, and clones of it."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.bridge.git import Repository

ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    **{f"GIT_{who}_{what}": "asker" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    """Git as a person would call it."""
    command = ["git", "-C", str(folder), *arguments]
    environment = dict(os.environ) | ENVIRONMENT
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def new_repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with one commit of these files, on main."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


@dataclass(frozen=True)
class Remote:
    """A bare repository."""

    path: Path

    def clone(self, name: str) -> Repository:
        """A new clone of it, beside it."""
        folder = self.path.parent / name
        git(self.path.parent, "clone", "--quiet", str(self.path), str(folder))
        return Repository(folder)

    def head(self, branch: str) -> str | None:
        """The commit of a branch."""
        found = git(self.path, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        return found or None

    def branches(self) -> list[str]:
        """The branches of requests."""
        return git(self.path, "for-each-ref", "--format=%(refname:short)", "refs/heads/k3-bridge").split()


def new_remote(folder: Path, files: dict[str, str]) -> Remote:
    """A bare repository with one commit of these files, on main."""
    seed = new_repository(folder / "seed", files)
    git(folder, "clone", "--quiet", "--bare", str(seed), str(folder / "remote.git"))
    return Remote(folder / "remote.git")

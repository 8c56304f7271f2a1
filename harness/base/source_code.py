"""Which code this is: the commit of a checkout, and the digest of the files.

Standard library only: the build of a wheel writes down what this finds, so that an installed K3 knows its commit.
"""

import hashlib
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDERS = ("harness", "gate", "workloads", "reports", "presets")
BUILT_FROM = "harness/built_from.json"
"""Where a wheel keeps its `BuiltFrom`, from the folder that holds ours."""
_NO_CODE = ("reports/evidence/", BUILT_FROM)


@dataclass(frozen=True)
class Checkout:
    """A commit, and whether our folders differ from it."""

    git_commit: str
    dirty: bool


@dataclass(frozen=True)
class BuiltFrom(Checkout):
    """The checkout that a wheel was built from, and the `code_digest` of what went into it."""

    files: str


def read_checkout(root: Path) -> Checkout | None:
    """The checkout whose top folder is `root`; None if that is none, or git cannot tell."""
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain", "--", *FOLDERS)
    return None if commit is None or status is None else Checkout(commit, bool(status))


def code_digest(root: Path) -> str:
    """sha256 over path and content of every source file of ours under `root`, in sorted order."""
    total = hashlib.sha256()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in (".py", ".toml", ".json") and file.is_file() and not path.startswith(_NO_CODE):
                total.update(f"{path}\0".encode())
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return "sha256:" + total.hexdigest()


def built_from_json(root: Path) -> str | None:
    """The `BuiltFrom` of a build from `root` as JSON; None if `root` is no checkout."""
    checkout = read_checkout(root)
    return None if checkout is None else json.dumps(asdict(checkout) | {"files": code_digest(root)}) + "\n"


def read_built_from(root: Path) -> BuiltFrom | None:
    """What the wheel whose files lie in `root` was built from; None if that was no checkout."""
    try:
        return BuiltFrom(**json.loads((root / BUILT_FROM).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

"""Commits as data: what is in one, what it changes, and a new one on top, all without a checkout.

Nothing is checked out, so no attribute, filter or hook of a commit can take part.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.bridge.git import GitError, Repository

FILE, PROGRAM, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
KINDS = {LINK: "a symbolic link", SUBMODULE: "a submodule"}


@dataclass(frozen=True)
class Entry:
    """A file in a commit; `size` in bytes where it was asked for."""

    mode: str
    blob: str
    path: str
    size: int = 0


def entries(repository: Repository, commit: str) -> list[Entry]:
    """Every file of a commit, sorted by path.

    Raises:
        GitError: there is no such commit.
    """
    listed = repository.git("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    return [_entry(line) for line in listed.split(b"\0") if line]


def entry_at(repository: Repository, commit: str, path: str) -> Entry | None:
    """The file at exactly this path; None where there is none, or a folder, or a link stands in the path.

    Raises:
        GitError: there is no such commit.
    """
    listed = repository.git("ls-tree", "-z", "--full-tree", commit, "--", path)
    found = [_entry(line) for line in listed.split(b"\0") if line]
    return next((entry for entry in found if entry.path == path and entry.mode != "040000"), None)


def size_of(repository: Repository, blob: str) -> int:
    """Bytes of a file, asked before it is read.

    Raises:
        GitError: it is not here.
    """
    return int(repository.text("cat-file", "-s", blob))


def read_blob(repository: Repository, blob: str) -> bytes:
    """The content of a file, as it was committed.

    Raises:
        GitError: it is not here.
    """
    return repository.git("cat-file", "blob", blob)


@dataclass(frozen=True)
class Change:
    """A path that differs between a commit and its parent: A added, M modified, D deleted, T of another kind."""

    letter: str
    after: Entry


def changes(repository: Repository, parent: str, commit: str) -> list[Change]:
    """What `commit` changes of `parent`.

    Raises:
        GitError: one of them is not here.
    """
    raw = repository.git(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--full-index", parent, commit
    )
    parts = raw.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for told, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, _, blob, letter = told.removeprefix(":").split(" ")
        found.append(Change(letter[:1], Entry(mode, blob, path)))
    return found


def parents(repository: Repository, commit: str) -> list[str]:
    """The parents of a commit.

    Raises:
        GitError: it is not here.
    """
    return repository.text("rev-list", "--parents", "--max-count=1", commit, "--").split(" ")[1:]


def commit_files(
    repository: Repository, parent: str, files: Mapping[str, bytes], message: str, key: Path | None = None
) -> str:
    """A commit on top of `parent` that adds `files` by path; signed with the SSH `key` if there is one. No branch, no
    index and no working tree of the clone is touched.

    Raises:
        GitError: the object database cannot be written, or the key cannot sign.
    """
    with tempfile.TemporaryDirectory(prefix="k3-bridge-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repository.git("read-tree", parent, more=index)
        for path, data in files.items():
            blob = repository.git("hash-object", "-w", "--no-filters", "--stdin", given=data).decode().strip()
            repository.git("update-index", "--add", "--replace", "--cacheinfo", f"{FILE},{blob},{path}", more=index)
        tree = repository.git("write-tree", more=index).decode().strip()
    sign = [f"-S{key}"] if key is not None else []
    return repository.git("commit-tree", *sign, "-p", parent, "-m", message, tree).decode().strip()


def signed(repository: Repository, commit: str, signers: Path) -> bool:
    """The commit carries a sound signature of a key in `signers`."""
    allowed = f"gpg.ssh.allowedSignersFile={signers.expanduser()}"
    try:
        repository.git("-c", allowed, "verify-commit", commit)
    except GitError:
        return False
    return True


def _entry(line: bytes) -> Entry:
    told, _, path = line.decode("utf-8", "surrogateescape").partition("\t")
    mode, _, blob, *size = told.split()
    return Entry(mode, blob, path, int(size[0]) if size and size[0].isdigit() else 0)

"""The files of a commit in a folder of their own, byte for byte: no attribute, filter or hook takes part."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from harness.base.source_code import BUILT_FROM, BuiltFrom, code_digest
from harness.bridge.git import Repository
from harness.bridge.manifest import RequestError
from harness.bridge.trees import PROGRAM, Entry, entries
from harness.models.folder.files import LFS_POINTER
from reports.untrusted.one_line import one_line

BATCH = 200


def write_files(repository: Repository, commit: str, folder: Path) -> None:
    """Write the files of `commit` to `folder`, which appears whole or not at all. Beside them goes the commit's name,
    where a wheel has it, so that reports of this folder say which code ran.

    Raises:
        RequestError: a Git-LFS pointer in place of a file, by its path.
        GitError, OSError: an object is not here, or the disk is full.
    """
    begun = folder.with_name(f"{folder.name}.begun")
    shutil.rmtree(begun, ignore_errors=True)
    found = entries(repository, commit)
    for group in (found[start : start + BATCH] for start in range(0, len(found), BATCH)):
        for entry, data in zip(group, _contents(repository, group), strict=True):
            if len(data) < 1024 and LFS_POINTER.fullmatch(data):
                raise RequestError(
                    f"{one_line(entry.path, 100)}: a Git-LFS pointer in place of the file: commit the file itself, or "
                    "name a model of the machine by ${ENV:K3_...}"
                )
            path = begun / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if entry.mode == PROGRAM else 0o644)
    built = BuiltFrom(commit, False, code_digest(begun))
    (begun / BUILT_FROM).parent.mkdir(parents=True, exist_ok=True)
    (begun / BUILT_FROM).write_text(json.dumps(asdict(built)) + "\n")
    begun.rename(folder)


def _contents(repository: Repository, group: list[Entry]) -> Iterator[bytes]:
    """The content of each, in order: `cat-file --batch` prints a line, the bytes and a line's end for every one."""
    wanted = "".join(f"{entry.blob}\n" for entry in group).encode()
    told, place = repository.git("cat-file", "--batch", given=wanted), 0
    for _ in group:
        start = told.index(b"\n", place) + 1
        size = int(told[place:start].split(b" ")[2])
        yield told[start : start + size]
        place = start + size + 1

"""Opening files that nobody vouches for: bounded, regular files only, found without following links away."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from reports.untrusted.nearest import path_meant
from reports.untrusted.one_line import one_line

MAX_BYTES = 64 * 2**20
"""A larger file is refused by its size, unread. The largest honest report (token ids and blocks of hundreds of rows)
is a tenth of it."""

SUFFIXES = (".json", ".jsonl")
UNFINISHED_SUFFIX = ".json.rows"
"""Of the journal of a run that has not come to its end; no report, but told as what it is."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_CHUNK = 2**16
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class RefusedFileError(Exception):
    """A file that was not read; `could_not_open` tells an obstacle of the file system from a refused content."""

    def __init__(self, message: str, *, could_not_open: bool) -> None:
        super().__init__(message)
        self.could_not_open = could_not_open


def read_bounded(path: Path) -> bytes:
    """The bytes of a regular file of at most `MAX_BYTES`; never blocks on a pipe or a device.

    A symbolic link is followed only to a target in the link's own folder or below it.

    Raises:
        RefusedFileError: missing, unreadable, not a regular file, a link that loops or leaves its folder, too large.
    """
    try:
        descriptor = os.open(_target(path), _FLAGS)
    except (OSError, ValueError) as error:
        raise _cannot_open(error, path) from error
    try:
        return _read(descriptor)
    except OSError as error:
        raise _cannot_open(error, path) from error
    finally:
        os.close(descriptor)


def _target(path: Path) -> str:
    if not path.is_symlink():
        return os.fspath(path)
    target = os.path.realpath(path, strict=True)
    folder = os.path.realpath(path.parent, strict=True)
    if os.path.commonpath([target, folder]) != folder:
        message = "is a symbolic link out of its folder and was not followed; name the target itself"
        raise RefusedFileError(message, could_not_open=True)
    return target


def _read(descriptor: int) -> bytes:
    status = os.fstat(descriptor)
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise RefusedFileError(f"is {name}, not a file", could_not_open=True)
    chunks: list[bytes] = []
    size = 0
    wanted = max(_CHUNK, status.st_size + 1)
    while size <= MAX_BYTES and status.st_size <= MAX_BYTES:
        chunk = os.read(descriptor, min(wanted, MAX_BYTES + 1 - size))
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        wanted = _CHUNK
    found = max(size, status.st_size)
    raise RefusedFileError(f"is {found} bytes or more; the limit is {MAX_BYTES}", could_not_open=False)


def _cannot_open(error: OSError | ValueError, path: Path) -> RefusedFileError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    meant = path_meant(path) if isinstance(error, FileNotFoundError) else ""
    return RefusedFileError(f"cannot be read: {one_line(reason)}{meant}", could_not_open=True)


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Every file to judge, sorted: `paths` themselves, and of folders all *.json, *.jsonl and *.json.rows below them.

    Links to folders are not followed. What cannot be a report but is named like one (a folder x.json, a pipe), a
    folder that cannot be listed and a path that does not exist are returned too: reading them says what is wrong.
    """
    found: set[Path] = set()
    for path in paths:
        if not os.path.isdir(path) or path.name.lower().endswith(SUFFIXES):
            found.add(path)
        if os.path.isdir(path):
            found.update(_walk(path))
    return sorted(found, key=str)


def _walk(top: Path) -> Iterable[Path]:
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            yield folder
            continue
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                folders.append(folder / entry.name)
            if entry.name.lower().endswith((*SUFFIXES, UNFINISHED_SUFFIX)):
                yield folder / entry.name

"""The digest that names a model's weights in a report.

A digest is over every byte, and reading 15 GB takes a minute, so it is remembered. A remembered digest is believed
while no file has changed, as far as three things tell:

- device, inode, size, modification and change time of every file are those of the files that were read. Every write
  through the file system, and every renaming, copying or restoring of times, moves the change time (`ctime`), which no
  program can set;
- the record is younger than the youngest of those times by more than the clocks of file systems are coarse, so that a
  change after the reading cannot carry the time from before it (as git treats entries younger than its index);
- 256 pieces spread over the files, a mebibyte together, are what they were. This is for disks that keep no change time
  (exFAT): other weights differ nearly everywhere.

So another model never passes for the one remembered. What does: a few bytes changed under the same times on a disk
without change times, or by whoever writes to the raw device.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.cache import cache_root
from harness.models.folder.weights import read_weights
from reports.atomic_file import write_atomically
from reports.records.record import Digest, Record

_CHUNK = 8 * 1024**2
_PIECES, _PIECE = 256, 4096
_COARSEST_NS = 2_000_000_000
"""Two times of a file system closer than this may be the same moment: FAT counts in steps of two seconds."""


class FileStamp(Record):
    """What the file system says of a file that was read."""

    name: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def latest_ns(self) -> int:
        """When it was last changed."""
        return max(self.mtime_ns, self.ctime_ns)


class DigestRecord(Record):
    """A digest computed before, and the files it was computed from."""

    files: tuple[FileStamp, ...]
    pieces: Digest
    weights: Digest


def weights_digest(folder: Path) -> str:
    """`sha256:` over the weight files sorted by name: for each its name, a zero byte, its length and its bytes.

    Read in pieces; remembered in the cache, so a second call reads headers and a mebibyte only.

    Raises:
        ModelError: as `read_weights`, or a file cannot be read.
    """
    files = _paths(folder)
    known = _recall(folder, files)
    if known is not None:
        return known
    stamps = _stamps(files)
    computed = compute_digest(files)
    # A file that changed under the reading has no digest worth keeping.
    if _stamps(files) == stamps:
        _remember(folder, DigestRecord(files=stamps, pieces=_pieces(files), weights=computed))
    return computed


def known_digest(folder: Path) -> str | None:
    """The digest if it is remembered and the files have not changed; reads a mebibyte of the weights at most.

    Raises:
        ModelError: as `read_weights`.
    """
    return _recall(folder, _paths(folder))


def file_digest(path: Path) -> str:
    """`sha256:` over a file's bytes, read in pieces.

    Raises:
        ModelError: it cannot be read.
    """
    digest = hashlib.sha256()
    _feed(digest, path)
    return f"sha256:{digest.hexdigest()}"


def compute_digest(files: Sequence[Path]) -> str:
    """The digest of `weights_digest` over exactly these files, in this order, read now.

    Raises:
        ModelError: one cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        _feed(digest, path, named=True)
    return f"sha256:{digest.hexdigest()}"


def _paths(folder: Path) -> tuple[Path, ...]:
    return tuple(file.path for file in read_weights(folder))


def _feed(digest: "hashlib._Hash", path: Path, named: bool = False) -> None:
    try:
        with path.open("rb") as file:
            if named:
                size = os.fstat(file.fileno()).st_size
                digest.update(os.fsencode(path.name) + b"\0" + size.to_bytes(8, "big"))
            while piece := file.read(_CHUNK):
                digest.update(piece)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error


def _stamps(files: Sequence[Path]) -> tuple[FileStamp, ...]:
    return tuple(_stamp(path.name, path.stat()) for path in files)


def _stamp(name: str, state: os.stat_result) -> FileStamp:
    return FileStamp(
        name=name,
        device=state.st_dev,
        inode=state.st_ino,
        size=state.st_size,
        mtime_ns=state.st_mtime_ns,
        ctime_ns=state.st_ctime_ns,
    )


def _pieces(files: Sequence[Path]) -> str:
    """`sha256:` over pieces spread evenly over each file."""
    digest = hashlib.sha256()
    share = max(1, _PIECES // max(1, len(files)))
    for path in files:
        last = max(0, path.stat().st_size - _PIECE)
        with path.open("rb") as file:
            for number in range(share):
                file.seek(last * number // max(1, share - 1))
                digest.update(file.read(_PIECE))
    return f"sha256:{digest.hexdigest()}"


def _sidecar(folder: Path) -> Path:
    key = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return cache_root() / "digests" / f"{key}.json"


def _recall(folder: Path, files: Sequence[Path]) -> str | None:
    try:
        record = DigestRecord.model_validate_json(_sidecar(folder).read_bytes())
        kept_ns = _sidecar(folder).stat().st_mtime_ns
        same = record.files == _stamps(files) and all(
            stamp.latest_ns + _COARSEST_NS < kept_ns for stamp in record.files
        )
        return record.weights if same and _pieces(files) == record.pieces else None
    except (OSError, ValidationError):
        return None


def _remember(folder: Path, record: DigestRecord) -> None:
    # Only a shortcut: a cache that cannot be written costs the next call the time to read the weights again.
    with suppress(OSError):
        _sidecar(folder).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record.model_dump_json().encode(), _sidecar(folder))

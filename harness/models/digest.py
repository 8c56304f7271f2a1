"""The digests that name a model's weights, config and tokenizer in a report."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from harness.base.errors import ModelError
from harness.models.cache import cache_root
from harness.models.folder import weight_files
from reports.records.record import Digest, Record
from reports.report import write_atomically

CONFIGS = ("config.json", "generation_config.json")
TOKENIZERS = ("tokenizer*", "vocab*", "merges.txt", "*token*.json", "chat_template*", "*.model", "*.tiktoken")
_CHUNK = 8 * 1024**2


class FileStamp(Record):
    """What tells that a file has not changed since it was read."""

    name: str
    size: int
    mtime_ns: int


class DigestRecord(Record):
    """A digest computed before, and the files it was computed from."""

    files: tuple[FileStamp, ...]
    weights: Digest


def weights_digest(folder: Path) -> str:
    """`sha256:` over the safetensors files sorted by name: for each its name, a zero byte, its length and its bytes.

    Read in pieces; remembered in the cache by size and modification time, so a second call reads headers only.

    Raises:
        ModelError: as `weight_files`, or a file that cannot be read.
    """
    files = weight_files(folder)
    stamps = _stamps(files)
    known = _recall(folder, stamps)
    if known is None:
        known = compute_digest(files)
        _remember(folder, DigestRecord(files=stamps, weights=known))
    return known


def known_digest(folder: Path) -> str | None:
    """The digest if it is remembered and the files have not changed; reads no weights.

    Raises:
        ModelError: as `weight_files`.
    """
    return _recall(folder, _stamps(weight_files(folder)))


def config_digest(folder: Path) -> str | None:
    """The digest of what the folder says about the architecture and about where streams end; None without such files.

    Raises:
        ModelError: a file cannot be read.
    """
    return _digest_of_present(folder, CONFIGS)


def tokenizer_digest(folder: Path) -> str | None:
    """The digest of what turns text into tokens: vocabulary, merges, special tokens, chat templates; None without.

    Raises:
        ModelError: a file cannot be read.
    """
    return _digest_of_present(folder, TOKENIZERS)


def _digest_of_present(folder: Path, patterns: Iterable[str]) -> str | None:
    found = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    return compute_digest(found) if found else None


def file_digest(path: Path) -> str:
    """`sha256:` over a file's bytes, read in pieces."""
    digest = hashlib.sha256()
    _feed(digest, path)
    return f"sha256:{digest.hexdigest()}"


def compute_digest(files: Iterable[Path]) -> str:
    """The digest of `weights_digest` over exactly these files, in this order, read now.

    Raises:
        ModelError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in files:
        try:
            digest.update(path.name.encode() + b"\0" + path.stat().st_size.to_bytes(8, "big"))
            _feed(digest, path)
        except OSError as error:
            raise ModelError(f"{path}: cannot be read: {error.strerror}: make it readable") from error
    return f"sha256:{digest.hexdigest()}"


def _feed(digest: "hashlib._Hash", path: Path) -> None:
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)


def _stamps(files: Iterable[Path]) -> tuple[FileStamp, ...]:
    states = ((path.name, path.stat()) for path in files)
    return tuple(FileStamp(name=name, size=state.st_size, mtime_ns=state.st_mtime_ns) for name, state in states)


def _sidecar(folder: Path) -> Path:
    key = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return cache_root() / "digests" / f"{key}.json"


def _recall(folder: Path, stamps: tuple[FileStamp, ...]) -> str | None:
    try:
        record = DigestRecord.model_validate_json(_sidecar(folder).read_bytes())
    except (OSError, ValidationError):
        return None
    return record.weights if record.files == stamps else None


def _remember(folder: Path, record: DigestRecord) -> None:
    # Only a shortcut: a cache that cannot be written costs the next call the time to read the weights again.
    with suppress(OSError):
        _sidecar(folder).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record.model_dump_json().encode(), _sidecar(folder))

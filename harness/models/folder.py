"""A model folder as mlx-lm and transformers write it: its config, its weight files, and what is wrong with them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
_LFS_POINTER = re.compile(rb"version \S+\s+oid sha256:[0-9a-f]{64}\s+size \d+\s*")
_JSON_LIMIT = 64 * 1024**2
_HEADER_LIMIT = 100 * 1024**2


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a safetensors header."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def values(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


def read_config(folder: Path) -> dict[str, Any]:
    """The folder's config.json.

    Raises:
        ModelError: no such folder or file, not a JSON object, or without `model_type`.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder")
    config = _read_json(folder / CONFIG)
    if not isinstance(config.get("model_type"), str):
        raise ModelError(f"{folder / CONFIG}: model_type: missing, so no engine can tell which architecture this is")
    return config


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The safetensors files of the folder, sorted by name, each a whole one.

    Raises:
        ModelError: none, one of the index is missing, a Git-LFS pointer in place of weights, or a truncated file.
    """
    files = tuple(sorted(path for path in folder.glob("*.safetensors")))
    present = {path.name for path in files}
    if (folder / INDEX).exists():
        for shard in _shards(folder / INDEX):
            if shard not in present:
                raise ModelError(f"{folder / shard}: missing, but {INDEX} names it: download the model again")
    if not files:
        raise ModelError(f"{folder}: no *.safetensors weights in it: download the model again, or convert it")
    for path in files:
        read_header(path)
    return files


def read_header(path: Path) -> tuple[TensorEntry, ...]:
    """The tensors of a safetensors file, whose length must be what its header promises.

    Raises:
        ModelError: unreadable, a Git-LFS pointer, no safetensors file, or truncated.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(8)
            length = int.from_bytes(start, "little")
            whole = len(start) == 8 and length <= min(size - 8, _HEADER_LIMIT)
            header = file.read(length) if whole else start + file.read(1024)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if not whole:
        raise ModelError(_not_safetensors(path, header, size))
    return _parse_header(path, header, size)


def _not_safetensors(path: Path, start: bytes, size: int) -> str:
    if _LFS_POINTER.fullmatch(start):
        return f"{path}: a Git-LFS pointer in place of weights: run `git lfs pull` in that folder"
    return f"{path}: not a whole safetensors file ({size} bytes): download the model again"


def _parse_header(path: Path, header: bytes, size: int) -> tuple[TensorEntry, ...]:
    try:
        document = json.loads(header)
        entries = {name: value for name, value in document.items() if name != "__metadata__"}
        tensors = tuple(
            TensorEntry(name, str(value["dtype"]), tuple(int(part) for part in value["shape"]))
            for name, value in entries.items()
        )
        end = max((int(value["data_offsets"][1]) for value in entries.values()), default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path}: the safetensors header is not valid: download the model again") from error
    promised = 8 + len(header) + end
    if promised != size:
        raise ModelError(
            f"{path}: truncated or damaged: {size} bytes, its header promises {promised}: download it again"
        )
    return tensors


def _shards(index: Path) -> tuple[str, ...]:
    names = _read_json(index).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise ModelError(f"{index}: weight_map: not a map of tensor names to files: download the model again")
    shards = tuple(sorted(set(names.values())))
    for shard in shards:
        if Path(shard).name != shard or not shard.endswith(".safetensors"):
            raise ModelError(f"{index}: weight_map: {shard!r} is no safetensors file of this folder")
    return shards


def _read_json(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(_JSON_LIMIT + 1)
    except FileNotFoundError as error:
        raise ModelError(f"{path}: missing: this is no mlx-lm or transformers model folder") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if _LFS_POINTER.fullmatch(data[:1024]):
        raise ModelError(f"{path}: a Git-LFS pointer in place of the file: run `git lfs pull` in that folder")
    try:
        document = json.loads(data) if len(data) <= _JSON_LIMIT else None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not valid JSON: download the model again") from error
    if not isinstance(document, dict):
        raise ModelError(f"{path}: not a JSON object of under 64 MB")
    return document

"""The weight files of a model folder: those that mlx-lm reads, and no others, for everything that reads weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ModelError
from harness.models.folder.files import read_object
from harness.models.folder.safetensors_file import TensorEntry, read_header
from reports.untrusted.one_line import one_line

INDEX = "model.safetensors.index.json"
INDEX_LIMIT = 64 * 2**20
READ_BY_MLX_LM = "model*.safetensors"
F_THETA_WEIGHTS = "f_theta.safetensors"
"""What K3 itself reads, from folders of its own kind."""
_SHARD = re.compile(r"(.*-)(\d+)-of-(\d+)\.safetensors")


@dataclass(frozen=True)
class WeightFile:
    """A whole safetensors file and the tensors its header lists."""

    path: Path
    tensors: tuple[TensorEntry, ...]


def read_weights(folder: Path) -> tuple[WeightFile, ...]:
    """The weight files of the folder, sorted by name, each a whole one and none missing.

    What lies beside them under another name (an older copy, another precision) is read by nobody. An index is believed
    as far as the files are its own: quantised models often carry that of the model they were made from.

    Raises:
        ModelError: none, a shard is missing, a damaged file, or a tensor that is in two of them.
    """
    paths = sorted(folder.glob(READ_BY_MLX_LM)) or [path for path in (folder / F_THETA_WEIGHTS,) if path.exists()]
    if not paths:
        raise ModelError(_none(folder))
    files = tuple(WeightFile(path, read_header(path)) for path in paths)
    _check_numbers(folder, [path.name for path in paths])
    held = _held(files)
    if (folder / INDEX).exists():
        _check_index(folder, held, {path.name for path in paths})
    return files


def _none(folder: Path) -> str:
    """Why there is nothing to read, and what to do."""
    others = sorted(path.name for path in folder.glob("*.safetensors"))
    if others:
        shown = one_line(others[0], 80)
        return f"{folder / shown}: mlx-lm reads {READ_BY_MLX_LM} and nothing else: rename it if it is the model"
    if any(folder.glob("*.gguf")):
        return f"{folder}: holds a GGUF, which K3 does not run: take the model's safetensors, as mlx-lm reads them"
    return f"{folder}: no weights ({READ_BY_MLX_LM}) in it: download the model again, or convert it with mlx_lm.convert"


def _check_numbers(folder: Path, names: Sequence[str]) -> None:
    """See that shards which count themselves (`model-00001-of-00003`) are all there."""
    for name in names:
        part = _SHARD.fullmatch(name)
        if part is None or len(part[3]) > 6:
            continue
        expected = (f"{part[1]}{number:0{len(part[2])}}-of-{part[3]}.safetensors" for number in _up_to(part[3]))
        missing = next((shard for shard in expected if shard not in names), None)
        if missing is not None:
            raise ModelError(f"{folder / missing}: missing, the weights are {int(part[3])} files: download them all")


def _up_to(count: str) -> range:
    return range(1, int(count) + 1)


def _held(files: Sequence[WeightFile]) -> frozenset[str]:
    """The names of all tensors."""
    first: dict[str, Path] = {}
    for file in files:
        for tensor in file.tensors:
            there = first.setdefault(tensor.name, file.path)
            if there != file.path:
                raise ModelError(
                    f"{file.path}: {one_line(tensor.name, 80)}: is in {there.name}, too, and mlx-lm reads both in no "
                    "certain order: keep one set of weights in the folder"
                )
    return frozenset(first)


def _check_index(folder: Path, held: frozenset[str], present: set[str]) -> None:
    """See that nothing is missing which the index places in a file that is not there.

    An index of which no file is there is that of other weights, and says nothing about these.
    """
    placed = read_object(folder / INDEX, INDEX_LIMIT).get("weight_map")
    if not isinstance(placed, dict) or not all(isinstance(name, str) for name in placed.values()):
        raise ModelError(f"{folder / INDEX}: weight_map: not a map of tensor names to files: delete the index")
    for shard in set(placed.values()):
        if Path(shard).name != shard or not shard.endswith(".safetensors"):
            raise ModelError(f"{folder / INDEX}: weight_map: {one_line(shard, 80)!r} is no weight file of this folder")
    if not present & set(placed.values()):
        return
    lost = sorted(name for name, shard in placed.items() if shard not in present and name not in held)
    if lost:
        raise ModelError(
            f"{folder / placed[lost[0]]}: missing, but {INDEX} places {one_line(lost[0], 80)} in it: download the "
            "model again, or delete the index if it is of other weights"
        )

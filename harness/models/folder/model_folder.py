"""Opening a model folder: the one way to one, for every library and every part of K3 that reads it.

Whoever wrote the folder is a stranger. Nothing of it is run; what could be is refused by name. Everything that will be
read is a file of bounded size, settings are JSON of one meaning, and the weights' own headers say how much memory the
model takes, before a library makes anything by a number of the config.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from harness.base.provenance import memory_bytes
from harness.models.folder.code import check_code
from harness.models.folder.config import check_config, check_stops
from harness.models.folder.files import read_object
from harness.models.folder.tokenizer_files import TEMPLATES, TEXT_LIMIT, TEXT_SUFFIXES
from harness.models.folder.weights import WeightFile, read_weights
from reports.untrusted.one_line import one_line

CONFIG = "config.json"
GENERATION = "generation_config.json"


@dataclass(frozen=True)
class ModelFolder:
    """A folder that was inspected.

    `settings` are its configs by file; `code` is what of it may run and the user trusts, empty unless they said so.
    """

    path: Path
    settings: dict[str, dict[str, Any]]
    weights: tuple[WeightFile, ...]
    code: tuple[str, ...] = ()

    @property
    def config(self) -> dict[str, Any]:
        """What config.json says."""
        return self.settings[CONFIG]


def open_folder(path: Path) -> ModelFolder:
    """Inspect the model folder at `path`: its file list, its settings and the headers of its weights; reads no weights.

    Raises:
        ModelError: no folder, code of its own, a file that is none or too large, settings that are no JSON, a config
            that is not of the weights, weights that are damaged, missing or larger than this machine's memory.
    """
    if not path.is_dir():
        raise ModelError(_no_folder(path))
    names = _list(path)
    for entry in [*(path / name for name in names), *path.glob(f"{TEMPLATES}/*")]:
        _check_entry(entry)
    settings = {name: read_object(path / name) for name in names if name.endswith(".json") and "config" in name}
    code = check_code(path, settings)
    if CONFIG not in settings:
        raise ModelError(f"{path / CONFIG}: missing: this is no mlx-lm or transformers model folder")
    weights = read_weights(path)
    check_config(path / CONFIG, settings[CONFIG], weights)
    for name in {CONFIG, GENERATION} & settings.keys():
        check_stops(path / name, settings[name])
    _check_memory(path, weights)
    return ModelFolder(path, settings, weights, code)


def _no_folder(path: Path) -> str:
    if path.suffix.lower() == ".gguf" and path.is_file():
        return f"{path}: a GGUF file, which K3 does not run: name the folder of the model's safetensors"
    if path.is_file():
        return f"{path}: a file, no model folder: name the folder it lies in"
    return f"{path}: no such model folder: see `k3 models list`"


def _list(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        raise ModelError(f"{path}: cannot be listed: {error.strerror}") from error


def _check_entry(path: Path) -> None:
    """See that a library which opens what is called so neither waits nor reads without end."""
    try:
        state = path.stat()
    except OSError:
        return  # a link to nothing: for libraries it is not there
    shown = path.parent / one_line(path.name, 80)
    if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
        raise ModelError(f"{shown}: neither file nor folder: delete it")
    if path.suffix in TEXT_SUFFIXES and state.st_size > TEXT_LIMIT:
        raise ModelError(f"{shown}: over {TEXT_LIMIT >> 20} MB, which no honest file of this kind is")


def _check_memory(path: Path, weights: tuple[WeightFile, ...]) -> None:
    needed, there = sum(file.path.stat().st_size for file in weights), memory_bytes()
    if needed > there:
        raise ModelError(f"{path}: weights of {needed / 1e9:.1f} GB, on a machine with {there / 1e9:.1f} GB of memory")

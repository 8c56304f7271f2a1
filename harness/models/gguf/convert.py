"""GGUF to a model folder that mlx-lm and transformers both open, in float32."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness.base.errors import ModelError
from harness.models.folder.model_folder import CONFIG
from harness.models.gguf.gemma3 import gemma3_layout
from harness.models.gguf.gguf_file import FloatArray, GgufFile
from harness.models.gguf.llama import llama_layout
from harness.models.gguf.safetensors_writer import PendingTensor, write_safetensors
from harness.models.gguf.tensor_layout import Placement, TensorLayout, check_complete
from harness.models.gguf.tokenizer import token_ids, write_tokenizer

WEIGHTS = "model.safetensors"

LAYOUTS: dict[str, Callable[[GgufFile], TensorLayout]] = {"llama": llama_layout, "gemma3": gemma3_layout}


def convert(path: Path, folder: Path, written: Callable[[int], None]) -> GgufFile:
    """Write config, tokenizer and float32 weights of the GGUF at `path` into the existing `folder`.

    Args:
        path: the GGUF file.
        folder: an existing, empty folder.
        written: told the bytes after each tensor; for a progress bar.

    Returns: the opened GGUF.

    Raises:
        ModelError: an architecture, tokenizer or quantisation this conversion does not know.
        OSError: the disk is full or the folder not writable.
    """
    gguf = GgufFile(path)
    if gguf.architecture not in LAYOUTS:
        known = ", ".join(sorted(LAYOUTS))
        raise ModelError(f"{path.name}: architecture {gguf.architecture!r} is not supported, only {known}")
    layout = LAYOUTS[gguf.architecture](gguf)
    check_complete(gguf, layout)
    ids = token_ids(gguf)
    _write_json(folder / CONFIG, layout.config | ids | {"dtype": "float32"})
    _write_json(folder / "generation_config.json", ids)
    write_tokenizer(gguf, folder)
    ordered = sorted(layout.placements, key=lambda placement: placement.target)
    write_safetensors(folder / WEIGHTS, [_pending(gguf, placement) for placement in ordered], written)
    return gguf


def _pending(gguf: GgufFile, placement: Placement) -> PendingTensor:
    return PendingTensor(placement.target, gguf.tensor(placement.source).shape, partial(_values, gguf, placement))


def _values(gguf: GgufFile, placement: Placement) -> FloatArray:
    return placement.transform(gguf.tensor(placement.source).values())


def _write_json(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

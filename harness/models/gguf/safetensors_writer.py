"""Writes a safetensors file one tensor at a time, so that no more than one is in memory."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.models.gguf.gguf_file import FloatArray


@dataclass(frozen=True)
class PendingTensor:
    """A float32 tensor to be written; `make` is called when its turn comes."""

    name: str
    shape: tuple[int, ...]
    make: Callable[[], FloatArray]

    @property
    def size(self) -> int:
        """Bytes in the file."""
        count = 4
        for length in self.shape:
            count *= length
        return count


def write_safetensors(path: Path, tensors: Sequence[PendingTensor], written: Callable[[int], None]) -> None:
    """Write `tensors` in the order given and flush them to the disk; `written` is told the bytes after each.

    The format: 8 bytes little-endian length, a JSON header with dtype, shape and offsets, then the values.

    Raises:
        ValueError: a tensor turned out not to have the shape announced.
        OSError: the disk is full or the folder not writable.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for tensor in tensors:
        end = offset + tensor.size
        header[tensor.name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors:
            values = tensor.make()
            if values.shape != tensor.shape:
                raise ValueError(f"{tensor.name}: {values.shape} instead of {tensor.shape}")
            file.write(values.astype("<f4", copy=False).tobytes())
            written(tensor.size)
        file.flush()
        os.fsync(file.fileno())

"""What a safetensors file holds, by its header, which is checked whole before anything relies on it."""

from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ModelError
from harness.models.folder.files import LFS_POINTER, read_start
from reports.untrusted.one_line import one_line

HEADER_LIMIT = 16 * 2**20
"""Bytes of a header: some 150,000 tensors. A shard of the largest mixtures has a tenth of it."""


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


def read_header(path: Path) -> tuple[TensorEntry, ...]:
    """The tensors of a safetensors file in the order of their bytes.

    The header is the library's to check: every tensor's bytes are as many as its shape and type say, they follow each
    other without gap or overlap, and the file ends with the last of them.

    Raises:
        ModelError: unreadable, a Git-LFS pointer, no safetensors file, truncated, a header that lies, or larger than
            the process may map.
    """
    start = read_start(path, 1024)
    if LFS_POINTER.fullmatch(start):
        raise ModelError(f"{path}: a Git-LFS pointer in place of weights: run `git lfs pull` in that folder")
    length = int.from_bytes(start[:8], "little")
    if len(start) < 8 or length > HEADER_LIMIT:
        raise ModelError(f"{path}: not a whole safetensors file: download the model again")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            slices = ((name, file.get_slice(name)) for name in file.keys())  # noqa: SIM118  (no dictionary)
            return tuple(TensorEntry(name, piece.get_dtype(), tuple(piece.get_shape())) for name, piece in slices)
    except MemoryError as error:
        size = path.stat().st_size
        raise ModelError(
            f"{path}: its {size} bytes are more than this process may map: allow it more memory"
        ) from error
    except (SafetensorError, OSError, ValueError) as error:
        reason = one_line(str(error).removeprefix("Error while deserializing header: "), 160)
        raise ModelError(f"{path}: damaged or not whole ({reason}): download the model again") from error

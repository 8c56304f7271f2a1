"""A GGUF file: typed metadata and float32 tensors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import ModelError

FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class GgufTensor:
    """A stored tensor: shape in numpy order (outermost first) and the name of its quantisation, such as Q4_1."""

    name: str
    shape: tuple[int, ...]
    quantisation: str
    stored: Any

    def values(self) -> FloatArray:
        """The tensor dequantised to float32."""
        from gguf.quants import dequantize

        return np.ascontiguousarray(dequantize(self.stored.data, self.stored.tensor_type), dtype=np.float32)


class GgufFile:
    """A GGUF file opened by memory map; metadata is read with the type it must have.

    Raises:
        ModelError: not a GGUF file; later, a key that is missing or of another type.
    """

    def __init__(self, path: Path) -> None:
        from gguf import GGUFReader

        self.path = path
        try:
            reader = GGUFReader(path)
        except (OSError, ValueError, IndexError, KeyError) as error:
            raise ModelError(f"{path.name}: not a readable GGUF file: {error}") from error
        self._fields = reader.fields
        self.tensors = {
            tensor.name: GgufTensor(
                tensor.name, tuple(int(size) for size in reversed(tensor.shape)), tensor.tensor_type.name, tensor
            )
            for tensor in reader.tensors
        }

    @property
    def architecture(self) -> str:
        """`general.architecture`, for example llama or gemma3; the prefix of its other keys."""
        return self.text("general.architecture")

    @property
    def quantisation(self) -> str:
        """The quantisations of its tensors, the one with the most values first, joined by +."""
        totals: dict[str, int] = {}
        for tensor in self.tensors.values():
            totals[tensor.quantisation] = totals.get(tensor.quantisation, 0) + int(np.prod(tensor.shape))
        return "+".join(sorted(totals, key=lambda kind: -totals[kind]))

    def tensor(self, name: str) -> GgufTensor:
        """The tensor called `name`."""
        if name not in self.tensors:
            raise ModelError(f"{self.path.name}: tensor {name} is missing")
        return self.tensors[name]

    def has(self, key: str) -> bool:
        """Whether the metadata has `key`."""
        return key in self._fields

    def text(self, key: str) -> str:
        """A string."""
        return str(self._value(key, str))

    def integer(self, key: str) -> int:
        """An integer."""
        return int(self._value(key, int))

    def flag(self, key: str, default: bool) -> bool:
        """A boolean; `default` where the key is absent, as the format's own readers take it."""
        return bool(self._value(key, bool)) if self.has(key) else default

    def number(self, key: str) -> float:
        """A float32, as the shortest decimal that denotes it (1e-05, not 9.999999747378752e-06)."""
        return float(str(np.float32(self._value(key, float))))

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        return self._list(key, str)

    def integers(self, key: str) -> list[int]:
        """A list of integers."""
        return self._list(key, int)

    def numbers(self, key: str) -> list[float]:
        """A list of float32 numbers."""
        return self._list(key, float)

    def _value(self, key: str, kind: type) -> Any:
        field = self._fields.get(key)
        try:
            value = None if field is None else field.contents()
        except (ValueError, IndexError, KeyError) as error:  # a text that is no UTF-8, a list cut short
            raise ModelError(f"{self.path.name}: metadata {key}: not readable: {error}") from error
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ModelError(f"{self.path.name}: metadata {key}: missing or no {kind.__name__}")
        return value

    def _list(self, key: str, kind: type) -> list[Any]:
        values: list[Any] = self._value(key, list)
        if not all(isinstance(value, kind) for value in values):
            raise ModelError(f"{self.path.name}: metadata {key}: not a list of {kind.__name__}")
        return values

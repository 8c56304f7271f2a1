import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from harness.models.folder.safetensors_file import read_header
from harness.models.gguf.safetensors_writer import PendingTensor, write_safetensors

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@given(st.dictionaries(st.text("abc.ü", min_size=1, max_size=8), shapes, max_size=6))
def test_what_is_written_is_what_safetensors_reads(tensors: dict[str, tuple[int, ...]]) -> None:
    values = {name: np.random.default_rng(0).random(shape, np.float32) for name, shape in tensors.items()}
    pending = [PendingTensor(name, array.shape, lambda array=array: array) for name, array in values.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.safetensors"
        seen: list[int] = []
        write_safetensors(path, pending, seen.append)
        found = load_file(path)
        assert {entry.name: entry.shape for entry in read_header(path)} == tensors
    assert found.keys() == values.keys()
    assert all(np.array_equal(found[name], array) for name, array in values.items())
    assert sum(seen) == sum(array.nbytes for array in values.values())


def test_a_tensor_of_another_shape_than_announced_is_refused(tmp_path: Path) -> None:
    wrong = PendingTensor("w", (2, 2), lambda: np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match="w: "):
        write_safetensors(tmp_path / "x.safetensors", [wrong], lambda count: None)

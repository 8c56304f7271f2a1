import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from harness.base.errors import ModelError
from harness.models.folder.safetensors_file import HEADER_LIMIT, read_header

WHOLE = save({"a": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.ones(5, np.float16)})


def written(folder: Path, header: Any, data: bytes = b"") -> Path:
    """A file with this header, or these bytes for one."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path = folder / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(dtype: str = "F32", shape: Any = (1,), start: Any = 0, end: Any = 4) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}


def refused_in_one_line(path: Path) -> bool:
    """Whether `read_header` refuses the file; any other error than ModelError escapes."""
    try:
        read_header(path)
    except ModelError as error:
        return "\n" not in str(error) and path.name in str(error)
    return False


def test_a_whole_file_lists_its_tensors(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(WHOLE)
    assert {(entry.name, entry.dtype, entry.shape, entry.values) for entry in read_header(path)} == {
        ("a", "F32", (3, 4), 12),
        ("b", "F16", (5,), 5),
    }


@given(st.integers(0, len(WHOLE) - 1))
def test_every_truncation_is_noticed(length: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.safetensors"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(ModelError, match=r"model\.safetensors: .*download") as caught:
            read_header(path)
        assert "\n" not in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_safetensors_file_or_a_model_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.safetensors"
        path.write_bytes(data)
        assert refused_in_one_line(path) or data[8:10] == b"{}"


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_json_as_header_is_a_safetensors_file_or_a_model_error(document: object) -> None:
    with tempfile.TemporaryDirectory() as name:
        assert refused_in_one_line(written(Path(name), document)) or document == {}


@given(st.binary(min_size=1, max_size=3), st.integers(8, len(WHOLE) - 1))
def test_bytes_changed_in_a_header_give_other_tensors_or_a_model_error(change: bytes, place: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.safetensors"
        path.write_bytes(WHOLE[:place] + change + WHOLE[place + len(change) :])
        assert refused_in_one_line(path) or sum(entry.values for entry in read_header(path)) <= len(WHOLE)


@pytest.mark.parametrize(
    ("header", "data"),
    [
        ({"a": tensor(), "b": tensor(start=2, end=6)}, 6),
        ({"a": tensor(), "b": tensor(start=8, end=12)}, 12),
        ({"a": tensor(dtype="X32")}, 4),
        ({"a": tensor(shape=[2])}, 4),
        ({"a": tensor(shape=[10**30])}, 4),
        ({"a": tensor(shape=[2**62, 4], end=0)}, 0),
        ({"a": tensor(shape=[-1])}, 4),
        ({"a": tensor(end=2**63)}, 4),
        ({"a": tensor(start=4, end=0)}, 4),
        ({"a": {"dtype": "F32"}}, 4),
        ({"__metadata__": {"a": 5}}, 0),
        (b"[" * 100_000, 4),
        (b"\xff\xfe", 4),
        (b'{"a":' * 5_000, 4),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, header: Any, data: int) -> None:
    assert refused_in_one_line(written(tmp_path, header, bytes(data)))


def test_a_header_is_not_read_beyond_what_one_can_have(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.write((HEADER_LIMIT + 1).to_bytes(8, "little"))
        file.truncate(HEADER_LIMIT * 2)
    assert refused_in_one_line(path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its address space")
def test_a_file_that_the_process_may_not_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(WHOLE)
    os.truncate(path, 2**36)
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**35, before[1]))
    try:
        assert refused_in_one_line(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from harness.base.errors import ModelError
from harness.models.folder import INDEX, read_config, read_header, weight_files

WHOLE = save({"a": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.ones(5, np.float16)})
POINTER = b"version https://lfs.invalid/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def folder_with(tmp_path: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(data)
    return tmp_path


def refused_in_one_line(path: Path) -> bool:
    """Whether `read_header` refuses the file; any other error than ModelError escapes."""
    try:
        read_header(path)
    except ModelError as error:
        return "\n" not in str(error)
    return False


def test_a_whole_file_lists_its_tensors(tmp_path: Path) -> None:
    folder_with(tmp_path, model__safetensors=WHOLE)
    (path,) = weight_files(tmp_path)
    assert {(entry.name, entry.dtype, entry.shape, entry.values) for entry in read_header(path)} == {
        ("a", "F32", (3, 4), 12),
        ("b", "F16", (5,), 5),
    }


@given(st.integers(0, len(WHOLE) - 1))
def test_every_truncation_is_noticed(length: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder_with(Path(name), model__safetensors=WHOLE[:length])
        with pytest.raises(ModelError, match=r"model\.safetensors: .*download") as caught:
            weight_files(Path(name))
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
    header = json.dumps(document).encode()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        assert refused_in_one_line(path) or header == b"{}"


def test_a_git_lfs_pointer_is_named_with_its_remedy(tmp_path: Path) -> None:
    folder_with(tmp_path, model__safetensors=POINTER, config__json=POINTER)
    with pytest.raises(ModelError, match=r"model\.safetensors: a Git-LFS pointer .*`git lfs pull`"):
        weight_files(tmp_path)
    with pytest.raises(ModelError, match=r"config\.json: a Git-LFS pointer .*`git lfs pull`"):
        read_config(tmp_path)


def test_missing_weights_and_missing_shards(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no \*\.safetensors weights"):
        weight_files(tmp_path)
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    folder_with(tmp_path, **{"model-1__safetensors": WHOLE, INDEX: json.dumps(index).encode()})
    with pytest.raises(ModelError, match=r"model-2\.safetensors: missing"):
        weight_files(tmp_path)


@pytest.mark.parametrize("shard", ["../secret.safetensors", "/etc/passwd", "sub/model.safetensors", ".."])
def test_an_index_cannot_lead_out_of_the_folder(tmp_path: Path, shard: str) -> None:
    index = json.dumps({"weight_map": {"a": shard}}).encode()
    folder_with(tmp_path, **{"model__safetensors": WHOLE, INDEX: index})
    with pytest.raises(ModelError, match="is no safetensors file of this folder"):
        weight_files(tmp_path)


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (b"{", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"model_type": 3}', "model_type: missing"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
    ],
)
def test_a_bad_config_is_refused(tmp_path: Path, config: bytes, complaint: str) -> None:
    folder_with(tmp_path, config__json=config)
    with pytest.raises(ModelError, match=rf"config\.json.*{complaint}"):
        read_config(tmp_path)


def test_no_folder_and_no_config(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model folder"):
        read_config(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"config\.json: missing"):
        read_config(tmp_path)

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from harness.base.errors import ModelError
from harness.models.folder.files import read_object
from harness.models.folder.weights import F_THETA_WEIGHTS, INDEX, read_weights

WHOLE = save({"a": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.ones(5, np.float16)})
OTHER = save({"c": np.ones(3, np.float32)})
POINTER = b"version https://lfs.invalid/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def folder_with(folder: Path, **files: bytes) -> Path:
    """Write files into the folder; their names with two low lines for a full stop."""
    for name, data in files.items():
        (folder / name.replace("__", ".")).write_bytes(data)
    return folder


def index(folder: Path, **placed: str) -> None:
    """Write an index that places tensors in files."""
    (folder / INDEX).write_text(json.dumps({"weight_map": placed}))


def read_names(folder: Path) -> list[str]:
    return [file.path.name for file in read_weights(folder)]


def test_a_git_lfs_pointer_is_named_with_its_remedy(tmp_path: Path) -> None:
    folder_with(tmp_path, model__safetensors=POINTER, config__json=POINTER)
    with pytest.raises(ModelError, match=r"model\.safetensors: a Git-LFS pointer .*`git lfs pull`"):
        read_weights(tmp_path)
    with pytest.raises(ModelError, match=r"config\.json: a Git-LFS pointer .*`git lfs pull`"):
        read_object(tmp_path / "config.json")


def test_missing_weights_say_what_is_there_instead(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no weights \(model\*\.safetensors\) in it: download"):
        read_weights(tmp_path)
    folder_with(tmp_path, tiny__gguf=b"GGUF")
    with pytest.raises(ModelError, match="holds a GGUF, which K3 does not run"):
        read_weights(tmp_path)
    folder_with(tmp_path, weights__safetensors=WHOLE)
    with pytest.raises(ModelError, match=r"weights\.safetensors: mlx-lm reads model\*\.safetensors and nothing else"):
        read_weights(tmp_path)


def test_what_mlx_lm_does_not_read_nobody_reads(tmp_path: Path) -> None:
    """An older copy beside the model: it once was part of the digest and of the reference, and not of what ran."""
    folder_with(tmp_path, model__safetensors=WHOLE, old__safetensors=OTHER)
    assert read_names(tmp_path) == ["model.safetensors"]


def test_a_folder_of_f_theta_has_weights_of_its_own_name(tmp_path: Path) -> None:
    folder_with(tmp_path, **{F_THETA_WEIGHTS: WHOLE})
    assert read_names(tmp_path) == [F_THETA_WEIGHTS]


def test_the_index_of_the_model_it_was_made_from_says_nothing(tmp_path: Path) -> None:
    """Quantised models on hubs carry it; mlx-lm loads them."""
    folder_with(tmp_path, model__safetensors=WHOLE)
    index(tmp_path, x="model-00001-of-00002.safetensors", y="model-00002-of-00002.safetensors")
    assert read_names(tmp_path) == ["model.safetensors"]


def test_an_index_whose_tensors_are_all_there_is_no_obstacle(tmp_path: Path) -> None:
    folder_with(tmp_path, **{"model-1__safetensors": WHOLE, "model-2__safetensors": OTHER})
    index(tmp_path, a="model-1.safetensors", c="model-gone.safetensors")
    assert read_names(tmp_path) == ["model-1.safetensors", "model-2.safetensors"]


def test_a_missing_shard_is_missed(tmp_path: Path) -> None:
    folder_with(tmp_path, **{"model-1__safetensors": WHOLE})
    index(tmp_path, a="model-1.safetensors", z="model-2.safetensors")
    with pytest.raises(ModelError, match=r"model-2\.safetensors: missing, but model.* places z in it"):
        read_weights(tmp_path)


def test_shards_that_count_themselves_are_all_there(tmp_path: Path) -> None:
    folder_with(tmp_path, **{"model-00002-of-00003__safetensors": WHOLE})
    with pytest.raises(ModelError, match=r"model-00001-of-00003\.safetensors: missing, the weights are 3 files"):
        read_weights(tmp_path)


def test_a_tensor_in_two_files_is_read_in_no_certain_order(tmp_path: Path) -> None:
    folder_with(tmp_path, model__safetensors=WHOLE, **{"model-fp16__safetensors": WHOLE})
    with pytest.raises(ModelError, match=r"model\.safetensors: .* in model-fp16\.safetensors, too"):
        read_weights(tmp_path)


@pytest.mark.parametrize("shard", ["../secret.safetensors", "/etc/passwd", "sub/model.safetensors", ".."])
def test_an_index_cannot_lead_out_of_the_folder(tmp_path: Path, shard: str) -> None:
    folder_with(tmp_path, model__safetensors=WHOLE)
    index(tmp_path, a=shard)
    with pytest.raises(ModelError, match="is no weight file of this folder"):
        read_weights(tmp_path)

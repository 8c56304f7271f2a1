"""Random drafters: of the published layout, seeded, and refused where no verifier can be read."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.base.errors import ModelError, OutputError
from harness.engines.dflash_config import read_dflash_config
from harness.models.folder.digest import compute_digest
from harness.models.folder.safetensors_file import read_header
from harness.training.drafter.random_weights import WEIGHTS, RandomDflash, write_random_dflash


def verifier(folder: Path, **changes: object) -> Path:
    folder.mkdir()
    config = {"model_type": "llama", "hidden_size": 192, "num_hidden_layers": 12, "vocab_size": 500} | changes
    (folder / "config.json").write_text(json.dumps(config))
    layers = {f"model.layers.{layer}.norm.weight": np.ones(1, np.float32) for layer in range(12)}
    save_file(layers, folder / "model.safetensors")
    return folder


def test_it_is_read_as_a_published_drafter_that_fits(tmp_path: Path) -> None:
    write_random_dflash(tmp_path / "d", verifier(tmp_path / "v"), RandomDflash(layers=3, targets=4, block_size=8))
    config = read_dflash_config(tmp_path / "d")
    assert (config.hidden_size, config.block_size, config.mask_token_id) == (192, 8, 499)
    assert len(config.layer_kinds) == 3
    assert len(config.target_layer_ids) == 4
    assert all(0 <= layer < 12 for layer in config.target_layer_ids)
    shapes = {tensor.name: tensor.shape for tensor in read_header(tmp_path / "d" / WEIGHTS)}
    assert shapes["fc.weight"] == (192, 4 * 192)
    assert shapes["layers.2.mlp.down_proj.weight"] == (192, 384)


def test_a_nested_text_config_is_read(tmp_path: Path) -> None:
    text = {"hidden_size": 64, "num_hidden_layers": 4, "vocab_size": 90}
    folder = verifier(tmp_path / "v", text_config=text)
    write_random_dflash(tmp_path / "d", folder, RandomDflash())
    assert read_dflash_config(tmp_path / "d").hidden_size == 64


def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    folder = verifier(tmp_path / "v")
    digests = []
    for number, seed in enumerate((5, 5, 6)):
        write_random_dflash(tmp_path / str(number), folder, RandomDflash(seed=seed))
        digests.append(compute_digest([tmp_path / str(number) / WEIGHTS]))
    assert digests[0] == digests[1] != digests[2]


def test_what_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="hidden_size"):
        write_random_dflash(tmp_path / "d", verifier(tmp_path / "bad", hidden_size=None), RandomDflash())
    with pytest.raises(ModelError, match="no such model folder"):
        write_random_dflash(tmp_path / "d", tmp_path / "none", RandomDflash())
    (tmp_path / "taken").mkdir()
    with pytest.raises(OutputError, match="choose a new folder"):
        write_random_dflash(tmp_path / "taken", verifier(tmp_path / "v"), RandomDflash())

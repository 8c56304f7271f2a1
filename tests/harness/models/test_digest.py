import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.base.errors import ModelError
from harness.models.digest import config_digest, known_digest, tokenizer_digest, weights_digest


@pytest.fixture
def folder(tmp_path: Path, cache: Path) -> Path:
    made = tmp_path / "model"
    made.mkdir()
    save_file({"a": np.zeros(4, np.float32)}, made / "model-1.safetensors")
    save_file({"b": np.ones(4, np.float32)}, made / "model-2.safetensors")
    return made


def test_the_digest_names_contents_and_file_names_only(folder: Path, tmp_path: Path) -> None:
    first = weights_digest(folder)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in sorted(folder.iterdir(), reverse=True):
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / "README.md").write_text("not weights")
    assert weights_digest(copy) == first
    (copy / "model-2.safetensors").rename(copy / "model-3.safetensors")
    assert weights_digest(copy) != first


def test_a_changed_file_is_read_again(folder: Path) -> None:
    first = weights_digest(folder)
    path = folder / "model-1.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000_000))
    assert known_digest(folder) is None
    second = weights_digest(folder)
    assert second != first
    assert known_digest(folder) == second


def test_the_digest_is_remembered_outside_the_model_folder(folder: Path, cache: Path) -> None:
    before = sorted(folder.iterdir())
    assert known_digest(folder) is None
    digest = weights_digest(folder)
    assert sorted(folder.iterdir()) == before
    (sidecar,) = (cache / "digests").iterdir()
    assert known_digest(folder) == digest
    sidecar.write_text("{broken")
    assert weights_digest(folder) == digest


def test_a_cache_that_cannot_be_written_costs_only_time(folder: Path, cache: Path) -> None:
    cache.write_text("a file where the cache folder should be")
    assert weights_digest(folder) == weights_digest(folder)
    assert known_digest(folder) is None


def test_a_truncated_file_is_an_error_though_its_digest_is_known(folder: Path) -> None:
    weights_digest(folder)
    path = folder / "model-1.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="truncated"):
        weights_digest(folder)


def test_config_and_tokenizer_have_digests_of_their_own(folder: Path) -> None:
    assert (config_digest(folder), tokenizer_digest(folder)) == (None, None)
    (folder / "config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    config, tokenizer = config_digest(folder), tokenizer_digest(folder)
    assert config != tokenizer
    (folder / "README.md").write_text("neither")
    assert (config_digest(folder), tokenizer_digest(folder)) == (config, tokenizer)


@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_another_config_is_another_digest(folder: Path, name: str) -> None:
    (folder / "config.json").write_text('{"rope_theta": 1000000.0}')
    before = config_digest(folder), tokenizer_digest(folder)
    (folder / name).write_text('{"rope_theta": 10000.0}')
    assert config_digest(folder) != before[0]
    assert tokenizer_digest(folder) == before[1]


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "merges.txt", "chat_template.jinja"]
)
def test_another_tokenizer_is_another_digest(folder: Path, name: str) -> None:
    (folder / "tokenizer.json").write_text("{}")
    before = config_digest(folder), tokenizer_digest(folder)
    (folder / name).write_text("[]")
    assert tokenizer_digest(folder) != before[1]
    assert config_digest(folder) == before[0]

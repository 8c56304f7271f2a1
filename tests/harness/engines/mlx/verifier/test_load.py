"""Loading: what is read from the model, RoPE of a foreign folder, and one line for everything that is broken."""

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import ModelError
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from tests.harness.model_folders import write_folder
from tests.harness.tiny_models import prompt_of, tiny_gemma, tiny_llama

LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12345\n"


def logits(verifier: Verifier) -> np.ndarray:
    return np.array(verifier.model(mx.array([prompt_of(60)]))[0])


def test_a_folder_loads_as_the_model_it_was(tmp_path: Path) -> None:
    loaded = load_verifier(write_folder(tmp_path / "m", tiny_llama()))
    np.testing.assert_array_equal(logits(loaded), logits(tiny_llama()))
    assert loaded.tokenizer.decode(loaded.tokenizer.encode("the code")) == "the code"


def test_facts_are_read_from_the_model(tmp_path: Path) -> None:
    architecture = load_verifier(
        write_folder(tmp_path / "m", tiny_gemma(), architectures=["Gemma3ForCausalLM"])
    ).architecture
    assert architecture.name == "Gemma3ForCausalLM"
    assert architecture.layer_types == ("sliding_attention", "sliding_attention", "full_attention") * 2
    assert (architecture.layers, architecture.sliding_window, architecture.kv_heads, architecture.head_dim) == (
        6,
        16,
        1,
        8,
    )
    assert (architecture.dtype, architecture.vocab, architecture.eos_ids, architecture.quantisation) == (
        "float32",
        97,
        (0,),
        None,
    )
    assert {layer.bytes_per_token for layer in architecture.cache_layers} == {2 * 1 * 8 * 4}
    assert [layer.native_window for layer in architecture.cache_layers] == [16, 16, None] * 2


def test_rope_under_rope_parameters_is_not_ignored(tmp_path: Path) -> None:
    nested = {"rope_theta": 500.0, "rope_type": "default"}
    foreign = load_verifier(write_folder(tmp_path / "a", tiny_llama(), rope_theta=None, rope_parameters=nested))
    plain = load_verifier(write_folder(tmp_path / "b", tiny_llama(), rope_theta=500.0))
    np.testing.assert_array_equal(logits(foreign), logits(plain))
    assert np.abs(logits(foreign) - logits(tiny_llama())).max() > 0.1


def test_gemma_s_rope_by_layer_type_is_not_ignored(tmp_path: Path) -> None:
    nested = {
        "full_attention": {"rope_theta": 700.0, "rope_type": "default"},
        "sliding_attention": {"rope_theta": 300.0, "rope_type": "default"},
    }
    removed = {"rope_theta": None, "rope_local_base_freq": None, "sliding_window_pattern": None}
    types = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    foreign = write_folder(tmp_path / "a", tiny_gemma(), **removed, rope_parameters=nested, layer_types=types)
    plain = write_folder(tmp_path / "b", tiny_gemma(), rope_theta=700.0, rope_local_base_freq=300.0)
    np.testing.assert_array_equal(logits(load_verifier(foreign)), logits(load_verifier(plain)))


def damage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:200])


def remove_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def point_to_lfs(folder: Path) -> None:
    (folder / "model.safetensors").write_text(LFS_POINTER)


def remove_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def break_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def empty_config(folder: Path) -> None:
    (folder / "config.json").write_text("{}")


def unknown_architecture(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "abacus"}')


def other_shape(folder: Path) -> None:
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"hidden_size": 32', '"hidden_size": 40'))


def remove_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        damage_weights,
        remove_weights,
        point_to_lfs,
        remove_config,
        break_config,
        empty_config,
        unknown_architecture,
        other_shape,
        remove_tokenizer,
    ],
)
def test_a_broken_folder_is_one_line(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    folder = write_folder(tmp_path / "m", tiny_llama())
    damage(folder)
    with pytest.raises(ModelError) as caught:
        load_verifier(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_missing_folder_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="k3 models list"):
        load_verifier(tmp_path / "absent")

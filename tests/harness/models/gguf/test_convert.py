import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from harness.base.errors import ModelError
from harness.models.faithfulness import fixed_text
from harness.models.gguf.convert import convert
from harness.models.gguf.gguf_file import GgufFile
from harness.models.resolve import resolve

Make = Callable[..., Any]


@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_gemma"])
def test_every_weight_is_what_it_was_before_it_became_a_gguf(
    kind: str, request: pytest.FixtureRequest, converted: Make
) -> None:
    model = request.getfixturevalue(kind)()
    found = load_file(converted(model) / "model.safetensors")
    assert found.keys() == model.weights.keys()
    for name, values in model.weights.items():
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(found[name], values, atol=2e-7, err_msg=name)


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["tiny_llama", "tiny_gemma"])
def test_mlx_lm_and_transformers_open_the_folder_with_the_same_logits(
    kind: str, request: pytest.FixtureRequest, converted: Make
) -> None:
    import torch
    import transformers

    folder = converted(request.getfixturevalue(kind)())
    import mlx.core as mx
    from mlx_lm import load

    model, tokenizer = load(str(folder))
    reference_tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer.encode(fixed_text()[:300])
    assert ids == reference_tokenizer.encode(fixed_text()[:300])
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        expected = reference(torch.tensor([ids])).logits[0].numpy()
    # Gemma's embedding scale is rounded to bfloat16 by mlx-lm; everything else is float32 on both sides.
    tolerance = 1e-3 if kind == "tiny_llama" else 0.05
    np.testing.assert_allclose(np.array(model(mx.array([ids]))[0]), expected, atol=tolerance)


def test_both_readers_find_the_rope_base(tiny_llama: Make, tiny_gemma: Make, converted: Make) -> None:
    config = json.loads((converted(tiny_llama()) / "config.json").read_text())
    assert config["rope_theta"] == config["rope_parameters"]["rope_theta"] == 100000.0
    assert config["rms_norm_eps"] == 1e-5
    config = json.loads((converted(tiny_gemma()) / "config.json").read_text())
    assert (config["rope_theta"], config["rope_local_base_freq"]) == (1_000_000.0, 10_000.0)
    assert config["rope_parameters"]["sliding_attention"]["rope_theta"] == 10_000.0
    assert config["layer_types"] == ["sliding_attention"] * 5 + ["full_attention"]
    assert config["sliding_window_pattern"] == 6


def test_quantised_tensors_are_dequantised_to_float32(tiny_llama: Make, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal((8, 64)).astype(np.float32)
    stored = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)

    def add(writer: gguf.GGUFWriter) -> None:
        writer.add_tensor("extra.weight", stored, raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    file = GgufFile(tiny_llama(edit=add).gguf)
    found = file.tensor("extra.weight")
    assert (found.shape, found.quantisation) == ((8, 64), "Q8_0")
    assert found.values().dtype == np.float32
    assert np.abs(found.values() - values).max() <= np.abs(values).max() / 127


def test_a_tensor_without_a_place_is_refused_not_dropped(tiny_llama: Make, converted: Make) -> None:
    bias = tiny_llama(edit=lambda writer: writer.add_tensor("blk.0.attn_q.bias", np.zeros(64, np.float32)))
    with pytest.raises(ModelError, match=r"tensor blk\.0\.attn_q\.bias has no place"):
        converted(bias)


def test_scaled_rope_is_refused(tiny_llama: Make, converted: Make) -> None:
    scaled = tiny_llama(edit=lambda writer: writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR))
    with pytest.raises(ModelError, match=r"scaled RoPE is not supported"):
        converted(scaled)


def test_an_untied_head_is_kept(tiny_llama: Make, converted: Make) -> None:
    head = np.ones((265, 64), np.float32)
    folder = converted(tiny_llama(edit=lambda writer: writer.add_tensor("output.weight", head)))
    assert json.loads((folder / "config.json").read_text())["tie_word_embeddings"] is False
    assert np.array_equal(load_file(folder / "model.safetensors")["lm_head.weight"], head)


@pytest.mark.parametrize("data", [b"", b"GGUF", b"not a gguf file at all" * 10, b"GGUF\x03\0\0\0" + b"\xff" * 64])
def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.gguf").write_bytes(data)
    with pytest.raises(ModelError, match=r"x\.gguf: not a readable GGUF file"):
        GgufFile(tmp_path / "x.gguf")


def header_of(path: Path, architecture: str) -> None:
    """A GGUF file of no tensors."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    header_of(tmp_path / "x.gguf", "llama")
    (tmp_path / "x.gguf").write_bytes((tmp_path / "x.gguf").read_bytes().replace(b"llama", b"ll\xf2ma"))
    with pytest.raises(ModelError, match=r"x\.gguf: metadata general\.architecture: not readable: 'utf-8'"):
        convert(tmp_path / "x.gguf", tmp_path, lambda count: None)


def test_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    header_of(tmp_path / "x.gguf", "mamba")
    with pytest.raises(ModelError, match=r"architecture 'mamba' is not supported, only gemma3, llama"):
        convert(tmp_path / "x.gguf", tmp_path, lambda count: None)


@pytest.mark.parametrize(
    "name",
    [pytest.param("smollm2-135m", marks=pytest.mark.model), pytest.param("gemma3-270m", marks=pytest.mark.gemma)],
)
def test_the_real_models_know_the_capital_of_france(name: str) -> None:
    """A wrong order of query rows or a norm off by one would pass every comparison of two readers, not this."""
    from harness.engines.mlx.verifier.load import load_verifier

    verifier = load_verifier(resolve(name).folder)
    from mlx_lm import generate

    text = generate(
        verifier.model, verifier.tokenizer, "Paris is the capital of France. Rome is the capital of", max_tokens=4
    )
    assert "Italy" in text

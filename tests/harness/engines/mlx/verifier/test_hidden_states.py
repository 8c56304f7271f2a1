"""Captured layers are transformers' hidden states, and the model is left as it was."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from harness.base.errors import EngineError
from harness.engines.mlx.verifier.hidden_states import LayerOutputs
from harness.engines.mlx.verifier.load import load_verifier
from tests.harness.lively_models import lively_gemma, lively_gemma4
from tests.harness.tiny_models import prompt_of, tiny_llama, tiny_qwen2, tiny_qwen3
from tests.tokenizers_for_tests import trained

SMALL: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
}
GEMMA = {"num_hidden_layers": 6, "sliding_window": 16, "sliding_window_pattern": 3, "query_pre_attn_scalar": 8}
FAMILIES = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", {"num_hidden_layers": 4}),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {"num_hidden_layers": 4}),
    "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM", GEMMA),
}


def reference(family: str, folder: Path, tokens: list[int]) -> list[np.ndarray]:
    """Hidden states of a random model of transformers, which is saved for mlx-lm to load."""
    import torch
    import transformers

    config, model_class, shape = FAMILIES[family]
    torch.manual_seed(5)
    if family == "gemma3":
        shape = {
            **shape,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2,
        }
    model = getattr(transformers, model_class)(getattr(transformers, config)(**SMALL, **shape)).eval().float()
    model.save_pretrained(folder)
    trained(chat=False).save_pretrained(folder)
    with torch.no_grad():
        states = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    return [state[0].numpy() for state in states]


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_layer_i_is_hidden_state_i_plus_1_of_transformers(family: str, tmp_path: Path) -> None:
    tokens = prompt_of(40)
    states = reference(family, tmp_path, tokens)
    model = load_verifier(tmp_path).model
    layers = (2, 0, 1)
    with LayerOutputs(model, layers).capture() as captured:
        model(mx.array([tokens]))
        features = captured.features()
    assert features is not None
    found = np.split(np.array(features)[0], len(layers), axis=-1)
    for layer, output in zip(layers, found, strict=True):
        # mlx-lm rounds Gemma's embedding scale to bfloat16.
        np.testing.assert_allclose(output, states[layer + 1], atol=2e-2 if family == "gemma3" else 1e-4)


@pytest.mark.parametrize("verifier", [tiny_llama, tiny_qwen2, tiny_qwen3, lively_gemma, lively_gemma4])
def test_capturing_changes_neither_logits_nor_model(verifier: Any) -> None:
    model = verifier().model
    before, tokens = list(model.layers), mx.array([prompt_of(20)])
    plain = model(tokens)
    with LayerOutputs(model, (1, 2)).capture() as captured:
        logits = model(tokens)
        features = captured.features()
    assert features is not None
    assert features.shape == (1, 20, 64)
    assert mx.array_equal(logits, plain)
    assert all(now is then for now, then in zip(model.layers, before, strict=True))


def test_an_exception_restores_the_model_too() -> None:
    model = tiny_llama().model
    before = list(model.layers)
    with pytest.raises(ZeroDivisionError), LayerOutputs(model, (0, 3)).capture():
        raise ZeroDivisionError
    assert all(now is then for now, then in zip(model.layers, before, strict=True))


def test_contexts_within_each_other_capture_alike() -> None:
    model, tokens = tiny_llama().model, mx.array([prompt_of(5)])
    before = list(model.layers)
    with LayerOutputs(model, (1,)).capture() as outer, LayerOutputs(model, (1, 2)).capture() as inner:
        model(tokens)
        one, two = outer.features(), inner.features()
    assert one is not None
    assert two is not None
    assert mx.array_equal(one, two[..., :32])
    assert all(now is then for now, then in zip(model.layers, before, strict=True))


def test_a_layer_that_did_not_run_is_an_error() -> None:
    with LayerOutputs(tiny_llama().model, (1,)).capture() as captured, pytest.raises(EngineError, match="was not run"):
        captured.features()


def test_no_layers_no_features() -> None:
    with LayerOutputs(tiny_llama().model, ()).capture() as captured:
        assert captured.features() is None


def test_a_layer_the_model_does_not_have_is_refused() -> None:
    with pytest.raises(EngineError, match="no layer 4"), LayerOutputs(tiny_llama().model, (4,)).capture():
        pass


def test_a_model_without_layers_is_refused() -> None:
    with pytest.raises(EngineError, match="no list of layers"), LayerOutputs(object(), (0,)).capture():
        pass

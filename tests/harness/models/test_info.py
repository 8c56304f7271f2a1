from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.models.faithfulness import store_faithfulness
from harness.models.folder.weights import read_weights
from harness.models.info import architecture, layer_types, model_info, positions, stored_dtype
from harness.models.resolve import resolve
from reports.records.provenance import Faithfulness

Make = Callable[..., Any]


def test_a_model_is_described_without_loading_it(cache: Path, tiny_gemma: Make, converted: Make) -> None:
    model = resolve(str(converted(tiny_gemma())))
    info = model_info(model, "verifier")
    assert info.role == "verifier"
    assert (info.id, info.weights, info.architecture) == (model.id, model.weights, "Gemma3ForCausalLM")
    assert (info.config, info.tokenizer) == (model.identity.config, model.identity.tokenizer)
    assert info.layer_types == ("sliding_attention",) * 5 + ("full_attention",)
    assert (info.dtype, info.quantisation, info.faithfulness) == ("float32", None, None)
    assert None not in (info.config, info.tokenizer)


def test_a_stored_verification_is_part_of_it(cache: Path, tiny_llama: Make, converted: Make) -> None:
    model = resolve(str(converted(tiny_llama())))
    result = Faithfulness(reference="r", tokens=3, argmax_agreement=1.0, largest_logit_gap=0.5)
    store_faithfulness(model.identity, result)
    assert model_info(model, "drafter").faithfulness == result
    assert model_info(model, "drafter").layer_types == ("full_attention",) * 2


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"num_hidden_layers": 2}, ("full_attention",) * 2),
        ({"text_config": {"num_hidden_layers": 1}}, ("full_attention",)),
        (
            {"num_hidden_layers": 3, "sliding_window_pattern": 2},
            ("sliding_attention", "full_attention", "sliding_attention"),
        ),
        ({"num_hidden_layers": 3, "layer_types": ["linear_attention"] * 3}, ("linear_attention",) * 3),
        ({"num_hidden_layers": 10**9}, None),
        ({}, None),
    ],
)
def test_layer_types_come_from_the_config(config: dict[str, Any], expected: tuple[str, ...] | None) -> None:
    assert layer_types(config) == expected


def test_the_architecture_falls_back_on_the_model_type() -> None:
    assert architecture({"model_type": "llama", "architectures": []}) == "llama"
    assert architecture({"model_type": "llama", "architectures": ["A"]}) == "A"


def test_the_dtype_is_that_of_most_values(tmp_path: Path) -> None:
    values = {"a": np.zeros(9, np.float16), "b": np.zeros(2, np.float32), "codes": np.zeros(99, np.uint32)}
    save_file(values, tmp_path / "model.safetensors")
    assert stored_dtype(read_weights(tmp_path)) == "float16"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"max_position_embeddings": 4096}, 4096),
        ({"text_config": {"max_position_embeddings": 512}, "max_position_embeddings": 4096}, 512),
        ({"max_position_embeddings": 4096, "rope_scaling": {"factor": 4.0}}, None),
        ({"max_position_embeddings": 4096, "rope_parameters": {"rope_theta": 1e4}, "rope_scaling": 7}, 4096),
        ({"max_position_embeddings": "4096"}, None),
        ({"max_position_embeddings": True}, None),
        ({"max_position_embeddings": -1}, None),
        ({}, None),
    ],
)
def test_a_config_tells_how_long_a_text_may_be_or_nothing(config: dict[str, Any], told: int | None) -> None:
    assert positions(config) == told

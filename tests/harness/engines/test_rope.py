"""RoPE of a transformers-5 config reaches the place mlx-lm reads."""

import pytest

from harness.base.errors import ModelError
from harness.engines.rope import rope_overrides

SLIDING, FULL = "sliding_attention", "full_attention"


def test_a_flat_theta_moves_to_the_top() -> None:
    config = {"model_type": "llama", "rope_parameters": {"rope_theta": 100000.0, "rope_type": "default"}}
    assert rope_overrides(config) == {"rope_theta": 100000.0}


def test_what_stands_at_the_top_already_stays() -> None:
    config = {"model_type": "llama", "rope_theta": 5.0, "rope_parameters": {"rope_theta": 7.0, "rope_type": "default"}}
    assert rope_overrides(config) == {}


def test_scaling_moves_without_its_theta() -> None:
    scaled = {"rope_theta": 5e5, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0}
    assert rope_overrides({"model_type": "llama", "rope_parameters": scaled}) == {
        "rope_theta": 5e5,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0},
    }


def test_gemma_has_one_set_a_layer_type() -> None:
    config = {
        "model_type": "gemma3_text",
        "layer_types": [SLIDING, SLIDING, FULL] * 2,
        "rope_parameters": {
            FULL: {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
            SLIDING: {"rope_theta": 1e4, "rope_type": "default"},
        },
    }
    assert rope_overrides(config) == {
        "rope_theta": 1e6,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "rope_local_base_freq": 1e4,
        "sliding_window_pattern": 3,
    }


def test_a_nested_text_config_is_completed_and_returned_whole() -> None:
    text = {"model_type": "gemma3_text", "hidden_size": 8, "rope_parameters": {FULL: {"rope_theta": 3.0}}}
    assert rope_overrides({"model_type": "gemma3", "text_config": text}) == {"text_config": text | {"rope_theta": 3.0}}


def test_layer_types_mlx_lm_cannot_express_are_refused() -> None:
    with pytest.raises(ModelError, match="layer_types"):
        rope_overrides({"model_type": "gemma3_text", "layer_types": [SLIDING, FULL, SLIDING, SLIDING]})


def test_a_config_of_old_needs_nothing() -> None:
    assert rope_overrides({"model_type": "llama", "rope_theta": 1e4}) == {}

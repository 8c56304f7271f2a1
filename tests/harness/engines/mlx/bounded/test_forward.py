"""The layer loop of our own computes what the model computes, and refuses what it does not know."""

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import gemma3, phi

from harness.base.errors import EngineError
from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.verifier.architecture import read_architecture
from tests.harness.lively_models import lively_gemma4
from tests.harness.tiny_models import (
    SHAPE,
    dense_logits,
    prompt_of,
    tiny_gemma,
    tiny_gemma4,
    tiny_llama,
    tiny_qwen2,
    tiny_qwen3,
    verifier_of,
)


@pytest.mark.parametrize("family", [tiny_llama, tiny_gemma, tiny_gemma4, tiny_qwen2, tiny_qwen3])
def test_every_family_gives_the_model_s_own_logits(family) -> None:  # type: ignore[no-untyped-def]
    tokens = prompt_of(40)
    own = dense_logits(family(), tokens, lambda layer, q, p: np.array(True))
    np.testing.assert_allclose(own, np.array(family().model(mx.array([tokens]))[0]), atol=1e-4, rtol=0)


def test_gemma_inside_its_multimodal_wrapper_is_known() -> None:
    text = SHAPE | {
        "model_type": "gemma3_text",
        "num_hidden_layers": 3,
        "sliding_window": 8,
        "sliding_window_pattern": 3,
        "query_pre_attn_scalar": 8,
    }
    model = gemma3.Model(gemma3.ModelArgs(model_type="gemma3", text_config=text, vocab_size=SHAPE["vocab_size"]))
    verifier = verifier_of(model, "gemma3")
    tokens = prompt_of(30)
    own = dense_logits(verifier, tokens, lambda layer, q, p: np.array(True))
    np.testing.assert_allclose(own, np.array(model(mx.array([tokens]))[0]), atol=1e-4, rtol=0)


def test_gemma_4_with_shared_k_v_is_refused() -> None:
    with pytest.raises(EngineError, match="shared K/V"):
        take_apart(lively_gemma4().model, "gemma4_text")


def test_another_family_is_refused_by_name() -> None:
    model = phi.Model(
        phi.ModelArgs(num_hidden_layers=1, hidden_size=32, num_attention_heads=2, num_key_value_heads=2, vocab_size=31)
    )
    architecture = read_architecture(model, {"model_type": "phi"}, {0})
    with pytest.raises(EngineError, match="cannot run phi"):
        take_apart(model, architecture.name)

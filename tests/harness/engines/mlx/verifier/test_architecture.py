"""Facts of models that are not plain K/V, and of quantised ones."""

import mlx.nn as nn
import pytest
from mlx_lm.models import llama, mamba

from harness.base.errors import ModelError
from harness.engines.mlx.verifier.architecture import read_architecture
from tests.harness.tiny_models import SHAPE


def test_a_recurrent_model_is_refused_by_name_of_its_cache() -> None:
    args = mamba.ModelArgs(
        model_type="mamba",
        vocab_size=31,
        hidden_size=16,
        intermediate_size=32,
        state_size=4,
        num_hidden_layers=2,
        conv_kernel=4,
        use_bias=False,
        use_conv_bias=True,
        time_step_rank=2,
    )
    with pytest.raises(ModelError, match="layer 0 caches a ArraysCache"):
        read_architecture(mamba.Model(args), {"model_type": "mamba"}, {0})


def test_quantisation_is_named_with_bits_and_group() -> None:
    model = llama.Model(llama.ModelArgs(model_type="llama", num_hidden_layers=1, **SHAPE))
    nn.quantize(model, group_size=32, bits=4, class_predicate=lambda path, module: isinstance(module, nn.Embedding))
    architecture = read_architecture(model, {"model_type": "llama", "quantization": {"group_size": 32, "bits": 4}}, {0})
    assert architecture.quantisation == "affine 4-bit, group 32"

"""The model of small runs."""

from pathlib import Path

import pytest

import harness.engines.mlx  # noqa: F401
from tests.harness.model_folders import write_folder
from tests.harness.tiny_models import SHAPE, verifier_of


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A llama of two layers with random weights and a tokenizer trained for the tests, as a folder."""
    from mlx_lm.models import llama

    args = llama.ModelArgs(model_type="llama", num_hidden_layers=2, **(SHAPE | {"vocab_size": 400}))
    verifier = verifier_of(llama.Model(args), "llama")
    return write_folder(tmp_path_factory.mktemp("models") / "tiny", verifier, max_position_embeddings=8192)

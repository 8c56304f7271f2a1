"""Tiny random verifiers and drafters on disk, for commands from end to end."""

from pathlib import Path

from harness.models.random_dflash import RandomDflash, write_random_dflash
from tests.harness.engines.mlx.model_folders import write_folder
from tests.harness.engines.mlx.tiny_models import SHAPE, verifier_of


def tiny_model(folder: Path, seed: int = 7) -> Path:
    """A llama of two layers with random weights and a tokenizer trained for the tests."""
    from mlx_lm.models import llama

    args = llama.ModelArgs(model_type="llama", num_hidden_layers=2, **(SHAPE | {"vocab_size": 400}))
    return write_folder(folder, verifier_of(llama.Model(args), "llama", seed), max_position_embeddings=8192)


def tiny_drafter(folder: Path, verifier: Path, seed: int = 0) -> Path:
    """A DFlash checkpoint of the published layout with random weights, for the verifier in that folder."""
    write_random_dflash(folder, verifier, RandomDflash(block_size=8, window=12, seed=seed))
    return folder

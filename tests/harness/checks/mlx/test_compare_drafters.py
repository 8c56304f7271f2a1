"""Two runtimes of one drafter on verifiers of every kind: in float32 they must agree, whatever the verifier is in."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_map
from mlx_lm.models import llama

from harness.checks.mlx.compare_drafters import compare_drafters
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.verifier.architecture import read_architecture
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec
from tests.harness.engines.mlx.drafters.dflash_checkpoints import write_checkpoint
from tests.harness.lively_models import lively_gemma4
from tests.harness.tiny_models import SHAPE, prompt_of, verifier_of

PROMPTS = [prompt_of(60, seed) for seed in range(3)]


def quantised(bits: int) -> Verifier:
    """A llama in bfloat16, its matrices quantised, as verifiers on a Mac are."""
    model = llama.Model(
        llama.ModelArgs(
            model_type="llama", num_hidden_layers=3, **(SHAPE | {"hidden_size": 64, "intermediate_size": 64})
        )
    )
    verifier_of(model, "llama")
    model.update(tree_map(lambda weight: weight.astype(mx.bfloat16), model.parameters()))
    nn.quantize(model, group_size=32, bits=bits)
    mx.eval(model.parameters())
    return Verifier(model, None, read_architecture(model, {"model_type": "llama"}, {0}))


def spec_of(kind: str, folder: Path, dtype: Any = None, block_size: int = 8) -> DrafterSpec:
    return DrafterSpec(kind=kind, model=str(folder), block_size=block_size, dtype=dtype)


@pytest.mark.torch
@pytest.mark.parametrize("bits", [4, 8])
def test_float32_agrees_beside_a_quantised_verifier_in_bfloat16(bits: int, tmp_path: Path) -> None:
    """The drafters share a head in bfloat16; computed in it, one token in a few dozen would be a tie."""
    verifier, folder = quantised(bits), write_checkpoint(tmp_path, hidden_size=64)
    sides = [load_drafter(spec_of(kind, folder, "float32"), verifier) for kind in ("dflash-torch", "dflash")]
    result = compare_drafters(verifier, *sides, PROMPTS, spec_of("dflash", folder), blocks=12)
    assert len(result.blocks) == 36
    assert [block.candidate_tokens for block in result.blocks] == [block.reference_tokens for block in result.blocks]
    assert len({block.candidate_tokens for block in result.blocks}) > 12


@pytest.mark.torch
def test_every_prompt_done_is_told(tmp_path: Path) -> None:
    verifier, folder, told = lively_gemma4(), write_checkpoint(tmp_path), []
    sides = [load_drafter(spec_of(kind, folder, "float32"), verifier) for kind in ("dflash-torch", "dflash")]
    compare_drafters(verifier, *sides, PROMPTS, spec_of("dflash", folder, block_size=4), blocks=1, compared=told.append)
    assert told == [1, 2, 3]


def test_arms_share_the_drafter_that_is_loaded(tmp_path: Path) -> None:
    verifier, folder = quantised(4), write_checkpoint(tmp_path, hidden_size=64)
    first = load_drafter(spec_of("dflash", folder), verifier)
    assert load_drafter(spec_of("dflash", folder, block_size=4), verifier) is first
    assert load_drafter(spec_of("dflash", folder, "float32"), verifier) is not first
    assert load_drafter(spec_of("dflash", folder), quantised(4)) is not first

"""The losslessness matrix on PyTorch: a prompt read once and decoded many times, as if it had been read each time."""

from collections.abc import Callable

import pytest

from harness.checks.lossless_matrix import cells
from harness.checks.lossless_run import DRAFTS, OraclePrompt, decode, fork
from harness.checks.torch.matrix import MATRIX
from harness.engines.drafters.ngram import NgramDrafter
from harness.engines.spec import DrafterSpec, EngineSettings
from harness.engines.torch.verifier.load import Verifier
from tests.harness.tiny_models import prompt_of
from tests.harness.torch_models import torch_gemma, torch_llama

pytestmark = pytest.mark.torch
TOKENS = 40
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize("model", [torch_llama, torch_gemma])
def test_every_cell_is_exact(model: Callable[[], Verifier]) -> None:
    prompt = OraclePrompt(MATRIX, model(), "tiny", DIGEST, prompt_of(37), TOKENS)
    for cell in cells(MATRIX.engines, DRAFTS, [1, 2, 4, 8, 16]):
        found = prompt.stream(cell)
        assert (found.outcome, found.position) == ("exact", None)
        assert (found.engine, found.drafts, found.block_size) == (cell.engine, cell.drafts, cell.block_size)
        if cell.drafts == "right":
            assert found.accepted == found.drafted > 0
        if cell.drafts == "wrong":
            assert found.accepted == 0 < found.drafted


@pytest.mark.parametrize("name", MATRIX.engines)
def test_a_fork_decodes_as_a_fresh_prefill_and_leaves_its_source_alone(name: str) -> None:
    prompt = prompt_of(37)
    settings = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=4))
    engine = MATRIX.engines[name](torch_gemma(), settings, NgramDrafter())
    source = engine.prefill(prompt)
    fresh, _ = decode(engine, engine.prefill(prompt), TOKENS)
    for _ in range(2):
        assert decode(engine, fork(source, NgramDrafter(), prompt, MATRIX), TOKENS)[0] == fresh
    assert decode(engine, source, TOKENS)[0] == fresh

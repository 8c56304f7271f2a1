"""A prompt read once and decoded many times: as if it had been read each time."""

import pytest

from harness.base.errors import EngineError
from harness.checks.lossless_matrix import cells
from harness.checks.lossless_run import DRAFTS, OraclePrompt, decode, fork
from harness.checks.mlx.matrix import MATRIX
from harness.engines.base import DecodeLimit
from harness.engines.drafters.ngram import NgramDrafter
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.lively_models import lively_gemma
from tests.harness.tiny_models import prompt_of

TOKENS = 40
ENGINES = MATRIX.engines
DIGEST = "sha256:" + "0" * 64


def test_every_cell_of_a_small_matrix_is_exact() -> None:
    prompt = OraclePrompt(MATRIX, lively_gemma(), "lively", DIGEST, prompt_of(37), TOKENS)
    for cell in cells(ENGINES, DRAFTS, [1, 4]):
        found = prompt.stream(cell)
        assert (found.outcome, found.position) == ("exact", None)
        assert (found.engine, found.drafts, found.block_size) == (cell.engine, cell.drafts, cell.block_size)
        assert (found.tokens, found.prompt_tokens) == (TOKENS, 37)
        if cell.drafts == "right":
            assert found.accepted == found.drafted > 0
        if cell.drafts == "wrong":
            assert found.accepted == 0 < found.drafted


@pytest.mark.parametrize("name", ENGINES)
def test_a_fork_decodes_as_a_fresh_prefill_and_leaves_its_source_alone(name: str) -> None:
    prompt = prompt_of(37)
    settings = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=4))
    engine = ENGINES[name](lively_gemma(), settings, NgramDrafter())
    source = engine.prefill(prompt)
    fresh, _ = decode(engine, engine.prefill(prompt), TOKENS)
    for _ in range(2):
        copy = fork(source, NgramDrafter(), prompt, MATRIX)
        assert engine.stats(copy).kv_bytes == engine.stats(source).kv_bytes
        assert decode(engine, copy, TOKENS)[0] == fresh
    assert [source.first_token, *(t for b in engine.decode(source, DecodeLimit(TOKENS, {})) for t in b.tokens)] == fresh


def test_a_drafter_that_reads_hidden_states_cannot_be_forked() -> None:
    class Reading(NgramDrafter):
        layers = (1,)

    settings = EngineSettings(drafter=DrafterSpec(kind="ngram", block_size=4))
    engine = ENGINES["fused"](lively_gemma(), settings, NgramDrafter())
    with pytest.raises(EngineError, match="hidden states"):
        fork(engine.prefill(prompt_of(9)), Reading(), prompt_of(9), MATRIX)

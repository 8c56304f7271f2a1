"""A recording answers for the drafter it was made of, wherever a candidate goes, right or wrong."""

from pathlib import Path

import pytest

from harness.checks.mlx.compare_drafters import compare_drafters
from harness.checks.mlx.record_drafts import record
from harness.engines.drafters.base import Drafter
from harness.engines.drafters.recorded import RecordedDrafter
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec
from reports.records.drafter_parity import ParityResult
from reports.records.recorded_drafts import RecordedDrafts
from tests.harness.engines.mlx.drafters.dflash_checkpoints import write_checkpoint
from tests.harness.lively_models import lively_gemma4
from tests.harness.tiny_models import prompt_of

PROMPTS = [prompt_of(40, seed) for seed in range(2)]
BLOCKS, BLOCK_SIZE = 5, 6


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return lively_gemma4()


def spec_of(block_size: int) -> DrafterSpec:
    return DrafterSpec(kind="dflash", model="a checkpoint", block_size=block_size)


@pytest.fixture(scope="module")
def drafter(verifier: Verifier, tmp_path_factory: pytest.TempPathFactory) -> Drafter:
    folder = write_checkpoint(tmp_path_factory.mktemp("drafter"))
    return load_drafter(spec_of(BLOCK_SIZE).replace(model=str(folder)), verifier)


@pytest.fixture(scope="module")
def recorded(verifier: Verifier, drafter: Drafter) -> RecordedDrafts:
    """The MLX drafter's own proposals, as a stand-in for those of a reference."""
    assert drafter.weights is not None
    return RecordedDrafts(
        verifier="sha256:" + "1" * 64,
        drafter=drafter.weights,
        runtime="torch",
        dtype="float32",
        block_size=BLOCK_SIZE,
        made_with="torch",
        seed=0,
        items=3,
        streams=record(verifier, drafter, PROMPTS, spec_of(BLOCK_SIZE), blocks=BLOCKS),
    )


def compared(verifier: Verifier, recorded: RecordedDrafts, candidate: Drafter, block_size: int) -> ParityResult:
    reference = RecordedDrafter(recorded, candidate.layers)
    return compare_drafters(verifier, reference, candidate, PROMPTS, spec_of(block_size), blocks=BLOCKS)


def test_the_drafter_agrees_with_its_own_recording(
    verifier: Verifier, drafter: Drafter, recorded: RecordedDrafts
) -> None:
    result = compared(verifier, recorded, drafter, BLOCK_SIZE)
    assert (result.reference_runtime, result.candidate_runtime) == ("torch", "mlx")
    assert len(result.blocks) == len(PROMPTS) * BLOCKS
    for block in result.blocks:
        assert len(block.reference_tokens) == BLOCK_SIZE - 1
        assert block.candidate_tokens == block.reference_tokens
    assert len({block.reference_tokens for block in result.blocks}) > BLOCKS


def test_a_candidate_that_goes_wrong_is_answered_at_every_block(
    verifier: Verifier, drafter: Drafter, recorded: RecordedDrafts, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path, seed=5)
    other = DflashDrafter(folder, drafter.weights, verifier, "float32")
    blocks = compared(verifier, recorded, other, BLOCK_SIZE).blocks
    assert any(block.candidate_tokens != block.reference_tokens for block in blocks)
    assert {len(block.reference_tokens) for block in blocks} == {BLOCK_SIZE - 1}


def test_a_shorter_block_is_another_question(verifier: Verifier, drafter: Drafter, recorded: RecordedDrafts) -> None:
    blocks = compared(verifier, recorded, drafter, BLOCK_SIZE - 1).blocks
    assert {block.reference_tokens for block in blocks} == {()}


def test_a_verifier_that_goes_on_otherwise_leaves_the_recording_without_an_answer(
    drafter: Drafter, verifier: Verifier, recorded: RecordedDrafts
) -> None:
    streams = tuple(
        stream.replace(tokens=(*stream.tokens[:3], 10**6, *stream.tokens[4:])) for stream in recorded.streams
    )
    blocks = compared(verifier, recorded.replace(streams=streams), drafter, BLOCK_SIZE).blocks
    known = [block.context_tokens < 40 + 3 for block in blocks]
    assert [bool(block.reference_tokens) for block in blocks] == known
    assert set(known) == {True, False}

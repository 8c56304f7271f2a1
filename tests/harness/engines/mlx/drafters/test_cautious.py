"""A drafter that is told to be sure: lossless as any other, cut to what it is sure of, and at rest where it fails."""

from pathlib import Path

import mlx.core as mx
import pytest

from harness.engines.drafters.around.cautious import CautiousDraft, CautiousDrafter
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.spec import DrafterSpec
from tests.harness.engines.mlx.drafters.beside_plain import beside_plain
from tests.harness.engines.mlx.drafters.dflash_checkpoints import write_checkpoint
from tests.harness.lively_models import lively_gemma
from tests.harness.tiny_models import prompt_of, tiny_llama

SURE_OF_ALL, SURE_OF_NOTHING = 1e-9, 0.999


def features(tokens: int, seed: int) -> mx.array:
    return mx.random.normal((1, tokens, 64), key=mx.random.key(seed))


def begun(folder: Path, least: float) -> tuple[CautiousDraft, DflashDrafter]:
    dflash = DflashDrafter(write_checkpoint(folder), None, tiny_llama(), None)
    draft = CautiousDrafter(dflash, least).begin()
    draft.extend([1, 2, 3, 4], features(4, 1))
    return draft, dflash


@pytest.mark.parametrize(("sure", "shuffle"), [(SURE_OF_ALL, None), (0.02, None), (0.02, 1), (SURE_OF_NOTHING, None)])
@pytest.mark.parametrize("name", ["fused", "fused-carry"])
@pytest.mark.parametrize("make", [tiny_llama, lively_gemma])
def test_it_is_lossless(make: object, name: str, sure: float, shuffle: int | None, tmp_path: Path) -> None:
    assert callable(make)
    verifier, prompt = make(), prompt_of(12) * 3
    folder = str(write_checkpoint(tmp_path))
    request = DrafterSpec(kind="dflash", model=folder, block_size=4, sure=sure, shuffle_seed=shuffle)
    found = beside_plain(verifier, prompt, name, request)
    assert found.plain == found.drafted
    drafted = sum(block.drafted for block in found.blocks)
    assert drafted == 0 if sure == SURE_OF_NOTHING else drafted > 0 or sure != SURE_OF_ALL
    assert all(block.accepted <= block.drafted <= 3 for block in found.blocks)
    said = found.said
    assert said is not None
    assert (said.name, said.sure) == ("dflash" if shuffle is None else "shuffled dflash", sure)


@pytest.mark.parametrize(("least", "proposes"), [(SURE_OF_ALL, 3), (SURE_OF_NOTHING, 0)])
def test_it_rests_longer_each_time_it_fails_and_for_sixteen_blocks_at_most(
    least: float, proposes: int, tmp_path: Path
) -> None:
    draft, _ = begun(tmp_path, least)
    asked = []
    for block in range(75):
        before = draft.counters.proposals
        drafts = draft.propose(50, 3)
        if draft.counters.proposals > before:
            asked.append(block)
            assert len(drafts) == proposes
        else:
            assert drafts == []
        draft.extend([50], features(1, block))
    assert asked == [0, 1, 3, 6, 11, 20, 37, 54, 71]


def test_it_goes_on_while_its_first_draft_is_right(tmp_path: Path) -> None:
    draft, _ = begun(tmp_path, SURE_OF_ALL)
    for block in range(2):
        assert len(draft.propose(50, 3)) == 3
        draft.extend([50], features(1, block))
    assert draft.propose(51, 3) == []
    draft.extend([51], features(1, 2))
    for block in range(3):
        drafts = draft.propose(52, 3)
        assert len(drafts) == 3
        draft.extend([52, drafts[0]], features(2, block))


def test_it_proposes_the_leading_drafts_of_the_one_inside(tmp_path: Path) -> None:
    draft, dflash = begun(tmp_path, 0.001)
    alone = dflash.begin()
    alone.extend([1, 2, 3, 4], features(4, 1))
    drafts = draft.propose(50, 7)
    assert drafts == alone.propose(50, 7)[: len(drafts)]
    assert drafts == alone.propose_sure(50, 7, 0.001)
    assert draft.nbytes == alone.nbytes


def test_no_room_is_no_failure(tmp_path: Path) -> None:
    draft, _ = begun(tmp_path, SURE_OF_NOTHING)
    for block in range(2):
        assert draft.propose(50, 0) == []
        draft.extend([50], features(1, block))
    for block in range(2):
        draft.propose(51, 3)
        draft.extend([51], features(1, block))
    assert draft.counters.proposals == 2

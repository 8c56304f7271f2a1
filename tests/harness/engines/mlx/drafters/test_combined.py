"""Lookup and DFlash in one drafter: who is asked, what is learnt, and lossless as any other."""

from pathlib import Path

import mlx.core as mx
import pytest

from harness.engines.drafters.combined import CombinedDrafter
from harness.engines.drafters.preference import DFLASH, Preference
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.spec import DrafterSpec
from tests.harness.engines.mlx.drafters.beside_plain import beside_plain
from tests.harness.engines.mlx.drafters.dflash_checkpoints import write_checkpoint
from tests.harness.lively_models import lively_gemma
from tests.harness.tiny_models import prompt_of, tiny_llama


@pytest.fixture
def never_unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights are sure of nothing, so DFlash would not be heard."""
    monkeypatch.setattr("harness.engines.drafters.combined.SURE", 0.0)


@pytest.mark.usefixtures("never_unsure")
@pytest.mark.parametrize("shuffle", [None, 1])
@pytest.mark.parametrize("name", ["fused", "fused-carry"])
@pytest.mark.parametrize("make", [tiny_llama, lively_gemma])
def test_it_is_lossless(make: object, name: str, shuffle: int | None, tmp_path: Path) -> None:
    assert callable(make)
    verifier, prompt = make(), prompt_of(12) * 3
    folder = str(write_checkpoint(tmp_path))
    request = DrafterSpec(kind="combined", model=folder, block_size=4, shuffle_seed=shuffle)
    found = beside_plain(verifier, prompt, name, request)
    assert all(block.accepted <= block.drafted <= 3 for block in found.blocks)
    assert found.plain == found.drafted
    said = found.said
    assert said is not None
    assert said.weights is not None
    assert (said.name, said.runtime) == ("combined" if shuffle is None else "shuffled combined", "mlx")


@pytest.mark.usefixtures("never_unsure")
def test_lookup_is_asked_where_it_matches_and_dflash_elsewhere(tmp_path: Path) -> None:
    verifier = tiny_llama()
    dflash = DflashDrafter(write_checkpoint(tmp_path), None, verifier, None)
    features = mx.random.normal((1, 6, 64), key=mx.random.key(1))
    draft, alone = CombinedDrafter(dflash).begin(), dflash.begin()
    draft.extend([1, 2, 3, 4, 1, 2], features)
    alone.extend([1, 2, 3, 4, 1, 2], features)
    assert draft.propose(3, 3) == [4, 1, 2]
    assert draft.propose(50, 3) == alone.propose(50, 3)
    assert draft.asked == [3, DFLASH]
    assert (draft.counters.proposals, draft.counters.proposed) == (2, 6)
    assert draft.nbytes == alone.nbytes
    assert draft.propose(3, 0) == []


def test_dflash_that_is_unsure_proposes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.engines.drafters.combined.SURE", 1.0)
    dflash = DflashDrafter(write_checkpoint(tmp_path), None, tiny_llama(), None)
    draft = CombinedDrafter(dflash).begin()
    draft.extend([1, 2, 1, 2], mx.random.normal((1, 4, 64), key=mx.random.key(1)))
    for last in (50, 51, 52):
        assert draft.propose(last, 7) == []
        draft.extend([last], mx.random.normal((1, 1, 64), key=mx.random.key(last)))
    assert draft.asked == [DFLASH] * 3
    assert (draft.counters.proposals, draft.counters.proposed) == (3, 0)


def test_a_block_of_nothing_is_not_right_to_its_end() -> None:
    preference = Preference()
    preference.learn(DFLASH, drafted=0, accepted=0)
    assert preference.drafts(DFLASH) == 4
    assert preference.expected[DFLASH] < Preference().expected[DFLASH], "it committed one token, as a plain step does"


def test_a_source_that_is_worth_little_is_asked_less() -> None:
    preference = Preference()
    assert [preference.source(matched) for matched in (0, 1, 2, 3)] == [DFLASH, 1, 2, 3]
    for _ in range(10):
        preference.learn(1, drafted=7, accepted=0)
    assert [preference.source(matched) for matched in (1, 2)] == [DFLASH, 2]
    for _ in range(10):
        preference.learn(DFLASH, drafted=4, accepted=0)
    assert preference.source(1) == 1


def test_each_reaches_further_while_it_is_right_to_the_end() -> None:
    preference, reaches = Preference(), []
    for source, accepted in ((3, 7), (3, 11), (DFLASH, 4), (3, 15), (DFLASH, 6), (3, 14), (3, 7), (DFLASH, 4)):
        reaches.append(preference.drafts(source))
        preference.learn(source, reaches[-1], accepted)
    assert reaches == [7, 11, 4, 15, 7, 15, 7, 4]


@pytest.mark.usefixtures("never_unsure")
def test_dflash_drafts_no_more_than_it_was_trained_for(tmp_path: Path) -> None:
    dflash = DflashDrafter(write_checkpoint(tmp_path, block_size=3), None, tiny_llama(), None)
    draft = CombinedDrafter(dflash).begin()
    draft.extend([1, 2, 1, 2], mx.random.normal((1, 4, 64), key=mx.random.key(1)))
    assert len(draft.propose(50, 15)) == 2
    assert draft.propose(1, 15) == [2, 1] * 3 + [2]

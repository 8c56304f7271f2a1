"""What block engines promise besides the stream: names, counts, bytes, and refusals before any work."""

import pytest

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.tiny_models import prompt_of, tiny_llama

NGRAM = DrafterSpec(kind="ngram", block_size=4)


@pytest.mark.parametrize("name", ["fused", "fused-carry"])
def test_a_block_engine_says_what_drafts_for_it(name: str) -> None:
    engine = build(name, tiny_llama(), EngineSettings(drafter=NGRAM))
    assert engine.restoration.mode == "none"
    said = engine.drafter
    assert said is not None
    assert (said.name, said.runtime, said.block_size, said.graph) == ("ngram", "python", 4, "two_phase")
    assert said.weights is None
    assert said.rollback == {"fused": "trim", "fused-carry": "snapshot_and_carry"}[name]


def test_a_shuffled_drafter_is_named_so() -> None:
    request = DrafterSpec(kind="ngram", block_size=4, shuffle_seed=3)
    said = build("fused", tiny_llama(), EngineSettings(drafter=request)).drafter
    assert said is not None
    assert said.name == "shuffled ngram"


def test_prompt_lookup_cannot_be_part_of_a_graph() -> None:
    with pytest.raises(EngineError, match="outside the verifier's graph"):
        build("fused", tiny_llama(), EngineSettings(drafter=DrafterSpec(kind="ngram", graph="single")))


def test_a_session_of_the_other_block_engine_is_refused() -> None:
    fused = build("fused", tiny_llama(), EngineSettings(drafter=NGRAM))
    carry = build("fused-carry", tiny_llama(), EngineSettings(drafter=NGRAM))
    session = fused.prefill(prompt_of(9))
    with pytest.raises(EngineError, match="another engine"):
        list(carry.decode(session, DecodeLimit(3, {})))
    with pytest.raises(EngineError, match="another engine"):
        carry.stats(session)


def test_nothing_is_restored_or_evicted_and_bytes_are_counted() -> None:
    engine = build("fused", tiny_llama(), EngineSettings(drafter=NGRAM))
    session = engine.prefill(prompt_of(9))
    before = engine.stats(session)
    list(engine.decode(session, DecodeLimit(300, {})))
    after = engine.stats(session)
    assert (after.restored_positions, after.evicted_positions, after.fallbacks) == (0, 0, ())
    assert 0 < before.kv_bytes < after.kv_bytes
    assert before.aux_s > 0


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(EngineError, match="empty"):
        build("fused", tiny_llama(), EngineSettings(drafter=NGRAM)).prefill([])

"""Block engines emit the oracle's stream: any drafts, any block size, past the sliding window."""

from collections.abc import Callable
from functools import cache

import pytest

from harness.engines.base import Block, DecodeLimit
from harness.engines.drafters.replay import Spoil, spoils
from harness.engines.mlx.drafters.replay import ReplayDrafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.fused_carry import FusedCarryEngine
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.lively_models import lively_gemma, lively_gemma4
from tests.harness.tiny_models import VOCAB, prompt_of, tiny_llama

ENGINES = {"fused": FusedEngine, "fused-carry": FusedCarryEngine}
VERIFIERS = {"llama": tiny_llama, "gemma": lively_gemma, "gemma4": lively_gemma4}
SPOILT = spoils(VOCAB, seed=3)
TOKENS = 48


def repetitive(length: int) -> list[int]:
    """A prompt with a period, so that prompt lookup has something to find."""
    return (prompt_of(11, seed=5) * length)[:length]


@cache
def oracle(model: str, length: int, make: Callable[[int], list[int]] = prompt_of) -> tuple[int, ...]:
    engine = build("ar", VERIFIERS[model](), EngineSettings(prefill_chunk=16))
    session = engine.prefill(make(length))
    blocks = engine.decode(session, DecodeLimit(TOKENS, {}))
    return (session.first_token, *(token for block in blocks for token in block.tokens))


def run(engine: FusedEngine | FusedCarryEngine, prompt: list[int], limit: DecodeLimit) -> tuple[list[int], list[Block]]:
    session = engine.prefill(prompt)
    blocks = list(engine.decode(session, limit))
    return [session.first_token, *(token for block in blocks for token in block.tokens)], blocks


def settings(size: int, **changes: object) -> EngineSettings:
    return EngineSettings(prefill_chunk=16, drafter=DrafterSpec(kind="ngram", block_size=size, **changes))


def replaying(name: str, verifier: Verifier, whole: list[int], spoil: Spoil, size: int, graph: str = "two_phase"):
    return ENGINES[name](verifier, settings(size, graph=graph), ReplayDrafter(whole, spoil))


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("size", [1, 2, 16])  # 4 and 8 come below
@pytest.mark.parametrize("model", VERIFIERS)
@pytest.mark.parametrize("name", ENGINES)
def test_the_stream_is_the_oracle_s(name: str, model: str, size: int, spoilt: str) -> None:
    prompt, stream = prompt_of(37), list(oracle(model, 37))
    engine = replaying(name, VERIFIERS[model](), [*prompt, *stream], SPOILT[spoilt], size)
    tokens, blocks = run(engine, prompt, DecodeLimit(TOKENS, {}))
    assert tokens == stream
    assert all(len(block.tokens) == block.accepted + 1 for block in blocks)
    assert sum(len(block.tokens) for block in blocks) == TOKENS - 1
    if spoilt == "wrong":
        assert all(block.accepted == 0 for block in blocks)
    if spoilt == "right" and name == "fused":
        assert len(blocks) == -(-(TOKENS - 1) // size)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 33])
@pytest.mark.parametrize("name", ENGINES)
def test_it_holds_for_prompts_on_either_side_of_window_and_chunk(name: str, length: int) -> None:
    prompt, stream = prompt_of(length), list(oracle("gemma", length))
    engine = replaying(name, lively_gemma(), [*prompt, *stream], spoils(VOCAB, length)["random"], 4)
    assert run(engine, prompt, DecodeLimit(TOKENS, {}))[0] == stream


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("name", ENGINES)
def test_a_single_graph_emits_the_same(name: str, spoilt: str) -> None:
    prompt, stream = prompt_of(37), list(oracle("gemma", 37))
    engine = replaying(name, lively_gemma(), [*prompt, *stream], SPOILT[spoilt], 4, graph="single")
    tokens, blocks = run(engine, prompt, DecodeLimit(TOKENS, {}))
    assert tokens == stream
    assert engine.drafter.graph == "single"
    assert spoilt != "right" or sum(block.accepted for block in blocks) > 0


@pytest.mark.parametrize("model", VERIFIERS)
@pytest.mark.parametrize("name", ENGINES)
def test_prompt_lookup_is_lossless_and_shuffling_it_takes_its_gain_away(name: str, model: str) -> None:
    results = {}
    for seed in (None, 1):
        engine = build(name, VERIFIERS[model](), settings(8, shuffle_seed=seed))
        results[seed] = run(engine, repetitive(60), DecodeLimit(TOKENS, {}))
    assert results[None][0] == results[1][0] == list(oracle(model, 60, repetitive))
    assert sum(block.drafted for block in results[1][1]) > 0
    assert sum(block.accepted for block in results[1][1]) <= sum(block.accepted for block in results[None][1])


@pytest.mark.parametrize("size", [1, 4, 16])
@pytest.mark.parametrize("name", ENGINES)
def test_a_stop_token_inside_a_block_ends_the_stream(name: str, size: int) -> None:
    prompt, stream = prompt_of(37), list(oracle("gemma", 37))
    stop = next(token for token in stream[5:] if token not in stream[:5])
    engine = replaying(name, lively_gemma(), [*prompt, *stream], SPOILT["right"], size)
    tokens, blocks = run(engine, prompt, DecodeLimit(TOKENS, {stop: "eos"}))
    assert tokens == stream[: stream.index(stop) + 1]
    assert all(len(block.tokens) - 1 <= block.accepted <= len(block.tokens) for block in blocks)


@pytest.mark.parametrize("length", [1, 2, 3, 17])
@pytest.mark.parametrize("name", ENGINES)
def test_no_block_goes_beyond_the_limit(name: str, length: int) -> None:
    prompt, stream = prompt_of(37), list(oracle("llama", 37))
    engine = replaying(name, tiny_llama(), [*prompt, *stream], SPOILT["right"], 8)
    assert run(engine, prompt, DecodeLimit(length, {}))[0] == stream[:length]


def test_a_drafter_that_is_always_wrong_cannot_make_the_carry_grow() -> None:
    prompt, stream = prompt_of(37), list(oracle("gemma", 37))
    engine = replaying("fused-carry", lively_gemma(), [*prompt, *stream], SPOILT["wrong"], 4)
    session = engine.prefill(prompt)
    longest, plain = 0, 0
    for block in engine.decode(session, DecodeLimit(TOKENS, {})):
        longest, plain = max(longest, len(session.carry)), plain + (block.drafted == 0)
    assert longest == 8
    assert plain == 5 + 1  # the last block has no room for a draft


@pytest.mark.parametrize("name", ENGINES)
def test_stages_add_up_to_no_more_than_their_block(name: str) -> None:
    _, blocks = run(build(name, tiny_llama(), settings(8)), repetitive(60), DecodeLimit(TOKENS, {}))
    for block in blocks:
        assert 0 < block.verify_s <= block.draft_s + block.verify_s + block.extend_s + block.rollback_s <= block.seconds

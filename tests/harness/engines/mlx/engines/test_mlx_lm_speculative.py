"""mlx-lm's own speculative loop as a peer: the same stream as the plain function, counted in our blocks."""

from importlib import import_module

import mlx.core as mx
import pytest

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit
from harness.engines.mlx.drafters.model import ModelDrafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.mlx_lm_speculative import MlxLmSpeculativeEngine
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from tests.harness.lively_models import lively_gemma, lively_gemma4
from tests.harness.tiny_models import prompt_of, tiny_llama

speculative_generate_step = import_module("mlx_lm.generate").speculative_generate_step
TOKENS = 48
CHUNK = 16


def settings(size: int = 4, **changes: object) -> EngineSettings:
    request = DrafterSpec(**{"kind": "model", "model": "unused", "block_size": size, "graph": "single", **changes})
    return EngineSettings(prefill_chunk=CHUNK, drafter=request)


def peer(verifier: Verifier, drafting: Verifier, size: int = 4) -> MlxLmSpeculativeEngine:
    return MlxLmSpeculativeEngine(verifier, settings(size), ModelDrafter(drafting, None, verifier, CHUNK))


def run(engine: MlxLmSpeculativeEngine | FusedEngine, prompt: list[int], limit: DecodeLimit):
    session = engine.prefill(prompt)
    blocks = list(engine.decode(session, limit))
    return [session.first_token, *(token for block in blocks for token in block.tokens)], blocks, session


def oracle(verifier: Verifier, prompt: list[int]) -> list[int]:
    engine = build("ar", verifier, EngineSettings(prefill_chunk=CHUNK))
    session = engine.prefill(prompt)
    return [session.first_token, *(block.tokens[0] for block in engine.decode(session, DecodeLimit(TOKENS, {})))]


def check(blocks: list[Block], size: int) -> None:
    left = TOKENS - 1
    for block in blocks:
        assert block.drafted == min(size - 1, left)
        left -= len(block.tokens)
    assert all(len(block.tokens) == block.accepted + 1 for block in blocks[:-1])
    assert blocks[-1].accepted <= len(blocks[-1].tokens) <= blocks[-1].accepted + 1
    for block in blocks:
        assert block.accepted <= block.drafted < size
        assert 0 < block.draft_s < block.draft_s + block.verify_s <= block.seconds * (1 + 1e-9)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_it_is_exact_where_nothing_wraps(size: int) -> None:
    verifier, prompt = tiny_llama(), prompt_of(37)
    tokens, blocks, _ = run(peer(verifier, verifier, size), prompt, DecodeLimit(TOKENS, {}))
    assert tokens == oracle(verifier, prompt)
    check(blocks, size)
    if size == 4:
        assert sum(block.accepted for block in blocks) > len(blocks)


@pytest.mark.parametrize("length", [2 * CHUNK + 1, 3 * CHUNK + 1, 9])
@pytest.mark.parametrize("drafting", [lively_gemma, lively_gemma4])
def test_its_stream_is_that_of_the_plain_function(length: int, drafting) -> None:
    """Called with the prompt and the first token, the function reads the prompt itself, in the same chunks."""
    verifier, draft_model, prompt = lively_gemma(), drafting(), prompt_of(length)
    tokens, blocks, _ = run(peer(verifier, draft_model), prompt, DecodeLimit(TOKENS, {}))
    plain = speculative_generate_step(
        mx.array([*prompt, tokens[0]]),
        verifier.model,
        draft_model.model,
        num_draft_tokens=3,
        max_tokens=TOKENS - 1,
        prefill_step_size=CHUNK,
    )
    steps = [(int(token), from_draft) for token, _, from_draft in plain]
    assert tokens[1:] == [token for token, _ in steps]
    assert sum(block.accepted for block in blocks) == sum(from_draft for _, from_draft in steps)
    check(blocks, 4)


def test_past_the_wrap_it_diverges_where_ours_does_not() -> None:
    verifier, drafting = lively_gemma(), lively_gemma4()
    astray = 0
    for length in (40, 41):
        prompt, limit = prompt_of(length), DecodeLimit(TOKENS, {})
        ours = FusedEngine(verifier, settings(), ModelDrafter(drafting, None, verifier, CHUNK))
        assert run(ours, prompt, limit)[0] == oracle(verifier, prompt)
        astray += run(peer(verifier, drafting), prompt, limit)[0] != oracle(verifier, prompt)
    assert astray > 0


@pytest.mark.parametrize("length", [1, 2, 5])
def test_it_stops_at_the_limit(length: int) -> None:
    tokens, blocks, _ = run(peer(tiny_llama(), tiny_llama()), prompt_of(37), DecodeLimit(length, {}))
    assert tokens == oracle(tiny_llama(), prompt_of(37))[:length]
    assert bool(blocks) == (length > 1)


def test_it_stops_at_a_stop_token_inside_a_block() -> None:
    stream = oracle(tiny_llama(), prompt_of(37))
    for place in (1, 2, 3, 6):
        stop = stream[place]
        tokens, _, _ = run(peer(tiny_llama(), tiny_llama()), prompt_of(37), DecodeLimit(TOKENS, {stop: "eos"}))
        assert tokens == stream[: stream.index(stop) + 1]


def test_the_bytes_of_both_models_are_counted() -> None:
    verifier, drafting = lively_gemma(), tiny_llama()
    engine = peer(verifier, drafting)
    session = engine.prefill(prompt_of(37))
    before = engine.stats(session)
    verifying, drafts = (sum(cache.nbytes for cache in half) for half in (session.caches, session.draft_caches))
    assert before.kv_bytes == verifying + drafts
    assert before.drafter_bytes == drafts
    assert min(verifying, drafts) > 0
    assert before.aux_s > 0
    list(engine.decode(session, DecodeLimit(8, {})))
    assert engine.stats(session).kv_bytes >= before.kv_bytes


def test_it_says_what_it_is() -> None:
    engine = peer(tiny_llama(), tiny_llama())
    assert engine.kind.foreign
    assert (engine.drafter.name, engine.drafter.graph, engine.drafter.rollback) == (
        "model",
        "single",
        "trim_prompt_cache",
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (EngineSettings(), "kind to model"),
        (settings(kind="ngram", model=None), "kind to model"),
        (settings(shuffle_seed=1), "kind to model"),
        (settings(graph="two_phase"), "graph single"),
    ],
)
def test_what_it_cannot_do_is_refused(asked: EngineSettings, message: str) -> None:
    with pytest.raises(EngineError, match=message) as caught:
        MlxLmSpeculativeEngine(tiny_llama(), asked)
    assert "\n" not in str(caught.value)


def test_a_session_of_another_engine_is_refused() -> None:
    engine = peer(tiny_llama(), tiny_llama())
    with pytest.raises(EngineError, match="another engine"):
        engine.stats(build("ar", tiny_llama(), EngineSettings()).prefill([1, 2]))

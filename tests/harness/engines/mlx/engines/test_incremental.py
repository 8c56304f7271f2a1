"""The incremental engine against the oracle (identity, none) and against dense masked attention (ablate)."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import EngineError, UsageError
from harness.engines.base import DecodeLimit, Engine
from harness.engines.bounded.bounded_verifier import layer_rules
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.cache_formula import cache_table
from harness.engines.bounded.restoration import (
    Evicted,
    IdentityRestorer,
    Restorer,
    make_restorer,
    resolve_restoration,
)
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.engines.incremental import EvictingSession
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import EngineSettings, RestorationSpec
from tests.harness.tiny_models import (
    Sees,
    dense_logits,
    prompt_of,
    tiny_gemma,
    tiny_gemma4,
    tiny_llama,
    tiny_qwen2,
    tiny_qwen3,
)

FAMILIES = [tiny_llama, tiny_gemma, tiny_gemma4, tiny_qwen2, tiny_qwen3]
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
REQUESTS = st.builds(
    RestorationSpec,
    restoration=st.sampled_from(["identity", "ablate"]),
    exact_layers=st.sampled_from(["none", (0,), (1, 2)]),
    sink=st.integers(0, 5),
    window=st.integers(1, 24),
    eviction=st.sampled_from(["strict", "after"]),
)


def engine_of(verifier: Verifier, chunk: int = 512, **request: object) -> Engine:
    settings = EngineSettings(prefill_chunk=chunk, restoration=RestorationSpec.model_validate(request))
    return build("incremental", verifier, settings)


def stream(engine: Engine, tokens: Sequence[int], length: int = 24) -> list[int]:
    session = engine.prefill(tokens)
    return [
        session.first_token,
        *(t for block in engine.decode(session, DecodeLimit(length, {})) for t in block.tokens),
    ]


def oracle(verifier: Verifier, tokens: Sequence[int], length: int = 24) -> list[int]:
    return stream(build("ar", verifier, EngineSettings()), tokens, length)


def sees_with(request: RestorationSpec, verifier: Verifier, prompt: int) -> Sees:
    """Who sees whose own K/V when nothing is put back."""
    exact = resolve_restoration(request, verifier.architecture.layer_types).exact_layers or ()

    def sees(layer: int, queries: np.ndarray, positions: np.ndarray) -> np.ndarray:
        near = (positions < request.sink) | (queries - positions <= request.window)
        reading = (queries < prompt) & (request.eviction == "after")
        return near | reading | (layer in exact) | (request.restoration == "identity")

    return sees


def logits_of(
    verifier: Verifier, request: RestorationSpec, tokens: Sequence[int], chunks: Sequence[int], restorer: Restorer
) -> tuple[np.ndarray, EvictingCache]:
    """Logits of the incremental path: `chunks` of the prompt, then the rest step by step."""
    backbone = take_apart(verifier.model, verifier.architecture.name)
    restoration = resolve_restoration(request, verifier.architecture.layer_types)
    windows = [layer.native_window for layer in verifier.architecture.cache_layers]
    strict = request.eviction == "strict"
    cache = EvictingCache(layer_rules(restoration, restorer, windows), strict, restorer, ARRAYS)
    rows, start = [], 0
    for length in chunks:
        cache.begin_chunk(length)
        rows.append(backbone.run(mx.array([list(tokens[start : start + length])]), cache))
        cache.end_chunk()
        start += length
    if not strict:
        cache.evict()
    for token in tokens[start:]:
        cache.begin_step()
        rows.append(backbone.run(mx.array([[token]]), cache))
    return np.array(backbone.head(backbone.norm(mx.concatenate(rows, axis=1)))[0]), cache


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("eviction", ["strict", "after"])
@pytest.mark.parametrize("chunk", [7, 512])
def test_identity_is_the_oracle_token_for_token(family, eviction: str, chunk: int) -> None:  # type: ignore[no-untyped-def]
    verifier, prompt = family(), prompt_of(53)
    engine = engine_of(verifier, chunk, restoration="identity", sink=2, window=5, eviction=eviction)
    assert stream(engine, prompt) == oracle(verifier, prompt)


@pytest.mark.parametrize("family", FAMILIES)
def test_none_is_the_oracle(family) -> None:  # type: ignore[no-untyped-def]
    assert stream(engine_of(family(), 16), prompt_of(53)) == oracle(family(), prompt_of(53))


@SLOW
@given(REQUESTS, st.integers(1, 45), st.integers(0, 20), st.integers(1, 20), st.sampled_from([tiny_llama, tiny_gemma]))
def test_logits_are_those_of_dense_masked_attention(  # type: ignore[no-untyped-def]
    request: RestorationSpec, prompt: int, steps: int, chunk: int, family
) -> None:
    verifier, tokens = family(), prompt_of(prompt + steps, seed=prompt)
    chunks = [min(chunk, prompt - start) for start in range(0, prompt, chunk)]
    found, cache = logits_of(verifier, request, tokens, chunks, make_restorer(request.restoration))
    expected = dense_logits(verifier, tokens, sees_with(request, verifier, prompt))
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)
    assert {layer.offset for layer in cache.layers} == {prompt + steps}


class Dimmed(IdentityRestorer):
    """Puts back half of every key: any query that sees own K/V in place of restored ones shows."""

    def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
        return evicted.keys * 0.5, evicted.values


@settings(SLOW, max_examples=12)
@given(st.integers(1, 40), st.integers(0, 12), st.integers(1, 39), st.integers(0, 4), st.integers(1, 20))
def test_restored_keys_count_from_the_moment_a_position_leaves(
    prompt: int, steps: int, chunk: int, sink: int, window: int
) -> None:
    request = RestorationSpec(restoration="identity", sink=sink, window=window)
    verifier, tokens = tiny_gemma(), prompt_of(prompt + steps, seed=prompt)
    chunks = [min(chunk, prompt - start) for start in range(0, prompt, chunk)]
    found, cache = logits_of(verifier, request, tokens, chunks, Dimmed())
    one_by_one, other = logits_of(verifier, request, tokens, [1] * prompt, Dimmed())
    np.testing.assert_allclose(found, one_by_one, atol=1e-4, rtol=0)
    assert (cache.counters.restored, cache.counters.evicted) == (other.counters.restored, other.counters.evicted)


def test_restoring_something_else_changes_the_stream() -> None:
    request = RestorationSpec(restoration="identity", sink=2, window=5)
    own, _ = logits_of(tiny_llama(), request, prompt_of(40), [40], make_restorer("identity"))
    dimmed, _ = logits_of(tiny_llama(), request, prompt_of(40), [40], Dimmed())
    assert np.abs(own - dimmed).max() > 0.1


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", ["identity", "ablate"])
def test_strict_does_not_depend_on_the_prefill_chunk(family, mode: str) -> None:  # type: ignore[no-untyped-def]
    prompt = prompt_of(61)
    streams = {
        tuple(stream(engine_of(family(), chunk, restoration=mode, sink=3, window=6), prompt)) for chunk in (1, 9, 512)
    }
    assert len(streams) == 1


def test_every_evicted_position_is_counted_restored_or_gone() -> None:
    verifier, prompt = tiny_llama(), prompt_of(50)
    layers, out_of_window = verifier.architecture.layers, 50 - 4 - 8
    for mode, restored in (("identity", layers * out_of_window), ("ablate", 0)):
        engine = engine_of(verifier, 16, restoration=mode, sink=4, window=8)
        session = engine.prefill(prompt)
        stats = engine.stats(session)
        assert (stats.evicted_positions, stats.restored_positions) == (layers * out_of_window, restored)
        assert (stats.restoration_s > 0) == (restored > 0)
        list(engine.decode(session, DecodeLimit(11, {})))
        assert engine.stats(session).evicted_positions == layers * (out_of_window + 9)


def test_a_short_prompt_evicts_and_restores_nothing() -> None:
    engine = engine_of(tiny_llama(), restoration="identity", sink=4, window=64)
    stats = engine.stats(engine.prefill(prompt_of(30)))
    assert (stats.evicted_positions, stats.restored_positions, stats.restoration_s) == (0, 0, 0.0)


@SLOW
@given(REQUESTS, st.integers(1, 60), st.integers(1, 30), st.sampled_from([tiny_llama, tiny_gemma]))
def test_bytes_held_are_the_formula_s(request: RestorationSpec, prompt: int, chunk: int, family) -> None:  # type: ignore[no-untyped-def]
    verifier = family()
    engine = build("incremental", verifier, EngineSettings(prefill_chunk=chunk, restoration=request))
    stats = engine.stats(engine.prefill(prompt_of(prompt)))
    assert (
        stats.kv_bytes == cache_table("sut", verifier.architecture.cache_layers, engine.restoration, prompt).total_bytes
    )


def test_ablated_bytes_do_not_grow_with_the_stream() -> None:
    engine = engine_of(tiny_llama(), 16, restoration="ablate", sink=4, window=8)
    session = engine.prefill(prompt_of(60))
    before = engine.stats(session).kv_bytes
    list(engine.decode(session, DecodeLimit(40, {})))
    assert engine.stats(session).kv_bytes == before * 13 // 12


def test_no_mask_is_prompt_by_prompt() -> None:
    for mode in ("identity", "ablate"):
        session = engine_of(tiny_gemma(), 16, restoration=mode, sink=4, window=8).prefill(prompt_of(200))
        assert isinstance(session, EvictingSession)
        queries, keys = session.cache.counters.largest_mask
        assert 0 < queries <= 16
        assert keys <= 200 + 16


def test_expired_positions_are_not_called_evicted() -> None:
    session = engine_of(tiny_gemma(), 16, restoration="ablate", exact_layers="full_attention", window=40).prefill(
        prompt_of(60)
    )
    assert isinstance(session, EvictingSession)
    assert session.cache.counters.evicted == 0
    assert session.cache.counters.expired == 4 * (60 - 16)


def test_exact_layers_are_resolved_from_layer_types() -> None:
    engine = engine_of(tiny_gemma(), restoration="ablate", exact_layers="full_attention")
    assert engine.restoration.exact_layers == (2, 5)
    assert (engine.restoration.sink, engine.restoration.window, engine.restoration.eviction) == (4, 64, "strict")


@pytest.mark.parametrize(
    ("exact", "error", "says"),
    [
        ((0, 1, 2, 3), EngineError, "nothing would be evicted"),
        ((9,), UsageError, "no layer 9"),
        ("sliding_attention", UsageError, "no sliding_attention layer"),
    ],
)
def test_what_it_cannot_do_is_refused_at_once(exact: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        engine_of(tiny_llama(), restoration="identity", exact_layers=exact)
    assert "\n" not in str(caught.value)


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(EngineError, match="empty"):
        engine_of(tiny_llama(), restoration="ablate").prefill([])


def test_a_prompt_of_one_token_is_read() -> None:
    assert stream(engine_of(tiny_llama(), restoration="identity"), [5]) == oracle(tiny_llama(), [5])

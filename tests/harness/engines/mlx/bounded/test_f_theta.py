"""f_theta against a dense forward that chooses, per query and position, between own and projected K/V."""

from collections.abc import Sequence
from functools import cache

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import EngineError
from harness.engines.bounded.bounded_verifier import chunk_length, layer_rules
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.f_theta import FeatureStore, FThetaRestorer
from harness.engines.mlx.bounded.arrays import ARRAYS
from harness.engines.mlx.bounded.forward import take_apart
from harness.engines.mlx.verifier.load import Verifier
from reports.records.measurement import Restoration
from tests.harness.f_theta_makers import f_theta_of
from tests.harness.tiny_models import prompt_of, tiny_gemma, tiny_llama, tiny_qwen2, tiny_qwen3

SINK, WINDOW = 2, 5
FAMILIES = [tiny_llama, tiny_gemma, tiny_qwen2, tiny_qwen3]


def logits_of(
    verifier: Verifier,
    restorer: FThetaRestorer,
    tokens: Sequence[int],
    prompt: int,
    chunk: int,
    exact: tuple[int, ...] = (),
) -> tuple[np.ndarray, EvictingCache]:
    """Logits of the prompt in chunks and the rest step by step, strict."""
    backbone = take_apart(verifier.model, verifier.architecture.name)
    kept = Restoration(mode="f_theta", exact_layers=exact, sink=SINK, window=WINDOW, eviction="strict")
    rules = layer_rules(kept, restorer, [layer.native_window for layer in verifier.architecture.cache_layers])
    length = chunk_length(chunk, rules, restorer)
    cache, rows = EvictingCache(rules, True, restorer, ARRAYS), []
    for start in range(0, prompt, length):
        part = tokens[start : min(start + length, prompt)]
        cache.begin_chunk(len(part))
        rows.append(backbone.run(mx.array([list(part)]), cache))
        cache.end_chunk()
    for token in tokens[prompt:]:
        cache.begin_step()
        rows.append(backbone.run(mx.array([[token]]), cache))
    return np.array(backbone.head(backbone.norm(mx.concatenate(rows, axis=1)))[0]), cache


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("exact", [(), (1,)])
@pytest.mark.parametrize("layer", [0, 2])
def test_what_is_rebuilt_in_every_forward_is_what_would_have_stayed(family, exact, layer: int) -> None:  # type: ignore[no-untyped-def]
    verifier, tokens = family(), prompt_of(48)
    found = {
        residency: logits_of(verifier, f_theta_of(verifier, layer, residency), tokens, 37, 9, exact)
        for residency in ("resident", "transient")
    }
    np.testing.assert_allclose(found["transient"][0], found["resident"][0], atol=2e-4, rtol=0)
    resident, transient = found["resident"][1], found["transient"][1]
    assert transient.nbytes < resident.nbytes
    assert transient.counters.evicted == resident.counters.evicted


@cache
def token_by_token(family, layer: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    verifier = family()
    return logits_of(verifier, f_theta_of(verifier, layer, "transient"), prompt_of(50), 50, 1)[0]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 50), st.integers(1, 40), st.sampled_from([tiny_llama, tiny_gemma]), st.sampled_from([0, 2]))
def test_neither_the_chunk_nor_where_the_prompt_ends_changes_logits(  # type: ignore[no-untyped-def]
    prompt: int, chunk: int, family, layer: int
) -> None:
    verifier, tokens, expected = family(), prompt_of(50), token_by_token(family, layer)
    found, _ = logits_of(verifier, f_theta_of(verifier, layer, "transient"), tokens, prompt, chunk)
    np.testing.assert_allclose(found, expected, atol=2e-4, rtol=0)


def test_layers_without_a_map_drop_and_every_pair_is_counted_once() -> None:
    verifier = tiny_llama()
    restorer = f_theta_of(verifier, 1, "transient", restorable=(1, 2))
    _, cache = logits_of(verifier, restorer, prompt_of(40), 30, 8)
    rows = [layer.keys.shape[2] for layer in cache.layers if layer.keys is not None]
    assert rows == [SINK + WINDOW + 1] * 4
    assert cache.counters.evicted == 4 * (40 - SINK - WINDOW - 1)
    assert cache.counters.restored == 2 * (40 - SINK - WINDOW - 1)


def test_features_of_unread_positions_are_an_error() -> None:
    store = FeatureStore(ARRAYS)
    store.append(mx.ones((3, 4), mx.float16))
    assert store.nbytes == 3 * 4 * 2
    store.append(mx.zeros((2, 4), mx.float16), spare=5)
    assert store.nbytes == 10 * 4 * 2
    assert np.array(store.take(range(2, 5))).tolist() == [[1.0] * 4, [0.0] * 4, [0.0] * 4]
    with pytest.raises(EngineError, match="position 5 are wanted, 5 are there"):
        store.take(range(2, 6))


def test_features_beyond_float16_are_clipped() -> None:
    projection = f_theta_of(tiny_llama(), 0, "transient").projection
    kept = projection.normalise(mx.array([[1e9] * 32]))
    assert kept.dtype == mx.float16
    assert mx.all(mx.isfinite(kept)).item()

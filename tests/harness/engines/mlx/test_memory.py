"""Bytes from the arrays of any cache, and a peak that starts anew."""

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.engines.mlx.memory import kv_bytes, peak_bytes, reset_peak
from tests.harness.tiny_models import prompt_of, tiny_gemma


def test_native_caches_count_the_slots_they_allocated() -> None:
    caches = make_prompt_cache(tiny_gemma().model)
    assert kv_bytes(caches) == 0
    tiny_gemma().model(mx.array([prompt_of(40)]), cache=caches)
    by_hand = sum(array.nbytes for cache in caches for array in (cache.keys, cache.values))
    assert kv_bytes(caches) == by_hand
    assert by_hand == (2 * 256 + 4 * 40) * 2 * 8 * 4


def test_the_peak_is_that_of_the_run_since_the_reset() -> None:
    mx.eval(mx.zeros((1 << 22,)))
    held = mx.get_active_memory()
    reset_peak()
    mx.eval(mx.zeros((1 << 20,)) + 1)
    assert 1 << 22 <= peak_bytes() - held < 1 << 24

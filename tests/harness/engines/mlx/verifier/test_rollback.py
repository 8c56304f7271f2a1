"""Rolling back: exact where it is done, refused where it cannot be."""

import mlx.core as mx
import pytest
from mlx_lm.models.cache import ArraysCache, KVCache, RotatingKVCache, trim_prompt_cache

from harness.base.errors import EngineError
from harness.engines.mlx.verifier.plain_caches import native_caches, plain_caches
from harness.engines.mlx.verifier.rollback import Snapshot, trim
from tests.harness.lively_models import lively_gemma
from tests.harness.tiny_models import prompt_of, tiny_llama


def read(tokens: list[int], caches: list) -> mx.array:
    logits = lively_gemma().model(mx.array([tokens]), cache=caches)
    mx.eval(logits, [cache.state for cache in caches])
    return logits[0, -1]


def state(caches: list) -> list[mx.array]:
    """The K/V held, in the order of positions."""
    held = []
    for cache in caches:
        for array in (cache.keys, cache.values):
            ring = isinstance(cache, RotatingKVCache)
            held.append(cache._temporal_order(array) if ring else array[..., : cache.offset, :])
    return held


@pytest.mark.parametrize("ahead", [1, 2, 5])
@pytest.mark.parametrize("before", [3, 16, 40])
def test_a_snapshot_gives_back_every_cache_as_it_was(before: int, ahead: int) -> None:
    caches = native_caches(lively_gemma().model)
    read(prompt_of(before), caches)
    read([7], caches)
    held = [mx.array(array) for array in state(caches)]
    mx.eval(held)
    snapshots = [Snapshot.take(cache) for cache in caches]
    mx.eval([snapshot.arrays() for snapshot in snapshots])
    for token in prompt_of(ahead, seed=3):
        read([token], caches)
    read(prompt_of(ahead, seed=4), caches)
    for snapshot in snapshots:
        snapshot.restore()
    assert all(mx.array_equal(now, then) for now, then in zip(state(caches), held, strict=True))


def test_what_is_trimmed_was_never_there() -> None:
    caches, other = plain_caches(lively_gemma().model), plain_caches(lively_gemma().model)
    read(prompt_of(40), caches)
    read(prompt_of(6, seed=2), caches)
    trim(caches, 6)
    read(prompt_of(40), other)
    assert mx.array_equal(read([5], caches), read([5], other))


@pytest.mark.parametrize("before", [10, 40])
def test_the_window_is_kept_on_plain_caches(before: int) -> None:
    plain, native = plain_caches(lively_gemma().model), native_caches(lively_gemma().model)
    for tokens in (prompt_of(before), [3], prompt_of(5, seed=1), [4]):
        assert mx.allclose(read(tokens, plain), read(tokens, native), atol=1e-3)


def test_a_wrapped_ring_is_refused() -> None:
    caches = native_caches(lively_gemma().model)
    read(prompt_of(40), caches)
    with pytest.raises(EngineError, match="layer 0: a RotatingKVCache in this state"):
        trim(caches, 2)
    assert trim_prompt_cache(caches, 2) == 0


def test_a_cache_that_trims_less_than_asked_is_an_error() -> None:
    caches = plain_caches(tiny_llama().model)
    with pytest.raises(EngineError, match="0 of 2 positions"):
        trim(caches, 2)
    trim(caches, 0)


def test_a_recurrent_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_llama().model
    monkeypatch.setattr(model, "make_cache", lambda: [KVCache(), ArraysCache(2)], raising=False)
    with pytest.raises(EngineError, match="layer 1 keeps a ArraysCache"):
        plain_caches(model)
    with pytest.raises(EngineError, match="cannot be trimmed"):
        trim([ArraysCache(2)], 1)


def test_trimming_a_ring_past_its_wrap_diverges() -> None:
    """Why it is refused: native caches, trimmed by force after blocks of four, with single steps in between."""
    forced, exact = native_caches(lively_gemma().model), native_caches(lively_gemma().model)
    read(prompt_of(40), forced)
    read(prompt_of(40), exact)
    apart = []
    for first, second in zip(prompt_of(12, seed=9)[::2], prompt_of(12, seed=9)[1::2], strict=True):
        read([first, 1, 2, 3], forced)
        for cache in forced:
            cache.trim(3)
        read([first], exact)
        apart.append(not mx.allclose(read([second], forced), read([second], exact), atol=1e-2))
    assert any(apart)

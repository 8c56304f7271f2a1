"""What the cache itself refuses, and how it looks to mlx-lm's layers."""

import mlx.core as mx
import pytest

from harness.base.errors import EngineError
from harness.engines.bounded.cache import EvictingCache
from harness.engines.bounded.layout import LayerRule
from harness.engines.bounded.restoration import AblateRestorer, Evicted, IdentityRestorer
from harness.engines.mlx.bounded.arrays import ARRAYS

RULES = [LayerRule("restore", 1, 2), LayerRule("drop", 1, 2), LayerRule("keep")]


def kv(length: int, seed: int = 0) -> tuple[mx.array, mx.array]:
    shape = (1, 2, length, 4)
    return mx.random.normal(shape, key=mx.random.key(seed)), mx.random.normal(shape, key=mx.random.key(seed + 1))


def read(cache: EvictingCache, length: int) -> None:
    cache.begin_chunk(length)
    for layer in cache.layers:
        layer.update_and_fetch(*kv(length))
    cache.end_chunk()


def test_layers_of_one_rule_share_their_plan_and_mask() -> None:
    cache = EvictingCache([RULES[0], RULES[2], RULES[0]], True, IdentityRestorer(), ARRAYS)
    assert len(cache.groups) == 2
    assert cache.layers[0].group is cache.layers[2].group


def test_it_cannot_be_taken_for_a_quantised_or_an_empty_one() -> None:
    layer = EvictingCache(RULES, True, IdentityRestorer(), ARRAYS).layers[0]
    assert not hasattr(layer, "bits")
    assert not hasattr(layer, "__len__")
    assert layer


def test_layers_hold_what_their_rules_say() -> None:
    cache = EvictingCache(RULES, True, IdentityRestorer(), ARRAYS)
    read(cache, 10)
    assert [layer.keys.shape[2] for layer in cache.layers if layer.keys is not None] == [10, 3, 10]
    assert cache.nbytes == 23 * 2 * 2 * 4 * 4
    assert (cache.counters.restored, cache.counters.evicted) == (7, 14)


def test_nothing_is_held_before_the_first_chunk() -> None:
    assert EvictingCache(RULES, True, IdentityRestorer(), ARRAYS).nbytes == 0


def test_identity_writes_back_the_very_bytes() -> None:
    cache = EvictingCache(RULES[:1], True, IdentityRestorer(), ARRAYS)
    read(cache, 10)
    keys = cache.layers[0].keys
    assert keys is not None
    assert mx.array_equal(keys, kv(10)[0])


def test_a_step_writes_back_what_the_step_before_moved_out() -> None:
    cache = EvictingCache(RULES[:1], True, IdentityRestorer(), ARRAYS)
    read(cache, 10)
    own = [*(kv(10)[0][:, :, p] for p in range(10))]
    for step in range(3):
        cache.begin_step()
        own.append(kv(1, seed=step)[0][:, :, 0])
        keys, _ = cache.layers[0].update_and_fetch(*kv(1, seed=step))
        assert mx.array_equal(keys, mx.stack(own, axis=2))
        assert len(cache.remade()) == 1
    assert cache.counters.restored == cache.counters.evicted == 7 + 2


def test_running_a_layer_without_a_plan_is_an_error() -> None:
    with pytest.raises(EngineError, match="without a plan"):
        EvictingCache(RULES, True, IdentityRestorer(), ARRAYS).layers[0].update_and_fetch(*kv(3))


def test_evicting_before_anything_was_read_is_an_error() -> None:
    cache = EvictingCache(RULES[:1], True, AblateRestorer(), ARRAYS)
    with pytest.raises(EngineError, match="puts nothing back"):
        read(cache, 10)


def test_a_restorer_that_returns_another_shape_is_caught() -> None:
    class Short(IdentityRestorer):
        def restore(self, evicted: Evicted) -> tuple[mx.array, mx.array]:
            return evicted.keys[:, :, :-1], evicted.values

    with pytest.raises(EngineError, match="another shape for layer 0"):
        read(EvictingCache(RULES[:1], True, Short(), ARRAYS), 10)


def test_seconds_of_restoration_are_spent_only_where_something_is_restored() -> None:
    restoring, dropping = (
        EvictingCache(RULES[:1], True, IdentityRestorer(), ARRAYS),
        EvictingCache(RULES[1:], True, AblateRestorer(), ARRAYS),
    )
    read(restoring, 10)
    read(dropping, 10)
    assert restoring.watch.total("restoration") > 0.0
    assert dropping.watch.total("restoration") == 0.0

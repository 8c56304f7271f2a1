"""The formula against the worked example it has to reproduce, and against its own limits."""

import pytest

from harness.engines.architecture import CacheLayer
from harness.engines.bounded.cache_formula import cache_table, resident_positions
from reports.records.measurement import Restoration

FULL_AT = (5, 11, 17, 23, 29)
HYBRID = tuple(
    CacheLayer("full_attention", 4096) if index in FULL_AT else CacheLayer("sliding_attention", 8192)
    for index in range(30)
)
BOUNDED = Restoration(mode="ablate", exact_layers=FULL_AT, sink=4, window=64, eviction="strict")
KIB = 1024


def test_a_hybrid_of_thirty_layers_bounded_by_sink_and_window() -> None:
    table = cache_table("sut", HYBRID, BOUNDED, 5810)
    by_kind = {
        kind: sum(row.resident_bytes for row in table.layers if row.kind == kind)
        for kind in ("sliding_attention", "full_attention")
    }
    assert by_kind == {"sliding_attention": 13_926_400, "full_attention": 118_988_800}
    assert table.total_bytes == 132_915_200
    assert table.full_kv_bytes == 1_308_876_800
    assert round(100 * (1 - table.total_bytes / table.full_kv_bytes), 1) == 89.8


def test_growth_a_token_is_that_of_the_full_layers() -> None:
    one, two = (cache_table("sut", HYBRID, BOUNDED, length) for length in (5810, 5811))
    assert two.total_bytes - one.total_bytes == 20 * KIB
    assert two.full_kv_bytes - one.full_kv_bytes == 220 * KIB


@pytest.mark.parametrize("mode", ["none", "identity", "f_theta"])
def test_what_is_restored_stays_resident(mode: str) -> None:
    restoration = Restoration(mode=mode, exact_layers=(), sink=4, window=64)  # type: ignore[arg-type]
    assert cache_table("sut", HYBRID, restoration, 500).total_bytes == 500 * 220 * KIB


def test_what_is_rebuilt_in_every_forward_weighs_its_features_alone() -> None:
    dropped = cache_table("sut", HYBRID, Restoration(mode="ablate", exact_layers=(5,), sink=4, window=64), 500)
    rebuilding = Restoration(
        mode="f_theta", exact_layers=(5,), sink=4, window=64, residency="transient", feature_bytes=1152
    )
    table = cache_table("sut", HYBRID, rebuilding, 500)
    assert table.layers == dropped.layers
    assert table.feature_bytes == 500 * 1152
    assert table.total_bytes == dropped.total_bytes + 500 * 1152


@pytest.mark.parametrize(
    ("native", "length", "held"),
    [
        (None, 40, 40),
        (None, 68, 68),
        (None, 69, 68),
        (512, 400, 68),
        (512, 514, 66),
        (512, 900, 64),
        (65, 900, 65),
        (32, 900, 32),
        (32, 20, 20),
    ],
)
def test_a_native_window_bounds_what_sink_and_window_leave(native: int | None, length: int, held: int) -> None:
    layer = CacheLayer("sliding_attention" if native else "full_attention", 1, native)
    restoration = Restoration(mode="ablate", exact_layers=(), sink=4, window=64)
    assert resident_positions(0, layer, restoration, length) == held


def test_an_exact_sliding_layer_is_bounded_by_its_own_window() -> None:
    layer = CacheLayer("sliding_attention", 1, 512)
    restoration = Restoration(mode="ablate", exact_layers=(0,), sink=4, window=64)
    assert resident_positions(0, layer, restoration, 900) == 512

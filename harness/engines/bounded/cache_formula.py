"""K/V memory by formula: what a bounded cache should hold. Pure arithmetic; only measured bytes decide.

A layer holds `positions x bytes a token`, with bytes a token = 2 (K and V) x K/V heads x head size x bytes a value.
"""

from collections.abc import Sequence

from harness.engines.architecture import CacheLayer
from reports.records.kv_memory import ArmMemory, LayerMemory
from reports.records.measurement import Restoration


def cache_table(arm: str, layers: Sequence[CacheLayer], restoration: Restoration, sequence_length: int) -> ArmMemory:
    """The per-layer table of an arm after it has read `sequence_length` positions.

    `full_kv_bytes` is the naive figure: every layer keeps every position.
    """
    features = restoration.feature_bytes
    rows = tuple(
        _row(index, layer, resident_positions(index, layer, restoration, sequence_length))
        for index, layer in enumerate(layers)
    )
    return ArmMemory(
        arm=arm,
        sequence_length=sequence_length,
        layers=rows,
        feature_bytes=None if features is None else features * sequence_length,
        total_bytes=sum(row.resident_bytes for row in rows) + (features or 0) * sequence_length,
        full_kv_bytes=sequence_length * sum(layer.bytes_per_token for layer in layers),
    )


def resident_positions(index: int, layer: CacheLayer, restoration: Restoration, sequence_length: int) -> int:
    """Positions layer `index` holds when `sequence_length` positions were read and nothing follows yet.

    A layer that drops what leaves sink + window (or rebuilds it in every forward) holds the first `sink` and the last
    `window` of them, as far as its own window reaches; every other layer (exact, restored, or no eviction at all) holds
    all its own window allows.
    """
    oldest = max(0, sequence_length - layer.native_window) if layer.native_window is not None else 0
    window = restoration.window
    rebuilding = restoration.mode == "f_theta" and restoration.residency == "transient"
    dropping = (restoration.mode == "ablate" or rebuilding) and index not in (restoration.exact_layers or ())
    if not dropping or window is None or (layer.native_window is not None and window + 1 >= layer.native_window):
        return sequence_length - oldest
    sink = min(restoration.sink or 0, sequence_length)
    recent = max(sink, oldest, sequence_length - window)
    return max(0, sink - oldest) + sequence_length - recent


def _row(index: int, layer: CacheLayer, positions: int) -> LayerMemory:
    return LayerMemory(
        layer=index,
        kind=layer.kind,
        bytes_per_token=layer.bytes_per_token,
        resident_positions=positions,
        resident_bytes=positions * layer.bytes_per_token,
    )

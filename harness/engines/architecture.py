"""What a loaded verifier is, whatever loaded it."""

from dataclasses import dataclass

from reports.records.kv_memory import LayerKind


@dataclass(frozen=True)
class CacheLayer:
    """One layer's K/V: its kind, bytes a token, and the model's own window if it has one that bounds its cache."""

    kind: LayerKind
    bytes_per_token: int
    native_window: int | None = None


@dataclass(frozen=True)
class Architecture:
    """A verifier as loaded: the `name` of its class, and one entry a layer in `cache_layers` and `layer_types`."""

    name: str
    layers: int
    layer_types: tuple[str, ...]
    sliding_window: int | None
    kv_heads: int
    head_dim: int
    cache_layers: tuple[CacheLayer, ...]
    dtype: str
    quantisation: str | None
    vocab: int
    eos_ids: tuple[int, ...]

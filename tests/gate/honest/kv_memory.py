"""K/V that a simulated arm holds, and the analytic table beside it."""

from reports.records.kv_memory import ArmMemory, LayerMemory
from reports.records.measurement import Arm, Restoration
from tests.gate.honest.setup import BYTES_PER_LAYER_TOKEN, LAYERS, SINK, WINDOW


def kv_bytes(restoration: Restoration, tokens: int) -> int:
    """Bytes of K/V in all layers, and of features, after so many tokens."""
    return LAYERS * BYTES_PER_LAYER_TOKEN * _positions(restoration, tokens) + (restoration.feature_bytes or 0) * tokens


def memory_table(arm: Arm) -> ArmMemory:
    """The table of an arm at the end of prefill of its longest prompt."""
    longest = max(arm.measurements, key=lambda row: row.prompt_tokens or 0)
    assert longest.prompt_tokens is not None
    assert arm.restoration is not None
    positions = _positions(arm.restoration, longest.prompt_tokens)
    kept = arm.restoration.feature_bytes
    features = kept * longest.prompt_tokens if kept is not None else None
    layer_bytes = positions * BYTES_PER_LAYER_TOKEN
    return ArmMemory(
        arm=arm.name,
        sample=longest.sample,
        sequence_length=longest.prompt_tokens,
        layers=tuple(
            LayerMemory(
                layer=layer,
                kind="full_attention",
                bytes_per_token=BYTES_PER_LAYER_TOKEN,
                resident_positions=positions,
                resident_bytes=layer_bytes,
            )
            for layer in range(LAYERS)
        ),
        feature_bytes=features,
        total_bytes=LAYERS * layer_bytes + (features or 0),
        full_kv_bytes=LAYERS * BYTES_PER_LAYER_TOKEN * longest.prompt_tokens,
        measured_bytes=longest.kv_bytes_prefill,
        formula_matches_run=True,
    )


def _positions(restoration: Restoration, tokens: int) -> int:
    """Positions whose K/V a layer holds: all of them, unless evicted and neither put back for good."""
    kept = restoration.mode == "none" or (restoration.mode != "ablate" and restoration.residency == "resident")
    return tokens if kept else min(tokens, SINK + WINDOW)

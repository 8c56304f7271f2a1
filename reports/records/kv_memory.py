"""K/V memory: what a formula says a cache holds, next to what the arrays held."""

from typing import Literal

from pydantic import Field

from reports.records.record import Bytes, Count, Name, Record

LayerKind = Literal["full_attention", "sliding_attention"]


class LayerMemory(Record):
    """One layer of the analytic table: `bytes` = positions x bytes a token."""

    layer: Count
    kind: LayerKind
    bytes_per_token: Bytes
    resident_positions: Count
    resident_bytes: Bytes


class ArmMemory(Record):
    """The analytic table of one arm at the end of prefill of its longest sample."""

    arm: Name
    sample: Count | None = None
    sequence_length: Count
    layers: tuple[LayerMemory, ...]
    feature_bytes: Bytes | None = Field(
        None, description="Proposer features that stay resident, in all; none where no proposer keeps any"
    )
    total_bytes: Bytes
    full_kv_bytes: Bytes
    measured_bytes: Bytes | None = None
    formula_matches_run: bool | None = None
    stated_formula_matches_run: bool | None = Field(None, description="Imports: the tool's own flag, kept beside ours")


class MemoryTable(Record):
    """One analytic table an arm that bounds its cache."""

    arms: tuple[ArmMemory, ...]

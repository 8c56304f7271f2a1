"""The sums of a table of K/V memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.kv_memory import (
    full_bytes,
    resident_bytes,
)
from gate.rulebook.rule import Fault

if TYPE_CHECKING:
    from reports.records.kv_memory import ArmMemory


def table_sums(table: ArmMemory) -> Iterator[Fault]:
    """Where a table contradicts its own arithmetic."""
    for layer in table.layers:
        product = layer.resident_positions * layer.bytes_per_token
        if layer.resident_bytes != product:
            message = f"layer {layer.layer} holds {layer.resident_bytes} bytes, its positions give {product}"
            yield Fault("memory.layers", message, str(layer.resident_bytes), str(product))
            break
        if layer.resident_positions > table.sequence_length:
            message = f"layer {layer.layer} holds {layer.resident_positions} of {table.sequence_length} positions"
            yield Fault("memory.layers", message, str(layer.resident_positions), f"at most {table.sequence_length}")
            break
    for name, stated, added in (
        ("total_bytes", table.total_bytes, resident_bytes(table)),
        ("full_kv_bytes", table.full_kv_bytes, full_bytes(table)),
    ):
        if stated != added:
            yield Fault(f"memory.{name}", f"{name} is {stated}, the layers give {added}", str(stated), str(added))

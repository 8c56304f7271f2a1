"""K/V bytes: what rows held, what an arm saved, and the analytic table of an arm against both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.figures.paired_ratios import rows_by_key
from gate.figures.statistics.median import median
from gate.rulebook.report_view import ReportView, drafts_by_model, row_key
from gate.rulebook.thresholds import MEMORY_GAP

if TYPE_CHECKING:
    from reports.records.kv_memory import ArmMemory
    from reports.records.measurement import Arm, Measurement


def kv_bytes(row: Measurement) -> int | None:
    """The most K/V bytes a row held at the end of prefill or decode; none unless both were measured."""
    if row.kv_bytes_prefill is None or row.kv_bytes_decode is None:
        return None
    return max(row.kv_bytes_prefill, row.kv_bytes_decode)


def kv_saving(arm: Arm, baseline: Arm) -> float | None:
    """Median over paired rows of 1 - arm bytes / baseline bytes; none if a row has no bytes or no partner."""
    partners = rows_by_key(baseline)
    savings = []
    for row in arm.measurements:
        partner = partners.get(row_key(row))
        held, base = kv_bytes(row), kv_bytes(partner) if partner is not None else None
        if held is None or not base:
            return None
        savings.append(1 - held / base)
    return median(savings) if savings else None


def table_of(view: ReportView, arm: Arm) -> ArmMemory | None:
    """The analytic table of this arm."""
    tables = view.report.memory.arms if view.report.memory is not None else ()
    return next((table for table in tables if table.arm == arm.name), None)


def resident_bytes(table: ArmMemory) -> int:
    """What layers and features hold, added up again (positions x bytes a token); the stated total without layers."""
    if not table.layers:
        return table.total_bytes
    return sum(layer.resident_positions * layer.bytes_per_token for layer in table.layers) + (table.feature_bytes or 0)


def full_bytes(table: ArmMemory) -> int:
    """What all layers would hold if each kept every position. Without layers, the stated figure."""
    if not table.layers:
        return table.full_kv_bytes
    return table.sequence_length * sum(layer.bytes_per_token for layer in table.layers)


def analytic_saving(table: ArmMemory) -> float | None:
    """1 - resident / full, both from the layers."""
    full = full_bytes(table)
    return 1 - resident_bytes(table) / full if full else None


def rows_of(arm: Arm, table: ArmMemory) -> list[Measurement]:
    """The rows that ran the table's prompt: its sample, or where none is named, any prompt of the table's length."""
    if table.sample is not None:
        return [row for row in arm.measurements if row.sample == table.sample]
    return [row for row in arm.measurements if row.prompt_tokens == table.sequence_length]


def verifier_bytes(arm: Arm, row: Measurement) -> int | None:
    """K/V bytes at the end of prefill without the context of a drafter that has one; none if not measured.

    Formulas are about the verifier's cache. A saving counts the drafter's context as well.
    """
    if row.kv_bytes_prefill is None or not drafts_by_model(arm):
        return row.kv_bytes_prefill
    return row.kv_bytes_prefill - (row.drafter_bytes_prefill or 0)


def prefill_bytes(arm: Arm, table: ArmMemory) -> int | None:
    """The most bytes that the verifier's cache held at the end of prefill in rows of the table's prompt; none if one
    was not measured."""
    held = [verifier_bytes(arm, row) for row in rows_of(arm, table)]
    known = [value for value in held if value is not None]
    return max(known) if known and len(known) == len(held) else None


def formula_gap(arm: Arm, table: ArmMemory) -> float | None:
    """Relative distance between formula and measurement at the end of prefill; none if nothing was measured."""
    measured, formula = prefill_bytes(arm, table), resident_bytes(table)
    if measured is None or formula <= 0:
        return None
    return abs(measured - formula) / formula


def formula_matches_run(arm: Arm, table: ArmMemory) -> bool | None:
    """The formula and the measured bytes lie within `MEMORY_GAP`; none if nothing was measured."""
    found = formula_gap(arm, table)
    return found <= MEMORY_GAP.value if found is not None else None

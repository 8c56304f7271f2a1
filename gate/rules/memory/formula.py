"""The formula of an arm's table against the bytes of its run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import baseline_of
from gate.figures.kv_memory import (
    formula_gap,
    full_bytes,
    prefill_bytes,
    resident_bytes,
    rows_of,
    table_of,
)
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP
from gate.rules.memory.table_sums import table_sums

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.kv_memory import ArmMemory
    from reports.records.measurement import Arm, Measurement


@claim_rule(
    "MEMORY_ANALYTIC_GAP",
    title="Formula and measurement apart",
    catches=f"A table over {MEMORY_GAP.value:.0%} away from the measured bytes, one that does not add up, is "
    "about another length than the run's, leaves out restored K/V that stay resident, or does not fit what the oracle "
    "held; or no table at all.",
    why="A formula is right about the cache it describes; whether the run had that cache only its bytes can say.",
    fix="Count every position that is resident at the end of prefill, restored ones too, in the table of that prompt.",
    blocks=("kv_saving",),
    example=Example(bad="133 MB by formula, 1,309 MB in the arrays", good="133 MB by formula, 134 MB measured"),
    thresholds=(MEMORY_GAP, CACHE_STEP),
)
def analytic_gap(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The table disagrees with itself or with the run."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    table = table_of(view, arm)
    if table is None:
        message = f"{arm.name}: no analytic table to hold its measured bytes to"
        yield Finding(message, arm.name, field="memory.arms", found="none", allowed="a table")
        return
    rows = rows_of(arm, table)
    faults = (
        *table_sums(table),
        *_layers(view, arm, table),
        *_of_run(arm, table, rows),
        *_of_oracle(view, claim, table),
    )
    for field, message, found, allowed in faults:
        yield Finding(f"{arm.name}: {message}", arm.name, table.sample, field, found, allowed)


def _layers(view: ReportView, arm: Arm, table: ArmMemory) -> Iterator[Fault]:
    """What the arm's settings say each layer holds at the least: its own window may bound a sliding layer further."""
    kept, length = arm.restoration, table.sequence_length
    if view.layers is not None and table.layers and len(table.layers) != view.layers:
        message = f"the table has {len(table.layers)} layers, the verifier {view.layers}"
        yield Fault("memory.layers", message, str(len(table.layers)), str(view.layers))
    if kept is None or kept.sink is None or kept.window is None:
        return
    features = (kept.feature_bytes or 0) * length
    if (table.feature_bytes or 0) != features:
        message = f"the table counts {table.feature_bytes or 0} bytes of features, its arm keeps {features}"
        yield Fault("memory.feature_bytes", message, str(table.feature_bytes), str(features))
    bounded = min(length, kept.sink + kept.window) if kept.mode != "none" else length
    for layer in table.layers:
        least = length if layer.layer in (kept.exact_layers or ()) else bounded
        if layer.kind == "full_attention" and layer.resident_positions < least:
            message = f"layer {layer.layer} holds {layer.resident_positions} positions, its settings keep {least}"
            yield Fault("memory.layers", message, str(layer.resident_positions), f"at least {least}")
            break


def _of_run(arm: Arm, table: ArmMemory, rows: list[Measurement]) -> Iterator[Fault]:
    lengths = {row.prompt_tokens for row in rows}
    if lengths != {table.sequence_length}:
        shown = ", ".join(str(length) for length in sorted(filter(None, lengths))) or "none"
        message = f"the table is about {table.sequence_length} positions, the prompt it names has {shown}"
        yield Fault("memory.sequence_length", message, str(table.sequence_length), shown)
    restored = max((row.restored_positions or 0 for row in rows), default=0)
    stays = arm.restoration is not None and arm.restoration.residency == "resident"
    most = sum(
        layer.resident_positions if layer.kind == "full_attention" else table.sequence_length for layer in table.layers
    )
    if stays and table.layers and restored > most:
        message = f"{restored} restored positions stay resident, the table has room for {most}"
        yield Fault("memory.layers", message, str(most), f"at least {restored}")
    gap, measured = formula_gap(arm, table), prefill_bytes(arm, table)
    if gap is not None and gap > MEMORY_GAP.value:
        formula = resident_bytes(table)
        message = f"the formula gives {formula} bytes, {measured} were measured: {gap:.1%} apart"
        yield Fault("memory.total_bytes", message, f"{gap:.3g}", f"at most {MEMORY_GAP.value:g}")


def _of_oracle(view: ReportView, claim: Claim, table: ArmMemory) -> Iterator[Fault]:
    """The table's bytes a token are the oracle's own; a saving by formula is against no more than the oracle held."""
    baseline = baseline_of(view, claim)
    if claim.metric != "kv_saving" or baseline is None:
        return
    held, full = prefill_bytes(baseline, table), full_bytes(table)
    roomy = full * (1 + CACHE_STEP.value / max(1, table.sequence_length)) * (1 + MEMORY_GAP.value)
    if held is not None and held > roomy:
        message = f"{baseline.name} held {held} bytes, a full cache of the table's layers is {full}"
        yield Fault("memory.full_kv_bytes", message, str(full), f"about {held}")
    if claim.basis == "analytic" and held is not None and full > held * (1 + MEMORY_GAP.value):
        message = f"the saving is against {full} bytes, {baseline.name} held {held}"
        yield Fault("memory.full_kv_bytes", message, str(full), f"at most {held}")

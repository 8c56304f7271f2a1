"""The analytic K/V tables of a report: whatever is claimed, their figures can be cited, so they are derived again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.kv_memory import formula_matches_run, rows_of
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP
from gate.rules.memory.known_cache import SLIDING, known_cache
from gate.rules.memory.table_sums import table_sums

if TYPE_CHECKING:
    from reports.records.kv_memory import ArmMemory
    from reports.records.measurement import Arm


@evidence_rule(
    "MEMORY_TABLE",
    title="A table of K/V memory that its rows contradict",
    catches="A table of an arm or sample that the report does not hold, a second one of an arm, layers that stand "
    "twice or are of other kinds than the verifier's or, where K3 knows its cache, of other bytes or fewer positions; "
    "sums that are none, or measured bytes and a `formula_matches_run` that no row supports.",
    why="89.8 % less memory stood in a table, not in a claim; a figure nobody claims is quoted all the same.",
    fix="Let the runner write the table of the longest sample of each bounded arm, from its rows.",
    example=Example(bad="1.5 MB measured by the table, 3.1 MB by its row", good="3.1 MB in the table and in its row"),
    thresholds=(MEMORY_GAP, CACHE_STEP),
)
def memory_table(view: ReportView) -> Iterator[Finding]:
    """A table contradicts itself or the rows it is about."""
    seen: set[str] = set()
    for table in view.report.memory.arms if view.report.memory is not None and not view.imported else ():
        arm = view.arms.get(table.arm)
        if arm is None or table.arm in seen:
            what = "is not in the report" if arm is None else "has a table already"
            message = f"memory: arm {table.arm} {what}"
            yield Finding(message, None, table.sample, "memory.arms", table.arm, "one table an arm")
            continue
        seen.add(table.arm)
        for field, message, found, allowed in (*table_sums(table), *_rows(arm, table), *_kinds(view, table)):
            yield Finding(f"{arm.name}: {message}", arm.name, table.sample, field, found, allowed)


def _rows(arm: Arm, table: ArmMemory) -> Iterator[Fault]:
    rows = rows_of(arm, table)
    lengths = {row.prompt_tokens for row in rows}
    if lengths != {table.sequence_length}:
        shown = ", ".join(sorted(map(str, lengths))) or "no row"
        message = f"the table is about {table.sequence_length} positions of sample {table.sample}, which has {shown}"
        yield Fault("memory.sequence_length", message, str(table.sequence_length), shown)
    held = {row.kv_bytes_prefill for row in rows}
    if table.measured_bytes is not None and table.measured_bytes not in held:
        shown = ", ".join(sorted(map(str, held))) or "none"
        message = f"the table says that {table.measured_bytes} bytes were measured, its rows {shown}"
        yield Fault("memory.measured_bytes", message, str(table.measured_bytes), shown)
    # The runner's flag is strict (the same byte count), the gate's own has slack: only a false yes is a fault.
    if table.formula_matches_run is True and formula_matches_run(arm, table) is not True:
        message = "formula_matches_run is stated, and its rows do not support it"
        yield Fault("memory.formula_matches_run", message, "true", "false")


def _kinds(view: ReportView, table: ArmMemory) -> Iterator[Fault]:
    types = view.verifier.layer_types if view.verifier is not None else None
    numbers = [layer.layer for layer in table.layers]
    if len(set(numbers)) < len(numbers):
        yield Fault("memory.layers", "a layer stands twice in the table", str(len(numbers)), str(len(set(numbers))))
    yield from _unlike_known(view, table)
    for layer in table.layers if types is not None else ():
        kind = types[layer.layer] if types is not None and layer.layer < len(types) else "no layer of the verifier"
        if layer.kind != kind:
            yield Fault(
                "memory.layers",
                f"layer {layer.layer} is {layer.kind} in the table, {kind} in the verifier",
                layer.kind,
                kind,
            )
            break


def _unlike_known(view: ReportView, table: ArmMemory) -> Iterator[Fault]:
    """The layers of a verifier whose cache K3 knows: the bytes of a position, and how many a layer keeps at least."""
    known, arm = known_cache(view), view.arms.get(table.arm)
    kept = arm.restoration if arm is not None else None
    if known is None or kept is None:
        return
    bounded = kept.mode != "none" and kept.sink is not None and kept.window is not None
    for layer in table.layers:
        if layer.bytes_per_token != known.bytes_a_position:
            message = f"layer {layer.layer} takes {layer.bytes_per_token} bytes a position, that of the verifier "
            wanted = str(known.bytes_a_position)
            yield Fault("memory.layers", message + wanted, str(layer.bytes_per_token), wanted)
            break
        own = bounded and layer.layer not in (kept.exact_layers or ())
        # The sink of a long prompt lies outside the own window of a sliding layer.
        sink = 0 if layer.kind == SLIDING else kept.sink or 0
        bound = sink + (kept.window or 0) if own else table.sequence_length
        least = known.least_positions(layer.kind, min(table.sequence_length, bound))
        if layer.resident_positions < least:
            message = f"layer {layer.layer} holds {layer.resident_positions} positions, its settings keep {least}"
            yield Fault("memory.layers", message, str(layer.resident_positions), f"at least {least}")
            break

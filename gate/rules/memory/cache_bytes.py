"""Bytes of caches: the same prefill holds the same K/V, and bounded ones what their bounds leave of the oracle's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.kv_memory import verifier_bytes
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP, Threshold

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement, Restoration


@evidence_rule(
    "KV_BYTES_VARY",
    title="One cache of two sizes",
    catches="Rows of the same engine, restoration and prompt with different K/V bytes at the end of prefill: repeats "
    "of an arm, the oracle and the oracle again.",
    why="Bytes of arrays are not noisy; a baseline that holds more than itself makes any saving look larger.",
    fix="Sum the bytes of the arrays at the same point in every row.",
    example=Example(bad="the oracle holds 29 MB, the oracle again 58 MB", good="29 MB in both, to the byte"),
)
def kv_bytes_vary(view: ReportView) -> Iterator[Finding]:
    """The same prefill left another number of bytes."""
    kinds: list[tuple[object, ...]] = []
    seen: dict[tuple[int, str], tuple[int, str, Measurement]] = {}
    for arm in view.report.arms:
        kind = (arm.engine, arm.restoration, arm.drafter)
        if kind not in kinds:
            kinds.append(kind)
        number = kinds.index(kind)
        for row in arm.measurements:
            held = row.kv_bytes_prefill
            if held is None or row.prompt_digest is None:
                continue
            first, name, other = seen.setdefault((number, row.prompt_digest), (held, arm.name, row))
            if first != held:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: {held} K/V bytes at the end of prefill, "
                    f"{first} in {name}, sample {other.sample}, repeat {other.repeat}",
                    arm=arm.name,
                    sample=row.sample,
                    field="kv_bytes_prefill",
                    found=str(held),
                    allowed=str(first),
                )


MAX_BYTES_EXCESS = Threshold(
    "MAX_BYTES_EXCESS",
    1.25,
    "ratio",
    meaning="Measured K/V bytes over those of the positions that a bounded cache keeps, at the oracle's "
    "bytes a position.",
    source="a choice: what arrays hold beyond the positions they keep",
)


@evidence_rule(
    "KV_BYTES_ARITHMETIC",
    title="Bytes that the bounds do not give",
    catches="A bounded arm of a model with full attention only whose K/V bytes at the end of prefill are not those of "
    "the positions it keeps, at the oracle's bytes a position.",
    why="A cache that is said to keep 68 positions and holds the bytes of 34, or of all, is not that cache.",
    fix="Sum the bytes of the arrays, and record residency and bounds as the engine ran.",
    example=Example(
        bad="sink + window 68 of 620 positions, and the bytes of all 620",
        good="the bytes of 68 positions in every layer",
    ),
    thresholds=(MEMORY_GAP, CACHE_STEP, MAX_BYTES_EXCESS),
)
def kv_bytes_arithmetic(view: ReportView) -> Iterator[Finding]:
    """Bytes, bounds and residency contradict each other."""
    types = view.verifier.layer_types if view.verifier is not None else None
    if not types or set(types) != {"full_attention"} or view.oracle is None or view.imported:
        return
    held = {row.prompt_digest: row.kv_bytes_prefill for row in view.oracle.measurements}
    for arm in view.report.arms:
        for row in arm.measurements if arm.restoration is not None and arm.restoration.mode != "none" else ():
            finding = _bytes_fault(arm, row, held.get(row.prompt_digest), len(types))
            if finding is not None:
                yield finding
                break


def _bytes_fault(arm: Arm, row: Measurement, full: int | None, layers: int) -> Finding | None:
    """Layers that keep every position grow in steps, so their arrays may have room for `CACHE_STEP` more."""
    found, tokens = verifier_bytes(arm, row), row.prompt_tokens
    growing = _growing_layers(arm.restoration, layers) if arm.restoration is not None else None
    if arm.restoration is None or found is None or not full or not tokens or growing is None:
        return None
    step, bound = CACHE_STEP.value, (arm.restoration.sink or 0) + (arm.restoration.window or 0)
    pairs = growing * tokens + (layers - growing) * min(tokens, bound)
    features = (arm.restoration.feature_bytes or 0) * tokens
    low = (pairs * full / (layers * (tokens + step)) + features) * (1 - MEMORY_GAP.value)
    high = ((pairs + growing * step) * full / (layers * tokens) + features) * MAX_BYTES_EXCESS.value
    if low <= found <= high:
        return None
    return Finding(
        f"{arm.name}, sample {row.sample}, repeat {row.repeat}: {found} K/V bytes at the end of prefill; the "
        f"{pairs} (layer, position) pairs it keeps{_and_features(features)} take {low:.0f} to {high:.0f} by what the "
        "oracle held",
        arm=arm.name,
        sample=row.sample,
        field="kv_bytes_prefill",
        found=str(found),
        allowed=f"{low:.0f} to {high:.0f}",
    )


def _and_features(count: int) -> str:
    return f" and {count} bytes of features" if count else ""


def _growing_layers(kept: Restoration, layers: int) -> int | None:
    """Layers that hold every position after prefill; the others hold sink + window. None where it is not recorded."""
    if kept.sink is None or kept.window is None or (kept.mode != "ablate" and kept.residency is None):
        return None
    return layers if kept.mode != "ablate" and kept.residency == "resident" else len(kept.exact_layers or ())

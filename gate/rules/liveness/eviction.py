"""Evictions: there at all, and every position outside sink + window once in every layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "EVICTION_NEVER_RAN",
    title="A bounded arm that dropped nothing",
    catches="An arm with sink + window of which a row evicted no position of a prompt longer than both.",
    why="A cache that keeps everything recalls everything: neither a control nor a restoration is tested by it.",
    fix="Bound the cache as the arm says, and count what is dropped.",
    example=Example(
        bad="sink + window 68, 620 tokens, 0 positions evicted",
        good="sink + window 68, 620 tokens, 552 evicted in each layer",
    ),
)
def eviction_never_ran(view: ReportView) -> Iterator[Finding]:
    """Nothing was evicted although the prompt is longer than sink + window."""
    for arm in view.report.arms:
        kept = arm.restoration
        if kept is None or kept.mode == "none":
            continue
        bound = (kept.sink or 0) + (kept.window or 0)
        for row in arm.measurements:
            if row.evicted_positions == 0 and (row.prompt_tokens or 0) > bound + 1:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: 0 positions were evicted from a prompt of "
                    f"{row.prompt_tokens} tokens with sink + window {bound}",
                    arm=arm.name,
                    sample=row.sample,
                    field="evicted_positions",
                    found="0",
                    allowed="over 0",
                )


@evidence_rule(
    "EVICTION_ARITHMETIC",
    title="Evictions that the bounds do not give",
    catches="A bounded arm whose evicted positions are more than sink, window, exact layers and the length of prompt "
    "and output allow, or fewer than its full-attention layers must have dropped.",
    why="Recall with a window of 16 is another claim than with 64; how much was dropped tells which of them ran.",
    fix="Record the bounds that the engine ran with, and count evictions where they happen.",
    example=Example(
        bad="620 tokens, sink + window 20, 552 evicted in each layer",
        good="620 tokens, sink + window 68, 552 evicted in each",
    ),
)
def eviction_arithmetic(view: ReportView) -> Iterator[Finding]:
    """The number of evictions belongs to other bounds."""
    types = view.verifier.layer_types if view.verifier is not None else None
    if types is None or view.imported:
        return
    for arm in view.report.arms:
        kept = arm.restoration
        if kept is None or kept.mode == "none" or kept.sink is None or kept.window is None:
            continue
        exact = frozenset(kept.exact_layers or ())
        most = sum(layer not in exact for layer in range(len(types)))
        least = sum(layer not in exact and kind == "full_attention" for layer, kind in enumerate(types))
        for row in arm.measurements:
            finding = _fault(arm, row, kept.sink + kept.window, least, most)
            if finding is not None:
                yield finding
                break


def _fault(arm: Arm, row: Measurement, bound: int, least: int, most: int) -> Finding | None:
    """Between prefill and the last token, `least` to `most` layers drop what leaves the bound."""
    gone, prompt = row.evicted_positions, row.prompt_tokens
    if not gone or prompt is None or row.decode_tokens is None:  # that nothing was evicted is another rule's business
        return None
    low = least * max(0, prompt - bound - 1)
    high = most * max(0, prompt + row.decode_tokens + 1 - bound)
    if low <= gone <= high:
        return None
    return Finding(
        f"{arm.name}, sample {row.sample}, repeat {row.repeat}: {gone} positions evicted; {prompt} prompt and "
        f"{row.decode_tokens} decode tokens with sink + window {bound} give {low} to {high}",
        arm=arm.name,
        sample=row.sample,
        field="evicted_positions",
        found=str(gone),
        allowed=f"{low} to {high}",
    )

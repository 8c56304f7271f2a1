"""Whose recall it is: the model's own, or that of restored K/V."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.liveness import did_restore, ran_natively
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION, Threshold
from reports.records.constants import NATIVE_BASELINE_LABEL

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement


@claim_rule(
    "BASELINE_RECALL_CLAIM",
    title="The baseline's recall, claimed for the system",
    catches="An arm that restored and drafted in no row, or is labelled a native baseline, and claims recall other "
    "than as one; or a native baseline's recall claimed by an arm that is not labelled so.",
    why="The model's own cache recalls everything it is long enough for; that says nothing about the system.",
    fix="Claim `native_baseline_recall` for a labelled baseline; make the system run for anything else.",
    blocks=("restoration_recall", "arm_recall", "native_baseline_recall"),
    example=Example(bad="a native arm claims restoration_recall", good="it claims native_baseline_recall"),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def baseline_recall_claim(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Recall is claimed under another arm's name."""
    arm = view.arms.get(claim.arm)
    if arm is None or arm.role == "oracle":
        return
    labelled = arm.system_under_test == NATIVE_BASELINE_LABEL
    if claim.metric == "native_baseline_recall":
        if not labelled:
            label = arm.system_under_test or "nothing"
            yield Finding(
                f"{arm.name}: claims a native baseline's recall and is labelled {label}",
                arm=arm.name,
                field="system_under_test",
                found=label,
                allowed=NATIVE_BASELINE_LABEL,
            )
    elif labelled or ran_natively(arm):
        yield Finding(
            f"{arm.name}: claims {claim.metric}, and 0 of its {len(arm.measurements)} rows restored or drafted"
            if ran_natively(arm)
            else f"{arm.name}: claims {claim.metric} and is labelled {NATIVE_BASELINE_LABEL}",
            arm=arm.name,
            field="claims.metric",
            found=claim.metric,
            allowed="native_baseline_recall",
        )


LEAST_RESTORED = Threshold(
    "LEAST_RESTORED",
    0.95,
    "share of positions",
    meaning="Positions put back, of those evicted in all layers: what is left out is not restored K/V.",
    source="the engines restore all; in blocks, all but those of the last block (0.998)",
)


@claim_rule(
    "RECALL_SCOPE",
    title="Recall of restoration from rows that did not restore",
    catches="A claim of recall by restoration with a row in which restoration did not run, cannot be shown to have, or "
    f"put back less than {LEAST_RESTORED.value:.0%} of what was evicted.",
    why="A run whose restoration took 1 ms for 5,000 tokens restored nothing, and recalled 5 of 5 from its own layers.",
    fix="Count restored positions where they are written; claim recall by restoration only if every row restored.",
    blocks=("restoration_recall",),
    example=Example(
        bad="recall by restoration over 5 rows, 3 of them restored", good="recall by restoration, every row restored"
    ),
    thresholds=(RESTORATION_S_PER_POSITION, LEAST_RESTORED),
)
def recall_scope(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Not every row ran with restoration."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    without = [row for row in arm.measurements if did_restore(arm, row) is not True or _hardly(arm, row)]
    if without or not arm.measurements:
        first, shown = without[0] if without else None, len(arm.measurements) - len(without)
        yield Finding(
            f"{arm.name}: restoration is shown in {shown} of {len(arm.measurements)} rows"
            + (f" (not in sample {first.sample}, repeat {first.repeat})" if first is not None else ""),
            arm=arm.name,
            sample=first.sample if first is not None else None,
            field="restored_positions",
            found=str(shown),
            allowed=f"all {len(arm.measurements)} rows",
        )


def _hardly(arm: Arm, row: Measurement) -> bool:
    """Less was restored than evicted, or than one layer evicts. (What is not counted MISSING_LIVENESS tells.)"""
    kept, restored = arm.restoration, row.restored_positions
    if restored is None or row.prompt_tokens is None or kept is None:
        return False
    one_layer = row.prompt_tokens - (kept.sink or 0) - (kept.window or 0)
    return restored < max(one_layer, LEAST_RESTORED.value * (row.evicted_positions or 0))

"""Drafts a block: a model fills its block every time."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, chooses
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from reports.records.measurement import Block, Measurement


@evidence_rule(
    "DRAFTS_VARY",
    title="A model drafter that proposed fewer tokens when it was wrong",
    catches="Blocks of a drafter with weights that hold different numbers of drafts, or fewer than its block size "
    "gives, while there was room for more.",
    why="A block-diffusion drafter fills its block in one forward; drafts left out of the count raise the acceptance.",
    fix="Count every proposed token, also those behind the first wrong one.",
    severity="withheld",
    blocks=("acceptance",),
    example=Example(bad="blocks of 7 drafts, and of 2 where 2 were accepted", good="7 drafts in every block"),
)
def drafts_vary(view: ReportView) -> Iterator[Finding]:
    """Drafts a block are not the same throughout a stream."""
    budget = view.report.plan.max_new_tokens if view.report.plan is not None else None
    for arm in view.report.arms:
        if arm.drafter is None or arm.drafter.weights is None or chooses(arm):
            continue
        size = (arm.drafter.block_size or 1) if not view.imported else 1
        widest = max((b.drafted for row in arm.measurements for b in _blocks(row)), default=0)
        widest = max(widest, size - 1)
        for row in arm.measurements:
            emitted = 1
            for number, block in enumerate(_blocks(row)):
                room = (budget or 0) - emitted
                if block.drafted < min(widest, room - 1):
                    message = f"block {number} drafted {block.drafted} tokens of {widest}, with room for {room}"
                    fault = Fault(f"rounds.{number}.drafted", message, str(block.drafted), str(widest))
                    yield row_finding(arm, row, fault)
                    break
                emitted += block.committed


def _blocks(row: Measurement) -> tuple[Block, ...]:
    return (row.speculation.rounds or ()) if row.speculation is not None else ()

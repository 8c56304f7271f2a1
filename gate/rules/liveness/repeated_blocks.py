"""Blocks of the same stream: a greedy drafter that sees the same text again proposes the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Fault, Finding, row_finding

if TYPE_CHECKING:
    from reports.records.measurement import Measurement

_Counts = tuple[tuple[int, int, int], ...]


@evidence_rule(
    "BLOCKS_VARY",
    title="The same stream in other blocks",
    catches="Two rows of an arm with the same prompt and the same tokens whose blocks hold other numbers of drafts, "
    "accepted or committed tokens.",
    why="Drafting is greedy: a repeat that accepts more has seen the answer. So 3.26x became 5.45x.",
    fix="Give every run a drafter without memory of earlier ones.",
    severity="withheld",
    blocks=(*RATIOS, "acceptance"),
    example=Example(
        bad="repeat 0 takes 21 blocks, repeat 1 takes 7 for the same tokens", good="21 blocks in every repeat, alike"
    ),
    since=4,
)
def blocks_vary(view: ReportView) -> Iterator[Finding]:
    """A repeat was drafted in other blocks."""
    for arm in view.report.arms if not view.imported else ():
        seen: dict[tuple[str | None, tuple[int, ...]], tuple[Measurement, _Counts]] = {}
        for row in arm.measurements:
            rounds = row.speculation.rounds if row.speculation is not None else None
            if rounds is None or row.token_ids is None:
                continue
            counts = tuple((block.drafted, block.accepted, block.committed) for block in rounds)
            first, theirs = seen.setdefault((row.prompt_digest, row.token_ids), (row, counts))
            if counts != theirs:
                place = next((n for n, pair in enumerate(zip(counts, theirs, strict=False)) if pair[0] != pair[1]), 0)
                message = (
                    f"{len(counts)} blocks, {len(theirs)} in sample {first.sample}, repeat {first.repeat}, for the "
                    f"same tokens; they differ from block {place} on"
                )
                fault = Fault(f"speculation.rounds.{place}", message, str(len(counts)), str(len(theirs)))
                yield row_finding(arm, row, fault)
                break

"""Whether every row that was planned is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, row_key
from gate.rulebook.rule import Example, Finding
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.measurement import Arm


@evidence_rule(
    "RUN_INCOMPLETE",
    title="Rows that were planned are not there",
    catches="A run that is not marked complete, or an arm whose rows are not every sample in every repeat of the plan.",
    why="Dropping the rows that came out badly is the oldest doctoring; an interrupted run is not a result yet.",
    fix="Run the same command again: it goes on where it stopped. Never remove rows.",
    severity="withheld",
    example=Example(bad="3 repeats planned, 44 of 45 rows", good="3 repeats planned, 45 of 45 rows"),
)
def run_incomplete(view: ReportView) -> Iterator[Finding]:
    """The measured rows are not the planned ones."""
    plan = view.report.plan
    if view.untimed:
        return
    if view.imported:
        yield from _imported_samples(view)
        return
    if plan is None or plan.complete is not True:
        found = "none" if plan is None or plan.complete is None else "false"
        yield Finding("plan.complete: the run was not finished", field="plan.complete", found=found, allowed="true")
    if plan is None:
        return
    if not plan.samples or not plan.repeats:
        yield Finding("plan: samples or repeats are not recorded", field="plan.samples", found="none", allowed="1")
        return
    asked = [sample for (prompt_set, sample) in view.prompts if prompt_set == "main"]
    if len(asked) != plan.samples:
        message = f"workload.prompts: {number_of(len(asked), 'prompt')}, {number_of(plan.samples, 'sample')} planned"
        yield Finding(message, field="workload.prompts", found=str(len(asked)), allowed=str(plan.samples))
    for arm in view.report.arms:  # codecs and parity have none; each of their prompts was asked once
        repeats = plan.repeats
        if arm.prompt_set == "needle_free":  # a control of the haystack, not of speed: it may run fewer times
            repeats = min(plan.repeats, max((row.repeat for row in arm.measurements), default=0) + 1)
        yield from _grid(arm, plan.samples, repeats, plan.processes or 1, plan.complete is True)


def _grid(arm: Arm, samples: int, repeats: int, processes: int, complete: bool) -> Iterator[Finding]:
    planned = samples * repeats * processes
    seen = {row_key(row) for row in arm.measurements}
    present = sum(
        1 for sample, repeat, process in seen if sample < samples and repeat < repeats and process < processes
    )
    if present == planned and len(seen) == planned:
        return
    yield Finding(
        f"{arm.name}: {present} of {planned} planned rows are there, {len(seen) - present} others; the plan is "
        f"{number_of(samples, 'sample')} in {number_of(repeats, 'repeat')}"
        + (f" and {processes} processes" if processes > 1 else ""),
        arm=arm.name,
        field="measurements",
        found=str(len(seen)),
        allowed=str(planned),
        severity="invalid" if complete else None,
    )


def _imported_samples(view: ReportView) -> Iterator[Finding]:
    planned = view.report.plan.samples if view.report.plan is not None else None
    for arm in view.report.arms if planned is not None else ():
        measured = len({row.sample for row in arm.measurements})
        if arm.measurements and measured != planned:
            message = f"{arm.name}: {measured} samples were measured, the file states {planned}"
            yield Finding(message, arm.name, None, "measurements", str(measured), str(planned))

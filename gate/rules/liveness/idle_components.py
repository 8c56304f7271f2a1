"""Components that should have run and stood still, or were replaced by another without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.liveness import block_count, did_draft, did_restore, ran_natively
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts, drafts_by_model, restoration_of, restores, told_to_be_sure
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION, Threshold
from reports.records.constants import NATIVE_BASELINE_LABEL

if TYPE_CHECKING:
    from reports.records.measurement import Arm


@evidence_rule(
    "FUSED_NEVER_RAN",
    title="A speculative arm without a block",
    catches="An arm of a drafting engine whose rows have 0 blocks in total.",
    why="Its accept length of 0 was printed beside a speed-up of 2.58.",
    fix="Find out why the engine fell back to plain decoding; it must raise instead.",
    example=Example(bad="a fused arm with 0 blocks over all its rows", good="a fused arm with 64 blocks"),
)
def fused_never_ran(view: ReportView) -> Iterator[Finding]:
    """A fused arm with 0 blocks in total."""
    for arm in view.report.arms:
        counts = [block_count(row) for row in arm.measurements]
        if drafts(arm) and counts and not any(count is None or count > 0 for count in counts):
            yield _idle(arm, "speculation.blocks", "blocks", "at least 1")


@evidence_rule(
    "PROPOSER_NEVER_RAN",
    title="Blocks without a draft",
    catches="An arm with blocks in which nothing was drafted, or whose drafter took no time. A drafter that is told to "
    "be sure may doubt all, but it takes time to.",
    why="64 blocks of size 1 are 64 plain steps; counted as blocks they make a dead drafter look alive.",
    fix="Load a drafter that proposes; a step without a proposal counts as a block with 0 drafted tokens.",
    example=Example(bad="64 blocks, 0 drafts", good="64 blocks, 448 drafts"),
)
def proposer_never_ran(view: ReportView) -> Iterator[Finding]:
    """Blocks were counted, but no token was proposed in any of them."""
    for arm in view.report.arms:
        said = [row.speculation for row in arm.measurements if row.speculation is not None]
        if not said or not any(block_count(row) for row in arm.measurements):
            continue
        drafted = any(did_draft(row) is not False for row in arm.measurements if row.speculation is not None)
        if not drafted and not told_to_be_sure(arm):
            yield _idle(arm, "speculation.drafted", "drafted tokens", "at least 1")
        elif not view.imported:
            seconds = [one.draft_s for one in said if one.draft_s is not None]
            if len(seconds) == len(said) and sum(seconds) <= 0:
                yield _idle(arm, "speculation.draft_s", "seconds of drafting", "over 0")


@evidence_rule(
    "FTHETA_NOT_RUN",
    title="A restoring arm that restored nothing",
    catches="An arm of mode f_theta or identity none of whose rows restored a position, though it drafted or is "
    "labelled a native baseline.",
    why="Drafting is lossless whatever the cache is; it hides that the projection under test was never applied.",
    fix="Make the engine restore, or record the arm with mode none.",
    example=Example(
        bad="`f_theta` rows that restored nothing, or 5,000 tokens in 1 ms",
        good="rows that restored every evicted position",
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def ftheta_not_run(view: ReportView) -> Iterator[Finding]:
    """Restoration is configured, and no row ran it (where nothing at all ran, BASELINE_AS_SUT says so)."""
    for arm in filter(restores, view.report.arms):
        if not arm.measurements or any(did_restore(arm, row) is not False for row in arm.measurements):
            continue
        labelled = arm.system_under_test == NATIVE_BASELINE_LABEL
        if labelled or arm.name not in view.names_under_test or not ran_natively(arm):
            yield _idle(arm, "restored_positions", "restored positions", "at least 1")


@evidence_rule(
    "SILENT_FALLBACK",
    title="Something else ran under the arm's name",
    catches="A row that lists a fallback it took.",
    why="An engine that does something else under the same name is measured as what it is not.",
    fix="Make the engine raise where it cannot do what the arm says; measure the fallback as an arm of its own.",
    example=Example(bad="`fallbacks` names the plain loop", good="`fallbacks` is an empty list"),
)
def silent_fallback(view: ReportView) -> Iterator[Finding]:
    """A row took a fallback."""
    for arm in view.report.arms:
        for row in arm.measurements:
            if row.fallbacks:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: fell back ({', '.join(row.fallbacks[:3])})",
                    arm=arm.name,
                    sample=row.sample,
                    field="fallbacks",
                    found=str(len(row.fallbacks)),
                    allowed="0",
                )


LOOKUP_CAPTURE = Threshold(
    "LOOKUP_CAPTURE",
    0.02,
    "share of prefill",
    meaning="Seconds of capture over those of prefill in an arm without weights beside the verifier's.",
    source="handing prompt lookup its text takes 1 ms at most, under 0.005 of the prefill",
)

LOOKUP_CAPTURE_S = Threshold(
    "LOOKUP_CAPTURE_S", 0.005, "s", meaning="The same, for short prefills.", source="five times the longest met"
)


@evidence_rule(
    "CAPTURE_IDLE",
    title="Time for capturing what nobody reads",
    catches="A row with seconds of capture (`aux_s`) in an arm that neither drafts nor projects; or in one that drafts "
    f"from the text, with more than {LOOKUP_CAPTURE.value:.0%} of its prefill.",
    why="Capture is left out of decoding: seconds of decode that are billed to it make an arm as fast as one likes.",
    fix="Time as capture only what a drafter or an f_theta takes from the verifier.",
    example=Example(bad="prompt lookup with 0.8 s of capture", good="prompt lookup with 0.4 ms"),
    thresholds=(LOOKUP_CAPTURE, LOOKUP_CAPTURE_S),
    since=4,
)
def capture_idle(view: ReportView) -> Iterator[Finding]:
    """Capture is billed to an arm that captures nothing."""
    for arm in view.report.arms if not view.imported else ():
        if drafts_by_model(arm) or restoration_of(arm).learned:
            continue
        for row in arm.measurements:
            most = max(LOOKUP_CAPTURE_S.value, LOOKUP_CAPTURE.value * (row.prefill_s or 0.0)) if drafts(arm) else 0.0
            if (row.aux_s or 0.0) > most:
                message = f"{row.aux_s:.4g} s of capture, and nothing that reads what was captured; at most {most:.4g}"
                yield row_finding(arm, row, Fault("aux_s", message, f"{row.aux_s:.4g}", f"at most {most:.4g}"))
                break


def _idle(arm: Arm, field: str, what: str, allowed: str) -> Finding:
    return Finding(f"{arm.name}: 0 {what} in {len(arm.measurements)} rows", arm.name, None, field, "0", allowed)

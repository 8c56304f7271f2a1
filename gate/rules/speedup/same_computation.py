"""Whether arm and oracle compute different things, and the oracle the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import beside_oracle, compared_arms, ratio_of
from gate.figures.liveness import ran_natively
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, decode_loops, drafts, foreign_peer, plain, restores
from gate.rulebook.rule import RATIOS, SPEEDUP, Example, Finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION, Threshold
from reports.engines import ORACLE, TORCH
from reports.records.constants import NATIVE_BASELINE_LABEL

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm

LOOP, TORCH_LOOP = ORACLE.decode_loop, ORACLE.on(TORCH).decode_loop


@claim_rule(
    "SPEEDUP_SELF_COMPARISON",
    title="The arm is the oracle's own computation",
    catches="A speed-up of an arm that neither restored, evicted nor drafted in any row: it ran what the oracle ran.",
    why="The first published 2.58x compared a model with itself; the ratio was the noise of prefill.",
    fix=f"Make the engine do what the arm says. A loop of one's own over the native cache is labelled "
    f"`{NATIVE_BASELINE_LABEL}` and records a decode loop other than the oracle's.",
    blocks=SPEEDUP,
    example=Example(
        bad="an arm that runs the oracle's own loop, claimed 1.2x", good="the same ratio reported as the A/A band"
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def self_comparison(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Nothing ran in the arm that the baseline does not do."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if arm is None or baseline is None:
        return
    if arm is baseline:
        yield Finding(f"{arm.name}: compared with itself", arm.name, field="claims.baseline", found=arm.name)
        return
    as_configured = arm.engine == baseline.engine and plain(arm)
    if not (as_configured or (ran_natively(arm) and not _other_engine(arm, baseline))):
        return
    loops = decode_loops(arm), decode_loops(baseline)
    if arm.system_under_test == NATIVE_BASELINE_LABEL and None not in loops[0] | loops[1] and not loops[0] & loops[1]:
        return
    yield Finding(
        f"{arm.name}: 0 of {len(arm.measurements)} rows restored, evicted or drafted; it is {baseline.name}'s own "
        "computation",
        arm=arm.name,
        field="measurements",
        found="0 rows",
        allowed="at least 1",
    )


def _other_engine(arm: Arm, baseline: Arm) -> bool:
    """Another engine, presented as such, may do the same computation and be faster at it."""
    return arm.role == "peer" and arm.engine != baseline.engine


@claim_rule(
    "SPEEDUP_ORACLE_LOOP",
    title="An oracle that is not the reference loop",
    catches=f"A baseline that was not decoded with `{LOOP}` (on PyTorch `{TORCH_LOOP}`) in every row, or that "
    "restores, evicts or drafts.",
    why="Against a naive loop that synchronises on every token, plain decoding is a speed-up.",
    fix=f"Decode the oracle with `mlx_lm.generate.{LOOP}` over the native cache, and record it.",
    blocks=SPEEDUP,
    example=Example(bad="an oracle of an own, slow loop", good="an oracle decoded by generate_step"),
)
def oracle_loop(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The baseline is not the verifier alone in its reference loop."""
    both = compared_arms(view, claim)
    if both is None:
        return
    baseline = both[1]
    if restores(baseline) or not plain(baseline):
        yield Finding(
            f"{baseline.name}: the baseline restores, evicts or drafts; it must be the verifier alone",
            arm=baseline.name,
            field="restoration",
            found=baseline.restoration.mode if baseline.restoration is not None else baseline.engine,
            allowed="none",
        )
    wanted = ORACLE.on(view.backend).decode_loop
    wrong = sorted({loop or "not recorded" for loop in decode_loops(baseline) if loop != wanted})
    if wrong:
        yield Finding(
            f"{baseline.name}: its decode loop is {', '.join(wrong)}; it must be {wanted}",
            arm=baseline.name,
            field="decode_loop",
            found=", ".join(wrong),
            allowed=wanted,
        )


MAX_SAME_WORK_RATIO = Threshold(
    "MAX_SAME_WORK_RATIO",
    1.25,
    "ratio",
    meaning="Decode speed-up of an arm that computes what the oracle computes, over the same K/V, in a loop "
    "of its own.",
    source="a choice: only the overhead of the loop differs",
)


@claim_rule(
    "SPEEDUP_SAME_WORK",
    title="The same computation, and faster",
    catches="A speed-up of an arm that neither drafts nor evicts, or keeps what it restored, and is said to decode "
    f"over {MAX_SAME_WORK_RATIO.value:g} times as fast as the oracle.",
    why="A step reads every weight and all K/V, whoever asks for it; a plain loop gains nothing but its overhead.",
    fix="Time both arms with the same clock, on an idle machine; a faster kernel is a peer of another engine.",
    blocks=RATIOS,
    example=Example(bad="a plain loop over the native cache, 1.8x", good="the same loop, 0.94x"),
    thresholds=(MAX_SAME_WORK_RATIO,),
)
def same_work(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """A plain step over the same cache is faster than the oracle's."""
    most = MAX_SAME_WORK_RATIO.value
    for arm, baseline in beside_oracle(view, claim):
        estimate = ratio_of(view, arm, baseline, "decode_speedup") if _same_work(view, arm) else None
        if estimate is not None and estimate.value > most:
            yield Finding(
                f"{arm.name}: decodes {estimate.value:.4g} times as fast as {baseline.name}, which computes the same; "
                f"at most {most:g}",
                arm=arm.name,
                field="decode_s",
                found=f"{estimate.value:.4g}",
                allowed=f"at most {most:g}",
            )


def _same_work(view: ReportView, arm: Arm) -> bool:
    """No drafts, no fewer K/V than the oracle reads, and no kernels of another project."""
    kept = arm.restoration
    return (
        not drafts(arm)
        and not foreign_peer(view, arm)
        and (kept is None or kept.mode == "none" or kept.residency == "resident")
    )

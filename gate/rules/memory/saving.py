"""A saving that is claimed: by which bytes, measured where, and what became of the peak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import baseline_of
from gate.figures.kv_memory import (
    formula_matches_run,
    kv_bytes,
    table_of,
)
from gate.figures.rates import median_of
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, drafts_by_model, restoration_of
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import MEMORY_GAP

if TYPE_CHECKING:
    from reports.records.claims import Claim


@claim_rule(
    "MEMORY_CLAIM_MISMATCH",
    title="A saving by a formula for a cache the run did not use",
    catches="An analytic saving whose formula is not shown to match the run: no table, no measured bytes, bytes that "
    "differ, or a stated `formula_matches_run` that the bytes do not support.",
    why="89.8 % less memory was a formula for sink + window, in a run that kept everything.",
    fix="Measure K/V bytes in every row and claim the saving measured.",
    blocks=("kv_saving",),
    example=Example(
        bad="a saving of sink + window claimed for a run on the native cache",
        good="a table of the cache that the run used",
    ),
    thresholds=(MEMORY_GAP,),
)
def claim_mismatch(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """An analytic saving is claimed and `formula_matches_run`, derived, is not true."""
    arm = view.arms.get(claim.arm)
    if arm is None or claim.metric != "kv_saving" or claim.basis != "analytic":
        return
    table = table_of(view, arm)
    if table is None:
        message = f"{arm.name}: an analytic saving is claimed without its table"
        yield Finding(message, arm.name, field="memory.arms", found="none", allowed="a table")
        return
    derived = formula_matches_run(arm, table)
    stated = table.formula_matches_run if table.formula_matches_run is not None else table.stated_formula_matches_run
    if derived is not True or stated is False:
        reasons = {
            True: "the report says so itself",
            False: "the measured bytes differ",
            None: "no bytes were measured",
        }
        said = "" if stated is None else f" (stated: {str(stated).lower()})"
        yield Finding(
            f"{arm.name}: formula_matches_run is {_word(derived)} by the rows{said}: {reasons[derived]}",
            arm=arm.name,
            field="formula_matches_run",
            found=_word(derived if derived is not True else stated),
            allowed="true",
        )


def _word(value: bool | None) -> str:
    return "unknown" if value is None else str(value).lower()


@claim_rule(
    "MEMORY_NOT_MEASURED",
    title="A saving nobody measured",
    catches="A memory claim with a row of the arm or of its baseline that lacks K/V bytes at the end of prefill or of "
    "decode, that does not say which of them are the context of the arm's drafter, or of an f_theta that makes K/V "
    "anew in every forward and does not say how many are the features it makes them from.",
    why="43.9 times less by formula, while the measured peak rose.",
    fix="Sum the bytes of the K/V arrays at the end of prefill and of decode, in every row of every arm.",
    blocks=("kv_saving",),
    example=Example(bad="89.8 % less by formula, no bytes recorded", good="K/V bytes summed from the arrays"),
)
def not_measured(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """K/V bytes are missing."""
    arm, baseline = view.arms.get(claim.arm), baseline_of(view, claim)
    if baseline is None:
        message = f"{claim.arm}: there is no arm to save against"
        yield Finding(message, claim.arm, field="claims.baseline", found="none", allowed="the oracle")
    for one in (arm, baseline):
        if one is None:
            continue
        lacking = [row for row in one.measurements if kv_bytes(row) is None]
        if lacking or not one.measurements:
            measured = len(one.measurements) - len(lacking)
            yield Finding(
                f"{one.name}: K/V bytes were measured in {measured} of {len(one.measurements)} rows",
                arm=one.name,
                sample=lacking[0].sample if lacking else None,
                field="kv_bytes_prefill",
                found=str(measured),
                allowed="every row",
            )
        untold = [row for row in one.measurements if not row.drafter_bytes_prefill] if drafts_by_model(one) else []
        if untold:
            told = len(one.measurements) - len(untold)
            message = f"{one.name}: the context of its drafter was measured in {told} of {len(one.measurements)} rows"
            yield Finding(message, one.name, untold[0].sample, "drafter_bytes_prefill", str(told), "every row")
        kept = one.restoration
        anew = restoration_of(one).learned and not view.imported
        if anew and kept is not None and kept.residency == "transient" and not kept.feature_bytes:
            message = f"{one.name}: makes K/V anew from features, and says of no byte that it is one of them"
            yield Finding(message, one.name, None, "restoration.feature_bytes", str(kept.feature_bytes), "over 0")


@claim_rule(
    "MEMORY_PEAK_ROSE",
    title="Less memory, and a higher peak",
    catches="A memory claim of an arm whose peak is above its baseline's: at all, for a saving by formula; by more "
    "than the K/V bytes it saved, for a measured one; or rows that do not record it.",
    why="What was saved in the cache was spent elsewhere; the machine needed more memory, not less.",
    fix="Find what the arm allocates; claim a saving only where the run as a whole has it.",
    blocks=("kv_saving",),
    example=Example(bad="K/V 43.9 times smaller, the measured peak rose", good="K/V smaller, and the peak fell too"),
)
def peak_rose(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The peak of the arm rose although its cache shrank."""
    arm, baseline = view.arms.get(claim.arm), baseline_of(view, claim)
    if arm is None or baseline is None or claim.metric != "kv_saving":
        return
    peak, usual = (median_of(row.peak_bytes for row in one.measurements) for one in (arm, baseline))
    held, full = (median_of(kv_bytes(row) for row in one.measurements) for one in (arm, baseline))
    if peak is None or usual is None:
        lacking = arm if peak is None else baseline
        message = f"{lacking.name}: not every row records its peak; whether the run as a whole saved is not known"
        yield Finding(message, lacking.name, field="peak_bytes", found="none", allowed="every row")
        return
    room = full - held if claim.basis == "measured" and held is not None and full is not None else 0.0
    if peak > usual + max(0.0, room):
        yield Finding(
            f"{arm.name}: its peak is {peak / 1e6:.1f} MB, that of {baseline.name} {usual / 1e6:.1f} MB",
            arm=arm.name,
            field="peak_bytes",
            found=f"{peak:.0f}",
            allowed=f"at most {usual + max(0.0, room):.0f}",
        )

"""The control that evicts the same and restores nothing: the right one, and one that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.prompt_shares import recall_at_most, recall_of, told_apart
from gate.figures.statistics.exact_tests import mcnemar
from gate.figures.statistics.intervals import Share, newcombe
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement

EVICTION_GAP = Threshold(
    "EVICTION_GAP",
    0.05,
    "relative distance",
    meaning="Between the evictions of an arm and of its control, by position that left the window.",
    source="a choice: streams of unequal length end differently",
)


@claim_rule(
    "CONTROL_MISSING",
    title="Recall by restoration without a control",
    catches="A claim of recall by restoration without an arm on the same prompts that keeps the same exact layers, "
    "evicts the same and restores nothing; or with one that evicted differently.",
    why="A test that could not have failed proves nothing: exact full-attention layers alone recall 5 of 5.",
    fix="Add an arm of role control: the same engine, exact layers, sink, window and eviction, restoration `ablate`.",
    blocks=("restoration_recall",),
    example=Example(bad="recall 5/5 by restoration, no other arm", good="the same layers, nothing restored: 0/5"),
    thresholds=(EVICTION_GAP,),
)
def control_missing(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """There is no control, or it is another experiment."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    controls = view.controls_of(arm)
    named = claim.control if claim.metric == "restoration_recall" else None
    if not controls:
        kept = arm.restoration
        layers = kept.exact_layers if kept is not None else None
        shown = "unknown" if layers is None else f"{len(layers)}"
        yield Finding(
            f"{arm.name}: no control with the same exact layers ({shown}), sink, window and eviction, nothing restored",
            arm=arm.name,
            field="arms.restoration",
            found="none",
            allowed="an arm of role control, mode ablate",
        )
    elif named is not None and named not in {control.name for control in controls}:
        allowed = ", ".join(control.name for control in controls)
        message = f"{arm.name}: names {named} as its control; with the same exact layers and eviction it is {allowed}"
        yield Finding(message, arm.name, field="claims.control", found=named, allowed=allowed)
    for control in controls:
        yield from right_control_faults(view, arm, control)


def right_control_faults(view: ReportView, arm: Arm, control: Arm) -> Iterator[Finding]:
    """Where an ablated control did not run the arm's prompts, was not audited, or did not evict what the arm evicts."""
    theirs = {row.sample: row for row in control.measurements}
    seen: set[int] = set()
    for row in arm.measurements:
        if row.sample in seen:
            continue
        seen.add(row.sample)
        twin = theirs.get(row.sample)
        if twin is None or twin.prompt_digest is None or twin.prompt_digest != row.prompt_digest:
            how = "did not run" if twin is None else "is not known to have run"
            yield Finding(
                f"{control.name}: {how} the prompt of {arm.name}'s sample {row.sample}",
                arm=control.name,
                sample=row.sample,
                field="prompt_digest",
                found=str(twin.prompt_digest)[:23] if twin is not None else "no row",
                allowed=str(row.prompt_digest)[:23],
            )
            return
        if view.audit_of(control, twin) is None:
            message = f"{control.name}, sample {row.sample}: its stream was not audited; whether it failed is not known"
            yield Finding(message, control.name, row.sample, "stream_audit", "none", "an audit")
            return
        ours, other = _evicting_layers(arm, row), _evicting_layers(control, twin)
        if ours is None or other is None or abs(ours - other) > EVICTION_GAP.value * ours:
            yield Finding(
                f"{control.name}, sample {row.sample}: evicted {twin.evicted_positions} positions, {arm.name} "
                f"{row.evicted_positions}; the control evicts the same",
                arm=control.name,
                sample=row.sample,
                field="evicted_positions",
                found=str(twin.evicted_positions),
                allowed=str(row.evicted_positions),
            )
            return


def _evicting_layers(arm: Arm, row: Measurement) -> float | None:
    """Evicted (layer, position) pairs over the positions that left sink + window: how many layers dropped them.

    Positions are those of the prompt and of the tokens decoded after it, so that streams of unequal length compare.
    """
    kept = arm.restoration
    if kept is None or kept.sink is None or kept.window is None:
        return None
    if row.evicted_positions is None or row.prompt_tokens is None or row.decode_tokens is None:
        return None
    left = row.prompt_tokens + row.decode_tokens - kept.sink - kept.window
    return row.evicted_positions / left if left > 0 else None


MOST_PROMPTS = 1000
"""As many as a run can ask; more are no advice."""

CONTROL_DIFFERENCE_FLOOR = Threshold(
    "CONTROL_DIFFERENCE_FLOOR",
    0.2,
    "share of prompts",
    meaning="The 95 % interval of (arm - control) recall must stay above it.",
    source="a choice: one prompt of five may be luck",
)

LUCK = Threshold(
    "LUCK",
    0.05,
    "probability",
    meaning="Chance of as many prompts told apart by an arm that is no better than its control (exact McNemar).",
    source="the usual choice: five of five prompts told apart are 0.03",
)


@claim_rule(
    "CONTROL_RECALL_HIGH",
    title="The coupon: a control that recalls as well, or cannot be told apart",
    catches="A claim of recall by restoration whose control recalls nearly as much: the 95 % interval of the "
    f"difference reaches below {CONTROL_DIFFERENCE_FLOOR.value:g}, or the prompts that only one of the two recalled "
    f"fall so by luck in more than {LUCK.value:.0%} of runs (exact McNemar). So it is where the prompts are too few to "
    "tell arm and control apart; the message then says how many with the same shares would do.",
    why="Recall carried by exact or native layers is there whatever the restoration does.",
    fix="Restore the layers that carry recall instead of keeping them exact, or claim no more than `arm_recall`; where "
    "the prompts are too few, ask more of them (`--samples`).",
    blocks=("restoration_recall",),
    example=Example(
        bad="arm 5/5, control 5/5: the exact layers carry it; or 2/2 and 0/2, which luck explains",
        good="arm 5/5, control 0/5",
    ),
    thresholds=(CONTROL_DIFFERENCE_FLOOR, LUCK),
)
def control_recall_high(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The difference between arm and control is not clear."""
    arm = view.arms.get(claim.arm)
    ours = recall_of(arm) if arm is not None else None
    if arm is None or ours is None:
        return
    asked = {row.sample for row in arm.measurements}
    for control in view.controls_of(arm):
        theirs = recall_at_most(control, asked)
        if theirs is None:
            message = f"{control.name}: not every row of {arm.name}'s samples is scored"
            yield Finding(message, control.name, field="correct", found="none", allowed="every row")
            continue
        difference = newcombe(ours, theirs)
        if difference.low < CONTROL_DIFFERENCE_FLOOR.value:
            enough = prompts_to_tell(ours, theirs)
            few = f"; {ours.total} prompts are too few to tell, {enough} with these shares would do" if enough else ""
            yield Finding(
                f"{arm.name} recalls {ours.correct} of {ours.total}, its control {control.name} {theirs.correct} of "
                f"{theirs.total}: the difference {difference.value:.3g} [{difference.low:.3g}, {difference.high:.3g}] "
                f"must stay above {CONTROL_DIFFERENCE_FLOOR.value:g}{few}",
                arm=arm.name,
                field="correct",
                found=f"{difference.low:.3g}",
                allowed=f"at least {CONTROL_DIFFERENCE_FLOOR.value:g}",
            )
            continue
        yield from _by_luck(arm, control)


def _by_luck(arm: Arm, control: Arm) -> Iterator[Finding]:
    """The same prompts, one by one: those that only the arm recalled against those that only the control did."""
    apart = told_apart(arm, control)
    chance = mcnemar(*apart) if apart is not None else 1.0
    if apart is None or chance > LUCK.value:
        shown = f"{apart[0]} prompts only, its control {control.name} {apart[1]} only" if apart else "other prompts"
        yield Finding(
            f"{arm.name} recalls {shown}: chance alone would put it so far above the control in {chance:.2g} of runs",
            arm=arm.name,
            field="correct",
            found=f"{chance:.3g}",
            allowed=f"at most {LUCK.value:g}",
        )


def prompts_to_tell(ours: Share, theirs: Share) -> int | None:
    """The least number of prompts at which shares like these would be told apart; none if no reasonable one does.

    Shares that a number of prompts cannot have are rounded to the arm's disadvantage.
    """
    if ours.rate - theirs.rate <= CONTROL_DIFFERENCE_FLOOR.value:
        return None  # the interval reaches below its middle, however many prompts there are
    for total in range(ours.total + 1, MOST_PROMPTS + 1):
        arm = Share(ours.correct * total // ours.total, total)
        control = Share(-(-theirs.correct * total // theirs.total), total)
        if newcombe(arm, control).low >= CONTROL_DIFFERENCE_FLOOR.value:
            return total
    return None

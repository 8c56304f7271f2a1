"""Recall: who may claim it, beside which control, and whether the text supports the score."""

from collections.abc import Iterator, Sequence

from gate.figures.intervals import Share, newcombe
from gate.figures.liveness import did_restore, ran_natively
from gate.figures.prompt_shares import recall_at_most, recall_of
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RECALL, Example, Finding
from gate.rulebook.thresholds import ORACLE_RECALL_FLOOR, RESTORATION_S_PER_POSITION, Threshold
from gate.rules.recall.controls import (
    EVICTION_GAP,
    NEEDLE_FREE_LENGTH,
    NEEDLE_FREE_LENGTH_TOKENS,
    NEEDLE_FREE_RECALL_CEILING,
    needle_free_faults,
    right_control_faults,
)
from reports.records.claims import Claim, RecallClaim
from reports.records.measurement import NATIVE_BASELINE_LABEL, Arm, Measurement

MOST_PROMPTS = 1000
"""As many as a run can ask; more are no advice."""


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


@claim_rule(
    "RECALL_SCOPE",
    title="Recall of restoration from rows that did not restore",
    catches="A claim of recall by restoration with a row in which restoration did not run, cannot be shown to have, or "
    "put back less than one layer's positions.",
    why="A run whose restoration took 1 ms for 5,000 tokens restored nothing, and recalled 5 of 5 from its own layers.",
    fix="Count restored positions where they are written; claim recall by restoration only if every row restored.",
    blocks=("restoration_recall",),
    example=Example(
        bad="recall by restoration over 5 rows, 3 of them restored", good="recall by restoration, every row restored"
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
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
    """Fewer positions were restored than one layer evicts. (Where none are counted, MISSING_LIVENESS says so.)"""
    kept = arm.restoration
    if row.restored_positions is None or row.prompt_tokens is None or kept is None:
        return False
    return row.restored_positions < row.prompt_tokens - (kept.sink or 0) - (kept.window or 0)


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
    named = claim.control if isinstance(claim, RecallClaim) else None
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
        yield from right_control_faults(arm, control)


CONTROL_DIFFERENCE_FLOOR = Threshold(
    "CONTROL_DIFFERENCE_FLOOR",
    0.2,
    "share of prompts",
    meaning="The 95 % interval of (arm - control) recall must stay above it.",
    source="a choice: one prompt of five may be luck",
)


@claim_rule(
    "CONTROL_RECALL_HIGH",
    title="The coupon: a control that recalls as well, or cannot be told apart",
    catches="A claim of recall by restoration whose control recalls nearly as much: the 95 % interval of the "
    f"difference reaches below {CONTROL_DIFFERENCE_FLOOR.value:g}. So it does where the prompts are too few to "
    "tell arm and control apart; the message then says how many with the same shares would do.",
    why="Recall carried by exact or native layers is there whatever the restoration does.",
    fix="Restore the layers that carry recall instead of keeping them exact, or claim no more than `arm_recall`; where "
    "the prompts are too few, ask more of them (`--samples`).",
    blocks=("restoration_recall",),
    example=Example(
        bad="arm 5/5, control 5/5: the exact layers carry it; or 2/2 and 0/2, which luck explains",
        good="arm 5/5, control 0/5",
    ),
    thresholds=(CONTROL_DIFFERENCE_FLOOR,),
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


@claim_rule(
    "ORACLE_RECALL_LOW",
    title="A workload the model cannot do",
    catches="A claim about recall, the oracle's own included, while the oracle itself recalls under "
    f"{ORACLE_RECALL_FLOOR.value:g}, or was not scored.",
    why="Where the plain model fails, an arm that recalls as much as it has recalled nothing; and a 0 of the oracle is "
    "about the prompts or the token budget, not about the model's cache.",
    fix="Ask shorter or easier prompts, allow more new tokens, or take a model that can answer them.",
    blocks=RECALL,
    example=Example(bad="the oracle itself recalls 2/5", good="the oracle recalls 5/5"),
    thresholds=(ORACLE_RECALL_FLOOR,),
)
def oracle_recall_low(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The oracle recalls too little."""
    oracle = view.oracle
    found = recall_of(oracle) if oracle is not None else None
    if oracle is None or found is None:
        name = oracle.name if oracle is not None else None
        message = f"{name or 'no oracle'}: its recall is not known, so {claim.arm}'s says nothing"
        yield Finding(message, name, field="correct", found="none", allowed=f"{ORACLE_RECALL_FLOOR.value:g}")
    elif found.rate < ORACLE_RECALL_FLOOR.value:
        yield Finding(
            f"{oracle.name}: recalls {found.correct} of {found.total}; at least {ORACLE_RECALL_FLOOR.value:g} is "
            "needed: the workload or its token budget does not fit the model",
            arm=oracle.name,
            field="correct",
            found=f"{found.rate:.3g}",
            allowed=f"at least {ORACLE_RECALL_FLOOR.value:g}",
        )


@claim_rule(
    "NEEDLE_CONTROL",
    title="No proof that the code came from the prompt",
    catches="A recall claim without the verifier's run on the same haystacks without their needles, or with one that "
    "says a code all the same.",
    why="A code that is guessed, or stands elsewhere in the prompt, is recalled by every arm and by no cache.",
    fix="Add the needle-free control: every haystack with its needle line replaced, decoded by the oracle's engine.",
    blocks=RECALL,
    example=Example(bad="a code recalled from a haystack without it", good="0/5 from haystacks without a needle"),
    thresholds=(NEEDLE_FREE_RECALL_CEILING, NEEDLE_FREE_LENGTH, NEEDLE_FREE_LENGTH_TOKENS),
)
def needle_control(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The needle-free control is missing, another experiment, or recalls."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    frees = _needle_free(view)
    if not frees:
        message = f"{arm.name}: no needle-free control; whether a code came from the haystack is not known"
        yield Finding(message, arm.name, field="arms.prompt_set", found="none", allowed="an arm of set needle_free")
        return
    for free in frees:
        yield from needle_free_faults(view, arm, free)


def _needle_free(view: ReportView) -> Sequence[Arm]:
    return [arm for arm in view.report.arms if arm.prompt_set == "needle_free"]

"""Controls of the workload: the oracle recalls from it, and nobody without its needles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.figures.prompt_shares import recall_at_most, recall_of
from gate.figures.statistics.intervals import wilson
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, plain
from gate.rulebook.rule import RECALL, Example, Fault, Finding
from gate.rulebook.thresholds import ORACLE_RECALL_FLOOR, Threshold

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement

ORACLE_RECALL_LEAST = Threshold(
    "ORACLE_RECALL_LEAST",
    0.5,
    "share of prompts",
    meaning="The 95 % interval of the oracle's recall (Wilson) must stay above it.",
    source="a choice: five of five reach down to 0.57, four of five to 0.38",
)


@claim_rule(
    "ORACLE_RECALL_LOW",
    title="A workload the model cannot do",
    catches="A claim about recall, the oracle's own included, while the oracle itself recalls under "
    f"{ORACLE_RECALL_FLOOR.value:g}, on so few prompts that its 95 % interval reaches below "
    f"{ORACLE_RECALL_LEAST.value:g}, or was not scored.",
    why="Where the plain model fails, an arm that recalls as much as it has recalled nothing; and a 0 of the oracle is "
    "about the prompts or the token budget, not about the model's cache.",
    fix="Ask shorter or easier prompts, allow more new tokens, or take a model that can answer them.",
    blocks=RECALL,
    example=Example(bad="the oracle itself recalls 2/5", good="the oracle recalls 5/5"),
    thresholds=(ORACLE_RECALL_FLOOR, ORACLE_RECALL_LEAST),
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
    elif (interval := wilson(found)).low < ORACLE_RECALL_LEAST.value:
        span = f"[{interval.low:.3g}, {interval.high:.3g}]"
        yield Finding(
            f"{oracle.name}: recalls {found.correct} of {found.total}, 95 % interval {span}; whether the workload fits "
            f"the model cannot be told below {ORACLE_RECALL_LEAST.value:g}: ask more prompts",
            arm=oracle.name,
            field="correct",
            found=f"{interval.low:.3g}",
            allowed=f"at least {ORACLE_RECALL_LEAST.value:g}",
        )


@claim_rule(
    "RECALL_ABOVE_ORACLE",
    title="An arm that recalls more than its oracle",
    catches="A claim of recall of an arm that recalls more of its prompts than the oracle does of the same ones.",
    why="K/V that were lost and guessed at cannot hold more than the verifier's own: it is luck, or an edited answer.",
    fix="Ask prompts that the oracle can answer; let the workload score, and edit nothing.",
    blocks=("restoration_recall", "arm_recall", "native_baseline_recall"),
    example=Example(bad="the arm recalls 20 of 20, the oracle 19", good="both recall 19 of 20"),
    since=4,
)
def recall_above_oracle(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """More prompts recalled than by the model with all its K/V."""
    arm, oracle = view.arms.get(claim.arm), view.oracle
    if arm is None or oracle is None or arm is oracle:
        return
    ours, theirs = recall_of(arm), recall_at_most(oracle, {row.sample for row in arm.measurements})
    if ours is not None and theirs is not None and ours.rate > theirs.rate:
        yield Finding(
            f"{arm.name}: recalls {ours.correct} of {ours.total}, {oracle.name} {theirs.correct} of {theirs.total}; "
            "no cache holds more than the verifier's own",
            arm=arm.name,
            field="correct",
            found=f"{ours.rate:.3g}",
            allowed=f"at most {theirs.rate:.3g}",
        )


NEEDLE_FREE_RECALL_CEILING = Threshold(
    "NEEDLE_FREE_RECALL_CEILING",
    0.0,
    "share of rows",
    meaning="Rows without a needle that may say its code.",
    source="a code recalled from a haystack without it was not recalled",
)

NEEDLE_FREE_LENGTH = Threshold(
    "NEEDLE_FREE_LENGTH",
    0.1,
    "relative distance",
    meaning="Between the lengths of a prompt and of its needle-free twin.",
    source="they differ by one line",
)

NEEDLE_FREE_LENGTH_TOKENS = Threshold(
    "NEEDLE_FREE_LENGTH_TOKENS", 32, "tokens", meaning="The same for short prompts.", source="they differ by one line"
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


def needle_free_faults(view: ReportView, arm: Arm, free: Arm) -> Iterator[Finding]:
    """Where the needle-free control is not the oracle on the arm's haystacks without needles, or says a code."""
    if view.oracle is not None and (free.engine != view.oracle.engine or not plain(free)):
        message = f"{free.name}: is not the verifier alone, decoded as {view.oracle.name} is"
        yield Finding(message, free.name, field="engine", found=free.engine, allowed=view.oracle.engine)
        return
    rows: dict[int, list[Measurement]] = {}
    for row in free.measurements:
        rows.setdefault(row.sample, []).append(row)
    for sample in sorted({row.sample for row in arm.measurements}):
        fault = _sample_fault(view, arm, sample, rows.get(sample, []))
        if fault is not None:
            message = f"{free.name}, sample {sample}: {fault.message}"
            yield Finding(message, free.name, sample, fault.field, fault.found, fault.allowed)
            return


def _sample_fault(view: ReportView, arm: Arm, sample: int, rows: list[Measurement]) -> Fault | None:
    """The first fault with one needle-free prompt."""
    main, twin = view.prompts.get((arm.prompt_set, sample)), view.prompts.get(("needle_free", sample))
    if not rows or not all(row.text is not None and row.token_ids for row in rows):
        return Fault("text", "no row with a text; the haystack was not asked without its needle", "none", "a text")
    if main is None or twin is None or not main.digest or not twin.digest or not main.answer:
        return Fault(
            "workload.prompts", "the prompt, its needle-free twin or the answer is not recorded", "none", "both"
        )
    if twin.digest == main.digest or any(row.prompt_digest != twin.digest for row in rows):
        return Fault(
            "prompt_digest", "ran a prompt that is not the needle-free one", main.digest[:23], twin.digest[:23]
        )
    ours, theirs = main.token_count, twin.token_count
    if (
        ours is None
        or theirs is None
        or abs(ours - theirs) > max(NEEDLE_FREE_LENGTH_TOKENS.value, NEEDLE_FREE_LENGTH.value * ours)
    ):
        return Fault(
            "prompt_tokens", f"a prompt of {theirs} tokens, with the needle {ours}", str(theirs), f"about {ours}"
        )
    said = [row for row in rows if main.answer.casefold() in (row.text or "").casefold()]
    share = len(said) / len(rows)
    if share > NEEDLE_FREE_RECALL_CEILING.value:
        return Fault("text", f"says {main.answer} though no needle is in its prompt", f"{share:.3g}", "0")
    return None

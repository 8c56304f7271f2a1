"""Whether a ratio rests on enough: prompts, repeats of them, and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.claims.against_baseline import compared_arms, compared_ratio, recorded_groups
from gate.claims.counted_prompts import without_loops
from gate.figures.paired_ratios import prompt_of, rows_by_key
from gate.figures.rates import median_of
from gate.figures.stream_groups import MAX_ALIKE, SHINGLE
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import RATIOS, Example, Finding
from gate.rulebook.thresholds import MIN_DECODE_TOKENS, MIN_SPEEDUP_SAMPLES, Threshold
from reports.untrusted.number_of import number_of

if TYPE_CHECKING:
    from reports.records.claims import Claim


@claim_rule(
    "SPEEDUP_SAMPLES",
    title="Too few prompts for a ratio",
    catches=f"Fewer than {MIN_SPEEDUP_SAMPLES.value} distinct prompts in the arm or its baseline.",
    why="The smoke that became a headline had n=1; one prompt run three times was called n=3.",
    fix="Measure more prompts (`--samples 6`). Repeats of one prompt are repeats, whatever their sample numbers.",
    blocks=RATIOS,
    example=Example(bad="one prompt, repeated three times", good="6 distinct prompts, 3 repeats each"),
    thresholds=(MIN_SPEEDUP_SAMPLES,),
)
def samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Fewer than five distinct prompts."""
    for arm in compared_arms(view, claim) or ():
        found = len(set(prompt_of(without_loops(view, arm).measurements).values()))
        if found < MIN_SPEEDUP_SAMPLES.value:
            yield Finding(
                f"{arm.name}: {found} distinct prompt{'s' if found != 1 else ''}; a ratio needs at least "
                f"{MIN_SPEEDUP_SAMPLES.value}",
                arm=arm.name,
                field="prompt_digest",
                found=str(found),
                allowed=f"at least {MIN_SPEEDUP_SAMPLES.value}",
            )


MIN_SPEEDUP_GROUPS = Threshold(
    "MIN_SPEEDUP_GROUPS",
    6,
    "groups",
    meaning="Groups of prompts (templates, documents) that a ratio needs before it is printed.",
    source="method: over fewer, an interval is too wide to be of use, or too narrow to be true",
)


@claim_rule(
    "SPEEDUP_GROUPS",
    title="Too few kinds of prompts for a ratio",
    catches=f"A ratio over fewer than {MIN_SPEEDUP_GROUPS.value} groups of prompts. A prompt whose group is not "
    "recorded is one of its own. Groups whose prompts the plain model answers alike count as one: those with over "
    f"{MAX_ALIKE:.0%} of the runs of {SHINGLE} tokens of the shorter answer in common.",
    why="Twelve prompts cut from six templates were called twelve, and say what six say.",
    fix="Measure prompts of more kinds, templates or documents (`--samples 6` or more).",
    blocks=RATIOS,
    example=Example(bad="12 prompts of 2 templates", good="12 prompts of 6 templates"),
    thresholds=(MIN_SPEEDUP_GROUPS, MIN_SPEEDUP_SAMPLES),
    since=3,
)
def groups(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Fewer than six groups."""
    found = compared_ratio(view, claim)
    if found is None or found.estimate.prompts < MIN_SPEEDUP_SAMPLES.value:  # that is told already
        return
    estimate = found.estimate
    if estimate.groups < MIN_SPEEDUP_GROUPS.value:
        named = len(set(recorded_groups(view, found.arm).values()))
        alike = f", {named} by name, as the plain model answers some alike" if named > estimate.groups else ""
        yield Finding(
            f"{claim.arm}: {number_of(estimate.prompts, 'distinct prompt')} of {number_of(estimate.groups, 'kind')}"
            f"{alike}, beside {found.baseline.name}'s; a ratio needs {MIN_SPEEDUP_GROUPS.value} kinds",
            arm=claim.arm,
            field="workload.prompts.group",
            found=str(estimate.groups),
            allowed=f"at least {MIN_SPEEDUP_GROUPS.value}",
        )


@claim_rule(
    "SPEEDUP_DECODE_TOKENS",
    title="Streams too short to time",
    catches=f"A median of fewer than {MIN_DECODE_TOKENS.value} decode tokens in the arm or its baseline, or rows "
    "that do not record them.",
    why="Eight tokens take half a second; what is measured is how decoding starts.",
    fix="Decode at least 33 new tokens, all of them (`--set ignore_turn_stop=true --set max_new_tokens=64`).",
    blocks=RATIOS,
    example=Example(bad="median of 8 decode tokens", good="median of 128 decode tokens"),
    thresholds=(MIN_DECODE_TOKENS,),
)
def decode_tokens(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The median stream is too short."""
    for arm in compared_arms(view, claim) or ():
        found = median_of(row.decode_tokens for row in arm.measurements)
        if found is None or found < MIN_DECODE_TOKENS.value:
            shown = f"a median of {found:g}" if found is not None else "an unknown number of"
            yield Finding(
                f"{arm.name}: {shown} decode tokens; a ratio needs at least {MIN_DECODE_TOKENS.value}",
                arm=arm.name,
                field="decode_tokens",
                found=f"{found:g}" if found is not None else "none",
                allowed=f"at least {MIN_DECODE_TOKENS.value}",
            )


MIN_REPEATS = Threshold(
    "MIN_REPEATS",
    3,
    "repeats",
    meaning="Paired repeats that every sample needs.",
    source="a choice: the fewest with a median that one outlier does not move",
)


@claim_rule(
    "SPEEDUP_REPEATS",
    title="Too few repeats",
    catches=f"A sample that arm and baseline did not both run {MIN_REPEATS.value} or more times, over all processes.",
    why="With one run a sample, the noise of the machine and the effect cannot be told apart.",
    fix=f"Run with `--processes {MIN_REPEATS.value}`, or with `--repeats {MIN_REPEATS.value}`, or more.",
    blocks=RATIOS,
    example=Example(bad="one run a prompt", good="3 runs a prompt, in alternating order"),
    thresholds=(MIN_REPEATS,),
)
def repeats(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Fewer than three paired repeats of a sample."""
    both = compared_arms(view, claim)
    if both is None:
        return
    arm, partners = both[0], rows_by_key(both[1])
    counts = {row.sample: 0 for row in arm.measurements}
    for key in rows_by_key(arm):
        counts[key[0]] += key in partners
    if not counts:
        yield Finding(f"{arm.name}: no row was measured", arm.name, field="repeat", found="0", allowed="at least 3")
        return
    fewest = min(sorted(counts), key=counts.__getitem__)
    if counts[fewest] < MIN_REPEATS.value:
        short = sum(count < MIN_REPEATS.value for count in counts.values())
        yield Finding(
            f"{arm.name}: prompts with fewer than {MIN_REPEATS.value} runs in both arms: {short} of {len(counts)}; "
            f"sample {fewest} has {counts[fewest]}",
            arm=arm.name,
            sample=fewest,
            field="repeat",
            found=str(counts[fewest]),
            allowed=f"at least {MIN_REPEATS.value}",
        )


MIN_PROCESSES = Threshold(
    "MIN_PROCESSES",
    3,
    "processes",
    meaning="Processes of a run of more than one, of which an interval can cover what the next will say.",
    source="docs/method.md: of two, the interval held the truth in 87 of 100 reports where processes differ",
)


@claim_rule(
    "SPEEDUP_PROCESSES",
    title="Two processes tell too little of the next",
    catches=f"A ratio over more than one process and fewer than {MIN_PROCESSES.value}.",
    why="How much processes differ is guessed from a single difference: in simulations an interval of 95 % held the "
    "truth in 87 of 100 reports.",
    fix=f"Run with `--processes {MIN_PROCESSES.value}` or more; or with one, whose interval tells nothing of another.",
    blocks=RATIOS,
    example=Example(bad="2 processes, 2 repeats each", good="one process, 3 repeats"),
    thresholds=(MIN_PROCESSES,),
    since=8,
)
def processes(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Two processes."""
    found = compared_ratio(view, claim)
    ran = found.estimate.processes if found is not None else 0
    if 1 < ran < MIN_PROCESSES.value:
        yield Finding(
            f"{claim.arm}: {ran} processes, of which the next one cannot be told; a ratio needs "
            f"{MIN_PROCESSES.value}, or a single one",
            arm=claim.arm,
            field="plan.processes",
            found=str(ran),
            allowed=f"1, or at least {MIN_PROCESSES.value}",
        )

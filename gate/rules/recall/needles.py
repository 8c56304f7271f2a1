"""Where needles stand in their prompts: positions and depths that fit each other, outside sink and window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from gate.rulebook.registry import claim_rule, evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding
from gate.rulebook.thresholds import Threshold
from reports.records.constants import OWN, SHIPPED_FORMS

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.plan import PromptRecord

DEPTH_SLACK = Threshold(
    "DEPTH_SLACK",
    1e-6,
    "share of the prompt",
    meaning="Between a needle's recorded depth and its first token over the length.",
    source="a choice: far less than one token of the longest prompt",
)


@evidence_rule(
    "NEEDLE_ARITHMETIC",
    title="Needles that their prompts have no place for",
    catches="A needle that ends before it begins or after the question, a question behind the end of the prompt, a "
    "depth that is not the needle's place, a needle-free prompt without its twin, with a needle, or of another answer; "
    "or prompts of one run with other numbers of answers beside theirs.",
    why="Whether a needle lay outside sink and window is read off these positions.",
    fix="Record positions and depth where the prompt is tokenised; edit none.",
    example=Example(bad="a depth of 0.5 for a needle at 81 of 659", good="a depth of 0.123 for a needle at 81 of 659"),
    thresholds=(DEPTH_SLACK,),
)
def needle_arithmetic(view: ReportView) -> Iterator[Finding]:
    """Positions of a prompt, or a prompt and its twin, contradict each other."""
    if view.imported:
        return
    yield from _further(view)
    for prompt in view.prompts.values():
        for field, message, found, allowed in (*_positions(prompt), *_twin(view, prompt)):
            where = f"workload.prompts, {prompt.prompt_set} {prompt.sample}"
            yield Finding(f"{where}: {message}", None, prompt.sample, f"workload.prompts.{field}", found, allowed)


def _further(view: ReportView) -> Iterator[Finding]:
    """Every haystack of K3's own holds as many needles: what the others tell is what a guess is told by."""
    workload = view.report.workload
    if workload is None or workload.form not in SHIPPED_FORMS or workload.form == OWN:
        return
    counts = {
        prompt.sample: (len(prompt.also_asked or ()), len(prompt.not_asked or ()))
        for (prompt_set, _), prompt in view.prompts.items()
        if prompt_set == "main"
    }
    for sample, (also, other) in counts.items():
        if (also, other) != max(counts.values()):
            message = f"workload.prompts, main {sample}: {also} further answers asked for and {other} not, others have "
            wanted = "{} and {}".format(*max(counts.values()))
            yield Finding(message + wanted, None, sample, "workload.prompts.not_asked", f"{also} and {other}", wanted)
            return


def _positions(prompt: PromptRecord) -> Iterator[Fault]:
    marks = [
        (name, place)
        for name in ("needle_first", "needle_last", "question_first", "token_count")
        if (place := getattr(prompt, name)) is not None
    ]
    for (name, place), (after, end) in pairwise(marks):
        if place > end or (place == end and name != "needle_first"):
            yield Fault(name, f"{name} is {place}, {after} {end}", str(place), f"before {end}")
    depth, first, count = prompt.needle_depth, prompt.needle_first, prompt.token_count
    if depth is not None and first is not None and count and abs(depth - first / count) > DEPTH_SLACK.value:
        message = f"needle_depth is {depth:.6g}, its place {first} of {count}"
        yield Fault("needle_depth", message, f"{depth:.6g}", f"{first / count:.6g}")


def _twin(view: ReportView, prompt: PromptRecord) -> Iterator[Fault]:
    if prompt.prompt_set != "needle_free":
        return
    main = view.prompts.get(("main", prompt.sample))
    if main is None:
        yield Fault("prompt_set", "a prompt without a needle, and none with it", "needle_free", "a main prompt too")
    elif prompt.answer != main.answer:
        message = f"the answer is {prompt.answer!r:.60}, with its needle {main.answer!r:.60}"
        yield Fault("answer", message, str(prompt.answer)[:60], str(main.answer)[:60])
    elif (prompt.also_asked, prompt.not_asked) != (main.also_asked, main.not_asked):
        found, wanted = (f"{len(one.also_asked or ())} and {len(one.not_asked or ())}" for one in (prompt, main))
        message = f"further answers, asked for and not, are {found}, with its needle {wanted}, or others"
        yield Fault("not_asked", message, found, wanted)
    if prompt.needle_first is not None or prompt.needle_last is not None:
        yield Fault("needle_first", "a needle in a prompt without one", str(prompt.needle_first), "none")


@claim_rule(
    "NEEDLE_EXPOSED",
    title="A needle that nothing had to restore",
    catches="A claim of recall by restoration with a prompt whose needle lies in the sink, or in the window of the "
    "question's first token, or whose position is not recorded.",
    why="Sink and window are kept; a needle in them is recalled by an arm that restores nothing.",
    fix="Place needles behind the sink and more than a window before the question, as the workload does.",
    blocks=("restoration_recall",),
    example=Example(bad="a needle 40 tokens before the question, window 64", good="a needle 300 tokens before it"),
)
def needle_exposed(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The needle of a prompt was not evicted when the question was read."""
    arm = view.arms.get(claim.arm)
    if arm is None or arm.restoration is None:
        return
    sink, window = arm.restoration.sink or 0, arm.restoration.window or 0
    for sample in sorted({row.sample for row in arm.measurements}):
        prompt = view.prompts.get((arm.prompt_set, sample))
        places = (prompt.needle_first, prompt.needle_last, prompt.question_first) if prompt is not None else (None,)
        first, last, question = places if len(places) == 3 else (None, None, None)
        hidden = None not in (first, last, question) and sink <= first <= last < question - window  # type: ignore[operator]
        if not hidden:
            yield Finding(
                f"sample {sample}: the needle lies at {first} to {last}, the question begins at {question}; sink "
                f"{sink} and window {window} are kept",
                arm=arm.name,
                sample=sample,
                field="workload.prompts.needle_first",
                found=f"{first} to {last}",
                allowed=f"{sink} to {question - window - 1 if question is not None else 'before the question'}",
            )

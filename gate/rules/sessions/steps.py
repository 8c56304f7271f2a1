"""The ten steps of a smoke: all there, in order, possible, and as they must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.conduct.smoke import step_failure, tokens_of
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import SMOKE, Example, Finding
from reports.records.constants import SMOKE_STEPS

if TYPE_CHECKING:
    from reports.records.conduct.runtime_smoke import SmokeStep


@evidence_rule(
    "SMOKE_STEPS",
    title="A smoke without all its steps, once each and in order",
    catches="A step of the ten that is missing, stands twice, stands elsewhere, is none of them, or expects another "
    "status than the step must end with.",
    why="A step that fails is easily left out, and a step that passes is easily counted twice.",
    fix="Let `k3 smoke` write the steps; do not edit them.",
    blocks=SMOKE,
    example=Example(bad="nine steps, `generate_truncated` left out", good="the ten steps in order"),
)
def smoke_steps(view: ReportView) -> Iterator[Finding]:
    """The steps are not the ten."""
    smoke = view.report.runtime_smoke
    if smoke is None or view.imported:
        return
    names, wanted = [step.step for step in smoke.steps], list(SMOKE_STEPS)
    if names != wanted:
        place = next((n for n, (a, b) in enumerate(zip(names, wanted, strict=False)) if a != b), min(len(names), 10))
        found = f"{len(names)} steps, {names[place] if place < len(names) else 'none'} in place {place}"
        allowed = f"10 steps, {wanted[place] if place < 10 else 'none'} in place {place}"
        message = f"runtime_smoke.steps: {found}; it must be {allowed}"
        yield Finding(message, field="runtime_smoke.steps", found=found, allowed=allowed)
    for step in smoke.steps:
        due = SMOKE_STEPS.get(step.step, "no step at all")
        if step.expected != due:
            message = f"{step.step}: expects {step.expected}; the step must end with {due}"
            yield Finding(message, field="runtime_smoke.steps.expected", found=step.expected, allowed=due)


@evidence_rule(
    "SMOKE_STATUS",
    title="A status that does not fit its frames",
    catches="A generation that ended OK without exactly one `done` at its end, or with a `truncated` that is not the "
    "first frame alone; a refusal or another call with frames; a `done` that counts other tokens than the blocks hold, "
    "or more than were asked for; a negative time.",
    why="A status is one word, and the easiest to write by hand; frames have to fit it.",
    fix="Let `k3 smoke` write what it saw; do not edit it.",
    blocks=SMOKE,
    example=Example(bad="OK, and no frame `done`", good="OK, and one frame `done` at the end"),
)
def smoke_status(view: ReportView) -> Iterator[Finding]:
    """Status and frames contradict each other."""
    smoke = view.report.runtime_smoke
    for step in smoke.steps if smoke is not None and not view.imported else ():
        fault = _impossible(step)
        if fault is not None:
            found, allowed = fault
            message = f"{step.step}: {found}; it can be {allowed}"
            yield Finding(message, field="runtime_smoke.steps.frames", found=found, allowed=allowed)


def _impossible(step: SmokeStep) -> tuple[str, str] | None:
    kinds = [frame.frame for frame in step.frames]
    if step.elapsed_ms < 0:
        return f"{step.elapsed_ms:g} ms", "0 ms or more"
    if step.observed != "OK" or step.step in ("create", "append"):
        return (f"{step.observed} with {len(kinds)} frames", "without frames") if kinds else None
    if kinds[-1:] != ["done"] or kinds.count("done") != 1:
        return f"OK with {kinds.count('done')} frames done", "OK with one, at the end"
    if "truncated" in kinds[1:]:
        return "truncated after another frame", "the first frame"
    done, tokens = step.frames[-1], len(tokens_of(step.frames))
    if done.tokens != tokens:
        return f"done counts {done.tokens} tokens", f"{tokens}, as in the blocks"
    if step.max_tokens is None or tokens > step.max_tokens:
        return f"{tokens} tokens", f"at most the {step.max_tokens} asked for"
    return None


@evidence_rule(
    "SMOKE_FAILED",
    title="A step of the smoke did not do what it must",
    catches="A step that ended with another status than it must; a generation that emitted other than the tokens asked "
    "for, did not end at its stop token, or said nothing, or the wrong number, of what its cache dropped; a step about "
    "dropping with a history that a bounded cache holds.",
    why="A server that samples behind the word greedy, or answers for a session it never made, is fast and wrong.",
    fix="Mend the server, and run `k3 smoke` again.",
    severity="withheld",
    blocks=SMOKE,
    example=Example(bad="temperature 0.7 ended OK", good="temperature 0.7 ended INVALID_ARGUMENT"),
)
def smoke_failed(view: ReportView) -> Iterator[Finding]:
    """A step that failed."""
    smoke = view.report.runtime_smoke
    if smoke is None or view.imported:
        return
    for step in smoke.steps:
        failure = step_failure(smoke, step)
        if failure is not None:
            found, allowed = failure
            message = f"{step.step}: {found}; it must be {allowed}"
            yield Finding(message, field="runtime_smoke.steps.observed", found=found, allowed=allowed)

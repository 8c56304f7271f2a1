"""What was asked: the same prompts in every compared arm, distinct ones, and the ones the digest is of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement
    from reports.records.plan import PromptRecord


@evidence_rule(
    "PROMPT_MISMATCH",
    title="Compared arms were asked different things",
    catches="A row whose prompt digest or length is missing, is not that of the workload's prompt of this sample, or "
    "is not the one the oracle was given; an arm under test that was asked another set of prompts than the oracle.",
    why="A shorter prompt is faster, and a needle that was moved is easier to find.",
    fix="Tokenise each prompt once, give the same tokens to every arm and record their digest in every row.",
    example=Example(bad="two arms with different digests for sample 3", good="the same digest in both"),
)
def prompt_mismatch(view: ReportView) -> Iterator[Finding]:
    """The prompt of a row is unknown or another one than it must be."""
    reference = {row.sample: row for row in reversed(view.oracle.measurements)} if view.oracle is not None else {}
    for arm in view.report.arms:
        if view.oracle is not None and arm.role != "control" and arm.prompt_set != view.oracle.prompt_set:
            message = (
                f"{arm.name}: was asked prompts of set {arm.prompt_set}, {view.oracle.name} {view.oracle.prompt_set}"
            )
            yield Finding(message, arm.name, None, "prompt_set", arm.prompt_set, view.oracle.prompt_set)
        for row in arm.measurements:
            asked = view.prompts.get((arm.prompt_set, row.sample))
            other = reference.get(row.sample) if arm.prompt_set == "main" else None
            finding = _unknown(view, arm, row, asked) or _different(arm, row, asked, other)
            if finding is not None:
                yield finding


def _unknown(view: ReportView, arm: Arm, row: Measurement, asked: PromptRecord | None) -> Finding | None:
    complete = asked is not None and asked.digest is not None and asked.token_count is not None
    if row.prompt_digest is not None and (view.imported or (complete and row.prompt_tokens is not None)):
        return None
    lacking = "no prompt digest" if row.prompt_digest is None else "no such prompt in the workload"
    message = f"{_where(arm, row)}: {lacking}; whether the arms were asked the same cannot be told"
    return Finding(message, arm.name, row.sample, "prompt_digest", "none", "a digest", severity="withheld")


def _different(arm: Arm, row: Measurement, asked: PromptRecord | None, other: Measurement | None) -> Finding | None:
    for source, digest, tokens in (
        ("the workload", *((asked.digest, asked.token_count) if asked is not None else (None, None))),
        ("the oracle", *((other.prompt_digest, other.prompt_tokens) if other is not None else (None, None))),
    ):
        if digest is not None and row.prompt_digest not in (None, digest):
            message = f"{_where(arm, row)}: another prompt than that of {source} for this sample"
            return Finding(message, arm.name, row.sample, "prompt_digest", str(row.prompt_digest)[:23], digest[:23])
        if tokens is not None and row.prompt_tokens not in (None, tokens):
            message = f"{_where(arm, row)}: a prompt of {row.prompt_tokens} tokens, that of {source} has {tokens}"
            return Finding(message, arm.name, row.sample, "prompt_tokens", str(row.prompt_tokens), str(tokens))
    return None


@evidence_rule(
    "PROMPT_REPEATED",
    title="One prompt counted as several samples",
    catches="Two samples of the workload, or of an arm, with the same prompt digest.",
    why="One prompt repeated three times is n = 1, however the rows are numbered.",
    fix="Generate distinct prompts; run one prompt several times as repeats of one sample.",
    example=Example(bad="samples 0 to 4 with one prompt digest", good="a digest of its own for every sample"),
)
def prompt_repeated(view: ReportView) -> Iterator[Finding]:
    """Distinct samples share a prompt."""
    workload = view.report.workload
    listed = [(prompt.sample, prompt.digest) for prompt in (workload.prompts if workload is not None else ())]
    yield from _shared(listed, None)
    for arm in view.report.arms:
        yield from _shared([(row.sample, row.prompt_digest) for row in arm.measurements], arm.name)


def _shared(prompts: list[tuple[int, str | None]], arm: str | None) -> Iterator[Finding]:
    """A needle-free twin differs from its needle prompt, so it may not share a digest either."""
    first: dict[str, int] = {}
    for sample, digest in prompts:
        if digest is not None and first.setdefault(digest, sample) != sample:
            where = arm or "workload.prompts"
            message = f"{where}: samples {first[digest]} and {sample} are the same prompt"
            yield Finding(message, arm, sample, "prompt_digest", digest[:23], "distinct prompts")
            return


@evidence_rule(
    "WORKLOAD_DIGEST",
    title="The digest of the prompts is not of these prompts",
    catches="A workload digest that is missing or is not the one recomputed from the prompt digests and answers.",
    why="Answers and prompts edited after the run leave the old digest behind; without one, edits leave no trace.",
    fix="Do not edit prompts; generate them anew with another seed.",
    example=Example(bad="a prompt swapped under the old workload digest", good="the digest of the prompts that ran"),
)
def workload_digest(view: ReportView) -> Iterator[Finding]:
    """The stated digest of the prompt set is stale."""
    workload = view.report.workload
    if workload is None or view.imported:
        return
    from reports.records.plan import prompts_digest

    derived = prompts_digest(workload.prompts)
    if workload.digest is None:
        message = "workload.digest: missing"
        yield Finding(message, field="workload.digest", found="none", allowed=derived[:23], severity="withheld")
    elif workload.digest != derived:
        message = f"workload.digest: {workload.digest[:23]} is stated, the prompts and answers give {derived[:23]}"
        yield Finding(message, field="workload.digest", found=workload.digest[:23], allowed=derived[:23])


def _where(arm: Arm, row: Measurement) -> str:
    return f"{arm.name}, sample {row.sample}, repeat {row.repeat}"

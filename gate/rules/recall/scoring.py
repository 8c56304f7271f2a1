"""Scores against the text they were given for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, RECALL, Example, Finding
from gate.rulebook.thresholds import DEGENERATE_LINE_LENGTH, DEGENERATE_LINES, DEGENERATE_REPEATS, DEGENERATE_UNIT
from reports.scoring.answers import why_wrong

if TYPE_CHECKING:
    from reports.records.codec_rows import CodecSample, KvQuantResult, OracleSample, SecondQuestion
    from reports.records.measurement import PromptSet
    from reports.records.plan import PromptRecord

    Known = dict[tuple[str, PromptSet, int], str | None]
    """What speaks against a text as an answer to the prompt of a set and sample, as far as it was asked; nothing if it
    is right."""


@evidence_rule(
    "RECALL_SCORING",
    title="A score that the text does not support",
    catches="A row counted as correct or wrong against its text: the answer stands only in a collapsed or cut text, in "
    "notes copied from the prompt, in a list of codes, or not at all; or no answer was recorded to score against.",
    why="8 of 8 were recalled on a workload whose answer was empty, and 5 of 5 in streams that ended in a repeat.",
    fix="Record the answer of every prompt and the text of every row; let the workload score, and edit nothing.",
    blocks=(*RECALL, *KV_CODEC),
    example=Example(bad="counted as right: the prompt's echo", good="counted as right: an answer that ends by itself"),
    thresholds=(DEGENERATE_LINES, DEGENERATE_LINE_LENGTH, DEGENERATE_UNIT, DEGENERATE_REPEATS),
)
def recall_scoring(view: ReportView) -> Iterator[Finding]:
    """Each stored score is formed again from the text."""
    known: Known = {}
    for arm in view.report.arms:
        for row in arm.measurements:
            if row.correct is not None:
                prompt = view.prompts.get((arm.prompt_set, row.sample))
                where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
                yield from _scored(where, arm.name, row.sample, row.correct, row.text, prompt, known)
    if view.report.kv_quant is not None:
        yield from _codec_scores(view, view.report.kv_quant, known)


def _codec_scores(view: ReportView, result: KvQuantResult, known: Known) -> Iterator[Finding]:
    """The same of codecs, and of the oracle they are compared with; both questions have one answer."""
    rows: list[tuple[str, CodecSample | OracleSample]] = [("oracle", row) for row in result.oracle]
    rows += [(arm.name, row) for arm in result.arms for row in arm.samples]
    for name, row in rows:
        prompt = view.prompts.get(("main", row.sample))
        said: list[tuple[str, CodecSample | OracleSample | SecondQuestion | None]] = [("", row)]
        said.append((", second question", row.second))
        for which, one in said:
            if one is not None and one.correct is not None:
                where = f"{name}, sample {row.sample}{which}"
                yield from _scored(where, name, row.sample, one.correct, one.text, prompt, known)


def _scored(
    where: str,
    arm: str,
    sample: int,
    correct: bool,
    text: str | None,
    prompt: PromptRecord | None,
    known: Known,
) -> Iterator[Finding]:
    """The stored score against the one formed again; what nothing can be scored against is withheld, not invalid."""
    if text is None or prompt is None or prompt.answer is None or not prompt.answer.strip():
        if correct:
            lacking = "answer" if text is not None else "text"
            message = f"{where}: counted as correct, but no {lacking} is recorded to score"
            yield Finding(message, arm, sample, lacking, "none", f"its {lacking}", severity="withheld")
        return
    key = (text, prompt.prompt_set, prompt.sample)
    if key not in known:
        known[key] = why_wrong(text, prompt.answer, prompt.also_asked or (), prompt.not_asked or ())
    wrong = known[key]
    if (wrong is None) != correct:
        counted = "correct" if correct else "wrong"
        yield Finding(
            f"{where}: counted as {counted}, but {wrong or f'{prompt.answer!r} stands in its text'}",
            arm=arm,
            sample=sample,
            field="correct",
            found=str(correct).lower(),
            allowed=str(wrong is None).lower(),
        )

"""Recall: scores, texts and answers of arms that did not recall, of controls that did, and of empty haystacks."""

import random
from collections.abc import Callable

from reports.records.measurement import Arm, AuditedStream, Measurement, Mismatch
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import of_role
from tests.gate.doctoring.reshape import paced, selected, with_prompts
from tests.gate.edits import edit_arm, edit_rows

SAID = "the red barn"
"""What was said instead of the answer."""

SAID_IDS = (501, 502, 503, 504, 2)


def _tested(report: Report) -> str | None:
    """The first restoring arm under test of a needle report."""
    return next(
        (
            arm.name
            for arm in report.arms
            if arm.role == "sut" and arm.restoration and arm.restoration.mode == "f_theta"
        ),
        None,
    )


def saying(row: Measurement, ids: tuple[int, ...], text: str, correct: bool | None) -> Measurement:
    """The row with another stream, at the same pace."""
    by = (len(ids) - 1) / (row.decode_tokens or 1)
    row = row.replace(token_ids=ids, text=text, correct=correct, decode_tokens=len(ids) - 1, stop_reason="eos")
    return paced(row, decode=by)


def says(report: Report, name: str, sample: int, ids: tuple[int, ...], text: str, correct: bool | None) -> Report:
    """`report` with an arm that says this to a sample, and is audited as saying it: the oracle knows better."""
    oracle = of_role(report, "oracle")
    assert oracle is not None
    truth = next(row.token_ids or () for row in oracle.measurements if row.sample == sample)
    miss = () if ids == truth else (Mismatch(position=0, emitted=ids[0], argmax=truth[0], gap=3.75),)

    def audit(arm: Arm) -> Arm:
        if arm.stream_audit is None:
            return arm
        kept = [stream for stream in arm.stream_audit.streams if stream.sample != sample]
        new = AuditedStream(sample=sample, repeat=0, tokens_checked=len(ids), mismatches=miss)
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=(*kept, new)))

    report = edit_rows(
        report, name, lambda row: saying(row, ids, text, correct), where=lambda row: row.sample == sample
    )
    return edit_arm(report, name, audit)


def forgetful(report: Report) -> Report | None:
    """The truth: an arm that restores by projection says something else on the first two prompts."""
    name = _tested(report) if report.kind == "niah" else None
    if name is None:
        return None
    for sample in (0, 1):
        report = says(report, name, sample, SAID_IDS, SAID, False)
    return report


def right_rows(report: Report) -> dict[int, Measurement]:
    """A row of the oracle for each sample."""
    oracle = of_role(report, "oracle")
    assert oracle is not None
    return {row.sample: row for row in oracle.measurements}


def answers_of(report: Report) -> dict[int, str]:
    """The answer to each sample."""
    prompts = report.workload.prompts if report.workload is not None else ()
    return {prompt.sample: prompt.answer or "" for prompt in prompts if prompt.prompt_set == "main"}


def _wrong_rows(report: Report, edit: Callable[[Measurement], Measurement]) -> Report | None:
    """`report` with the rows under test that were counted as wrong edited."""
    name = _tested(report)
    return edit_rows(report, name, edit, where=lambda row: row.correct is False) if name is not None else None


@doctoring(truth=forgetful)
def flip_correct(report: Report, rng: random.Random) -> Report | None:
    """Rows counted as wrong are counted as right."""
    return _wrong_rows(report, lambda row: row.replace(correct=True))


@doctoring(truth=forgetful)
def drop_the_wrong_samples(report: Report, rng: random.Random) -> Report | None:
    """Prompts that an arm did not recall go everywhere, with plan, prompts and digest to match."""
    assert report.plan is not None
    kept = range(2, report.plan.samples or 0)
    return selected(report, kept, range(report.plan.repeats or 0)) if kept else None


@doctoring(truth=forgetful)
def edit_text(report: Report, rng: random.Random) -> Report | None:
    """Wrong texts are edited to contain the answer."""
    answers = answers_of(report)
    return _wrong_rows(report, lambda row: row.replace(text=f"It is {answers[row.sample]}.", correct=True))


@doctoring(truth=forgetful)
def edit_text_of_one_row(report: Report, rng: random.Random) -> Report | None:
    """One wrong text is edited to contain the answer; other rows of the same tokens stay."""
    name, answers = _tested(report), answers_of(report)
    if name is None:
        return None
    return edit_rows(
        report, name, lambda row: row.replace(text=answers[row.sample], correct=True),
        where=lambda row: row.correct is False and row.repeat == 0,
    )  # fmt: skip


@doctoring(truth=forgetful)
def drop_scores(report: Report, rng: random.Random) -> Report | None:
    """Rows counted as wrong lose their score."""
    return _wrong_rows(report, lambda row: row.replace(correct=None))


@doctoring(truth=forgetful)
def editanswers_of(report: Report, rng: random.Random) -> Report | None:
    """Answers are edited to what the arm said; the workload's digest stays."""
    return _editedanswers_of(report, fresh=False)


@doctoring(truth=forgetful)
def edit_answers_and_digest(report: Report, rng: random.Random) -> Report | None:
    """Answers are edited to what the arm said, with the digest to match."""
    return _editedanswers_of(report, fresh=True)


def _editedanswers_of(report: Report, *, fresh: bool) -> Report | None:
    if report.workload is None or _tested(report) is None:
        return None
    prompts = [
        prompt.replace(answer=SAID) if prompt.sample in (0, 1) and prompt.answer is not None else prompt
        for prompt in report.workload.prompts
    ]
    edited = report.replace(workload=report.workload.replace(prompts=tuple(prompts)))
    report = with_prompts(edited, prompts) if fresh else edited
    return _wrong_rows(report, lambda row: row.replace(correct=True))


@doctoring(truth=forgetful)
def dropanswers_of(report: Report, rng: random.Random) -> Report | None:
    """The answers of prompts that were not recalled go, with the digest to match; they count as right."""
    if report.workload is None:
        return None
    prompts = [p.replace(answer=None) if p.sample in (0, 1) else p for p in report.workload.prompts]
    report = with_prompts(report, prompts)
    return _wrong_rows(report, lambda row: row.replace(correct=True))


@doctoring(truth=forgetful)
def copy_the_right_stream(report: Report, rng: random.Random) -> Report | None:
    """Wrong rows get tokens, text and score of the oracle; audit and times stay."""
    right = right_rows(report)

    def edit(row: Measurement) -> Measurement:
        source = right[row.sample]
        fields = ("token_ids", "text", "correct", "decode_tokens", "stop_reason")
        return row.replace(**{field: getattr(source, field) for field in fields})

    return _wrong_rows(report, edit)


@doctoring(truth=forgetful)
def invent_the_right_stream(report: Report, rng: random.Random) -> Report | None:
    """Wrong rows get the oracle's stream, with audit, counts and times to match."""
    name, right = _tested(report), right_rows(report)
    if name is None:
        return None
    for sample in (0, 1):
        source = right[sample]
        report = says(report, name, sample, source.token_ids or (), source.text or "", True)
    return report

"""Recall where it proves nothing: controls that recall too, haystacks without needles, a verifier that is lost."""

import random

from reports.records.measurement import Arm, Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import ablated
from tests.gate.doctoring.scores import SAID, SAID_IDS, answers_of, right_rows, saying, says
from tests.gate.edits import edit_arm, edit_rows


def coupon(report: Report) -> Report | None:
    """The truth: the control recalls as much as the arm it is a control of."""
    control = ablated(report)
    if control is None or report.kind != "niah":
        return None
    for sample, source in right_rows(report).items():
        report = says(report, control.name, sample, source.token_ids or (), source.text or "", True)
    return report


@doctoring(truth=coupon)
def flip_control(report: Report, rng: random.Random) -> Report | None:
    """The control's rows are counted as wrong."""
    control = ablated(report)
    return edit_rows(report, control.name, lambda row: row.replace(correct=False)) if control is not None else None


@doctoring(truth=coupon)
def edit_control_text(report: Report, rng: random.Random) -> Report | None:
    """The control's texts are edited to something wrong, and counted as such."""
    control = ablated(report)
    if control is None:
        return None
    return edit_rows(report, control.name, lambda row: row.replace(text=SAID, correct=False))


@doctoring(truth=coupon)
def alter_control_stream(report: Report, rng: random.Random) -> Report | None:
    """The control gets other tokens, texts and scores, audited as if the verifier had chosen them."""
    control = ablated(report)
    if control is None:
        return None
    for sample in right_rows(report):
        report = says(report, control.name, sample, SAID_IDS, SAID, False)
    control = ablated(report)
    assert control is not None
    assert control.stream_audit is not None
    streams = tuple(stream.replace(mismatches=()) for stream in control.stream_audit.streams)
    return edit_arm(
        report, control.name, lambda arm: arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))
    )


@doctoring(truth=coupon)
def alter_control_stream_unaudited(report: Report, rng: random.Random) -> Report | None:
    """The control gets other tokens, texts and scores, and no audit."""
    control = ablated(report)
    if control is None:
        return None
    for sample in right_rows(report):
        report = says(report, control.name, sample, SAID_IDS, SAID, False)
    return edit_arm(report, control.name, lambda arm: arm.replace(stream_audit=None))


@doctoring(truth=coupon)
def invent_control_stream(report: Report, rng: random.Random) -> Report | None:
    """The control gets other tokens, texts and scores, with audit, counts and times to match."""
    control = ablated(report)
    if control is None:
        return None
    for sample in right_rows(report):
        ids = (*(rng.randrange(100, 40000) for _ in range(rng.randint(3, 6))), 2)
        report = says(report, control.name, sample, ids, f"{SAID} {sample}", False)
    return report


def guessing(report: Report) -> Report | None:
    """The truth: the verifier says the code though no needle is in its prompt."""
    if not any(arm.name == "needle_free" for arm in report.arms):
        return None
    right = right_rows(report)

    def edit(row: Measurement) -> Measurement:
        source = right[row.sample]
        return saying(row, source.token_ids or (), source.text or "", True)

    def audit(arm: Arm) -> Arm:
        assert arm.stream_audit is not None
        streams = tuple(
            stream.replace(tokens_checked=len(right[stream.sample].token_ids or ()), mismatches=())
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(edit_rows(report, "needle_free", edit), "needle_free", audit)


@doctoring(truth=guessing)
def flip_needle_free(report: Report, rng: random.Random) -> Report | None:
    """The needle-free control's rows are counted as wrong."""
    return edit_rows(report, "needle_free", lambda row: row.replace(correct=False))


@doctoring(truth=guessing)
def edit_needle_free_text(report: Report, rng: random.Random) -> Report | None:
    """The needle-free control's texts are edited to something wrong."""
    return edit_rows(report, "needle_free", lambda row: row.replace(text=SAID, correct=False))


@doctoring(truth=guessing)
def invent_needle_free_stream(report: Report, rng: random.Random) -> Report | None:
    """The needle-free control gets other tokens, texts and scores, with audit, counts and times to match."""
    report = edit_rows(report, "needle_free", lambda row: saying(row, SAID_IDS, SAID, False))

    def audit(arm: Arm) -> Arm:
        assert arm.stream_audit is not None
        streams = tuple(stream.replace(tokens_checked=len(SAID_IDS)) for stream in arm.stream_audit.streams)
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(report, "needle_free", audit)


def lost_oracle(report: Report) -> Report | None:
    """The truth: the verifier itself does not recall, and neither does any arm."""
    if report.kind != "niah":
        return None
    main = [arm for arm in report.arms if arm.prompt_set == "main"]
    for sample in range(1, len(right_rows(report))):
        for arm in main:
            report = says(report, arm.name, sample, SAID_IDS, SAID, False)
    streams = {arm.name: arm for arm in report.arms}
    for arm in main:
        if arm.restoration is not None and arm.restoration.mode in ("none", "identity"):
            audit = streams[arm.name].stream_audit
            assert audit is not None
            clean = audit.replace(streams=tuple(stream.replace(mismatches=()) for stream in audit.streams))
            report = edit_arm(report, arm.name, lambda one, clean=clean: one.replace(stream_audit=clean))
    return report


@doctoring(truth=lost_oracle)
def flip_correct_everywhere(report: Report, rng: random.Random) -> Report | None:
    """Rows of oracle and arms counted as wrong are counted as right."""
    for arm in report.arms:
        if arm.prompt_set == "main" and arm.role != "control":
            report = edit_rows(report, arm.name, lambda row: row.replace(correct=True))
    return report


@doctoring(truth=lost_oracle)
def edit_text_everywhere(report: Report, rng: random.Random) -> Report | None:
    """Wrong texts of oracle and arms are edited to contain the answer, control and tokens stay."""
    answers = answers_of(report)
    for arm in report.arms:
        if arm.prompt_set == "main" and arm.role != "control":
            report = edit_rows(report, arm.name, lambda row: row.replace(text=answers[row.sample], correct=True))
    return report

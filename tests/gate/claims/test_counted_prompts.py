"""Prompts that the plain model answers in a loop are left out of speeds and acceptance, in every arm alike."""

from pathlib import Path

import pytest

from gate.claims.counted_prompts import left_out
from gate.judging.judge import conclude, judge
from gate.judging.judge_evidence import judge_evidence
from gate.render.sentences import sentences
from gate.rulebook.report_view import ReportView
from reports.reading.evidence import Evidence
from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.asking import named
from tests.gate.edits import edit_rows
from tests.gate.honest import Setup, measured_code

SPEED = "decode_speedup/fused_ngram"
EIGHT = Setup(samples=8, repeats=3, max_new_tokens=40, draft_arms=("ngram",))


def looping(report: Report, *samples: int, arms: tuple[str, ...] | None = None) -> Report:
    """The same run, with a loop in the answers to these prompts, in every arm or in some."""

    def go_round(row: Measurement) -> Measurement:
        ids = row.token_ids or ()
        return row.replace(token_ids=(*ids[:4], *ids[4:16] * 3)[: len(ids)])

    for arm in report.arms:
        if arms is None or arm.name in arms:
            report = edit_rows(report, arm.name, go_round, where=lambda row: row.sample in samples)
    return report


def test_what_loops_is_left_out_of_every_figure() -> None:
    plain, report = (conclude(one) for one in (measured_code(EIGHT), looping(measured_code(EIGHT), 2, 5)))
    assert left_out(ReportView(report)) == {2, 5}
    claim, whole = named(report, SPEED), named(plain, SPEED)
    assert (claim.prompts, claim.left_out) == (6, 2)
    assert (whole.prompts, whole.left_out) == (8, None)
    for name in (SPEED, "e2e_speedup/fused_ngram", "acceptance/fused_ngram", "null_ratio/oracle_again"):
        rest = conclude(without(plain, 2, 5))
        assert named(report, name).value == pytest.approx(named(rest, name).value)
        assert named(report, name).interval == pytest.approx(named(rest, name).interval)


def without(report: Report, *samples: int) -> Report:
    arms = tuple(
        arm.replace(measurements=tuple(row for row in arm.measurements if row.sample not in samples))
        for arm in report.arms
    )
    return report.replace(arms=arms, claims=(), gate=None)


def test_the_sentence_tells_how_many_were_left_out() -> None:
    report = conclude(looping(measured_code(EIGHT), 2, 5))
    said = " ".join(sentences(judge_evidence(Evidence(Path("x.json"), report, None, "k3", report.kind, 2))))
    assert "on 6 prompts of 6 kinds (2 more left out, where the plain model goes round in a circle)" in said


def test_too_few_are_left_for_a_ratio() -> None:
    found = judge(conclude(looping(measured_code(EIGHT), 0, 1, 2)))
    assert named(conclude(looping(measured_code(EIGHT), 0, 1, 2)), SPEED).prompts == 5
    withheld = {claim.name: claim.withheld_by for claim in found.claims if claim.status == "withheld"}
    assert "SPEEDUP_GROUPS" in withheld[SPEED]


def test_a_loop_of_an_arm_alone_leaves_nothing_out() -> None:
    report = looping(measured_code(EIGHT), 2, arms=("fused_ngram",))
    assert left_out(ReportView(report)) == frozenset()
    assert "STREAM_LOOPS" in {code for claim in judge(conclude(report)).claims for code in claim.withheld_by}


def test_a_plain_model_that_loops_once_of_three_times_leaves_nothing_out() -> None:
    report = measured_code(EIGHT)
    once = looping(report, 2, arms=("oracle",))
    rows = tuple(
        was if row.repeat else row
        for row, was in zip(once.arms[0].measurements, report.arms[0].measurements, strict=True)
    )
    assert left_out(ReportView(once.replace(arms=(once.arms[0].replace(measurements=rows), *once.arms[1:])))) == set()

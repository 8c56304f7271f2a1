"""Why a claim is withheld is told in words, and no ratio is told on the way."""

import re

from gate.judging.judge import conclude, judge
from tests.gate.honest import Setup, measured_code


def test_every_code_that_withholds_is_told_once() -> None:
    report = conclude(measured_code(Setup(samples=2, repeats=1)))
    judged = judge(report)
    withheld = {code for claim in judged.claims for code in claim.withheld_by}
    assert withheld
    assert not judged.violations
    assert [reason.code for reason in judged.reasons] == sorted(withheld)
    for reason in judged.reasons:
        assert reason.message
        named = {claim.name for claim in judged.claims if reason.code in claim.withheld_by}
        assert set(reason.claims) == named


def test_a_ratio_that_is_withheld_is_not_told() -> None:
    report = conclude(measured_code(Setup(samples=6, speedup=1.0, ngram_speedup=1.0)))
    reasons = judge(report).reasons
    assert any(reason.code == "SPEEDUP_INTERVAL" for reason in reasons)
    assert not any(re.search(r"\dx", reason.message) for reason in reasons)


def test_what_a_violation_tells_is_not_told_again() -> None:
    report = conclude(measured_code(Setup(samples=2, repeats=1)))
    asserted = tuple(claim.replace(status="claimed") for claim in report.claims)
    judged = judge(report.replace(claims=asserted, gate=None))
    assert judged.violations
    assert not {violation.code for violation in judged.violations} & {reason.code for reason in judged.reasons}


def test_what_is_admitted_needs_no_reason() -> None:
    judged = judge(conclude(measured_code(Setup(samples=6))))
    admitted = {claim.name for claim in judged.claims if claim.status == "admitted"}
    assert admitted
    assert not any(admitted & set(reason.claims) for reason in judged.reasons)

"""The honest reports of the gate's tests are what they say: complete, reproducible and admitted, over their space."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.judging.judge import conclude, judge
from reports.report import Report, parse_report, report_bytes
from tests.gate import honest


def status(report: Report) -> dict[str, str]:
    return {claim.name: claim.status for claim in judge(report).claims}


@pytest.mark.parametrize(
    "build", [honest.honest_niah, honest.honest_code, honest.honest_parity, honest.honest_kv_quant]
)
def test_honest_report_is_admissible_and_reproducible(build, tmp_path):
    report = build()
    assert judge(report).violations == ()
    assert judge(report).verdict == "admissible"
    assert report_bytes(build()) == report_bytes(report)
    assert parse_report(report_bytes(report), tmp_path / "x.json") == report


def test_code_report_admits_its_speedup():
    found = status(honest.honest_code(honest.Setup(speedup=1.6, samples=6, repeats=3)))
    assert found["decode_speedup/fused_dflash"] == "admitted"
    assert found["token_identity/fused_dflash"] == "admitted"


def test_niah_report_admits_restoration_recall():
    found = status(honest.honest_niah(honest.Setup(samples=6)))
    assert found["restoration_recall/identity"] == "admitted"


def test_seed_changes_the_report():
    first, second = (honest.measured_code(honest.Setup(seed=seed, samples=1, repeats=1)) for seed in (1, 2))
    assert first.arms[0].measurements[0].token_ids != second.arms[0].measurements[0].token_ids


SETUPS = st.builds(
    honest.Setup,
    samples=st.integers(2, 7),
    repeats=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    speedup=st.floats(0.3, 4.0),
    ngram_speedup=st.floats(0.5, 2.0),
    noise=st.floats(0.0005, 0.1),
    drift=st.floats(-0.1, 0.3),
    max_new_tokens=st.integers(12, 48),
    prompt_tokens=st.integers(200, 1500),
    suts=st.sampled_from([("identity",), ("f_theta",), ("native",), ("identity", "f_theta", "native"), ()]),
    acceptance=st.floats(0.05, 0.95),
    draft_arms=st.sampled_from([("dflash", "ngram"), ("ngram",), ("dflash",), ("native", "ngram"), ()]),
)


@settings(max_examples=60, deadline=None)
@given(setup=SETUPS, kind=st.sampled_from(["niah", "code", "parity", "kv_quant"]))
def test_honest_reports_break_no_rule(setup, kind):
    measured = getattr(honest, f"measured_{kind}")(setup)
    report = conclude(measured)
    judgement = judge(report)
    assert judgement.violations == ()
    assert judgement.verdict == "admissible"
    assert report.gate is not None
    assert report.gate.verdict == "admissible"
    assert conclude(report) == report
    assert {claim.name: claim.status for claim in judgement.claims} == {c.name: c.status for c in report.claims}

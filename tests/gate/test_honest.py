"""The honest reports of the gate's tests are what they say: complete, reproducible and admitted."""

import pytest

from gate.judge import judge
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
    found = status(honest.honest_niah(honest.Setup(samples=5)))
    assert found["restoration_recall/identity"] == "admitted"


def test_seed_changes_the_report():
    first, second = (honest.measured_code(honest.Setup(seed=seed, samples=1, repeats=1)) for seed in (1, 2))
    assert first.arms[0].measurements[0].token_ids != second.arms[0].measurements[0].token_ids

import pytest

from gate.claims.propose import propose
from gate.claims.recompute import recompute
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import ALL_METRICS
from reports.report import Report
from tests.gate.cases.bases import f_theta
from tests.gate.honest import Setup, measured_code, measured_kv_quant, measured_niah, measured_parity


@pytest.mark.parametrize(
    "report",
    [
        measured_niah(Setup(samples=3, repeats=2, suts=("identity", "f_theta", "native"))),
        measured_code(Setup(samples=3, repeats=2)),
        measured_parity(Setup(samples=3)),
        measured_kv_quant(Setup(samples=3)),
    ],
)
def test_proposed_figures_are_recomputed_to_the_last_digit_and_not_asserted(report: Report) -> None:
    view = ReportView(report)
    for claim in propose(report):
        figures = recompute(view, claim)
        assert figures is not None
        assert claim.value == figures.value
        assert claim.status == "withheld"
        assert claim.metric in ALL_METRICS
        if claim.interval is not None:
            assert (claim.interval.low, claim.interval.high) == figures.interval
            assert claim.interval.low <= claim.value <= claim.interval.high


def test_an_analytic_saving_is_of_the_layers_not_of_the_stated_totals() -> None:
    report = f_theta()
    assert report.memory is not None
    claim = next(claim for claim in propose(report) if claim.metric == "kv_saving").replace(basis="analytic")
    true = recompute(ReportView(report), claim)
    inflated = tuple(
        table.replace(full_kv_bytes=table.full_kv_bytes * 9, total_bytes=1) for table in report.memory.arms
    )
    assert true is not None
    assert recompute(ReportView(report.replace(memory=report.memory.replace(arms=inflated))), claim) == true

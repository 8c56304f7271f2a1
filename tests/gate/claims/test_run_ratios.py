"""What pooling takes of a report is what its claims show."""

import math

import pytest

from gate.claims.against_baseline import ratio_of, share_spent
from gate.claims.propose import propose
from gate.claims.run_ratios import run_ratios
from gate.rulebook.report_view import ReportView
from reports.records.plan import Stopping
from tests.gate.cases.bases import looked_at
from tests.gate.honest import Setup, measured_code

RUN = measured_code(Setup(samples=6, repeats=1, max_new_tokens=34, draft_arms=("native",), processes=3))
CLAIM = "decode_speedup/native"


def pooled(report):
    (ratio,) = run_ratios(report.replace(claims=propose(report)), {CLAIM})
    return ratio.study


def shown(report):
    view = ReportView(report)
    return ratio_of(view, view.arms["native"], view.arms["oracle"], "decode_speedup")


@pytest.mark.parametrize(("stopping", "share"), [(None, 1.0), (Stopping(width=0.01, first=3, most=12), 1 / 16)])
def test_a_single_run_pools_with_the_interval_that_its_claim_states(stopping, share):
    """One that was looked at, too: its looks widen what is pooled as they widened the claim."""
    report = RUN if stopping is None else looked_at(RUN, stopping)
    assert share_spent(ReportView(report)) == share
    assert pooled(report).interval == pytest.approx((shown(report).low, shown(report).high))


def test_looks_make_the_error_larger_and_leave_the_ratio():
    plain, looked = pooled(RUN), pooled(looked_at(RUN, Stopping(width=0.01, first=3, most=12)))
    assert (looked.log, looked.df) == (plain.log, plain.df)
    assert looked.error > 1.5 * plain.error
    assert math.isfinite(looked.error)


def run_of(report):
    (ratio,) = run_ratios(report.replace(claims=propose(report)), {CLAIM})
    return ratio.run


def test_a_copy_whose_machine_was_renamed_is_the_same_run():
    host = RUN.provenance.host
    renamed = RUN.replace(provenance=RUN.provenance.replace(host=host.replace(label="another", cores=64)))
    assert run_of(renamed) == run_of(RUN)
    again = measured_code(Setup(samples=6, repeats=1, max_new_tokens=34, draft_arms=("native",), processes=3, seed=1))
    assert run_of(again) != run_of(RUN)

"""What is decided at a look, on simulated runs of several processes."""

import pytest

from gate.claims.against_baseline import ratio_of, share_spent
from gate.claims.looks import look_after
from gate.claims.recompute import recompute
from gate.rulebook.report_view import ReportView
from reports.records.plan import Stopping
from tests.gate.asking import named
from tests.gate.cases.bases import looked_at
from tests.gate.edits import edit_rows
from tests.gate.honest import Setup, measured_code

QUIET = measured_code(Setup(samples=6, repeats=1, max_new_tokens=34, draft_arms=("native",), processes=6))


def decisions(report, **stopping):
    told = looked_at(report, Stopping(**{"width": 0.001, "first": 3, "most": 6} | stopping)).plan.stopping
    return [look.decision for look in told.looks]


def slower_on_some_prompts(report):
    """The arm takes twice as long on every other prompt: no process changes that."""
    return edit_rows(
        report, "native", lambda row: row.replace(decode_s=row.decode_s * (1 + row.sample % 2), e2e_s=row.e2e_s * 2)
    )


def test_each_look_ends_in_the_first_reason_that_holds():
    assert decisions(QUIET, width=5.0) == ["narrow", "narrow"]
    assert decisions(QUIET, width=0.01) == ["go_on", "no_more"]
    assert decisions(QUIET, width=0.01, budget_s=1.0) == ["budget", "no_more"]
    assert decisions(slower_on_some_prompts(QUIET), width=0.1) == ["prompts_differ", "no_more"]


def test_the_budget_is_that_of_the_round_to_come():
    seconds = look_after(QUIET, Stopping(width=0.01, first=3, most=6), 3).seconds
    assert decisions(QUIET, width=0.01, budget_s=seconds * 1.99)[0] == "budget"
    assert decisions(QUIET, width=0.01, budget_s=seconds * 2.01)[0] == "go_on"


def test_a_look_sees_nothing_that_was_measured_later():
    stopping = Stopping(width=0.01, first=3, most=6)
    early = measured_code(Setup(samples=6, repeats=1, max_new_tokens=34, draft_arms=("native",), processes=3))
    assert look_after(QUIET, stopping, 3) == look_after(early, stopping, 3)


def test_more_processes_never_get_below_what_the_prompts_leave():
    stopping = Stopping(width=0.01, first=3, most=6)
    three, six = (look_after(slower_on_some_prompts(QUIET), stopping, processes) for processes in (3, 6))
    assert three.width > six.width > six.least
    assert six.least == pytest.approx(three.least, rel=0.2)


def test_one_process_cannot_tell_what_processes_are_worth():
    assert look_after(QUIET, Stopping(width=0.01, first=1, most=6), 1).least is None


def test_an_interval_of_one_look_of_several_is_wider_and_its_chance_larger():
    plain, looked = QUIET, looked_at(QUIET, Stopping(width=0.01, first=3, most=12))
    claim = named(plain, "decode_speedup/native")
    before, after = (recompute(ReportView(report), claim) for report in (plain, looked))
    assert after.interval[0] < before.interval[0] < before.interval[1] < after.interval[1]
    assert share_spent(ReportView(looked)) == 3 / 16
    assert after.basis.p == pytest.approx(min(1.0, before.basis.p * 16 / 3))
    assert (before.basis.looks, after.basis.looks) == (None, 3)


def test_a_run_that_was_not_looked_at_spends_everything_at_its_end():
    view = ReportView(QUIET)
    assert share_spent(view) == 1
    assert ratio_of(view, view.arms["native"], view.oracle, "decode_speedup").groups == 6

import pytest

from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.cases.plan import drop_a_repeat
from tests.gate.edits import set_plan
from tests.gate.honest import Setup, measured_kv_quant, measured_niah, measured_parity

NIAH = measured_niah(Setup(samples=2, repeats=2))


@pytest.mark.parametrize("complete", [None, False])
def test_an_unfinished_run_is_withheld_not_broken(complete):
    found = ask("RUN_INCOMPLETE", set_plan(NIAH, complete=complete))
    assert [(finding.field, finding.severity) for finding in found] == [("plan.complete", None)]


def test_missing_rows_of_a_run_that_says_it_is_complete_break_it():
    found = ask("RUN_INCOMPLETE", drop_a_repeat(NIAH))
    assert [(finding.arm, finding.found, finding.severity) for finding in found] == [("ablate", "2", "invalid")]


def test_the_needle_free_control_may_run_fewer_times():
    assert {row.repeat for row in NIAH.arms[-1].measurements} == {0}
    assert not ask("RUN_INCOMPLETE", NIAH)


def test_samples_that_were_planned_were_asked():
    assert "workload.prompts" in {finding.field for finding in ask("RUN_INCOMPLETE", set_plan(NIAH, samples=3))}


@pytest.mark.parametrize("changes", [{"samples": None}, {"repeats": None}, {"samples": 0}])
def test_a_plan_without_numbers_is_none(changes):
    assert ask("RUN_INCOMPLETE", set_plan(NIAH, **changes))


def test_reports_without_arms_have_no_grid():
    assert not ask("RUN_INCOMPLETE", measured_parity(Setup()))
    assert not ask("RUN_INCOMPLETE", measured_kv_quant(Setup()))


def test_an_import_has_as_many_samples_as_it_states():
    report = NIAH.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))
    assert not ask("RUN_INCOMPLETE", set_plan(report, complete=None))
    assert ask("RUN_INCOMPLETE", set_plan(report, samples=5))

import pytest

from tests.gate.asking import ask
from tests.gate.cases.plan import needle_in_window
from tests.gate.edits import set_rows
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))


def prompt_edit(report, **changes):
    first, *rest = report.workload.prompts
    return report.replace(workload=report.workload.replace(prompts=(first.replace(**changes), *rest)))


def exposed(report):
    return [finding.sample for finding in ask("NEEDLE_EXPOSED", report, "restoration_recall/identity")]


def test_a_needle_in_the_window_or_sink_is_exposed():
    assert exposed(NIAH) == []
    assert exposed(needle_in_window(NIAH)) == [0]
    assert exposed(prompt_edit(NIAH, needle_first=2)) == [0]


@pytest.mark.parametrize("field", ["needle_first", "needle_last", "question_first"])
def test_a_needle_that_nobody_located_may_be_anywhere(field):
    assert exposed(prompt_edit(NIAH, **{field: None})) == [0]


def test_the_window_counts_back_from_the_question():
    question = NIAH.workload.prompts[0].question_first
    assert exposed(prompt_edit(NIAH, needle_last=question - 65, needle_first=question - 70)) == []
    assert exposed(prompt_edit(NIAH, needle_last=question - 64, needle_first=question - 70)) == [0]


def test_rows_of_no_prompt_are_exposed():
    report = set_rows(NIAH, "identity", sample=0)
    assert exposed(report.replace(workload=report.workload.replace(prompts=()))) == [0]

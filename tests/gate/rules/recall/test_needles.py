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


def test_what_other_needles_tell_is_told_of_every_prompt_and_of_its_twin():
    report = NIAH.replace(workload=NIAH.workload.replace(form="prose"))

    def telling(others):
        prompts = (one.replace(not_asked=others(one)) for one in report.workload.prompts)
        return report.replace(workload=report.workload.replace(prompts=tuple(prompts)))

    def told(others):
        return [finding.field for finding in ask("NEEDLE_ARITHMETIC", telling(others))]

    assert told(lambda one: ("OTHER-1",)) == []
    assert told(lambda one: ("OTHER-1",) if one.prompt_set == "main" else None) == ["workload.prompts.not_asked"] * 2
    assert told(lambda one: ("OTHER-1",) if one.sample else None) == ["workload.prompts.not_asked"]
    assert told(lambda one: ("OTHER-1",) * (1 + one.sample)) == ["workload.prompts.not_asked"]

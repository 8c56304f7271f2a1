import pytest

from tests.gate.asking import ask, found
from tests.gate.cases.bases import kv_quant
from tests.gate.edits import set_first_row, set_rows
from tests.gate.honest import Setup, measured_kv_quant
from tests.gate.rules.kv_quant.codec_edits import first, oracle
from tests.gate.rules.recall.needle_reports import niah, prompts


def test_second_answers_are_scored_again() -> None:
    wrong = first(kv_quant(), "affine8", lambda row: row.replace(second=row.second.replace(text="no idea")))
    (finding,) = ask("RECALL_SCORING", wrong)
    assert "second question" in finding.message
    assert [finding.arm for finding in ask("RECALL_SCORING", oracle(kv_quant(), correct=False))] == ["oracle"]


def test_scores_are_formed_again_in_both_directions() -> None:
    report = niah()
    assert not ask("RECALL_SCORING", report)
    flipped = set_first_row(report, "ablate", correct=True)
    hidden = set_first_row(report, "identity", correct=False)
    assert found("RECALL_SCORING", flipped) == ["true"]
    assert found("RECALL_SCORING", hidden) == ["false"]


@pytest.mark.parametrize(
    "text", ["{}5", "{}<eos>"[2:], "x<turn|>{}", "Note 8: x\nNote 9: the code is {}.", "{} " + "is " * 30]
)
def test_pieces_echoes_later_turns_and_collapses_do_not_count(text: str) -> None:
    report = niah()
    assert report.workload is not None
    said = text.format(report.workload.prompts[0].answer)
    assert found("RECALL_SCORING", set_first_row(report, "identity", text=said)) == ["true"]


def test_what_cannot_be_scored_again_is_withheld_not_invalid() -> None:
    report = prompts(niah(), "main", answer="")
    findings = ask("RECALL_SCORING", report)
    assert {finding.arm for finding in findings} == {"oracle", "oracle_again", "identity"}
    assert {finding.severity for finding in findings} == {"withheld"}
    assert ask("RECALL_SCORING", set_rows(niah(), "identity", text=None))


def test_codecs_are_scored_again_too() -> None:
    report = measured_kv_quant(Setup(samples=2))
    assert not ask("RECALL_SCORING", report)
    assert report.kv_quant is not None
    arm = report.kv_quant.arms[1]
    wrong = arm.replace(samples=(arm.samples[0].replace(text="no idea"), *arm.samples[1:]))
    arms = (report.kv_quant.arms[0], wrong, *report.kv_quant.arms[2:])
    assert found("RECALL_SCORING", report.replace(kv_quant=report.kv_quant.replace(arms=arms))) == ["true"]

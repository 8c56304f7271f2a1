from collections.abc import Callable
from typing import Any

import pytest

from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.bases import kv_quant
from tests.gate.cases.kv_quant import edit_codec
from tests.gate.edits import set_first_row, set_rows
from tests.gate.honest import Setup, measured_kv_quant, measured_niah


def first(report: Report, name: str, edit: Callable[[Any], Any]) -> Report:
    """The first sample of a codec edited."""
    return edit_codec(report, name, lambda arm: arm.replace(samples=(edit(arm.samples[0]), *arm.samples[1:])))


def oracle(report: Report, **changes: Any) -> Report:
    """The verifier's first row edited."""
    assert report.kv_quant is not None
    one, *rest = report.kv_quant.oracle
    return report.replace(kv_quant=report.kv_quant.replace(oracle=(one.replace(**changes), *rest)))


def niah(samples: int = 5, **changes: object) -> Report:
    """A needle report, each prompt once."""
    return measured_niah(Setup(**({"samples": samples, "repeats": 1} | changes)))  # type: ignore[arg-type]


def prompts(report: Report, which: str, **changes: object) -> Report:
    """The prompts of a set edited."""
    assert report.workload is not None
    edited = tuple(p.replace(**changes) if p.prompt_set == which else p for p in report.workload.prompts)
    return report.replace(workload=report.workload.replace(prompts=edited))


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

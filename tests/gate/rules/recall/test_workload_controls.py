import pytest

from gate.judging.judge import conclude
from tests.gate.asking import ask, found
from tests.gate.cases.recall import say
from tests.gate.edits import edit_arm, edit_rows, set_first_row, without_arm
from tests.gate.rules.recall.needle_reports import CLAIM, ORACLE, niah, prompts, rows_of


@pytest.mark.parametrize(
    ("asked", "forgotten", "fires"),
    [(5, 0, False), (5, 1, True), (4, 0, False), (3, 0, True), (10, 1, False), (10, 3, True)],
)
def test_the_oracle_recalls_four_of_five_and_more_than_half_for_sure(asked: int, forgotten: int, fires: bool) -> None:
    report = say(niah(asked), "oracle", "ablate", range(forgotten))
    assert bool(ask("ORACLE_RECALL_LOW", report, CLAIM)) is fires


def test_a_low_oracle_is_no_headline_of_its_own() -> None:
    low = conclude(say(niah(), "oracle", "ablate", range(5)))
    claim = next(one for one in low.claims if one.name == ORACLE)
    assert "ORACLE_RECALL_LOW" in claim.withheld_by
    assert "does not fit the model" in ask("ORACLE_RECALL_LOW", low, ORACLE)[0].message
    assert not ask("ORACLE_RECALL_LOW", niah(), ORACLE)


def test_without_a_scored_oracle_nothing_is_known() -> None:
    assert ask("ORACLE_RECALL_LOW", set_first_row(niah(), "oracle", correct=None), CLAIM)
    assert ask("ORACLE_RECALL_LOW", without_arm(niah(), "oracle"), CLAIM)


def test_every_recall_claim_needs_the_needle_free_control() -> None:
    for claim in (CLAIM, ORACLE):
        assert not ask("NEEDLE_CONTROL", niah(), claim)
        assert found("NEEDLE_CONTROL", without_arm(niah(), "needle_free"), claim) == ["none"]


@pytest.mark.parametrize("text", ["{}", "it is {}.", "{}7", "Note 3: {}", "x<turn|>{}"])
def test_a_code_said_without_its_needle_is_no_recall_however_it_is_said(text: str) -> None:
    report = niah()
    assert report.workload is not None
    code = report.workload.prompts[0].answer or ""
    assert code
    report = set_first_row(report, "needle_free", text=text.format(code.lower()))
    assert ask("NEEDLE_CONTROL", report, CLAIM)


def test_the_needle_free_control_is_the_oracle_on_other_prompts_of_the_same_length() -> None:
    report = niah()
    fewer = edit_arm(report, "needle_free", lambda arm: arm.replace(measurements=arm.measurements[1:]))
    bounded = next(arm for arm in report.arms if arm.name == "ablate").restoration
    main = {row.sample: row.prompt_digest for row in rows_of(report, "oracle")}
    for wrong in (
        fewer,
        edit_arm(report, "needle_free", lambda arm: arm.replace(engine="incremental")),
        edit_arm(report, "needle_free", lambda arm: arm.replace(restoration=bounded)),
        set_first_row(report, "needle_free", text=None),
        set_first_row(report, "needle_free", token_ids=()),
        edit_rows(report, "needle_free", lambda row: row.replace(prompt_digest=main[row.sample])),
        prompts(report, "needle_free", token_count=12),
        prompts(report, "needle_free", digest=None),
        prompts(report, "main", answer=None),
    ):
        assert ask("NEEDLE_CONTROL", wrong, CLAIM)


def test_a_twin_may_be_a_line_longer_or_shorter() -> None:
    report = niah()
    assert report.workload is not None
    count = report.workload.prompts[0].token_count or 0
    assert not ask("NEEDLE_CONTROL", prompts(niah(1), "needle_free", token_count=count - 20), ORACLE)


def test_an_arm_recalls_no_more_than_its_oracle() -> None:
    assert not ask("RECALL_ABOVE_ORACLE", niah(10), CLAIM)
    low = say(niah(10), "oracle", "ablate", (3,))
    assert found("RECALL_ABOVE_ORACLE", low, CLAIM) == ["1"]
    assert not ask("RECALL_ABOVE_ORACLE", say(low, "identity", "ablate", (4,)), CLAIM)

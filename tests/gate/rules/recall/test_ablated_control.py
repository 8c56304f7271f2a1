import pytest

from gate.claims.propose import propose
from gate.figures.statistics.intervals import Share
from gate.rules.recall.ablated_control import prompts_to_tell
from reports.records.claims import RecallClaim
from tests.gate.asking import ask, found
from tests.gate.cases.recall import say
from tests.gate.edits import edit_arm, edit_rows, set_first_row, set_rows
from tests.gate.rules.recall.needle_reports import CLAIM, niah, restoration, rows_of


@pytest.mark.parametrize(
    "changes", [{"exact_layers": (3,)}, {"sink": 5}, {"window": 63}, {"eviction": "after"}, {"mode": "identity"}]
)
def test_the_control_keeps_and_evicts_what_the_arm_does(changes: dict[str, object]) -> None:
    assert not ask("CONTROL_MISSING", niah(), CLAIM)
    assert found("CONTROL_MISSING", restoration(niah(), "ablate", **changes), CLAIM) == ["none"]


@pytest.mark.parametrize("field", ["exact_layers", "sink", "window", "eviction"])
def test_what_neither_records_is_not_known_to_be_the_same(field: str) -> None:
    report = restoration(restoration(niah(), "ablate", **{field: None}), "identity", **{field: None})
    assert found("CONTROL_MISSING", report, CLAIM) == ["none"]


def test_the_control_is_of_the_same_engine_and_has_its_role() -> None:
    for changes in ({"engine": "incremental-v2"}, {"role": "peer"}, {"prompt_set": "needle_free"}):
        report = edit_arm(niah(), "ablate", lambda arm, changes=changes: arm.replace(**changes))
        assert found("CONTROL_MISSING", report, CLAIM) == ["none"]


def test_the_control_ran_every_prompt_of_the_arm() -> None:
    fewer = edit_arm(niah(), "ablate", lambda arm: arm.replace(measurements=arm.measurements[:4]))
    assert found("CONTROL_MISSING", fewer, CLAIM) == ["no row"]
    other = set_first_row(niah(), "ablate", prompt_digest="sha256:" + "0" * 64)
    assert ask("CONTROL_MISSING", other, CLAIM)
    unknown = set_rows(set_rows(niah(), "ablate", prompt_digest=None), "identity", prompt_digest=None)
    assert ask("CONTROL_MISSING", unknown, CLAIM)


@pytest.mark.parametrize(("factor", "fires"), [(0.96, False), (1.04, False), (0.94, True), (1.06, True)])
def test_the_control_evicts_as_much_within_a_twentieth(factor: float, fires: bool) -> None:
    report = edit_rows(
        niah(), "ablate", lambda row: row.replace(evicted_positions=round((row.evicted_positions or 0) * factor))
    )
    assert bool(ask("CONTROL_MISSING", report, CLAIM)) is fires


def test_a_claim_names_its_own_control() -> None:
    report = niah()
    claim = next(one for one in propose(report) if one.name == CLAIM)
    assert isinstance(claim, RecallClaim)
    assert claim.control == "ablate"
    forged = report.replace(claims=(claim.replace(control="needle_free"),))
    assert found("CONTROL_MISSING", forged, CLAIM) == ["needle_free"]


@pytest.mark.parametrize(
    ("samples", "recalled", "fires"),
    [(5, 0, False), (5, 1, True), (4, 0, True), (3, 0, True), (2, 0, True), (10, 4, False), (10, 5, True)],
)
def test_the_difference_to_the_control_stays_above_a_fifth(samples: int, recalled: int, fires: bool) -> None:
    report = say(niah(samples), "ablate", "oracle", range(recalled))
    assert bool(ask("CONTROL_RECALL_HIGH", report, CLAIM)) is fires


def test_a_control_counts_what_any_repeat_recalled() -> None:
    report = niah(repeats=2)
    lucky = say(report, "ablate", "oracle", (0, 1))
    rows = tuple(
        old if old.repeat else new for old, new in zip(rows_of(report, "ablate"), rows_of(lucky, "ablate"), strict=True)
    )
    report = edit_arm(report, "ablate", lambda arm: arm.replace(measurements=rows))
    assert "2 of 5" in ask("CONTROL_RECALL_HIGH", report, CLAIM)[0].message


def test_the_best_of_several_controls_counts() -> None:
    report = niah()
    control = next(arm for arm in report.arms if arm.name == "ablate")
    second = next(arm for arm in say(report, "ablate", "oracle", range(5)).arms if arm.name == "ablate")
    report = report.replace(arms=(*report.arms, second.replace(name="ablate_2")))
    assert control.measurements != second.measurements
    assert len(ask("CONTROL_RECALL_HIGH", report, CLAIM)) == 1


def test_prompts_that_only_the_control_ran_do_not_thin_its_recall() -> None:
    """Ten more prompts on which the control fails do not make five recalled of five less."""
    report = say(niah(), "ablate", "oracle", range(5))
    more = tuple(
        row.replace(sample=row.sample + 10, prompt_digest="sha256:" + f"{row.sample:064x}", correct=False)
        for row in rows_of(report, "ablate")
    )
    report = edit_arm(report, "ablate", lambda arm: arm.replace(measurements=(*arm.measurements, *more)))
    assert "5 of 5" in ask("CONTROL_RECALL_HIGH", report, CLAIM)[0].message


def test_an_unscored_control_is_none() -> None:
    assert found("CONTROL_RECALL_HIGH", set_first_row(niah(), "ablate", correct=None), CLAIM) == ["none"]


@pytest.mark.parametrize(
    ("ours", "theirs", "enough"),
    [((2, 2), (0, 2), 3), ((1, 1), (0, 1), 3), ((4, 5), (1, 5), 14), ((5, 5), (5, 5), None), ((3, 5), (2, 5), None)],
)
def test_too_few_prompts_say_how_many_would_do(
    ours: tuple[int, int], theirs: tuple[int, int], enough: int | None
) -> None:
    assert prompts_to_tell(Share(*ours), Share(*theirs)) == enough


def test_a_control_that_fails_on_two_prompts_is_not_called_a_coupon_only() -> None:
    assert "2 prompts are too few to tell, 3 with these shares" in ask("CONTROL_RECALL_HIGH", niah(2), CLAIM)[0].message
    coupon = say(niah(), "ablate", "oracle", range(5))
    assert "too few" not in ask("CONTROL_RECALL_HIGH", coupon, CLAIM)[0].message

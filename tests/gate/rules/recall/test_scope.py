"""Rules about recall, its controls and its scores, at their edges."""

import pytest

from gate.claims.propose import propose
from gate.figures.statistics.intervals import Share
from gate.judging.judge import conclude
from gate.rules.recall.ablated_control import prompts_to_tell
from reports.records.claims import RecallClaim
from reports.records.measurement import NATIVE_BASELINE_LABEL, Measurement
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.recall import say
from tests.gate.edits import edit_arm, edit_rows, set_first_row, set_rows, without_arm
from tests.gate.honest import Setup, measured_kv_quant, measured_niah

CLAIM, ORACLE, NATIVE = "restoration_recall/identity", "oracle_recall/oracle", "native_baseline_recall/native"


def niah(samples: int = 5, **changes: object) -> Report:
    """A needle report, each prompt once."""
    return measured_niah(Setup(**({"samples": samples, "repeats": 1} | changes)))  # type: ignore[arg-type]


def with_native() -> Report:
    """The same with a native loop as system under test."""
    return niah(suts=("identity", "native"))


def restoration(report: Report, name: str, **changes: object) -> Report:
    """An arm's restoration edited."""
    return edit_arm(report, name, lambda arm: arm.replace(restoration=arm.restoration.replace(**changes)))


def relabelled(report: Report, metric: str, claim: str) -> Report:
    """A claim under another metric."""
    old = next(one for one in propose(report) if one.name == claim)
    new = RecallClaim.model_validate(old.model_dump() | {"name": f"{metric}/{old.arm}", "metric": metric})
    return report.replace(claims=(new,))


def test_a_native_loop_claims_a_native_recall_only() -> None:
    report = with_native()
    assert not ask("BASELINE_RECALL_CLAIM", report, NATIVE)
    assert not ask("BASELINE_RECALL_CLAIM", report, CLAIM)
    for metric in ("restoration_recall", "arm_recall"):
        assert ask("BASELINE_RECALL_CLAIM", relabelled(report, metric, NATIVE), f"{metric}/native")


def test_a_label_binds_in_both_directions() -> None:
    report = edit_arm(niah(), "identity", lambda arm: arm.replace(system_under_test=NATIVE_BASELINE_LABEL))
    claimed = relabelled(report, "arm_recall", "native_baseline_recall/identity")
    assert ask("BASELINE_RECALL_CLAIM", claimed, "arm_recall/identity")
    other = relabelled(niah(), "native_baseline_recall", CLAIM)
    assert ask("BASELINE_RECALL_CLAIM", other, "native_baseline_recall/identity")


def test_every_row_must_have_restored() -> None:
    assert not ask("RECALL_SCOPE", niah(), CLAIM)
    for changes in (
        {"restoration_active": None},
        {"restoration_active": False},
        {"restored_positions": 0},
        {"restoration_s": 0.0},
        {"restoration_s": None},
    ):
        assert found("RECALL_SCOPE", set_first_row(niah(), "identity", **changes), CLAIM) == ["4"]


def test_a_row_restores_at_least_one_layers_positions() -> None:
    report = niah()
    row = next(arm for arm in report.arms if arm.name == "identity").measurements[0]
    layer = (row.prompt_tokens or 0) - 68
    assert not ask("RECALL_SCOPE", set_first_row(report, "identity", restored_positions=layer), CLAIM)
    assert ask("RECALL_SCOPE", set_first_row(report, "identity", restored_positions=layer - 1), CLAIM)


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
    [(5, 0, False), (5, 1, True), (3, 0, False), (2, 0, True), (10, 4, False), (10, 5, True)],
)
def test_the_difference_to_the_control_stays_above_a_fifth(samples: int, recalled: int, fires: bool) -> None:
    report = say(niah(samples), "ablate", "oracle", range(recalled))
    assert bool(ask("CONTROL_RECALL_HIGH", report, CLAIM)) is fires


def test_a_control_counts_what_any_repeat_recalled() -> None:
    report = niah(repeats=2)
    lucky = say(report, "ablate", "oracle", (0, 1))
    rows = tuple(
        old if old.repeat else new for old, new in zip(_rows(report, "ablate"), _rows(lucky, "ablate"), strict=True)
    )
    report = edit_arm(report, "ablate", lambda arm: arm.replace(measurements=rows))
    assert "2 of 5" in ask("CONTROL_RECALL_HIGH", report, CLAIM)[0].message


def _rows(report: Report, name: str) -> tuple[Measurement, ...]:
    return next(arm for arm in report.arms if arm.name == name).measurements


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
        for row in _rows(report, "ablate")
    )
    report = edit_arm(report, "ablate", lambda arm: arm.replace(measurements=(*arm.measurements, *more)))
    assert "5 of 5" in ask("CONTROL_RECALL_HIGH", report, CLAIM)[0].message


def test_an_unscored_control_is_none() -> None:
    assert found("CONTROL_RECALL_HIGH", set_first_row(niah(), "ablate", correct=None), CLAIM) == ["none"]


@pytest.mark.parametrize(("forgotten", "fires"), [(1, False), (2, True)])
def test_the_oracle_recalls_four_of_five(forgotten: int, fires: bool) -> None:
    report = say(niah(), "oracle", "ablate", range(forgotten))
    assert bool(ask("ORACLE_RECALL_LOW", report, CLAIM)) is fires


def test_a_low_oracle_is_no_headline_of_its_own() -> None:
    low = conclude(say(niah(), "oracle", "ablate", range(5)))
    claim = next(one for one in low.claims if one.name == ORACLE)
    assert "ORACLE_RECALL_LOW" in claim.withheld_by
    assert "does not fit the model" in ask("ORACLE_RECALL_LOW", low, ORACLE)[0].message
    assert not ask("ORACLE_RECALL_LOW", niah(), ORACLE)


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


def test_without_a_scored_oracle_nothing_is_known() -> None:
    assert ask("ORACLE_RECALL_LOW", set_first_row(niah(), "oracle", correct=None), CLAIM)
    assert ask("ORACLE_RECALL_LOW", without_arm(niah(), "oracle"), CLAIM)


def prompts(report: Report, which: str, **changes: object) -> Report:
    """The prompts of a set edited."""
    assert report.workload is not None
    edited = tuple(p.replace(**changes) if p.prompt_set == which else p for p in report.workload.prompts)
    return report.replace(workload=report.workload.replace(prompts=edited))


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
    main = {row.sample: row.prompt_digest for row in _rows(report, "oracle")}
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


def test_scores_are_formed_again_in_both_directions() -> None:
    report = niah()
    assert not ask("RECALL_SCORING", report)
    flipped = set_first_row(report, "ablate", correct=True)
    hidden = set_first_row(report, "identity", correct=False)
    assert found("RECALL_SCORING", flipped) == ["true"]
    assert found("RECALL_SCORING", hidden) == ["false"]


@pytest.mark.parametrize("text", ["{}5", "{}<eos>"[2:], "x<turn|>{}", "Note 9: the code is {}.", "{} " + "is " * 30])
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

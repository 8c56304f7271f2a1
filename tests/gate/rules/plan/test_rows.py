"""What was planned, in which order it ran, and records that stand twice."""

import pytest

from reports.report import Imported
from tests.gate.asking import ask, named
from tests.gate.cases.plan import drop_a_repeat
from tests.gate.edits import edit_arm, set_first_row, set_plan, set_rows, without_arm
from tests.gate.honest import Setup, honest_code, measured_code, measured_kv_quant, measured_niah, measured_parity

NIAH = measured_niah(Setup(samples=2, repeats=2))
CODE = measured_code(Setup(samples=3, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


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


def test_rows_and_plan_tell_one_order():
    assert not ask("RUN_ORDER", NIAH)
    assert [f.field for f in ask("RUN_ORDER", set_first_row(NIAH, "oracle", order=None))] == ["order"]
    assert ask("RUN_ORDER", set_plan(NIAH, order=NIAH.plan.order[:-1]))
    assert not ask("RUN_ORDER", set_plan(NIAH, order=None))


def test_a_run_in_the_plan_that_no_row_has_is_noticed():
    extra = NIAH.plan.order[0].replace(repeat=9)
    assert [f.field for f in ask("RUN_ORDER", set_plan(NIAH, order=(*NIAH.plan.order, extra)))] == ["plan.order"]


def twice_the_first(arm):
    return arm.replace(measurements=(arm.measurements[0], *arm.measurements))


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda r: edit_arm(r, "oracle", twice_the_first), "measurements"),
        (lambda r: r.replace(arms=(*r.arms, r.arms[2])), "arms"),
        (lambda r: r.replace(claims=(*r.claims, r.claims[0])), "claims"),
        (lambda r: set_plan(r, order=(*r.plan.order, r.plan.order[0])), "plan.order"),
        (
            lambda r: r.replace(workload=r.workload.replace(prompts=(*r.workload.prompts, r.workload.prompts[0]))),
            "workload.prompts",
        ),
        (lambda r: edit_arm(r, "fused_dflash", lambda arm: arm.replace(role="null")), "role"),
        (lambda r: r.replace(parity=r.parity.replace(blocks=r.parity.blocks * 2)), "parity.blocks"),
    ],
)
def test_what_identifies_a_record_stands_once(edit, field):
    report = honest_code(Setup(samples=2, repeats=1, max_new_tokens=12))
    assert not ask("DUPLICATE_RECORDS", report)
    assert field in {finding.field for finding in ask("DUPLICATE_RECORDS", edit(report))}


def test_codecs_stand_once():
    report = measured_kv_quant(Setup(samples=2))
    doubled = report.replace(kv_quant=report.kv_quant.replace(arms=report.kv_quant.arms * 2))
    assert ask("DUPLICATE_RECORDS", doubled)


def interleaving(report):
    return [finding.found for finding in ask("ARMS_NOT_INTERLEAVED", report, "decode_speedup/fused_ngram")]


def test_arms_that_take_turns_are_interleaved():
    assert interleaving(CODE) == []


def test_an_order_that_is_not_recorded_cannot_be_told():
    assert interleaving(set_rows(CODE, "oracle", order=None)) == ["0"]


def test_an_arm_that_always_runs_second_is_not_interleaved():
    report = CODE
    for number, arm in enumerate(CODE.arms):
        rows = tuple(
            row.replace(order=(row.repeat * 3 + row.sample) * len(CODE.arms) + number) for row in arm.measurements
        )
        report = edit_arm(report, arm.name, lambda one, rows=rows: one.replace(measurements=rows))
    assert interleaving(report) == ["0"]


def test_an_arm_run_after_the_others_is_not_interleaved():
    late = {row.order: 100 + row.order for row in CODE.arms[2].measurements}
    report = edit_arm(
        CODE,
        "fused_ngram",
        lambda arm: arm.replace(measurements=tuple(row.replace(order=late[row.order]) for row in arm.measurements)),
    )
    assert len(interleaving(report)) == 2


def test_an_arm_that_is_not_there_is_another_rules_business():
    claim = named(CODE, "decode_speedup/fused_ngram")
    assert not ask("ARMS_NOT_INTERLEAVED", without_arm(CODE, "oracle"), claim)


@pytest.mark.parametrize(
    ("argv", "part_of", "found"),
    [
        (("k3", "eval", "--preset", "demo", "--samples", "7"), "demo", []),
        (("k3", "eval", "--preset", "parity", "--samples", "7"), "demo", ["parity"]),
        (("k3", "eval", "--preset", "demo"), None, ["demo"]),
        (("k3", "eval", "--preset=niah", "--samples", "7"), None, ["7"]),
        (("k3", "eval", "--preset=niah", "--samples", "7"), "niah", ["niah"]),
        (("k3", "eval", "--samples", "7"), "demo", ["None"]),
        ((), "demo", ["None"]),
        ((), None, []),
    ],
)
def test_the_arguments_are_of_the_run_that_the_report_is_part_of(argv, part_of, found):
    provenance = NIAH.provenance.replace(argv=argv)
    report = NIAH.replace(provenance=provenance, preset=NIAH.preset.replace(name="niah", part_of=part_of))
    assert [finding.found for finding in ask("PLAN_CONTRADICTED", report)] == found


def test_a_preset_beside_another_runs_as_it_ships():
    argv = ("k3", "eval", "--preset", "demo")
    preset = NIAH.preset.replace(name="niah", part_of="demo", overrides=("arms.identity.window=32",))
    report = NIAH.replace(provenance=NIAH.provenance.replace(argv=argv), preset=preset)
    assert [finding.field for finding in ask("PLAN_CONTRADICTED", report)] == ["preset.overrides"]
    assert not ask("PLAN_CONTRADICTED", report.replace(preset=preset.replace(overrides=())))

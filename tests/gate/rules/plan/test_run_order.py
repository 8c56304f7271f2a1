from tests.gate.asking import ask, named
from tests.gate.edits import edit_arm, edit_rows, set_first_row, set_plan, set_rows, without_arm
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=2))

CODE = measured_code(Setup(samples=3, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


def interleaving(report):
    return [finding.found for finding in ask("ARMS_NOT_INTERLEAVED", report, "decode_speedup/fused_ngram")]


def test_rows_and_plan_tell_one_order():
    assert not ask("RUN_ORDER", NIAH)
    assert [f.field for f in ask("RUN_ORDER", set_first_row(NIAH, "oracle", order=None))] == ["order"]
    assert ask("RUN_ORDER", set_plan(NIAH, order=NIAH.plan.order[:-1]))
    assert not ask("RUN_ORDER", set_plan(NIAH, order=None))


def test_a_run_in_the_plan_that_no_row_has_is_noticed():
    extra = NIAH.plan.order[0].replace(repeat=9)
    longer = set_plan(NIAH, order=(*NIAH.plan.order, extra), order_seed=None)
    assert {f.field for f in ask("RUN_ORDER", longer)} == {"plan.order"}


def reversed_round(report, first, length):
    """The report with the `length` runs from `first` on in reverse, told alike by rows and plan."""
    order = report.plan.order
    order = (*order[:first], *reversed(order[first : first + length]), *order[first + length :])
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    for name in {run.arm for run in order}:
        report = edit_rows(report, name, lambda row, name=name: row.replace(order=places[name, row.sample, row.repeat]))
    return set_plan(report, order=order)


def test_one_reversed_round_of_all_is_not_the_order_of_the_seed():
    found = ask("RUN_ORDER", reversed_round(CODE, 3, 3))
    assert [f.field for f in found] == ["plan.order"]
    assert "from run 3 on" in found[0].message
    assert ask("RUN_ORDER", set_plan(CODE, order_seed=None))


def test_an_order_of_more_rounds_than_runs_is_not_derived():
    found = ask("RUN_ORDER", set_plan(CODE, samples=10**12))
    assert [f.allowed for f in found] == ["the 0 planned"]


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

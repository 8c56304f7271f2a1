import pytest

from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_first_row, set_plan, set_rows
from tests.gate.honest import Setup, honest_code, measured_code, measured_kv_quant


def twice_the_first(arm):
    return arm.replace(measurements=(arm.measurements[0], *arm.measurements))


CODE = measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


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


def test_an_arm_copied_over_another_is_noticed_in_every_row():
    source = CODE.arms[0].measurements
    report = edit_arm(
        CODE,
        "oracle_again",
        lambda arm: arm.replace(
            measurements=tuple(
                row.replace(prefill_s=other.prefill_s, decode_s=other.decode_s)
                for row, other in zip(arm.measurements, source, strict=True)
            )
        ),
    )
    assert [finding.arm for finding in ask("COPIED_ROWS", report)] == ["oracle_again"] * 4


@pytest.mark.parametrize("field", ["prefill_s", "decode_s"])
def test_one_equal_time_is_a_coincidence(field):
    value = getattr(CODE.arms[0].measurements[0], field)
    assert not ask("COPIED_ROWS", set_first_row(CODE, "oracle_again", **{field: value}))


def test_rows_without_times_are_no_copies():
    assert not ask("COPIED_ROWS", set_rows(CODE, "oracle", prefill_s=None, decode_s=None))

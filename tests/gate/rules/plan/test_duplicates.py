import pytest

from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_plan
from tests.gate.honest import Setup, honest_code, measured_kv_quant


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

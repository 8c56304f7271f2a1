"""What luck makes of a recall beside the control's and the oracle's: two exact tests on the same prompts."""

import pytest
from scipy.stats import binomtest

from gate.claims.propose import propose
from gate.judging.rule_set import RULE_SET
from gate.rulebook.rule import RECALL
from reports.records.verdict import GateBlock
from tests.gate.asking import ask
from tests.gate.cases.recall import say
from tests.gate.edits import set_claim
from tests.gate.rules.recall.needle_reports import CLAIM, niah


def recall_claims(report):
    return {claim.name: claim for claim in propose(report) if claim.metric in RECALL}


def luck(gained, lost):
    return binomtest(gained, gained + lost, alternative="greater").pvalue if gained + lost else 1.0


@pytest.mark.parametrize(("missed", "found_by_control"), [(0, 0), (3, 0), (1, 2), (6, 6)])
def test_both_figures_are_mcnemars_on_the_same_prompts(missed, found_by_control):
    """The arm says in some samples what its control says, which found nothing; the control in others what the oracle
    says, which found everything."""
    report = say(niah(6), "identity", "ablate", range(missed))
    report = say(report, "ablate", "oracle", range(found_by_control))
    claim = recall_claims(report)[CLAIM]
    both = set(range(missed, 6)), set(range(found_by_control))
    assert claim.value == pytest.approx((6 - missed) / 6)
    assert claim.p_control == pytest.approx(luck(len(both[0] - both[1]), len(both[1] - both[0])))
    assert claim.p_oracle == pytest.approx(luck(missed, 0))


def test_the_oracle_is_compared_with_nobody_and_an_arm_without_a_control_with_the_oracle_alone():
    found = recall_claims(niah(6))
    assert (found["oracle_recall/oracle"].p_control, found["oracle_recall/oracle"].p_oracle) == (None, None)
    others = [claim for claim in found.values() if claim.metric not in ("oracle_recall", "restoration_recall")]
    assert all((claim.p_control, claim.p_oracle is None) == (None, False) for claim in others)


def test_a_stated_figure_is_held_to_the_rows():
    report = niah(6)
    concluded = report.replace(claims=propose(report))
    for field in ("p_control", "p_oracle"):
        forged = set_claim(concluded, CLAIM, **{field: 0.123})
        assert [one.field for one in ask("CLAIM_NOT_REPRODUCIBLE", forged)] == [f"claims.{field}"]
    nowhere = set_claim(concluded, "oracle_recall/oracle", p_oracle=0.5)
    assert [one.found for one in ask("CLAIM_NOT_REPRODUCIBLE", nowhere)] == ["0.5"]


@pytest.mark.parametrize(("rule_set", "missing"), [(5, []), (RULE_SET, ["claims.p_control", "claims.p_oracle"])])
def test_figures_that_are_deleted_are_missed_but_for_reports_that_are_older(rule_set, missing):
    report = niah(6)
    deleted = set_claim(report.replace(claims=propose(report)), CLAIM, p_control=None, p_oracle=None)
    deleted = deleted.replace(gate=GateBlock(rule_set=rule_set, verdict="admissible"))
    assert [one.field for one in ask("CLAIM_NOT_REPRODUCIBLE", deleted)] == missing

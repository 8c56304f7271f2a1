"""A speed-up over the oracle is one of an arm that says what the oracle says."""

import pytest

from tests.gate.asking import ask
from tests.gate.cases.bases import NGRAM, approximating
from tests.gate.cases.speedup import astray
from tests.gate.edits import edit_arm, scale, set_first_row

CODE = "SPEEDUP_LOSSY"
CLAIM = f"decode_speedup/{NGRAM}"


def as_mode(report, mode):
    return edit_arm(report, NGRAM, lambda arm: arm.replace(restoration=arm.restoration.replace(mode=mode)))


@pytest.mark.parametrize("claim", [CLAIM, f"e2e_speedup/{NGRAM}"])
@pytest.mark.parametrize("mode", ["f_theta", "ablate"])
def test_a_lossy_arm_must_say_what_the_oracle_says(mode, claim):
    report = as_mode(approximating(), mode)
    assert not ask(CODE, report, claim)
    assert [finding.found for finding in ask(CODE, astray(report), claim)] == ["5 of 6"]


@pytest.mark.parametrize("mode", ["identity", "none"])
def test_a_lossless_arm_is_the_business_of_another_rule(mode):
    report = astray(as_mode(approximating(), mode))
    assert not ask(CODE, report, CLAIM)
    assert ask("STREAM_DIVERGENCE", report)


def test_streams_that_are_not_recorded_are_not_known_to_be_the_same():
    report = set_first_row(approximating(), NGRAM, token_ids=None)
    assert [finding.found for finding in ask(CODE, report, CLAIM)] == ["an unknown number of"]


def test_a_slow_down_claims_nothing():
    assert not ask(CODE, scale(astray(approximating()), NGRAM, decode=9.0), CLAIM)

import hashlib

import pytest

from gate.rules.provenance.placeholders import DIGESTS_OF_NOTHING
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_verifier
from tests.gate.honest import Setup, measured_code, measured_niah, measured_parity, provenance

NIAH = measured_niah(Setup(samples=2, repeats=1))

FTHETA = measured_niah(Setup(samples=2, repeats=1, suts=("f_theta",)))

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("dflash",)))


def test_the_digest_of_no_bytes_identifies_nothing():
    assert f"sha256:{hashlib.sha256().hexdigest()}" in DIGESTS_OF_NOTHING


@pytest.mark.parametrize("field", ["weights", "architecture", "dtype"])
def test_the_verifier_is_identified(field):
    assert [f.field for f in ask("MODEL_UNIDENTIFIED", set_verifier(NIAH, **{field: None}))] == [
        f"provenance.models.{field}"
    ]


def test_a_report_without_a_verifier_names_none():
    report = NIAH.replace(provenance=NIAH.provenance.replace(models=()))
    assert ask("MODEL_UNIDENTIFIED", report)


def test_a_drafter_is_one_of_the_models():
    assert not ask("MODEL_UNIDENTIFIED", CODE)
    assert ask("MODEL_UNIDENTIFIED", CODE.replace(provenance=provenance()))


def test_a_drafter_without_weights_is_a_rule_with_a_known_name():
    def nameless(arm):
        return arm.replace(drafter=arm.drafter.replace(weights=None))

    report = edit_arm(CODE, "fused_dflash", nameless).replace(parity=None, provenance=provenance())
    assert [finding.field for finding in ask("MODEL_UNIDENTIFIED", report)] == ["drafter.weights"]


def test_a_projection_is_one_of_the_models():
    assert not ask("MODEL_UNIDENTIFIED", FTHETA)
    assert ask("MODEL_UNIDENTIFIED", FTHETA.replace(provenance=provenance()))


def test_an_f_theta_arm_names_maps_that_are_listed():
    def without(arm):
        return arm.replace(restoration=arm.restoration.replace(weights=None))

    assert [f.field for f in ask("MODEL_UNIDENTIFIED", edit_arm(FTHETA, "f_theta", without))] == ["restoration.weights"]


def test_a_projection_that_no_arm_uses_was_used_under_another_name():
    report = edit_arm(FTHETA, "f_theta", lambda arm: arm.replace(restoration=arm.restoration.replace(mode="identity")))
    assert [finding.field for finding in ask("MODEL_UNIDENTIFIED", report)] == ["provenance.models"]


def test_parity_names_the_weights():
    report = measured_parity(Setup(samples=2))
    assert not ask("MODEL_UNIDENTIFIED", report)
    assert ask("MODEL_UNIDENTIFIED", report.replace(parity=report.parity.replace(drafter_weights=None)))

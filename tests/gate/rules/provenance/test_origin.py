"""Enough to run it again, on code that exists, with models that are the ones they claim."""

import pytest

from reports.records.provenance import AsRun, Faithfulness, Source
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, set_source, set_verifier
from tests.gate.honest import Setup, honest_niah, measured_code, measured_niah, measured_parity, provenance

NIAH = measured_niah(Setup(samples=2, repeats=1))
FTHETA = measured_niah(Setup(samples=2, repeats=1, suts=("f_theta",)))
CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("dflash",)))


@pytest.mark.parametrize("field", ["source", "argv", "host", "packages", "device"])
def test_every_part_of_provenance_is_asked_for(field):
    report = NIAH.replace(provenance=NIAH.provenance.replace(**{field: None}))
    assert [finding.field for finding in ask("PROVENANCE_MISSING", report)] == [f"provenance.{field}"]


@pytest.mark.parametrize("field", ["preset", "created_at", "workload", "plan", "provenance"])
def test_every_part_of_the_report_is_asked_for(field):
    assert ask("PROVENANCE_MISSING", NIAH.replace(**{field: None}))


def test_an_installed_version_is_named_by_its_files():
    wheel = Source(version="0.1.0", files="sha256:" + "3" * 64)
    report = NIAH.replace(provenance=NIAH.provenance.replace(source=wheel))
    assert not ask("PROVENANCE_MISSING", report)
    assert not ask("DIRTY_TREE", report)
    assert ask("PROVENANCE_MISSING", NIAH.replace(provenance=NIAH.provenance.replace(source=Source(version="0.1.0"))))


@pytest.mark.parametrize(("dirty", "fires"), [(True, True), (None, True), (False, False)])
def test_a_commit_says_whether_its_tree_was_clean(dirty, fires):
    assert bool(ask("DIRTY_TREE", set_source(NIAH, dirty=dirty))) is fires


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


@pytest.mark.parametrize(
    ("checked", "fires"),
    [
        ({}, False),
        ({"argmax_agreement": 0.9899}, True),
        ({"argmax_agreement": 0.99}, False),
        ({"largest_logit_gap": 0.7}, False),
        ({"largest_logit_gap": 14.7}, True),
        ({"largest_logit_gap": -1.0}, True),
        ({"tokens": 31}, True),
        ({"as_run": AsRun(dtype="bfloat16", tokens=64, argmax_agreement=0.73)}, True),
        ({"as_run": AsRun(dtype="bfloat16", tokens=64, argmax_agreement=0.96)}, False),
        ({"as_run": AsRun(dtype="bfloat16", tokens=0, argmax_agreement=1.0)}, True),
    ],
)
def test_a_verifier_agrees_with_its_reference(checked, fires):
    found = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=2e-4)
    assert bool(ask("MODEL_UNFAITHFUL", set_verifier(NIAH, faithfulness=found.replace(**checked)))) is fires


@pytest.mark.parametrize(
    ("dtype", "run", "found"),
    [
        ("float32", None, []),
        ("bfloat16", None, ["none"]),
        ("float16", None, ["none"]),
        ("bfloat16", AsRun(dtype="bfloat16", tokens=64, argmax_agreement=0.96), []),
        ("bfloat16", AsRun(dtype="float16", tokens=64, argmax_agreement=0.96), ["float16"]),
        ("bfloat16", AsRun(dtype="bfloat16", tokens=63, argmax_agreement=0.96), ["63"]),
        ("bfloat16", AsRun(dtype="bfloat16", tokens=0, argmax_agreement=1.0), ["0"]),
    ],
)
def test_a_verifier_is_compared_in_the_type_it_runs_in_too(dtype, run, found):
    checked = Faithfulness(reference="transformers", tokens=256, argmax_agreement=1.0, largest_logit_gap=2e-4)
    report = set_verifier(NIAH, dtype=dtype, faithfulness=checked.replace(as_run=run))
    assert [finding.found for finding in ask("MODEL_UNFAITHFUL", report)] == found


def test_a_verifier_that_nobody_checked_is_not_believed():
    assert ask("MODEL_UNFAITHFUL", set_verifier(NIAH, faithfulness=None))


def test_no_claim_of_an_import_is_verified():
    report = honest_niah(Setup(samples=2, repeats=1))
    claim = report.claims[0]
    assert not ask("IMPORTED_UNVERIFIED", report, claim)
    imported = report.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))
    assert [finding.found for finding in ask("IMPORTED_UNVERIFIED", imported, claim)] == ["k3-mac"]

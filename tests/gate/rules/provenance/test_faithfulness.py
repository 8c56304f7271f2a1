import pytest

from reports.records.provenance import AsRun, Faithfulness
from tests.gate.asking import ask
from tests.gate.edits import set_verifier
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))


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

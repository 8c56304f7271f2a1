from pathlib import Path

import pytest

from gate.judging.judge import judge
from harness.models.registry import registry
from reports.known_models import KNOWN_WEIGHTS
from reports.report import load_report
from tests.gate.asking import ask
from tests.gate.edits import set_verifier
from tests.gate.honest import Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))
DIGESTS = {name: digest for digest, name in KNOWN_WEIGHTS.items()}


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_known_weights_go_by_their_name(name):
    report = set_verifier(NIAH, weights=DIGESTS[name])
    (finding,) = ask("MODEL_MISNAMED", set_verifier(report, id="llama-70b"))
    assert (finding.found, finding.allowed) == ("llama-70b", name)
    assert not ask("MODEL_MISNAMED", set_verifier(report, id=name))


def test_weights_that_nobody_knows_have_any_name():
    assert not ask("MODEL_MISNAMED", set_verifier(NIAH, id="llama-70b"))


def test_a_committed_report_under_another_name_is_not_admitted():
    report = set_verifier(load_report(Path("reports/evidence/demo-smollm2.json")), id="llama-70b")
    judged = judge(report)
    assert "MODEL_MISNAMED" in {violation.code for violation in judged.violations}
    assert judged.headlines == ()


def test_the_registry_agrees():
    stated = {
        model.source.weights: name for name, model in registry().models.items() if hasattr(model.source, "weights")
    }
    assert stated
    assert stated.items() <= KNOWN_WEIGHTS.items()
    assert set(KNOWN_WEIGHTS.values()) <= set(registry().models)

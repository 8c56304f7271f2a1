"""Whichever model brought the code: it ran where everything was measured."""

import pytest

from reports.records.provenance import ModelInfo
from tests.gate.asking import ask
from tests.gate.edits import set_verifier
from tests.gate.rules.provenance.test_faithfulness import NIAH

CODE = ("config.json: model_file", "x.py")


def test_a_report_without_the_field_or_with_nothing_in_it_is_not_blamed() -> None:
    assert not ask("MODEL_CODE_TRUSTED", set_verifier(NIAH, code=None))
    assert not ask("MODEL_CODE_TRUSTED", set_verifier(NIAH, code=()))


@pytest.mark.parametrize("role", ["drafter", "f_theta"])
def test_code_of_any_model_is_named(role: str) -> None:
    assert NIAH.provenance is not None
    other = ModelInfo.model_validate({"role": role, "id": "another", "code": CODE})
    report = NIAH.replace(provenance=NIAH.provenance.replace(models=(*NIAH.provenance.models, other)))
    (finding,) = ask("MODEL_CODE_TRUSTED", report)
    assert finding.message == f"another ({role}) may have run code of its own: config.json: model_file, x.py"

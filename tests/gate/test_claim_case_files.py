"""The committed cases of the claim rules are the ones their module makes."""

import json

import pytest

from tests.gate.case_files import FOLDER, compact
from tests.gate.claim_case_files import cases

CASES = cases()


@pytest.mark.parametrize("code", sorted(CASES))
def test_committed_cases_are_those_of_the_module(code: str) -> None:
    files = CASES[code]
    for name, document in (("bad.json", files.bad), ("good.json", files.good)):
        assert json.loads((FOLDER / code / name).read_text()) == json.loads(compact(document)), name

"""Every rule is seen firing, alone, on its bad case, and silent on its good one; all rules are enabled."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import all_rules
from reports.reading.reader import evidence_of
from tests.gate.cases.all_cases import all_cases
from tests.gate.cases.files import TAKEN_BACK
from tests.gate.cases.replay import beside
from tests.gate.differences import within
from tests.gate.rule_case import RuleCase

CASES = all_cases()
CODES = sorted(CASES)

ACCOMPANIED: dict[str, set[str]] = {
    # K3 forms acceptance over drafts only, so a figure over anything else is also one that the rows do not give.
    "ACCEPTANCE_DENOMINATOR": {"CLAIM_NOT_REPRODUCIBLE"},
    # The order that a seed gives holds every planned run, so one that lacks some or was run otherwise is not its order.
    "ARMS_NOT_INTERLEAVED": {"RUN_ORDER"},
    "RUN_INCOMPLETE": {"RUN_ORDER"},
    # A rate that is stated at all is one of an import.
    "KVQUANT_RATE": {"IMPORT_FIELD"},
    # A claim under another name is not the one that the rows carry.
    "BASELINE_RECALL_CLAIM": {"CLAIM_LEFT_OUT"},
    "CLAIM_MISLABELLED": {"CLAIM_LEFT_OUT"},
    "SPEEDUP_DECODE_ONLY_MISSING": {"CLAIM_LEFT_OUT"},
    "STREAM_SAMPLES": {"RUN_ORDER"},
    # An arm loops where the plain model does not only if it says something else.
    "STREAM_LOOPS": {"SPEEDUP_LOSSY"},
}
"""Codes that cannot fire alone, with those that must come along, and why."""


def judged(document: dict[str, Any]) -> JudgedFile:
    """The document judged as `k3 gate check` judges a file."""
    evidence = evidence_of(json.dumps(document).encode(), Path("case.json"))
    return judge_evidence(evidence, (TAKEN_BACK,), beside=beside(evidence))


def broken_rules(case: RuleCase, takes: Callable[[str], bool]) -> set[str]:
    """The rules that the good file breaks with what is bad in these places."""
    try:
        return {violation.code for violation in judged(case.with_bad(takes)).violations}
    except ValidationError:
        return {"SCHEMA_INVALID"}


@pytest.fixture(params=CODES)
def code(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def test_only_its_rule_fires_on_the_bad_case(code):
    found = judged(CASES[code].bad)
    shown = [f"{violation.code}: {violation.message}" for violation in found.violations]
    assert {violation.code for violation in found.violations} == {code} | ACCOMPANIED.get(code, set()), shown


def test_nothing_fires_on_the_good_case(code):
    found = judged(CASES[code].good)
    assert found.violations == ()
    assert found.verdict == "admissible"


def test_good_and_bad_differ_only_in_the_place_the_rule_is_about(code):
    case = CASES[code]
    assert [place for place in case.differing if not any(within(place, one) for one in case.places)] == []
    for pattern in case.places:
        assert any(within(place, pattern) for place in case.differing), pattern


def test_the_repair_is_the_smallest(code):
    """No place is repaired that need not be: broken alone, or repaired alone, each makes a difference."""
    case = CASES[code]
    for pattern in case.places:
        if not broken_rules(case, lambda place, pattern=pattern: within(place, pattern)):
            all_but_it = broken_rules(case, lambda place, pattern=pattern: not within(place, pattern))
            assert all_but_it != broken_rules(case, lambda place: True), pattern


def test_a_violation_names_place_and_numbers(code):
    for violation in judged(CASES[code].bad).violations:
        assert "\n" not in violation.message
        if code not in ("SCHEMA_INVALID", "LEGACY_SCHEMA", "RETRACTED"):
            assert violation.field
            assert violation.found
            assert violation.allowed


def test_bad_case_admits_nothing_it_blocks(code):
    found = judged(CASES[code].bad)
    assert found.verdict != "admissible"
    for violation in found.violations:
        blocked = {claim.name for claim in found.claims if violation.code in claim.withheld_by}
        assert not blocked & {headline.claim.name for headline in found.headlines}
    if found.verdict == "invalid":
        assert found.headlines == ()


def test_every_rule_has_a_case():
    # A file that cannot be opened is none that could be written here; who must have signed one, only a command says;
    # and what other files lie beside it, no file says.
    assert {rule.code for rule in all_rules()} - {"UNREADABLE", "NOT_ATTESTED", "RUN_SELECTED"} == set(CODES)

"""Every rule is seen firing, alone, on its bad case, and silent on its good one; all rules are enabled."""

import json
from pathlib import Path

import pytest

from gate.judging.judge_evidence import judge_evidence
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import all_rules
from reports.reading import read_evidence
from reports.retractions import load_retractions
from tests.gate.case_files import FOLDER, cases, compact

CODES = sorted(folder.name for folder in FOLDER.iterdir())
MAX_BYTES = 56_000
"""A speed-up that stands has 45 rows; with their blocks they take this much."""

ACCOMPANIED: dict[str, set[str]] = {
    # K3 forms acceptance over drafts only, so a figure over anything else is also one that the rows do not give.
    "ACCEPTANCE_DENOMINATOR": {"CLAIM_NOT_REPRODUCIBLE"},
}
"""Codes that cannot fire alone, with those that must come along, and why."""


def judge_file(path: Path) -> JudgedFile:
    """The file judged as `k3 gate check` does, with the retractions beside it."""
    listed = path.parent / "RETRACTIONS.toml"
    entries = load_retractions(listed).entries if listed.exists() else ()
    return judge_evidence(read_evidence(path), entries)


@pytest.mark.parametrize("code", CODES)
def test_only_its_rule_fires_on_the_bad_case(code):
    found = judge_file(FOLDER / code / "bad.json")
    shown = [f"{violation.code}: {violation.message}" for violation in found.violations]
    assert {violation.code for violation in found.violations} == {code} | ACCOMPANIED.get(code, set()), shown


@pytest.mark.parametrize("code", CODES)
def test_nothing_fires_on_the_good_case(code):
    found = judge_file(FOLDER / code / "good.json")
    assert found.violations == ()
    assert found.verdict == "admissible"


@pytest.mark.parametrize("code", CODES)
def test_a_violation_names_place_and_numbers(code):
    for violation in judge_file(FOLDER / code / "bad.json").violations:
        assert "\n" not in violation.message
        if code not in ("SCHEMA_INVALID", "LEGACY_SCHEMA", "RETRACTED"):
            assert violation.field
            assert violation.found
            assert violation.allowed


@pytest.mark.parametrize("code", CODES)
def test_bad_case_admits_nothing_it_blocks(code):
    found = judge_file(FOLDER / code / "bad.json")
    assert found.verdict != "admissible"
    for violation in found.violations:
        blocked = {claim.name for claim in found.claims if violation.code in claim.withheld_by}
        assert not blocked & {headline.claim.name for headline in found.headlines}
    if found.verdict == "invalid":
        assert found.headlines == ()


@pytest.mark.parametrize("code", CODES)
def test_case_files_are_small(code):
    for name in ("bad.json", "good.json"):
        assert (FOLDER / code / name).stat().st_size <= MAX_BYTES


def test_every_rule_has_a_case():
    # A file that cannot be opened cannot be committed.
    assert {rule.code for rule in all_rules()} - {"UNREADABLE"} == set(CODES)


def test_committed_cases_are_those_of_the_module():
    for code, files in cases().items():
        for name, document in (("bad.json", files.bad), ("good.json", files.good)):
            assert json.loads((FOLDER / code / name).read_text()) == json.loads(compact(document)), f"{code}/{name}"

"""Hundreds of edits by hand of the committed evidence: none leaves a file that is admissible as it stands.

Where claims and gate block are derived again from the edited rows, no more may be said than the evidence says.
"""

import json
from pathlib import Path

import pytest

from gate.judging.judge import conclude
from gate.judging.judge_evidence import judge_evidence
from reports.reading.reader import evidence_of
from reports.records.claims import Claim
from reports.report import Report
from tests.gate.handmade import BASES, HandMade, evidence, handmade

ALL = handmade()


def read(document: object) -> bytes:
    """The file form of a document."""
    return json.dumps(document).encode()


def admitted(report: Report) -> dict[str, Claim]:
    """What may be said of a report whose claims were derived again."""
    done = conclude(report)
    citable = done.gate is not None and done.gate.verdict != "invalid"
    return {claim.name: claim for claim in done.claims if citable and claim.status == "admitted"}


@pytest.fixture(scope="module")
def said() -> dict[str, dict[str, Claim]]:
    found = {}
    for base in BASES:
        report = evidence_of(read(evidence(base)), Path(base)).report
        assert report is not None
        found[base] = admitted(report)
    return found


def test_there_are_hundreds_and_each_is_another():
    assert len(ALL) >= 200
    assert len({(one.base, one.what) for one in ALL}) == len(ALL)
    assert len({(one.base, one.edits) for one in ALL}) == len(ALL)


@pytest.mark.parametrize("base", BASES)
def test_the_evidence_itself_stands(base):
    assert judge_evidence(evidence_of(read(evidence(base)), Path(base))).verdict == "admissible"


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.base}: {one.what}")
def test_an_edit_by_hand_is_caught(one: HandMade, said):
    read_back = evidence_of(read(one.document()), Path("edited.json"))
    file = judge_evidence(read_back)
    assert file.verdict != "admissible"
    assert file.verdict == "withheld" or file.headlines == ()
    assert not any("the rule itself failed" in violation.message for violation in file.violations)
    report = read_back.report
    for name, claim in admitted(report).items() if report is not None and report.imported is None else ():
        own = said[one.base].get(name)
        assert own is not None, name
        assert claim.value == pytest.approx(own.value, rel=0.01), name

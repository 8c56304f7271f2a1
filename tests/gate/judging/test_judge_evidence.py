from datetime import date
from pathlib import Path

import pytest

from gate.judging.judge_evidence import judge_evidence, report_of
from reports.reading import Evidence, Invalid, Legacy, NotAReport, Outcome, Unreadable
from reports.report import Imported, Report
from reports.retractions import Retraction
from tests.gate.honest import Setup, honest_niah, honest_parity

FILE, ORIGINAL = "sha256:" + "1" * 64, "sha256:" + "2" * 64
PARITY = honest_parity(Setup(samples=6))


def evidence(outcome: Outcome) -> Evidence:
    return Evidence(Path("x.json"), outcome, FILE, "k3", "parity", 2)


def taken_back(**changes: object) -> Retraction:
    fields = {"reason": "wrong\nweights", "date": date(2026, 11, 29), "superseded_by": "run-2"}
    return Retraction.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("outcome", "verdict", "codes", "opened"),
    [
        (PARITY, "admissible", [], True),
        (Legacy(PARITY), "legacy", ["LEGACY_SCHEMA"], True),
        (Legacy(None, "rows: missing"), "legacy", ["LEGACY_SCHEMA"], True),
        (NotAReport(), "not_evidence", [], True),
        (Invalid("kind: missing"), "invalid", ["SCHEMA_INVALID"], True),
        (Unreadable("not UTF-8", False), "invalid", ["SCHEMA_INVALID"], True),
        (Unreadable("cannot be read: gone", True), "not_evidence", ["UNREADABLE"], False),
    ],
)
def test_every_outcome_has_its_verdict(outcome: Outcome, verdict: str, codes: list[str], opened: bool) -> None:
    file = judge_evidence(evidence(outcome))
    assert (file.verdict, [each.code for each in file.violations], file.opened) == (verdict, codes, opened)


def test_every_claim_of_an_old_report_is_withheld() -> None:
    file = judge_evidence(evidence(Legacy(PARITY)))
    assert [(claim.status, claim.withheld_by) for claim in file.claims] == [("withheld", ("LEGACY_SCHEMA",))]
    assert file.headlines == ()
    assert report_of(evidence(Legacy(PARITY))) is PARITY


def test_an_importer_s_problem_with_an_old_report_is_told() -> None:
    (violation,) = judge_evidence(evidence(Legacy(None, "rows: missing"))).violations
    assert "rows: missing" in violation.message


@pytest.mark.parametrize("outcome", [PARITY, Legacy(PARITY), NotAReport(), Invalid("x")])
def test_a_retraction_by_digest_counts_whatever_the_file_holds(outcome: Outcome) -> None:
    file = judge_evidence(evidence(outcome), [taken_back(digest=FILE)])
    retracted = [each for each in file.violations if each.code == "RETRACTED"]
    assert len(retracted) == 1
    assert retracted[0].message == "retracted on 2026-11-29: wrong\\nweights; superseded by run-2"
    assert file.headlines == ()


def test_importing_a_retracted_file_does_not_launder_it() -> None:
    imported = PARITY.replace(imported=Imported(importer="k3-mac", original_digest=ORIGINAL))
    file = judge_evidence(evidence(imported), [taken_back(digest=ORIGINAL)])
    assert "RETRACTED" in {each.code for each in file.violations}


def test_another_report_s_retraction_does_not_count() -> None:
    others = [taken_back(digest=ORIGINAL), taken_back(report_id="another")]
    assert judge_evidence(evidence(PARITY), others).verdict == "admissible"


def test_a_retracted_claim_leaves_the_others() -> None:
    report = honest_niah(Setup(samples=6, repeats=3))
    name = "restoration_recall/identity"
    file = judge_evidence(evidence(report), [taken_back(report_id=report.report_id, claims=[name])])
    assert file.verdict == "withheld"
    assert name not in {headline.claim.name for headline in file.headlines}
    assert "oracle_recall/oracle" in {headline.claim.name for headline in file.headlines}


def test_a_report_without_claims_is_retracted_too() -> None:
    bare: Report = PARITY.replace(claims=(), gate=None)
    file = judge_evidence(evidence(bare), [taken_back(report_id=bare.report_id)])
    assert (file.verdict, [each.code for each in file.violations]) == ("withheld", ["RETRACTED"])

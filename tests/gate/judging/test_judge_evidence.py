import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gate.judging.judge import conclude
from gate.judging.judge_evidence import judge_evidence
from gate.rules.provenance.dates import RULES_MADE, is_ahead
from reports.content_digest import content_digest
from reports.reading.evidence import Evidence, Invalid, Legacy, NotAReport, Outcome, Unreadable
from reports.reading.reader import evidence_of
from reports.records.provenance import RunLedger
from reports.report import Imported, Report, report_bytes
from reports.retractions import Retraction
from tests.gate.edits import dated, document, knowing_text
from tests.gate.honest import Setup, honest_niah, honest_parity, measured_parity

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
    assert evidence(Legacy(PARITY)).report is PARITY


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


def test_neither_layout_nor_date_nor_name_launders_a_retracted_report() -> None:
    entry = taken_back(digest=content_digest(PARITY))
    later = dated(PARITY, datetime(2026, 11, 30, tzinfo=UTC))
    files = [json.dumps(document(report), indent=indent).encode() for report in (PARITY, later) for indent in (None, 9)]
    for data in (*files, report_bytes(PARITY), report_bytes(later)):
        file = judge_evidence(evidence_of(data, Path("x.json")), [entry])
        assert [each.code for each in file.violations] == ["RETRACTED"]
    parity = judge_evidence(evidence_of(files[-1], Path("x.json")), [entry])
    assert parity.verdict == "withheld"


def test_a_foreign_file_laid_out_anew_stays_retracted_and_so_does_what_was_imported_from_its_bytes() -> None:
    rows = [{"build_commit": "abc", "model_filename": "m.gguf", "n_prompt": 0, "n_gen": 8, "avg_ts": 5.0}]
    first, second = (evidence_of(json.dumps(rows, indent=indent).encode(), Path("x.json")) for indent in (None, 7))
    assert first.source == second.source == "llama-bench"
    assert first.report is not None
    assert first.report.imported is not None
    for digest in (first.report.imported.original_digest, first.digest, first.file_digest):
        assert "RETRACTED" in {each.code for each in judge_evidence(first, [taken_back(digest=digest)]).violations}
    entry = taken_back(digest=first.report.imported.original_digest)
    assert "RETRACTED" in {each.code for each in judge_evidence(second, [entry]).violations}
    imported = evidence_of(report_bytes(first.report), Path("y.json"))
    for digest in (first.report.imported.original_digest, first.digest, first.file_digest):
        assert "RETRACTED" in {each.code for each in judge_evidence(imported, [taken_back(digest=digest)]).violations}


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


def test_a_report_from_the_future_is_withheld_and_one_of_a_clock_a_little_ahead_is_not() -> None:
    known = knowing_text(measured_parity(Setup(samples=6)), ("own/first", "own/second"), {})
    report = conclude(known.replace(run_ledger=RunLedger(state="opted_out")))
    ahead = judge_evidence(evidence(dated(report, datetime(2126, 1, 1, tzinfo=UTC))))
    assert [each.code for each in ahead.violations] == ["DATE_AHEAD"]
    assert ahead.headlines == ()
    latest = max(datetime.now(UTC), RULES_MADE)
    assert judge_evidence(evidence(dated(report, latest + timedelta(hours=23)))).verdict == "admissible"
    assert is_ahead(PARITY, datetime(2020, 1, 1, tzinfo=UTC)) is False

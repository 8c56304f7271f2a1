"""From what a file holds to what may be said of it: reports are judged, everything else gets its one finding."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from gate.judging.judge import JudgedClaim, Judgement, judge
from gate.judging.judged_file import JudgedFile
from gate.judging.machine import busy_line, machine_line
from gate.judging.replays.beside import NOTHING_BESIDE, Beside, of_replays
from gate.rulebook.rule import Rule
from gate.rules.files.refused import LEGACY_SCHEMA, RETRACTED, SCHEMA_INVALID, UNREADABLE
from gate.rules.provenance.dates import DATE_AHEAD, is_ahead
from reports.reading.evidence import Evidence, Invalid, Legacy, NotAReport, Unreadable
from reports.records.verdict import Verdict, Violation
from reports.report import Report
from reports.retractions import Retraction
from reports.untrusted.one_line import one_line

NOT_RECORDED = "not recorded:"
"""How importers begin the note on what their format lacks."""


def judge_evidence(
    evidence: Evidence,
    retractions: Sequence[Retraction] = (),
    parity: frozenset[str] = frozenset(),
    beside: Beside = NOTHING_BESIDE,
) -> JudgedFile:
    """Judge one file. `retractions` are the entries in force where it lies; those about it make it uncitable.

    `parity` are digests of drafter weights whose parity another admissible report has shown; `beside` are replays of
    the report, or the report that a replay is of.
    """
    report = evidence.report
    digests = _digests(evidence) if any(entry.digest is not None for entry in retractions) else frozenset()
    about = [entry for entry in retractions if entry.names(report.report_id if report else None, digests)]
    taken_back = tuple(_retracted(entry, report) for entry in about)
    match evidence.outcome:
        case Report() as own:
            ahead = (_ahead(own),) if is_ahead(own, datetime.now(UTC)) else ()
            return _of_report(evidence, judge(own, (*taken_back, *ahead, *of_replays(own, beside)), parity))
        case Legacy(problem=problem):
            return _legacy(evidence, report, problem, taken_back)
        case NotAReport(reason=reason):
            return replace(_file(evidence, "not_evidence", taken_back), reason=one_line(reason))
        case Unreadable(message=message, could_not_open=True):
            return _file(evidence, "not_evidence", (_violation(UNREADABLE, message),), opened=False)
        case Unreadable(message=message) | Invalid(message=message):
            return _file(evidence, "invalid", (_violation(SCHEMA_INVALID, message), *taken_back))


def _of_report(evidence: Evidence, judgement: Judgement) -> JudgedFile:
    file = _file(evidence, judgement.verdict, judgement.violations)
    report = judgement.report
    return replace(
        file,
        claims=judgement.claims,
        reasons=judgement.reasons,
        headlines=judgement.headlines,
        reason=_imported(report) if report.imported is not None else None,
        machine=machine_line(report),
        busy=busy_line(report),
    )


def _imported(report: Report) -> str | None:
    """What another tool's file lacks to be evidence, in the words of its importer."""
    imported = report.imported
    if imported is None:
        return None
    lacking = "; ".join(note for note in imported.notes if note.startswith(NOT_RECORDED))
    told = f" ({lacking})" if lacking else ""
    return one_line(f"measured by another tool, so it can be audited and not cited{told}; measure with `k3 eval`", 600)


def _legacy(
    evidence: Evidence, report: Report | None, problem: str | None, taken_back: tuple[Violation, ...]
) -> JudgedFile:
    """An old schema says nothing that counts: one warning, and every claim of it withheld."""
    version = evidence.schema_version
    schema = f"schema {version}" if version is not None else "a file without a schema version"
    message = f"{schema} is grandfathered as non-evidence and never citable; measure again"
    violation = _violation(LEGACY_SCHEMA, f"{message} ({problem})" if problem else message)
    codes = (LEGACY_SCHEMA.code, *((RETRACTED.code,) if taken_back else ()))
    claims = tuple(
        JudgedClaim(name=claim.name, metric=claim.metric, value=claim.value, status="withheld", withheld_by=codes)
        for claim in (report.claims if report is not None else ())
    )
    return replace(_file(evidence, "legacy", (violation, *taken_back)), claims=claims)


def _file(
    evidence: Evidence, verdict: Verdict, violations: tuple[Violation, ...], *, opened: bool = True
) -> JudgedFile:
    return JudgedFile(
        path=str(evidence.path),
        source=evidence.source,
        kind=evidence.kind,
        schema_version=evidence.schema_version,
        verdict=verdict,
        violations=violations,
        opened=opened,
    )


def _digests(evidence: Evidence) -> frozenset[str]:
    """Of the content and of the file, and of the file it was made from: neither another layout nor an import launders
    what was taken back."""
    digests = [evidence.digest, evidence.file_digest]
    if evidence.report is not None and evidence.report.imported is not None:
        digests += [evidence.report.imported.original_digest, evidence.report.imported.file_digest]
    return frozenset(digest for digest in digests if digest is not None)


def _retracted(entry: Retraction, report: Report | None) -> Violation:
    """Blocks the claims that the entry names; all of them if it names none, or none that the report has."""
    names = tuple(claim.name for claim in report.claims) if report is not None else ()
    named = tuple(name for name in names if name in entry.claims) or names
    superseded = f"; superseded by {entry.superseded_by}" if entry.superseded_by is not None else ""
    message = f"retracted on {entry.date.isoformat()}: {entry.reason}{superseded}"
    return _violation(RETRACTED, message, named)


def _ahead(report: Report) -> Violation:
    return Violation(
        code=DATE_AHEAD.code,
        message=f"created_at: {report.created_at}, or a resumption, has not come yet",
        claims=tuple(claim.name for claim in report.claims),
        field="created_at",
        found=str(report.created_at),
        allowed="a date that has come",
    )


def _violation(rule: Rule, message: str, claims: tuple[str, ...] = ()) -> Violation:
    return Violation(code=rule.code, message=one_line(message, 1000), claims=claims)

"""The predecessor's test runs: any kind that ends in `_tests` and holds a `junit` summary, cases or not."""

from typing import Literal

from pydantic import Field

from reports.importers.base import Foreign, Importer, Source, mark, parse_foreign, report_id, require
from reports.importers.k3_mac.told_host import ToldHost
from reports.records.claims import TestsClaim
from reports.records.conduct import platform_tests
from reports.records.provenance import Provenance
from reports.records.record import Count
from reports.report import Report
from reports.untrusted.one_line import one_line

SUFFIX = "_tests"
NOTES = (
    "not recorded: the commit that was tested, the command, what was skipped and why",
    "the result files the counts were read from are not part of it",
)
OUTCOMES: dict[str, Literal["passed", "failed", "error", "skipped"]] = {
    "passed": "passed",
    "ok": "passed",
    "failed": "failed",
    "failure": "failed",
    "error": "error",
    "skipped": "skipped",
}


class Case(Foreign):
    """`junit.cases[]`."""

    name: str
    classname: str | None = None
    outcome: str | None = None
    status: str | None = None
    time: float | None = None
    message: str | None = None


class Junit(Foreign):
    """`junit`."""

    tests: Count
    failures: Count = 0
    errors: Count = 0
    skipped: Count = 0
    cases: list[Case] = Field(default_factory=list)


class TestsFile(Foreign):
    """A whole file."""

    __test__ = False  # pytest takes every class named so for a test

    kind: str
    schema_version: Count | None = None
    host: ToldHost | None = None
    junit: Junit


def _recognises(source: Source) -> bool:
    value = source.value
    if not isinstance(value, dict) or not isinstance(value.get("junit"), dict):
        return False
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith(SUFFIX)


def _load(source: Source) -> Report:
    file = parse_foreign(TestsFile, source.value)
    junit, suite = file.junit, one_line(file.kind, 100)
    ran = junit.tests - junit.skipped
    passed = ran - junit.failures - junit.errors
    require(passed >= 0, f"junit: {junit.tests} tests, of which more failed or were skipped")
    claim = TestsClaim(
        name=f"tests_passed/{suite}",
        metric="tests_passed",
        value=passed / ran if ran else 0.0,
        arm=suite,
        status="claimed",
    )
    return Report(
        kind="platform_tests",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, NOTES, file.kind, file.schema_version),
        provenance=Provenance(host=file.host.record()) if file.host is not None else None,
        platform_tests=platform_tests.PlatformTests(
            suite=suite,
            tests=junit.tests,
            failures=junit.failures,
            errors=junit.errors,
            skipped=junit.skipped,
            cases=tuple(map(_case, junit.cases)),
        ),
        claims=(claim,) if ran else (),
    )


def _case(case: Case) -> platform_tests.TestCase:
    said = (case.outcome or case.status or "passed").lower()
    require(said in OUTCOMES, f"junit.cases: {case.name}: outcome {said} is none of {', '.join(OUTCOMES)}")
    name = "::".join(part for part in (case.classname, case.name) if part) or "unnamed"
    return platform_tests.TestCase(
        name=one_line(name, 1000),
        outcome=OUTCOMES[said],
        seconds=case.time,
        reason=one_line(case.message, 300) if case.message else None,
    )


IMPORTER = Importer("k3-mac", _recognises, _load, versioned=True)

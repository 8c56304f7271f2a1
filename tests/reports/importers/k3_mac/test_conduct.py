"""The predecessor's smokes and test runs: read, never citable."""

import json

import pytest

from gate.judging.judge_evidence import judge_evidence
from reports.reading.evidence import Invalid, Legacy
from reports.reading.reader import read_evidence

HOST = {"platform": "macOS-15.1-arm64", "machine": "arm64", "python": "3.12.1", "grpc": "1.66.0"}


def smoke(kind="grpc_generator_smoke", **changes):
    steps = [
        {"step": "CreateSession", "expected": "ok", "observed": "ok", "passed": True, "elapsed_ms": 3.1, "detail": {}},
        {"step": "Generate (max_tokens=0)", "expected": "INVALID_ARGUMENT", "observed": "ok", "passed": False},
    ]
    counts = {"steps_total": 2, "steps_passed": 2, "steps_failed": 0, "all_passed": True}
    return {"schema_version": 1, "kind": kind, "host": HOST, "steps": steps} | counts | changes


def run_of(**junit):
    counts = {"tests": 3, "failures": 1, "errors": 0, "skipped": 1}
    return {"schema_version": 1, "kind": "pr_n2_mac_integration_tests", "host": HOST, "junit": counts | junit}


CASES = [
    {"classname": "t.a", "name": "one", "outcome": "passed", "time": 0.5},
    {"name": "two", "status": "FAILED", "message": "assert 1 == 2"},
    {"name": "three", "status": "skipped"},
]


@pytest.mark.parametrize("kind", ["grpc_generator_smoke", "grpc_appender_smoke", "grpc_runtime_smoke"])
def test_a_smoke_is_read_as_its_tool_names_it(imported, kind):
    report = imported(smoke(kind))
    assert report.kind == "runtime_smoke"
    assert [step.observed for step in report.runtime_smoke.steps] == ["ok", "ok"]
    assert report.runtime_smoke.stated_passed == 2
    assert report.provenance.host.machine == "arm64"
    assert (report.claims[0].name, report.claims[0].value) == (f"smoke_steps/{kind}", 1.0)


def test_a_test_run_is_read_with_and_without_cases(imported):
    for document, cases in ((run_of(), 0), (run_of(cases=CASES), 3)):
        report = imported(document)
        run = report.platform_tests
        assert (report.kind, run.tests, run.failures, run.skipped, len(run.cases)) == ("platform_tests", 3, 1, 1, cases)
        assert (report.claims[0].name, report.claims[0].value) == ("tests_passed/pr_n2_mac_integration_tests", 0.5)
    assert [case.outcome for case in run.cases] == ["passed", "failed", "skipped"]
    assert run.cases[0].name == "t.a::one"
    assert run.cases[1].reason == "assert 1 == 2"


@pytest.mark.parametrize("document", [smoke(), run_of(), run_of(cases=CASES)])
@pytest.mark.parametrize("version", [1, 2, None])
def test_neither_is_ever_citable(tmp_path, document, version):
    """Also not where somebody writes a 2 into it."""
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document | {"schema_version": version}))
    evidence = read_evidence(path)
    judged = judge_evidence(evidence)
    assert isinstance(evidence.outcome, Legacy) == (version != 2)
    assert judged.verdict in (("legacy",) if version != 2 else ("withheld", "invalid"))
    assert judged.headlines == ()
    assert all(claim.status == "withheld" for claim in judged.claims)


@pytest.mark.parametrize(
    "document",
    [
        smoke(steps="ten"),
        smoke(steps=[{"step": "CreateSession"}]),
        run_of(failures=7),
        run_of(tests=True),
        run_of(cases=[{"name": "one", "outcome": "splendid"}]),
    ],
)
def test_a_damaged_one_is_refused(tmp_path, document):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document | {"schema_version": 2}))
    assert isinstance(read_evidence(path).outcome, Invalid)

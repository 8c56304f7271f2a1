import json

import pytest

SUMMARY = """================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 33.6903
Tokens per second: 3345.25
Result is : VALID
  Min duration satisfied : Yes

================================================
Test Parameters Used
================================================
samples_per_query : 550
target_qps : 50
"""


def entry(key, value):
    more = {"time_ms": 273.0054, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME"}
    return ":::MLLOG " + json.dumps({"key": key, "value": value, **more, "metadata": {"is_error": False}}) + "\n"


DETAIL = (
    entry("loadgen_version", "5.1 @ 0123456789")
    + entry("generic_message", "Starting performance mode")
    + entry("effective_scenario", "Server")
    + entry("result_validity", "INVALID")
    + entry("result_completed_tokens_per_second", 41.25)
    + ':::MLLOG {"key": "result_perf'
)


def test_a_summary_states_the_rate_and_loadgens_own_verdict(evidence, imported):
    assert evidence(SUMMARY.encode()).source == "mlperf"
    report = imported(SUMMARY.encode())
    (arm,) = report.arms
    assert (arm.name, arm.measurements) == ("PySUT", ())
    assert [(rate.value, rate.scope, rate.statistic) for rate in arm.stated_rates] == [(3345.25, "e2e", "total")]
    for told in ("stated: Result is: VALID", "stated: Scenario: Offline", "stated: target_qps: 50"):
        assert told in report.imported.notes


def test_a_detail_log_is_read_to_a_line_that_is_cut(imported):
    report = imported(DETAIL.encode())
    assert report.imported.original_kind == "detail"
    assert report.arms[0].stated_rates[0].value == 41.25
    assert "stated: result_validity: INVALID" in report.imported.notes
    assert "stated: loadgen_version: 5.1 @ 0123456789" in report.imported.notes
    assert not any("generic_message" in note for note in report.imported.notes)


@pytest.mark.parametrize(
    "text", [SUMMARY, f"\nNo warnings encountered during test.\n{SUMMARY}", SUMMARY.replace("3345.25", "inf"), DETAIL]
)
def test_an_honest_log_is_withheld_and_no_more(judged, text):
    assert judged(text.encode()).verdict == "withheld"


@pytest.mark.parametrize("text", [SUMMARY + " " * 1_000_000, SUMMARY + "a:b\n" * 200_000, DETAIL + "\n" * 10**6])
def test_no_log_takes_long(judged, text):
    assert judged(text.encode()).verdict == "withheld"

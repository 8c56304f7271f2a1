"""A test run counted from its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.figures.statistics.intervals import Share

if TYPE_CHECKING:
    from reports.records.conduct.platform_tests import PlatformTests


def outcomes(tests: PlatformTests) -> dict[str, int]:
    """Cases of each outcome; of a run without cases (imports) what it states."""
    if not tests.cases:
        ran = tests.tests - tests.failures - tests.errors - tests.skipped
        return {"passed": ran, "failed": tests.failures, "error": tests.errors, "skipped": tests.skipped}
    counts = dict.fromkeys(("passed", "failed", "error", "skipped"), 0)
    for case in tests.cases:
        counts[case.outcome] += 1
    return counts


def tests_passed(tests: PlatformTests | None) -> Share | None:
    """Cases that passed, of those that were not skipped; none where none was run."""
    counts = outcomes(tests) if tests is not None else {}
    ran = sum(count for outcome, count in counts.items() if outcome != "skipped")
    return Share(counts["passed"], ran) if ran > 0 else None

"""A smoke and a test run in tables: what was seen, step by step, and the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.figures.conduct.smoke import tokens_of
from gate.figures.conduct.test_results import outcomes
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from reports.records.conduct.platform_tests import PlatformTests
    from reports.records.conduct.runtime_smoke import RuntimeSmoke, SmokeStep

SMOKE_COLUMNS = ("step", "observed", "expected", "frames", "tokens", "ms")
SMOKE_WORDS = 4
TESTS_COLUMNS = ("suite", "cases", "passed", "failed", "errors", "skipped", "lines covered")
TESTS_WORDS = 1


def smoke_rows(smoke: RuntimeSmoke) -> list[tuple[str, ...]]:
    """A row a step, under `SMOKE_COLUMNS`."""
    return [_step(step) for step in smoke.steps]


def _step(step: SmokeStep) -> tuple[str, ...]:
    kinds = [frame.frame for frame in step.frames]
    told = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    words = (one_line(step.step), one_line(step.observed), one_line(step.expected), told)
    return (*words, str(len(tokens_of(step.frames)) or ""), f"{step.elapsed_ms:,.1f}")


def tests_row(tests: PlatformTests) -> tuple[str, ...]:
    """The counts of a test run, under `TESTS_COLUMNS`."""
    counts = outcomes(tests)
    covered, lines = (sum(getattr(file, name) for file in tests.coverage or ()) for name in ("covered", "lines"))
    share = f"{covered:,} of {lines:,}" if lines else ""
    total = sum(counts.values())
    return (one_line(tests.suite, 80), *(f"{count:,}" for count in (total, *counts.values())), share)

"""A run of a test suite: every case, as its JUnit file tells it, and the lines that were covered."""

from typing import Annotated, Literal

from pydantic import Field

from reports.records.record import Count, Digest, Record, Seconds

Text = Annotated[str, Field(min_length=1, max_length=1000)]


class TestCase(Record):
    """One case; `reason` is what a skip or failure said of itself, in one line."""

    __test__ = False  # pytest takes every class named so for a test

    name: Text
    outcome: Literal["passed", "failed", "error", "skipped"]
    seconds: Seconds | None = None
    reason: Text | None = None


class FileCoverage(Record):
    """Lines of a file that can run, and those that did."""

    file: Text
    lines: Count
    covered: Count


class PlatformTests(Record):
    """A test run. The counts are those that the results state; the gate counts the cases."""

    suite: Text
    command: Text | None = Field(None, description="What ran the tests, as told")
    git_commit: str | None = Field(
        None, pattern=r"^[0-9a-f]{40}$", description="Of the code that was tested, as the results tell it"
    )
    results: tuple[Digest, ...] = Field((), description="Of the bytes of the result files")
    tests: Count
    failures: Count
    errors: Count
    skipped: Count
    cases: tuple[TestCase, ...] = ()
    coverage: tuple[FileCoverage, ...] | None = None

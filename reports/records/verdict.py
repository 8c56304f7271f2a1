"""How a report was judged, in the form a report stores and every output format prints."""

from typing import Literal

from pydantic import Field

from reports.records.record import Count, Name, Record

Verdict = Literal["admissible", "withheld", "invalid", "legacy", "not_evidence"]


class Violation(Record):
    """A broken rule, with the place, the number found and the number allowed."""

    code: Name
    message: str
    claims: tuple[Name, ...] = Field((), description="Names of the asserted claims it blocks")
    arm: Name | None = None
    sample: Count | None = None
    field: Name | None = None
    found: str | None = None
    allowed: str | None = None


class GateBlock(Record):
    """The judgement a report carries; never believed, always derived again."""

    rule_set: Count
    verdict: Verdict
    violations: tuple[Violation, ...] = ()

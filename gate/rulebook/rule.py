"""A rule: one function that looks at a report, declared once with its story, an example and its thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from gate.rulebook.claim_kinds import CLAIM_KINDS
from gate.rulebook.report_view import ReportView
from gate.rulebook.thresholds import AnyThreshold
from reports.plugins.entry_points import is_plugin_id

if TYPE_CHECKING:
    from reports.records.claims import Claim
    from reports.records.measurement import Arm, Measurement

Severity = Literal["invalid", "withheld", "legacy"]
Metric = str
ALL_METRICS: tuple[Metric, ...] = tuple(CLAIM_KINDS)
SPEEDUP: tuple[Metric, ...] = ("decode_speedup", "e2e_speedup")
RATIOS: tuple[Metric, ...] = (*SPEEDUP, "arm_ratio")
RECALL: tuple[Metric, ...] = ("oracle_recall", "native_baseline_recall", "restoration_recall", "arm_recall")
NEEDS_STREAMS = (*RATIOS, "token_identity", "acceptance", "restoration_recall")
KV_CODEC = ("kv_codec_worthwhile",)
SMOKE = ("smoke_steps",)
TESTS = ("tests_passed",)
REPLAY = ("rows_replayed", "runtime_parity")


@dataclass(frozen=True)
class Finding:
    """One place where a rule is broken: the message, the place, the figure found and the one allowed.

    `claim` is set where the finding is about one claim only, `severity` where it is graver or milder than its rule.
    `outcome` says that it is what the run found out about another's work: it stands in the way of claims, and the
    evidence is whole.
    """

    message: str
    arm: str | None = None
    sample: int | None = None
    field: str | None = None
    found: str | None = None
    allowed: str | None = None
    claim: str | None = None
    severity: Severity | None = None
    outcome: bool = False


class Fault(NamedTuple):
    """What is wrong with one figure, before it is said whose: its field, the words, what was found and what may be."""

    field: str
    message: str
    found: str
    allowed: str


def row_finding(arm: Arm, row: Measurement, fault: Fault) -> Finding:
    """The finding of a fault in a row; the message begins with the place."""
    where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
    return Finding(f"{where}: {fault.message}", arm.name, row.sample, fault.field, fault.found, fault.allowed)


@dataclass(frozen=True)
class Example:
    """What breaks the rule, and what the same place looks like when it is sound, in a few words each.

    The tests hold a whole report of each kind a rule.
    """

    bad: str
    good: str


EvidenceCheck = Callable[[ReportView], Iterator[Finding]]
ClaimCheck = Callable[[ReportView, "Claim"], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A declared rule.

    At most one of `evidence` and `claim` is set. An evidence rule looks at the rows whatever is claimed, and its
    finding is always a violation; a claim rule is asked for each claim whose metric it blocks, and its finding is
    a violation only where that claim is asserted. A rule with neither is found outside the rows: when a file is read,
    or in the list of retractions. `thresholds` are the numbers that decide, those of its helpers too.
    """

    code: str
    title: str
    catches: str
    why: str
    fix: str
    since: int
    severity: Severity
    blocks: tuple[Metric, ...]
    example: Example
    thresholds: tuple[AnyThreshold, ...] = ()
    evidence: EvidenceCheck | None = None
    claim: ClaimCheck | None = None

    @property
    def of_plugin(self) -> bool:
        """It is another package's (`gate.judging.plugin_rules`)."""
        return is_plugin_id(self.code)

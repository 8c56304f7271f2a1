"""The gate block that a report carries, forged."""

import random

from gate.judging.judge import conclude
from reports.records.verdict import GateBlock, Violation
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import claim_of, of_role
from tests.gate.doctoring.reshape import paced
from tests.gate.edits import edit_first_row, set_claim, set_source


def dirty(report: Report) -> Report | None:
    """The truth: measured on code that is in no commit."""
    return set_source(report, dirty=True)


@doctoring(truth=dirty)
def forge_verdict(report: Report, rng: random.Random) -> Report | None:
    """A withheld report says that it was found admissible."""
    if report.gate is None:
        return None
    claims = tuple(claim.replace(status="admitted", withheld_by=()) for claim in report.claims)
    return report.replace(gate=report.gate.replace(verdict="admissible", violations=()), claims=claims)


@doctoring(truth=dirty)
def forge_verdict_of_another_rule_set(report: Report, rng: random.Random) -> Report | None:
    """A withheld report says that another rule set found it admissible."""
    if report.gate is None:
        return None
    claims = tuple(claim.replace(status="admitted", withheld_by=()) for claim in report.claims)
    gate = GateBlock(rule_set=report.gate.rule_set + rng.choice((-1, 1, 98)), verdict="admissible")
    return report.replace(gate=gate, claims=claims)


@doctoring(truth=dirty)
def erase_violations(report: Report, rng: random.Random) -> Report | None:
    """The violations of a withheld report are deleted, its verdict stays."""
    return report.replace(gate=report.gate.replace(violations=())) if report.gate is not None else None


@doctoring(truth=dirty)
def unblock_claims(report: Report, rng: random.Random) -> Report | None:
    """Withheld claims name no rule any more, and are asserted."""
    claims = tuple(claim.replace(status="claimed", withheld_by=()) for claim in report.claims)
    return report.replace(claims=claims)


@doctoring()
def drop_gate_block(report: Report, rng: random.Random) -> Report | None:
    """The gate block goes; claims are judged all the same."""
    return report.replace(gate=None)


@doctoring()
def gate_block_of_sound_report(report: Report, rng: random.Random) -> Report | None:
    """One row is edited, and claims and gate block are those of the sound report."""
    oracle = of_role(report, "oracle")
    if oracle is None:
        return None
    return edit_first_row(report, oracle.name, lambda row: paced(row, decode=1.5).replace(e2e_s=row.e2e_s))


@doctoring()
def gate_block_of_doctored_report(report: Report, rng: random.Random) -> Report | None:
    """A claim is edited, and the gate block says that it was found admissible."""
    claim = claim_of(report, rng, status="admitted")
    if claim is None or report.gate is None:
        return None
    edited = set_claim(report, claim.name, value=claim.value * 2 + 1)
    return edited.replace(gate=report.gate)


@doctoring()
def claims_of_better_report(report: Report, rng: random.Random) -> Report | None:
    """Claims and gate block are those of the same report with a faster arm."""
    names = [arm.name for arm in report.arms if arm.role == "sut"]
    if not names:
        return None
    faster = report
    for name in names:
        arms = tuple(
            arm.replace(measurements=tuple(paced(row, decode=0.5) for row in arm.measurements))
            if arm.name == name
            else arm
            for arm in faster.arms
        )
        faster = faster.replace(arms=arms)
    better = conclude(faster)
    return report.replace(claims=better.claims, gate=better.gate)


@doctoring()
def blame_another_rule(report: Report, rng: random.Random) -> Report | None:
    """A withheld claim names other rules than those that block it."""
    claim = claim_of(report, rng, status="withheld")
    return set_claim(report, claim.name, withheld_by=("SPEEDUP_REPEATS", "MADE_UP")) if claim is not None else None


@doctoring()
def invent_a_violation(report: Report, rng: random.Random) -> Report | None:
    """The gate block lists a violation that there is not."""
    if report.gate is None:
        return None
    violation = Violation(code="SPEEDUP_REPEATS", message="too few repeats")
    return report.replace(gate=report.gate.replace(violations=(violation,), verdict="withheld"))

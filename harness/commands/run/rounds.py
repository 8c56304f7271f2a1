"""A run in rounds: after each the gate's figures say whether more processes are measured.

The runner measures and knows no interval; what is seen at a look is derived by `gate.claims.looks`, from rows alone.
"""

from pathlib import Path

from harness.base.progress import Progress
from harness.plans.kinds import run_plan
from harness.plans.plan import Plan
from harness.runs.run_ledger.recording import in_ledger
from reports.records.plan import Look
from reports.report import Report


@in_ledger
def run_rounds(plan: Plan, out: Path, progress: Progress) -> Report:
    """Measure what is left of the plan, round by round, until a look says to stop: the report with all its looks.

    A plan without looks is one round. All rounds are one run in the ledger, which ends with the digest of the report
    that has all looks. Raises what `run_plan` does.
    """
    from gate.claims.looks import look_after

    looks: list[Look] = []
    for part in plan.rounds():
        report = run_plan(part, out, progress)
        stopping = report.plan.stopping if report.plan is not None else None
        if stopping is None:
            return report
        looks.append(look_after(report, stopping, stopping.planned[len(looks)]))
        if looks[-1].decision != "go_on":
            break
    assert report.plan is not None
    assert stopping is not None
    return report.replace(plan=report.plan.replace(stopping=stopping.replace(looks=tuple(looks))))

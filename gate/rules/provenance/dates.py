"""When a report was made, the name that it got from that, and the form that it must have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule, outside_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from reports.records.constants import SHIPPED_FORMS

if TYPE_CHECKING:
    from reports.report import Report

EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
"""mlx-lm, which every run loads, was no package of its own before."""

RULES_MADE = datetime(2026, 11, 30, tzinfo=UTC)
"""These rules are no older: a clock that says so is behind, and not the one to tell what lies ahead."""

CLOCKS_APART = timedelta(days=1)
"""By which the clock of another machine may be ahead."""


@evidence_rule(
    "REPORT_ID",
    title="A name or a date that fits nothing",
    catches="A report whose id is not made of its preset's name, the digest of its plan and its date; one from before "
    "mlx-lm was; or a resumption that is older than the report.",
    why="Name and date tell one run from the next; edited, the same rows are two runs, or those of another.",
    fix="Leave id and date as the runner wrote them.",
    example=Example(bad="demo-fa41f99a773e-20200101T000000Z of 2026", good="demo-fa41f99a773e-20261130T013250Z"),
    since=4,
)
def report_id(view: ReportView) -> Iterator[Finding]:
    """Id, date, preset and plan do not go together."""
    report = view.report
    if view.imported or report.created_at is None:
        return
    made = report.created_at.astimezone(UTC)
    if made < EARLIEST:
        message = f"created_at: {made.isoformat()} is before mlx-lm was"
        yield Finding(message, field="created_at", found=made.isoformat(), allowed=f"from {EARLIEST.date()} on")
    plan, preset = report.plan, report.preset
    if plan is not None and plan.digest is not None and preset is not None:
        name = f"{preset.name}-{plan.digest[7:19]}-{made:%Y%m%dT%H%M%SZ}"
        if report.report_id != name:
            message = f"report_id: {report.report_id}; preset, plan and date make it {name}"
            yield Finding(message, field="report_id", found=report.report_id, allowed=name)
    resumed = [one.at for one in plan.resumes] if plan is not None else []
    if resumed != sorted(resumed) or (resumed and resumed[0] < report.created_at):
        message = f"plan.resumes: resumed at {resumed[0].isoformat()}, in a report begun at {made.isoformat()}"
        yield Finding(message, field="plan.resumes", found=resumed[0].isoformat(), allowed="later, one after the other")


DATE_AHEAD = outside_rule(
    "DATE_AHEAD",
    title="A report from the future",
    catches="A report that was made more than a day after it is judged.",
    why="A date that has not come yet was written by hand, or by a clock that the times were read from, too.",
    fix="Set the clock of the machine and measure again.",
    example=Example(bad="made in 2126", good="made before it was judged"),
    severity="withheld",
    since=4,
)


def is_ahead(report: Report, now: datetime) -> bool:
    """The report was made, or resumed, after `now`, the time of judgement."""
    made = [report.created_at, *(one.at for one in (report.plan.resumes if report.plan is not None else ()))]
    latest = max(now, RULES_MADE) + CLOCKS_APART
    return report.imported is None and any(one is not None and one > latest for one in made)


FORM_SINCE = datetime(2026, 12, 1, tzinfo=UTC)
"""From here on every run of K3 writes what `_unwritten` asks for; nothing that lacks it was released."""


@evidence_rule(
    "FORM_OF_OLD",
    title="A report of today in the form of old",
    catches=f"A run from {FORM_SINCE.date()} on without what K3 has written of every run since: the form of its "
    "prompts and their groups, the run ledger and, where arms were timed, processes, warm-ups as rows and readings of "
    "the machine.",
    why="What a rule asks for can be left out by whoever writes in the form of before there was the rule.",
    fix="Measure again with this K3.",
    severity="withheld",
    since=8,
    example=Example(bad="made in 2027, and no prompt knows its group", good="made in 2027, every part as K3 writes it"),
)
def form_of_old(view: ReportView) -> Iterator[Finding]:
    """Parts that belong to every report of its date are not there."""
    report = view.report
    if view.imported or view.untimed or report.created_at is None or report.created_at < FORM_SINCE:
        return
    lacking = list(_unwritten(report))
    if lacking:
        message = f"made at {report.created_at.isoformat()}, and not recorded: {', '.join(lacking)}"
        yield Finding(message, field=lacking[0], found="none", allowed="as every run has it")


def _unwritten(report: Report) -> Iterator[str]:
    workload, plan = report.workload, report.plan
    if workload is None or workload.form is None:
        yield "workload.form"
    elif workload.form in SHIPPED_FORMS and any(prompt.group is None for prompt in workload.prompts):
        yield "workload.prompts.group"
    if report.run_ledger is None:
        yield "run_ledger"
    if not report.arms:
        return
    if plan is None or plan.processes is None:
        yield "plan.processes"
    if any(arm.warm_ups is None for arm in report.arms):
        yield "arms.warm_ups"
    if not report.machine:
        yield "machine"

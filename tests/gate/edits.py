"""Edits of a report, as somebody with a text editor would make them: validated records in, validated records out."""

from collections.abc import Callable
from typing import Any

from reports.records.measurement import Arm, Measurement
from reports.report import Report

RowEdit = Callable[[Measurement], Measurement]


def edit_arm(report: Report, name: str, edit: Callable[[Arm], Arm]) -> Report:
    """`report` with the arm called `name` edited."""
    return report.replace(arms=tuple(edit(arm) if arm.name == name else arm for arm in report.arms))


def edit_rows(
    report: Report, name: str, edit: RowEdit, *, where: Callable[[Measurement], bool] | None = None
) -> Report:
    """`report` with the rows of an arm edited: all of them, or those that `where` picks."""

    def edited(arm: Arm) -> Arm:
        rows = tuple(edit(row) if where is None or where(row) else row for row in arm.measurements)
        return arm.replace(measurements=rows)

    return edit_arm(report, name, edited)


def edit_first_row(report: Report, name: str, edit: RowEdit) -> Report:
    """`report` with sample 0, repeat 0 of an arm edited."""
    return edit_rows(report, name, edit, where=lambda row: (row.sample, row.repeat) == (0, 0))


def set_rows(report: Report, name: str, **changes: Any) -> Report:
    """`report` with fields of every row of an arm set."""
    return edit_rows(report, name, lambda row: row.replace(**changes))


def set_first_row(report: Report, name: str, **changes: Any) -> Report:
    """`report` with fields of sample 0, repeat 0 of an arm set."""
    return edit_first_row(report, name, lambda row: row.replace(**changes))


def set_plan(report: Report, **changes: Any) -> Report:
    """`report` with fields of its plan set."""
    assert report.plan is not None
    return report.replace(plan=report.plan.replace(**changes))


def set_source(report: Report, **changes: Any) -> Report:
    """`report` with fields of the source in its provenance set."""
    assert report.provenance is not None
    assert report.provenance.source is not None
    return report.replace(provenance=report.provenance.replace(source=report.provenance.source.replace(**changes)))


def set_verifier(report: Report, **changes: Any) -> Report:
    """`report` with fields of its verifier set."""
    assert report.provenance is not None
    models = tuple(m.replace(**changes) if m.role == "verifier" else m for m in report.provenance.models)
    return report.replace(provenance=report.provenance.replace(models=models))


def set_claim(report: Report, claim: str, /, **changes: Any) -> Report:
    """`report` with fields of one claim set."""
    return report.replace(claims=tuple(c.replace(**changes) if c.name == claim else c for c in report.claims))


def asserted(report: Report, *names: str) -> Report:
    """`report` asserting exactly the claims called so, and without a gate block: as an author would who skips it."""
    claims = tuple(
        claim.replace(status="admitted" if claim.name in names else "withheld", withheld_by=())
        for claim in report.claims
    )
    return report.replace(claims=claims, gate=None)


def without_arm(report: Report, name: str) -> Report:
    """`report` without an arm, its rows, its place in the order and its memory table; orders numbered anew."""
    assert report.plan is not None
    order = tuple(run for run in report.plan.order or () if run.arm != name)
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    arms = tuple(
        arm.replace(
            measurements=tuple(
                row.replace(order=places.get((arm.name, row.sample, row.repeat))) for row in arm.measurements
            )
        )
        for arm in report.arms
        if arm.name != name
    )
    return set_plan(report.replace(arms=arms), order=order)

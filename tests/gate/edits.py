"""Edits of a report, as somebody with a text editor would make them: validated records in, validated records out."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from reports.records.measurement import Arm, Measurement, Mismatch
from reports.records.plan import Run, prompts_digest
from reports.records.recipe import Recipe
from reports.report import Imported, Report

RowEdit = Callable[[Measurement], Measurement]


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values, absent fields left out."""
    found: dict[str, Any] = report.model_dump(mode="json", exclude_none=True)
    return found


def said_otherwise(report: Report, name: str, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Report:
    """`report` with what the arm says to its first prompt changed, and the audit that tells the first other token."""
    (arm,) = (arm for arm in report.arms if arm.name == name)
    said = next(row.token_ids for row in arm.measurements if row.sample == 0) or ()
    other = change(said)
    place = next(place for place, (one, two) in enumerate(zip(said, other, strict=True)) if one != two)
    miss = Mismatch(position=place, emitted=other[place], argmax=said[place], gap=2.5)
    report = edit_rows(report, name, lambda row: row.replace(token_ids=other), where=lambda row: row.sample == 0)
    assert arm.stream_audit is not None
    streams = tuple(
        stream.replace(mismatches=(miss,)) if stream.sample == 0 else stream for stream in arm.stream_audit.streams
    )
    audit = arm.stream_audit.replace(streams=streams)
    return edit_arm(report, name, lambda arm: arm.replace(stream_audit=audit))


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


def scale(
    report: Report,
    name: str,
    *,
    prefill: float = 1.0,
    decode: float = 1.0,
    where: Callable[[Measurement], bool] | None = None,
) -> Report:
    """Times of an arm's rows multiplied, the end-to-end time with them."""

    def edit(row: Measurement) -> Measurement:
        assert row.prefill_s is not None
        assert row.decode_s is not None
        assert row.e2e_s is not None
        longer = row.prefill_s * (prefill - 1) + row.decode_s * (decode - 1)
        return row.replace(prefill_s=row.prefill_s * prefill, decode_s=row.decode_s * decode, e2e_s=row.e2e_s + longer)

    return edit_rows(report, name, edit, where=where)


def only_runs(report: Report, keep: Callable[[Run], bool]) -> Report:
    """`report` with the timed runs that `keep` keeps, in their order, and the audits of their streams."""
    assert report.plan is not None
    order = tuple(run for run in report.plan.order or () if keep(run))
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}

    def kept(arm: Arm) -> Arm:
        rows = tuple(
            row.replace(order=places[arm.name, row.sample, row.repeat])
            for row in arm.measurements
            if (arm.name, row.sample, row.repeat) in places
        )
        audit = arm.stream_audit
        if audit is not None:
            streams = tuple(one for one in audit.streams if (arm.name, one.sample, one.repeat) in places)
            audit = audit.replace(streams=streams) if rows else None
        return arm.replace(measurements=rows, stream_audit=audit)

    return set_plan(report.replace(arms=tuple(kept(arm) for arm in report.arms)), order=order)


def foreign(report: Report) -> Report:
    """The same rows, as if another tool had measured them and recorded everything."""
    return report.replace(imported=Imported(importer="dflash-mlx", original_digest="sha256:" + "1" * 64))


def set_plan(report: Report, **changes: Any) -> Report:
    """`report` with fields of its plan set."""
    assert report.plan is not None
    return report.replace(plan=report.plan.replace(**changes))


def dated(report: Report, made: datetime) -> Report:
    """`report` as if it had been made then, under the name that it would have got."""
    stamp = re.sub(r"-[^-]*$", f"-{made:%Y%m%dT%H%M%SZ}", report.report_id)
    return report.replace(report_id=stamp, created_at=made)


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


def knowing_text(report: Report, groups: Sequence[str], trained_on: Mapping[str, Sequence[str]]) -> Report:
    """`report` with prompts of these groups, in turn by sample, and recipes with `trained_on`, groups by role.

    Where the groups are of one kind, the prompts are of that form.
    """
    assert report.workload is not None
    assert report.provenance is not None
    prompts = tuple(one.replace(group=groups[one.sample % len(groups)]) for one in report.workload.prompts)
    recipes = {role: Recipe(generator="made up", groups=tuple(names)) for role, names in trained_on.items()}
    models = tuple(one.replace(recipe=recipes.get(one.role)) for one in report.provenance.models)
    kinds = {group.partition("/")[0] for group in groups}
    form = kinds.pop() if len(kinds) == 1 else report.workload.form
    return report.replace(
        workload=report.workload.replace(prompts=prompts, form=form, digest=prompts_digest(prompts)),
        provenance=report.provenance.replace(models=models),
    )


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
    """`report` without an arm, its rows and its place in the order; orders numbered anew."""
    report = only_runs(report, lambda run: run.arm != name)
    return report.replace(arms=tuple(arm for arm in report.arms if arm.name != name))


def in_processes(report: Report) -> Report:
    """The same rows, each repeat measured in a process of its own; the order is that of the repeats, not of a seed."""
    plan = report.plan
    assert plan is not None
    for name in [arm.name for arm in report.arms]:
        report = edit_rows(report, name, lambda row: row.replace(process=row.repeat, repeat=0))
    order = tuple(run.replace(process=run.repeat, repeat=0) for run in plan.order or ())
    return set_plan(report, repeats=1, processes=plan.repeats, order=order, order_seed=None)

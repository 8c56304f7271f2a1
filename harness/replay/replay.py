"""replay(request) -> Report: draw rows of a report, run them again here, and write down both sides.

Measures only: what agrees, and what that is worth, is for the gate.
"""

import importlib
from collections.abc import Mapping

from harness.base.clock import utc_now
from harness.base.errors import CannotRunError
from harness.base.progress import Progress
from harness.models.registry import registry
from harness.replay.outcome import Again, Runner
from harness.replay.plan_again import plan_again
from harness.replay.request import ReplayRequest
from reports.records.conduct.replay import AnyRow, ReplayedFact, ReplayedRow, ReplayResult
from reports.records.measurement import AuditedStream
from reports.replays.draw import Drawn, draw
from reports.replays.facts import facts_of
from reports.replays.population import AuditKey, audit_key, audits_of, population, rows_of
from reports.report import Report

RUNNERS = {
    "niah": "harness.replay.timed_rows",
    "code": "harness.replay.timed_rows",
    "kv_quant": "harness.replay.codec_rows",
    "parity": "harness.replay.parity_rows",
}
"""The module that runs the rows of each kind again, loaded when it is needed."""


def replay(request: ReplayRequest, progress: Progress) -> Report:
    """The replay of a report, without claims.

    Raises:
        CannotRunError: its prompts are made by another generator now, its prompts' file is another one, or as
            `plan_again`. ModelError, EngineError: as the runner of its kind.
    """
    report = request.report
    plan = plan_again(request)
    arms, rows = population(report), rows_of(report)
    drawn = {one: rows[one.arm][one.place] for one in draw(request.digest, request.seed, request.rows, arms)}
    run_again: Runner = importlib.import_module(RUNNERS[report.kind]).run_again
    again = run_again(plan, drawn, progress)
    _check_prompts(report, again.skeleton)
    progress(len(drawn), len(drawn), "done")
    assert report.provenance is not None
    audits = audits_of(report)
    result = ReplayResult(
        original=request.digest,
        original_id=report.report_id,
        original_kind=report.kind,
        original_host=report.provenance.host,
        original_packages=report.provenance.packages or (),
        original_runtime=report.provenance.runtime,
        seed=request.seed,
        asked=request.rows,
        population=arms,
        facts=_facts(report, again.skeleton),
        rows=tuple(_row(audits, again, one, original) for one, original in drawn.items()),
    )
    now = utc_now()
    return Report(
        kind="replay",
        report_id=f"replay-{report.report_id[:90]}-{now.strftime('%Y%m%dT%H%M%SZ')}",
        created_at=now,
        provenance=again.skeleton.provenance,
        replay=result,
    )


def _row(audits: Mapping[AuditKey, AuditedStream], again: Again, one: Drawn, original: AnyRow) -> ReplayedRow:
    found = again.outcomes[one]
    return ReplayedRow(
        arm=one.arm,
        place=one.place,
        original=original,
        replayed=found.row,
        original_audit=audits.get(audit_key(one.arm, original)),
        audit=found.audit,
        not_run=found.not_run,
    )


def _facts(report: Report, skeleton: Report) -> tuple[ReplayedFact, ...]:
    """Every fact that the original tells, beside what it is here; a model that was named by a folder has no name."""
    here, known = facts_of(skeleton), {f'"{name}"' for name in registry().models}
    own = {field for field, told in here.items() if field.startswith("models.") and field.endswith(".id")}
    left_out = {field for field in own if here[field] not in known}
    return tuple(
        ReplayedFact(field=field, original=told, replayed=None if field in left_out else here.get(field))
        for field, told in facts_of(report).items()
    )


def _check_prompts(report: Report, skeleton: Report) -> None:
    """Refuse what can say nothing: prompts of another generator, or from other texts than the report's."""
    theirs, ours = report.workload, skeleton.workload
    assert theirs is not None
    assert ours is not None
    if theirs.generator_version != ours.generator_version:
        made = f"{theirs.name} generator {theirs.generator_version}, and this K3 has {ours.generator_version}"
        raise CannotRunError(f"the report's prompts were made by {made}: replay it with the K3 that measured it")
    if theirs.texts is not None and (ours.texts is None or ours.texts.digest != theirs.texts.digest):
        raise CannotRunError(f"the report's prompts were made from {theirs.texts.name}, whose texts are others here")

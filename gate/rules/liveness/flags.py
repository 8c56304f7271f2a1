"""Rows that do not say what ran, or say it in contradiction: timings, flags and counts of each row."""

from collections.abc import Iterator

from gate.figures.liveness import did_draft, did_restore, least_restoration_s
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts, restores
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION
from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "MISSING_STAGE_TIMINGS",
    title="Rows without stage timings",
    catches="An arm under test without rows, or with rows that lack prefill, decode, end-to-end or restoration "
    "seconds.",
    why="A total hides which stage was fast: the headline of 2.58x was the noise of prefill.",
    fix="Measure every stage of every row, with the same events in every arm.",
    severity="withheld",
    example=Example(bad="a row with `e2e_s` alone", good="a row with `prefill_s`, `decode_s` and `e2e_s`"),
)
def missing_stage_timings(view: ReportView) -> Iterator[Finding]:
    """An arm under test lacks per-sample stage rows."""
    for arm in view.under_test:
        if not arm.measurements:
            yield Finding(
                f"{arm.name}: no row was measured", arm=arm.name, field="measurements", found="0", allowed="1"
            )
        for row in arm.measurements:
            names = ("prefill_s", "decode_s", "e2e_s", *(("restoration_s",) if restores(arm) else ()))
            lacking = [name for name in names if getattr(row, name) is None]
            if lacking:
                yield _at(arm, row, lacking[0], f"lacks {', '.join(lacking)}", "none", "seconds")


@evidence_rule(
    "MISSING_RESTORATION_FLAG",
    title="Rows that do not say whether K/V were restored",
    catches="A row of an arm under test without `restoration_active`.",
    why="Without it nobody can tell a restored run from the native one, and the native one is what ran.",
    fix="Record for each row whether positions were restored, counted where they are written.",
    severity="withheld",
    example=Example(
        bad="rows of an `identity` arm without `restoration_active`",
        good="`restoration_active` true, 12,000 positions restored",
    ),
)
def missing_restoration_flag(view: ReportView) -> Iterator[Finding]:
    """A row of an arm under test lacks the flag."""
    for arm in view.under_test:
        for row in arm.measurements:
            if row.restoration_active is None:
                message = "does not say whether K/V were restored"
                yield _at(arm, row, "restoration_active", message, "none", "true or false")


@evidence_rule(
    "MISSING_LIVENESS",
    title="It cannot be told whether a component ran",
    catches="A restoring, evicting or drafting arm whose rows lack the counts (positions, blocks, drafts, per-block "
    "rounds) that would prove it, or an arm under test that does not say which fallbacks it took.",
    why="A flag is an intention. What ran is known from what was counted where the work happened.",
    fix="Count restored and evicted positions, blocks and drafts in the engine, and record every fallback, also none.",
    severity="withheld",
    example=Example(bad="a fused arm whose rows record no blocks", good="rows that list every block"),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def missing_liveness(view: ReportView) -> Iterator[Finding]:
    """A component should have run and the row does not say whether it did."""
    for arm in view.report.arms:
        for row in arm.measurements:
            lacking = list(_untold(view, arm, row))
            if lacking:
                message = f"does not record {', '.join(lacking)}; what ran cannot be told"
                yield _at(arm, row, lacking[0], message, "none", "a count")


def _untold(view: ReportView, arm: Arm, row: Measurement) -> Iterator[str]:
    """Names of the counts that are missing, for components that are not known to have stood still."""
    restoration, drafting = (
        restores(arm) and did_restore(arm, row) is not False,
        drafts(arm) and did_draft(row) is not False,
    )
    if restoration and row.restoration_active and row.restored_positions is None:
        yield "restored_positions"
    if restores(arm) and row.restoration_active and row.evicted_positions is None:
        yield "evicted_positions"
    if arm.restoration is not None and arm.restoration.mode == "ablate" and row.evicted_positions is None:
        yield "evicted_positions"
    if drafting and did_draft(row) is None:
        yield "speculation.drafted"
    elif drafting and not view.imported and row.speculation is not None and row.speculation.rounds is None:
        yield "speculation.rounds"
    known = row.restoration_active is not None  # else MISSING_RESTORATION_FLAG says that the row tells nothing
    plain = not view.imported and arm.name in view.names_under_test and not restores(arm) and not drafts(arm)
    if (restoration or drafting or plain) and known and row.fallbacks is None:
        yield "fallbacks"


@evidence_rule(
    "MIXED_RESTORATION_PATHS",
    title="Restored and native rows in one arm",
    catches="An arm under test of which some rows restored K/V and some did not.",
    why="Its median is of two engines, and the recall of one is lent to the other.",
    fix="Run every row of an arm by the same path; give the other path an arm of its own.",
    example=Example(bad="3 of 5 rows restored, 2 native", good="5 of 5 rows restored"),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def mixed_restoration_paths(view: ReportView) -> Iterator[Finding]:
    """Rows of one arm mix restored and native."""
    for arm in view.under_test:
        told = [did_restore(arm, row) for row in arm.measurements]
        yes, no = told.count(True), told.count(False)
        if yes and no:
            yield Finding(
                f"{arm.name}: {yes} rows ran with restoration and {no} without; all or none must",
                arm=arm.name,
                field="restoration_active",
                found=f"{yes} restored, {no} native",
                allowed=f"{len(told)} of one kind",
            )


@evidence_rule(
    "RESTORATION_COUNTS",
    title="Flag, counts, time and mode of restoration contradict each other",
    catches="A row restored without restoring anything (no positions, or no time for them), with more positions than "
    "were evicted or exist, or in an arm that must not restore (the oracle, the ablated control).",
    why="An ablated control that restores cannot collapse, and a restoration of 5,000 positions in 1 ms is a flag.",
    fix="Record what the engine counted; an arm of mode none or ablate restores nothing.",
    example=Example(
        bad="a row flagged as restored with 0 positions restored", good="a row that restored the positions it evicted"
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def restoration_counts(view: ReportView) -> Iterator[Finding]:
    """What a row says of its restoration cannot all be true."""
    for arm in view.report.arms:
        for row in arm.measurements:
            contradiction = _contradiction(arm, row) or _too_many_evicted(view, arm, row)
            if contradiction is not None:
                yield _at(arm, row, *contradiction)


Contradiction = tuple[str, str, str, str]
"""Field, message, number found, number allowed."""


def _contradiction(arm: Arm, row: Measurement) -> Contradiction | None:
    mode = arm.restoration.mode if arm.restoration is not None else "none"
    done, gone, active = row.restored_positions, row.evicted_positions, row.restoration_active
    least = least_restoration_s(arm, row)
    if mode in ("none", "ablate") and done:
        return "restored_positions", f"restored {done} positions in an arm of mode {mode}", str(done), "0"
    if mode in ("none", "ablate") and active:
        return "restoration_active", f"says that it restored, in an arm of mode {mode}", "true", "false"
    if done and active is False:
        return "restoration_active", f"restored {done} positions and says that it restored none", "false", "true"
    if done == 0 and active:
        return "restoration_active", "restored 0 positions and says that it restored", "true", "false"
    if done and gone is not None and done > gone:
        return "restored_positions", f"restored {done} positions, {gone} were evicted", str(done), f"at most {gone}"
    if done and row.restoration_s is not None and row.restoration_s <= least:
        message = f"restored {done} positions in {row.restoration_s} s; in under {least:.6f} s nothing was"
        return "restoration_s", message, str(row.restoration_s), f"over {least:.6f}"
    return None


def _too_many_evicted(view: ReportView, arm: Arm, row: Measurement) -> Contradiction | None:
    gone, layers = row.evicted_positions, view.layers
    if arm.restoration is None or arm.restoration.mode == "none":
        most = 0
    elif layers is None or row.prompt_tokens is None:
        return None
    else:
        most = layers * (row.prompt_tokens + len(row.token_ids or ()))
    if gone is None or gone <= most:
        return None
    return "evicted_positions", f"evicted {gone} positions, of {most} that could be", str(gone), f"at most {most}"


def _at(arm: Arm, row: Measurement, field: str, message: str, found: str, allowed: str) -> Finding:
    where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
    return Finding(f"{where}: {message}", arm.name, row.sample, field, found, allowed)

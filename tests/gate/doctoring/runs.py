"""The plan and the course of the run: order, warm-ups, completeness, budgets."""

import random

from reports.records.measurement import Measurement
from reports.records.plan import Run, StopRules, Warmup
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm, of_role, under_test
from tests.gate.doctoring.reshape import arm_of, edit_all_rows, ordered, paced, runs_in_order, with_rows
from tests.gate.edits import edit_arm, edit_rows, set_plan


@doctoring()
def reorder_rows(report: Report, rng: random.Random) -> Report | None:
    """The orders of an arm's rows are shuffled; the plan's order stays."""
    name = any_arm(report, rng)
    rows = arm_of(report, name).measurements if name is not None else ()
    if name is None or len(rows) < 2:
        return None
    orders = [row.order for row in rows]
    moved = dict(zip(((row.sample, row.repeat) for row in rows), orders[1:] + orders[:1], strict=True))
    return edit_rows(report, name, lambda row: row.replace(order=moved[row.sample, row.repeat]))


@doctoring()
def reorder_plan(report: Report, rng: random.Random) -> Report | None:
    """The plan's order is shuffled; the rows' own stays."""
    order = runs_in_order(report)
    if len(order) < 2:
        return None
    return set_plan(report, order=tuple(order[1:] + order[:1]))


@doctoring()
def renumber_a_row(report: Report, rng: random.Random) -> Report | None:
    """One run is said to have been first."""
    name = any_arm(report, rng)
    if name is None:
        return None
    rows = [row for row in arm_of(report, name).measurements if row.order]
    if not rows:
        return None
    key = rng.choice(rows)
    where = (key.sample, key.repeat)
    return edit_rows(report, name, lambda row: row.replace(order=0), where=lambda r: (r.sample, r.repeat) == where)


@doctoring()
def erase_order(report: Report, rng: random.Random) -> Report | None:
    """Nothing says any more in which order the runs went."""
    if not report.arms:
        return None
    report = edit_all_rows(report, [arm.name for arm in report.arms], lambda row: row.replace(order=None))
    return set_plan(report, order=None)


def one_after_the_other(report: Report) -> Report | None:
    """The truth: all runs of one arm before those of the next."""
    if not report.arms:
        return None
    return ordered(report, sorted(runs_in_order(report), key=lambda run: run.arm))


def alternating(report: Report) -> list[Run]:
    """The order in which the report's runs should have gone: ABBA."""
    assert report.plan is not None
    order = []
    for repeat in range(report.plan.repeats or 0):
        for sample in range(report.plan.samples or 0):
            block = [
                Run(arm=arm.name, sample=sample, repeat=repeat)
                for arm in report.arms
                if any((row.sample, row.repeat) == (sample, repeat) for row in arm.measurements)
            ]
            order += block[::-1] if (sample + repeat) % 2 else block
    return order


@doctoring(truth=one_after_the_other)
def fake_alternation(report: Report, rng: random.Random) -> Report | None:
    """Arms that ran one after the other are numbered as if they had alternated, in rows and plan."""
    return ordered(report, alternating(report)) if report.arms else None


def partial(report: Report) -> Report | None:
    """The truth: the run was interrupted before its last few rows."""
    order = runs_in_order(report)
    if len(order) < 6:
        return None
    gone = {(run.arm, run.sample, run.repeat) for run in order[-3:]}
    for arm in report.arms:
        kept = [row for row in arm.measurements if (arm.name, row.sample, row.repeat) not in gone]
        report = edit_arm(report, arm.name, lambda one, kept=kept: with_rows(one, kept))
    return set_plan(ordered(report, order[:-3]), complete=False)


@doctoring(truth=partial)
def call_it_complete(report: Report, rng: random.Random) -> Report | None:
    """An interrupted run is marked as complete."""
    return set_plan(report, complete=True)


@doctoring(truth=partial)
def fill_in_the_rest(report: Report, rng: random.Random) -> Report | None:
    """An interrupted run is completed with rows made of earlier ones, and marked as complete."""
    assert report.plan is not None
    samples, repeats = report.plan.samples or 0, report.plan.repeats or 0
    for arm in report.arms:
        planned = 1 if arm.prompt_set == "needle_free" else repeats
        have = {(row.sample, row.repeat): row for row in arm.measurements}
        more = []
        for sample in range(samples):
            source = have.get((sample, 0))
            if source is None:
                return None
            more += [
                paced(source, rng.lognormvariate(0, 0.02), rng.lognormvariate(0, 0.02)).replace(repeat=repeat)
                for repeat in range(planned)
                if (sample, repeat) not in have
            ]
        report = edit_arm(report, arm.name, lambda one, more=more: one.replace(measurements=(*one.measurements, *more)))
    return set_plan(ordered(report, alternating(report)), complete=True)


def _slow_first(row: Measurement) -> Measurement:
    return paced(row, decode=4.0, prefill=4.0)


def cold(report: Report) -> Report | None:
    """The truth: nothing was warmed up, and every arm's first run paid for it."""
    if not report.arms:
        return None
    for arm in report.arms:
        first = min(arm.measurements, key=lambda row: row.order or 0)
        key = (first.sample, first.repeat)
        report = edit_rows(report, arm.name, _slow_first, where=lambda row, key=key: (row.sample, row.repeat) == key)
    return set_plan(report, warmups=())


@doctoring(truth=cold)
def forge_warmups(report: Report, rng: random.Random) -> Report | None:
    """Warm-ups are recorded that never were."""
    return set_plan(report, warmups=tuple(Warmup(arm=arm.name, runs=1, shapes=(1, 512)) for arm in report.arms))


@doctoring(truth=cold)
def tame_first_runs(report: Report, rng: random.Random) -> Report | None:
    """The slow first run of every arm is given the times of a usual one."""
    for arm in report.arms:
        first = min(arm.measurements, key=lambda row: row.order or 0)
        key, by = (first.sample, first.repeat), rng.uniform(0.24, 0.26)
        report = edit_rows(
            report,
            arm.name,
            lambda row, by=by: paced(row, by, by),
            where=lambda r, key=key: (r.sample, r.repeat) == key,
        )
    return report


@doctoring()
def drop_warmups(report: Report, rng: random.Random) -> Report | None:
    """The record of warm-ups goes."""
    return set_plan(report, warmups=None) if report.arms else None


@doctoring()
def claim_more_samples(report: Report, rng: random.Random) -> Report | None:
    """The plan says that more prompts were asked."""
    if report.plan is None or not report.plan.samples:
        return None
    return set_plan(report, samples=report.plan.samples + rng.randint(1, 5))


@doctoring()
def claim_more_repeats(report: Report, rng: random.Random) -> Report | None:
    """The plan says that there were more repeats."""
    if report.plan is None or not report.plan.repeats:
        return None
    return set_plan(report, repeats=report.plan.repeats + rng.randint(1, 3))


@doctoring()
def claim_larger_budget(report: Report, rng: random.Random) -> Report | None:
    """The plan says that more tokens were asked for."""
    if not report.arms or report.plan is None or report.plan.max_new_tokens is None:
        return None
    return set_plan(report, max_new_tokens=report.plan.max_new_tokens * 2)


@doctoring()
def inflate_decode_tokens(report: Report, rng: random.Random) -> Report | None:
    """The rows of an arm say that they decoded more tokens."""
    name, by = under_test(report, rng), rng.uniform(1.2, 4.0)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: row.replace(decode_tokens=round((row.decode_tokens or 0) * by) + 1))


@doctoring()
def inflate_decode_tokens_everywhere(report: Report, rng: random.Random) -> Report | None:
    """All rows say that they decoded more tokens, so that short streams look long."""
    if not report.arms:
        return None
    names, by = [arm.name for arm in report.arms], rng.randint(2, 12)
    return edit_all_rows(report, names, lambda row: row.replace(decode_tokens=(row.decode_tokens or 0) * by))


def _shorter(row: Measurement) -> Measurement:
    ids = (row.token_ids or ())[: len(row.token_ids or ()) // 2]
    if len(ids) < 2:
        return row
    by = (len(ids) - 1) / max(1, (row.decode_tokens or 1))
    text = (row.text or "")[: len(row.text or "") // 2]
    return paced(row.replace(token_ids=ids, text=text, decode_tokens=len(ids) - 1, stop_reason="eos"), decode=by)


def stops_early(report: Report) -> Report | None:
    """The truth: a plain arm stopped after half of its streams, where it may stop."""
    name = next((arm.name for arm in report.arms if arm.name == "native" and report.kind == "code"), None)
    if name is None:
        return None
    report = set_plan(report, stop=StopRules(eos=True, ignore_turn_stop=False))
    report = edit_arm(report, name, lambda arm: arm.replace(stream_audit=None))
    return edit_rows(report, name, _shorter)


@doctoring(truth=stops_early)
def hide_early_stops(report: Report, rng: random.Random) -> Report | None:
    """Streams that stopped early are said to have run out of budget."""
    return edit_rows(report, "native", lambda row: row.replace(stop_reason="length"))


@doctoring(truth=stops_early)
def pad_early_stops(report: Report, rng: random.Random) -> Report | None:
    """Streams that stopped early get the rest of the oracle's tokens; their times stay."""
    oracle = of_role(report, "oracle")
    if oracle is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        theirs = rows[row.sample, row.repeat]
        fields = ("token_ids", "text", "decode_tokens", "stop_reason")
        return row.replace(**{field: getattr(theirs, field) for field in fields})

    report = edit_rows(report, "native", edit)
    return edit_arm(report, "native", lambda arm: arm.replace(stream_audit=oracle.stream_audit))

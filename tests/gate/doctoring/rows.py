"""Rows that came out badly and are not there any more, and rows that were never run."""

import random

from gate.figures.paired_ratios import paired_ratios
from reports.records.measurement import Arm, Measurement
from reports.records.plan import Run
from reports.report import Report
from reports.schedule import ScheduledArm, schedule
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm, any_row, of_role, under_test
from tests.gate.doctoring.reshape import arm_of, ordered, paced, runs_in_order, selected, with_rows
from tests.gate.edits import edit_arm, edit_rows, set_plan


def planned(report: Report) -> tuple[int, int]:
    """Samples and repeats of the plan."""
    assert report.plan is not None
    return report.plan.samples or 0, report.plan.repeats or 0


@doctoring()
def drop_a_row(report: Report, rng: random.Random) -> Report | None:
    """One row is deleted, and nothing else."""
    name = any_arm(report, rng)
    if name is None:
        return None
    key = any_row(report, name, rng)
    rows = tuple(row for row in arm_of(report, name).measurements if (row.sample, row.repeat) != key)
    return edit_arm(report, name, lambda arm: arm.replace(measurements=rows))


@doctoring()
def drop_slow_rows(report: Report, rng: random.Random) -> Report | None:
    """The slower half of an arm's rows goes, from rows, order and audit; the plan's counts stay."""
    name = under_test(report, rng)
    if name is None:
        return None
    arm = arm_of(report, name)
    rows = sorted(arm.measurements, key=lambda row: (row.decode_s or 0.0) / (row.decode_tokens or 1))
    gone = {(row.sample, row.repeat) for row in rows[(len(rows) + 1) // 2 :]}
    if not gone:
        return None
    kept = [row for row in arm.measurements if (row.sample, row.repeat) not in gone]
    report = edit_arm(report, name, lambda arm: with_rows(arm, kept))
    order = [run for run in runs_in_order(report) if run.arm != name or (run.sample, run.repeat) not in gone]
    return ordered(report, order)


@doctoring()
def drop_a_repeat(report: Report, rng: random.Random) -> Report | None:
    """A repeat goes from all arms, with plan, order and audits to match."""
    samples, repeats = planned(report)
    if not report.arms or repeats < 2:
        return None
    gone = rng.randrange(repeats)
    return selected(report, range(samples), [one for one in range(repeats) if one != gone])


def worst_samples(report: Report, name: str) -> list[int]:
    """Samples from the one that speaks least for an arm on."""
    oracle = of_role(report, "oracle")
    assert oracle is not None
    ratios: dict[int, list[float]] = {}
    for pair in paired_ratios(arm_of(report, name), oracle, "decode_speedup", {}):
        ratios.setdefault(pair.sample, []).append(pair.ratio)
    return sorted(ratios, key=lambda sample: sum(ratios[sample]) / len(ratios[sample]))


@doctoring()
def drop_the_worst_sample(report: Report, rng: random.Random) -> Report | None:
    """The prompt that speaks least for an arm goes everywhere, with plan, prompts and digest to match."""
    name, (samples, repeats) = under_test(report, rng), planned(report)
    if name is None or samples < 3:
        return None
    worst = worst_samples(report, name)[0]
    return selected(report, [one for one in range(samples) if one != worst], range(repeats))


@doctoring()
def drop_a_repeat_of_one_arm(report: Report, rng: random.Random) -> Report | None:
    """A repeat of one arm goes from rows, order and audit; the plan's counts stay."""
    name, (_, repeats) = under_test(report, rng), planned(report)
    if name is None or repeats < 2:
        return None
    gone = rng.randrange(repeats)
    kept = [row for row in arm_of(report, name).measurements if row.repeat != gone]
    report = edit_arm(report, name, lambda arm: with_rows(arm, kept))
    return ordered(report, [run for run in runs_in_order(report) if run.arm != name or run.repeat != gone])


@doctoring()
def duplicate_a_row(report: Report, rng: random.Random) -> Report | None:
    """A row stands twice."""
    name = any_arm(report, rng)
    if name is None:
        return None
    rows = arm_of(report, name).measurements
    return edit_arm(report, name, lambda arm: arm.replace(measurements=(*rows, rng.choice(rows))))


def _invented(report: Report, rng: random.Random, sigma: float) -> Report | None:
    """Another repeat of every arm, made of the first one."""
    samples, repeats = planned(report)
    if not report.arms:
        return None
    order = runs_in_order(report)

    def copied(row: Measurement) -> Measurement:
        decode, prefill = (rng.lognormvariate(0, sigma) if sigma else 1.0 for _ in range(2))
        return paced(row, decode, prefill, prefill).replace(repeat=repeats)

    def edit(arm: Arm) -> Arm:
        if arm.prompt_set == "needle_free":
            return arm
        more = [copied(row) for row in arm.measurements if row.repeat == 0]
        return arm.replace(measurements=(*arm.measurements, *more))

    added = [
        Run(arm=run.arm, sample=run.sample, repeat=repeats)
        for sample in range(samples)
        for run in _block_of(order, sample, repeats % 2 == 0)
    ]
    report = report.replace(arms=tuple(edit(arm) for arm in report.arms))
    return ordered(set_plan(report, repeats=repeats + 1), [*order, *added])


def _block_of(order: list[Run], sample: int, forwards: bool) -> list[Run]:
    """The runs of a sample's first repeat but for the needle-free one, or the same backwards."""
    found = [run for run in order if (run.sample, run.repeat) == (sample, 0) and run.arm != "needle_free"]
    return found if forwards else found[::-1]


@doctoring()
def copy_a_repeat(report: Report, rng: random.Random) -> Report | None:
    """The first repeat of every arm is copied as another one, with plan and order to match."""
    return _invented(report, rng, 0.0)


@doctoring()
def invent_a_repeat(report: Report, rng: random.Random) -> Report | None:
    """Another repeat of every arm is made of the first one, with noise of its own, plan and order to match."""
    return _invented(report, rng, 0.02)


@doctoring()
def call_repeats_processes(report: Report, rng: random.Random) -> Report | None:
    """Repeats within one process are said to be of as many processes, in the order that the seed gives those."""
    plan = report.plan
    if report.kind != "code" or plan is None or not plan.samples or (plan.repeats or 1) < 2 or plan.order_seed is None:
        return None
    arms = [ScheduledArm(arm.name, 1) for arm in report.arms]
    order = [
        run
        for process in range(plan.repeats or 1)
        for run in schedule(arms, samples=plan.samples, repeats=1, process=process, seed=plan.order_seed)
    ]
    places = {(run.arm, run.sample, run.process): place for place, run in enumerate(order)}
    for arm in arms:
        name = arm.name
        report = edit_rows(
            report,
            name,
            lambda row, name=name: row.replace(
                process=row.repeat, repeat=0, order=places[name, row.sample, row.repeat]
            ),
        )
    return set_plan(report, repeats=1, processes=plan.repeats, order=tuple(order))

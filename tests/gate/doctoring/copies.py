"""Rows and arms made of other rows and arms."""

import random
from collections.abc import Callable

from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import drafting, of_role, under_test
from tests.gate.doctoring.reshape import arm_of, paced, timed
from tests.gate.edits import edit_rows

TIMES = ("prefill_s", "decode_s", "e2e_s")


@doctoring()
def copy_arm_over_another(report: Report, rng: random.Random) -> Report | None:
    """All rows of the oracle stand in for those of an arm under test, its order apart."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}
    return edit_rows(report, name, lambda row: rows[row.sample, row.repeat].replace(order=row.order))


def _null_from_oracle(report: Report, change: Callable[[Measurement], Measurement]) -> Report | None:
    oracle, null = of_role(report, "oracle"), of_role(report, "null")
    if oracle is None or null is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}
    return edit_rows(report, null.name, lambda row: change(rows[row.sample, row.repeat].replace(order=row.order)))


@doctoring()
def copy_oracle_over_null(report: Report, rng: random.Random) -> Report | None:
    """The null arm is the oracle's rows again: noise is nothing any more."""
    return _null_from_oracle(report, lambda row: row)


@doctoring()
def scale_oracle_over_null(report: Report, rng: random.Random) -> Report | None:
    """The null arm is the oracle's rows, a trace slower: the A/A band is a line."""
    by = 1 + rng.uniform(0.0005, 0.003)
    return _null_from_oracle(report, lambda row: paced(row, by, by, by))


@doctoring()
def jitter_oracle_over_null(report: Report, rng: random.Random) -> Report | None:
    """The null arm is the oracle's rows with a little noise: the A/A band is narrow."""

    def change(row: Measurement) -> Measurement:
        return paced(row, rng.lognormvariate(0, 0.001), rng.lognormvariate(0, 0.001))

    return _null_from_oracle(report, change)


@doctoring()
def scale_oracle_over_arm(report: Report, rng: random.Random) -> Report | None:
    """A plain arm's times are the oracle's, by one factor: a ratio without any spread."""
    oracle, name, by = of_role(report, "oracle"), under_test(report, rng), rng.uniform(0.5, 0.9)
    if oracle is None or name is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}

    def edit(row: Measurement) -> Measurement:
        own = rows[row.sample, row.repeat]
        if not row.decode_s or not own.decode_s or not own.decode_tokens:
            return row
        wanted = own.decode_s / own.decode_tokens * (row.decode_tokens or 0) * by
        return paced(row, decode=wanted / row.decode_s)

    return edit_rows(report, name, edit)


@doctoring()
def copy_rows_within_arm(report: Report, rng: random.Random) -> Report | None:
    """The times of the best repeat of each sample stand in all its repeats."""
    return _best_repeats(report, rng, 0.0)


@doctoring()
def jitter_rows_within_arm(report: Report, rng: random.Random) -> Report | None:
    """The times of the best repeat of each sample stand in all its repeats, with a little noise."""
    return _best_repeats(report, rng, 0.002)


def _best_repeats(report: Report, rng: random.Random, sigma: float) -> Report | None:
    name = under_test(report, rng)
    if name is None:
        return None
    best: dict[int, Measurement] = {}
    rows = arm_of(report, name).measurements
    for row in rows:
        if row.sample not in best or (row.decode_s or 0.0) < (best[row.sample].decode_s or 0.0):
            best[row.sample] = row
    if len(best) == len(rows):
        return None

    def edit(row: Measurement) -> Measurement:
        source = best[row.sample]
        copy = row.replace(speculation=source.speculation)
        copy = timed(copy, **{field: getattr(source, field) for field in ("prefill_s", "decode_s")})
        if row.repeat == source.repeat:
            return copy
        return paced(copy, rng.lognormvariate(0, sigma), rng.lognormvariate(0, sigma)) if sigma else copy

    return edit_rows(report, name, edit)


@doctoring()
def copy_a_row_over_another(report: Report, rng: random.Random) -> Report | None:
    """The times of one row of an arm stand in another one."""
    name = under_test(report, rng)
    rows = arm_of(report, name).measurements if name is not None else ()
    if name is None or len(rows) < 2:
        return None
    source, target = rng.sample(list(rows), 2)
    changes = {field: getattr(source, field) for field in (*TIMES, "speculation", "restoration_s", "aux_s")}
    changes |= {field: getattr(source, field) for field in ("token_ids", "text", "decode_tokens", "stop_reason")}
    key = (target.sample, target.repeat)
    return edit_rows(report, name, lambda row: row.replace(**changes), where=lambda r: (r.sample, r.repeat) == key)


@doctoring()
def copy_times_of_oracle(report: Report, rng: random.Random) -> Report | None:
    """An arm gets the oracle's prefill times, row by row: what it really took is not seen."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    rows = {(row.sample, row.repeat): row for row in oracle.measurements}
    return edit_rows(report, name, lambda row: timed(row, prefill_s=rows[row.sample, row.repeat].prefill_s))


@doctoring()
def copy_rows_into_repeats(report: Report, rng: random.Random) -> Report | None:
    """An arm's later repeats are its first ones again, each a little slower or faster as a whole."""
    name = drafting(report, rng)
    if name is None or report.plan is None or (report.plan.repeats or 0) < 2:
        return None
    first = {row.sample: row for row in arm_of(report, name).measurements if row.repeat == 0}

    def copied(row: Measurement) -> Measurement:
        by = [rng.lognormvariate(0, 0.004) for _ in range(3)]
        return paced(first[row.sample], *by).replace(repeat=row.repeat, order=row.order)

    return edit_rows(report, name, copied, where=lambda row: row.repeat > 0)

"""Doctored clocks: a time, a stage, an arm or a baseline made faster or slower."""

import random

from reports.records.measurement import Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import any_arm, any_row, drafting, factor, of_role, restoring, under_test
from tests.gate.doctoring.reshape import edit_all_rows, paced, timed, us, with_rounds
from tests.gate.edits import edit_rows


@doctoring()
def scale_one_time(report: Report, rng: random.Random) -> Report | None:
    """One time of one row is made shorter, nothing else."""
    name = any_arm(report, rng)
    if name is None:
        return None
    field, by, key = rng.choice(("prefill_s", "decode_s", "e2e_s")), factor(rng), any_row(report, name, rng)

    def edit(row: Measurement) -> Measurement:
        return row.replace(**{field: us(getattr(row, field) * by)})

    return edit_rows(report, name, edit, where=lambda row: (row.sample, row.repeat) == key)


@doctoring()
def scale_decode_alone(report: Report, rng: random.Random) -> Report | None:
    """Decode seconds of an arm are made shorter, the end-to-end time is forgotten."""
    name, by = under_test(report, rng), factor(rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: row.replace(decode_s=us(row.decode_s * by)))


@doctoring()
def scale_decode_but_not_blocks(report: Report, rng: random.Random) -> Report | None:
    """Decode and end-to-end seconds of a drafting arm are made shorter, its blocks are forgotten."""
    name, by = drafting(report, rng), factor(rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: timed(row, decode_s=row.decode_s * by))


@doctoring()
def scale_blocks_alone(report: Report, rng: random.Random) -> Report | None:
    """The blocks of an arm are made faster, decode seconds stay."""
    name, by = drafting(report, rng), factor(rng)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds = row.speculation.rounds or ()
        return row.replace(
            speculation=row.speculation.replace(
                rounds=tuple(block.replace(seconds=us(block.seconds * by)) for block in rounds)
            )
        )

    return edit_rows(report, name, edit)


@doctoring()
def scale_decode_throughout(report: Report, rng: random.Random) -> Report | None:
    """Decoding of an arm under test is made faster in every row, with blocks and sums to match."""
    name, by = under_test(report, rng), factor(rng, 0.6, 0.95)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: paced(row, decode=by))


@doctoring()
def scale_decode_beyond_blocks(report: Report, rng: random.Random) -> Report | None:
    """Decoding of an arm under test is made many times faster in every row, with blocks and sums to match."""
    name, by = under_test(report, rng), factor(rng, 0.02, 0.15)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: paced(row, decode=by))


@doctoring()
def scale_prefill_throughout(report: Report, rng: random.Random) -> Report | None:
    """Prefill of an arm under test is made a little faster in every row, with sums to match."""
    name, by = under_test(report, rng), factor(rng, 0.82, 0.9)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: paced(row, prefill=by))


@doctoring()
def scale_prefill_beyond_reason(report: Report, rng: random.Random) -> Report | None:
    """Prefill of an arm under test that reads as the oracle does is made twice as fast and more, with sums to match."""
    names = [
        arm.name for arm in report.arms if arm.role == "sut" and arm.restoration and arm.restoration.mode == "none"
    ]
    if not names:
        return None
    name, by = rng.choice(names), factor(rng, 0.2, 0.6)
    return edit_rows(report, name, lambda row: paced(row, prefill=by))


@doctoring()
def scale_all_times_of_arm(report: Report, rng: random.Random) -> Report | None:
    """Every time of an arm under test is made shorter by one factor."""
    name, by = under_test(report, rng), factor(rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: paced(row, by, by, by))


@doctoring()
def slow_oracle(report: Report, rng: random.Random) -> Report | None:
    """The oracle's decoding is made slower, the null arm is forgotten."""
    oracle, by = of_role(report, "oracle"), rng.uniform(1.3, 3.0)
    if oracle is None:
        return None
    return edit_rows(report, oracle.name, lambda row: paced(row, decode=by))


@doctoring()
def slow_oracle_and_null(report: Report, rng: random.Random) -> Report | None:
    """Oracle and null arm are made slower alike, so that every other arm is faster."""
    names, by = [arm.name for arm in report.arms if arm.role in ("oracle", "null")], rng.uniform(1.1, 2.0)
    if not names:
        return None
    return edit_all_rows(report, names, lambda row: paced(row, decode=by))


@doctoring()
def speed_up_everything(report: Report, rng: random.Random) -> Report | None:
    """Every time of the report is scaled alike; no ratio changes."""
    names, by = [arm.name for arm in report.arms], factor(rng)
    if not names:
        return None
    return edit_all_rows(report, names, lambda row: paced(row, by, by, by))


@doctoring()
def impossible_time(report: Report, rng: random.Random) -> Report | None:
    """A time becomes negative or zero."""
    name = any_arm(report, rng)
    if name is None:
        return None
    field, value, key = rng.choice(("prefill_s", "decode_s")), rng.choice((0.0, -0.5)), any_row(report, name, rng)
    return edit_rows(
        report, name, lambda row: timed(row, **{field: value}), where=lambda row: (row.sample, row.repeat) == key
    )


@doctoring()
def even_out_times(report: Report, rng: random.Random) -> Report | None:
    """Every row of an arm gets the times of its fastest one: the interval shrinks to a point."""
    name = under_test(report, rng)
    if name is None:
        return None
    rows = next(arm for arm in report.arms if arm.name == name).measurements
    best = min(rows, key=lambda row: (row.decode_s or 0.0) / (row.decode_tokens or 1))
    rate = (best.decode_s or 0.0) / (best.decode_tokens or 1)

    def edit(row: Measurement) -> Measurement:
        wanted = rate * (row.decode_tokens or 0)
        return paced(row, decode=wanted / row.decode_s) if row.decode_s else row

    return edit_rows(report, name, edit)


@doctoring()
def shift_decode_into_prefill(report: Report, rng: random.Random) -> Report | None:
    """A part of decoding is billed to prefill; the end-to-end time stays."""
    name, by = under_test(report, rng), factor(rng, 0.4, 0.9)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        moved = (row.decode_s or 0.0) * (1 - by)
        faster = paced(row, decode=by)
        return timed(faster, prefill_s=(row.prefill_s or 0.0) + moved)

    return edit_rows(report, name, edit)


@doctoring()
def leave_out_verify(report: Report, rng: random.Random) -> Report | None:
    """Verification is left out of the blocks and of the decode time."""
    name, by = drafting(report, rng), factor(rng, 0.2, 0.6)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds = []
        for block in row.speculation.rounds or ():
            less = us(block.verify_s * (1 - by))
            rounds.append(block.replace(verify_s=us(block.verify_s - less), seconds=us(block.seconds - less)))
        return with_rounds(row, rounds)

    return edit_rows(report, name, edit)


@doctoring()
def free_restoration(report: Report, rng: random.Random) -> Report | None:
    """Restoration takes no time any more, end to end as well."""
    name = restoring(report, rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: timed(row, restoration_s=0.0))


@doctoring()
def quick_restoration(report: Report, rng: random.Random) -> Report | None:
    """Restoration takes a millisecond, whatever it restored."""
    name = restoring(report, rng)
    if name is None:
        return None
    return edit_rows(report, name, lambda row: timed(row, restoration_s=rng.uniform(0.0, 2e-5)))


@doctoring()
def swap_times_of_rows(report: Report, rng: random.Random) -> Report | None:
    """Fast rows of an arm are paired with slow rows of the oracle: repeats of a sample trade their times."""
    name = under_test(report, rng)
    if name is None:
        return None
    arm = next(arm for arm in report.arms if arm.name == name)
    by_sample: dict[int, list[Measurement]] = {}
    for row in arm.measurements:
        by_sample.setdefault(row.sample, []).append(row)
    if max(map(len, by_sample.values())) < 2:
        return None
    traded = {
        (row.sample, row.repeat): rows[(index + 1) % len(rows)]
        for rows in by_sample.values()
        for index, row in enumerate(rows)
    }
    names = ("prefill_s", "decode_s", "e2e_s", "restoration_s", "aux_s", "speculation")

    def edit(row: Measurement) -> Measurement:
        other = traded[row.sample, row.repeat]
        return row.replace(**{field: getattr(other, field) for field in names})

    return edit_rows(report, name, edit)

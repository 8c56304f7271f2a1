"""Figures of an arm as table cells, the same in every table K3 prints."""

from collections.abc import Iterator

from gate.figures.statistics.ratio_estimate import RatioEstimate
from gate.render.headline import three_digits
from gate.render.tables.arm_summary import ArmSummary
from reports.untrusted.one_line import one_line

COLUMNS = (
    "arm",
    "role",
    "engine",
    "restoration",
    "rows",
    "recall",
    "prefill s",
    "decode tok/s",
    "decode ratio",
    "95 % interval",
    "K/V MB",
    "accepted",
    "a block",
)
WORDS = 4
"""The first columns hold words, the others figures."""

WITHHELD = "WITHHELD"


def cells(arm: ArmSummary) -> tuple[str, ...]:
    """One cell a column; empty where the rows do not allow the figure."""
    accepted, interval = arm.acceptance, arm.ratio.interval if arm.ratio is not None else None
    return (
        one_line(arm.name),
        arm.role,
        one_line(arm.engine),
        arm.restoration or "",
        _rows(arm),
        f"{arm.recalled.correct}/{arm.recalled.total}" if arm.recalled is not None else "",
        _number(arm.prefill_s),
        _number(arm.decode_tok_s),
        three_digits(arm.ratio.value, "x") if arm.ratio is not None else WITHHELD * arm.ratio_withheld,
        f"{three_digits(interval.low)} to {three_digits(interval.high)}" if interval is not None else "",
        _number(arm.kv_bytes / 1e6 if arm.kv_bytes is not None else None),
        f"{accepted.rate:.2f}" if accepted is not None else "",
        f"{accepted.committed_per_block:.2f}" if accepted is not None else "",
    )


def round_trip_lines(arm: ArmSummary) -> Iterator[str]:
    """What the wire took of the times above; nothing of an arm that ran in this process."""
    trip = arm.round_trip
    if trip is not None:
        a_token = f"{_milliseconds(trip.token_s)} of each decoded token" if trip.token_s is not None else "no token"
        yield f"round trip, {one_line(arm.name)}: {_milliseconds(trip.prefill_s)} of prefill, {a_token} (medians)"
        beside = trip.beside_here
        if beside is not None:
            ratios = f"{_estimate(beside.raw)} of {one_line(beside.here)}'s decode rate"
            off = f"{_estimate(beside.without_trip)} without the round trip"
            band = f"; A/A {_estimate(trip.band)}" if trip.band is not None else ""
            slower = f"{_milliseconds(abs(beside.overhead_s))} {'more' if beside.overhead_s >= 0 else 'less'} a token"
            yield f"over the wire, {one_line(arm.name)}: {ratios}, {off}{band}; {slower} (median)"


def _estimate(ratio: RatioEstimate) -> str:
    """A ratio with its 95 % interval; one group has none."""
    interval = f" ({three_digits(ratio.low)} to {three_digits(ratio.high)})" if ratio.groups > 1 else ""
    return f"{three_digits(ratio.value, 'x')}{interval}"


def _milliseconds(seconds: float) -> str:
    return f"{three_digits(1000 * seconds)} ms"


def _rows(arm: ArmSummary) -> str:
    """`6 samples x 3` where every sample ran as often; `2 of 6 samples` where some are missing."""
    some = "sample" if (arm.planned or arm.samples) == 1 else "samples"
    if arm.planned is not None and arm.samples < arm.planned:
        return f"{arm.samples} of {arm.planned} {some}"
    if arm.samples == 0 or arm.rows % arm.samples:
        return f"{arm.rows} rows of {arm.samples} {some}"
    repeats = arm.rows // arm.samples
    return f"{arm.samples} {some}" + (f" x {repeats}" if repeats > 1 else "")


def _number(value: float | None) -> str:
    return three_digits(value) if value is not None else ""

"""Times that must add up: stages to the end-to-end time, blocks to the decode time, their stages to the blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import Threshold

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement, Speculation

TIMES = ("prefill_s", "decode_s", "e2e_s", "restoration_s", "aux_s")

TOTALS = ("draft_s", "verify_s", "extend_s", "rollback_s")

STAGE_SLACK_S = Threshold(
    "STAGE_SLACK_S",
    0.001,
    "s",
    meaning="Seconds by which stages may miss the time they are stages of, beside the relative slack.",
    source="clocks are read between the stages",
)

STAGE_SLACK_RELATIVE = Threshold(
    "STAGE_SLACK_RELATIVE",
    0.005,
    "share of the time",
    meaning="The same as a share of that time.",
    source="clocks are read between the stages",
)

CLOCK_ROUNDING_S = Threshold(
    "CLOCK_ROUNDING_S",
    5e-6,
    "s",
    meaning="By which stages of a row of K3's own may miss its end-to-end time, and its blocks exceed its decoding.",
    source="K3's stages are differences of the same clock readings; 5e-6 is that of four rounded to a microsecond",
)

IMPORTED_STAGE_SLACK_S = Threshold(
    "IMPORTED_STAGE_SLACK_S",
    0.010,
    "s",
    meaning="The same for imported rows, whose stages are rounded each.",
    source="the predecessor's sums miss by up to 6 ms",
)

IMPORTED_STAGE_SLACK_RELATIVE = Threshold(
    "IMPORTED_STAGE_SLACK_RELATIVE",
    0.02,
    "share of the time",
    meaning="The same as a share.",
    source="the predecessor's sums miss by up to 6 ms",
)

LEAST_TOKEN_S = Threshold(
    "LEAST_TOKEN_S",
    1e-7,
    "s",
    meaning="Seconds that a token takes at least, read or decoded.",
    source="a rack of accelerators does a million a second",
)

LEAST_STAGED = Threshold(
    "LEAST_STAGED",
    0.75,
    "share of the time",
    meaning="Least share of its blocks' time that the stages of a row's blocks account for, in K3's own rows.",
    source="the stages follow each other, and between them only the clock is read: 0.96 at least in K3's own evidence",
)

MOST_STAGE_S = Threshold(
    "MOST_STAGE_S", 1e6, "s", meaning="Seconds that a stage of one row takes at most.", source="eleven days"
)


@evidence_rule(
    "STAGE_ARITHMETIC",
    title="Stages that do not add up",
    catches="Stages that miss the end-to-end time, blocks that miss the decode time or their own stages, stages that "
    "leave out much of their blocks' time, and times that are negative, zero where work was done, not finite, or "
    "shorter or longer than any machine takes.",
    why="The cheapest way to a headline is to divide one time by two and leave the others as they are.",
    fix="Write down the times as they were measured; one clock, read at the same events in every arm.",
    example=Example(
        bad="prefill 3.0 s, decode 2.0 s, end to end 4.0 s", good="prefill 3.0 s, decode 2.0 s, end to end 5.0 s"
    ),
    thresholds=(
        CLOCK_ROUNDING_S,
        STAGE_SLACK_S,
        STAGE_SLACK_RELATIVE,
        IMPORTED_STAGE_SLACK_S,
        IMPORTED_STAGE_SLACK_RELATIVE,
        LEAST_TOKEN_S,
        LEAST_STAGED,
        MOST_STAGE_S,
    ),
)
def stage_arithmetic(view: ReportView) -> Iterator[Finding]:
    """A time is impossible, or the times of a row contradict each other."""
    for arm in view.report.arms:
        told = _told(arm) if view.imported else ()
        for row in arm.measurements:
            faults = [*_impossible(row), *_missing_time(view, row, told)]
            if row.speculation is not None:
                faults += _block_times(view, row, row.speculation)
            for fault in faults:
                yield row_finding(arm, row, fault)


def _impossible(row: Measurement) -> Iterator[Fault]:
    for name in TIMES:
        seconds = getattr(row, name)
        if seconds is None or 0 < seconds < math.inf:
            continue
        worked = name in ("prefill_s", "e2e_s") or (name == "decode_s" and bool(row.decode_tokens))
        if seconds != 0 or worked:
            allowed = "over 0" if worked else "0 or more"
            yield Fault(name, f"{name} is {seconds}; it must be {allowed}", str(seconds), allowed)
    for name in ("prefill_s", "decode_s") if row.round_trip is not None else ():
        trip, whole = getattr(row.round_trip, name), getattr(row, name)
        if not 0 <= trip <= (whole or 0.0) + CLOCK_ROUNDING_S.value:
            allowed = f"0 to {whole or 0.0:.6g}"
            message = f"the round trip takes {trip:.6g} s of {name}; it can be {allowed}"
            yield Fault(f"round_trip.{name}", message, f"{trip:.6g}", allowed)
    for name, tokens in (("prefill_s", row.prompt_tokens), ("decode_s", row.decode_tokens)):
        seconds, least = getattr(row, name), (tokens or 0) * LEAST_TOKEN_S.value
        if seconds is not None and (0 < seconds < least or seconds > MOST_STAGE_S.value):
            allowed = f"{least:.3g} to {MOST_STAGE_S.value:g}"
            yield Fault(
                name, f"{name} is {seconds:.6g} for {tokens} tokens; {allowed} s is possible", f"{seconds:.6g}", allowed
            )


def _told(arm: Arm) -> tuple[str, ...]:
    """Stages beside prefill and decode that the arm's rows tell of, or some of them."""
    return tuple(
        name for name in ("restoration_s", "aux_s") if any(getattr(row, name) is not None for row in arm.measurements)
    )


def _missing_time(view: ReportView, row: Measurement, told: Sequence[str] = ()) -> Iterator[Fault]:
    """The stages against the end-to-end time; where a stage is not recorded, only too long ones are faults."""
    if row.e2e_s is None:
        return
    total = (row.prefill_s or 0.0) + (row.decode_s or 0.0) + (row.restoration_s or 0.0) + (row.aux_s or 0.0)
    complete = None not in (row.prefill_s, row.decode_s, *(getattr(row, name) for name in told))
    slack = slack_of(view, row.e2e_s) if view.imported else CLOCK_ROUNDING_S.value
    if total > row.e2e_s + slack or (complete and total < row.e2e_s - slack):
        message = f"the stages add up to {total:.6g} s, the end-to-end time is {row.e2e_s:.6g} s"
        yield Fault("e2e_s", message, f"{row.e2e_s:.6g}", f"{total:.6g} within {slack:.3g}")


def slack_of(view: ReportView, seconds: float) -> float:
    """Seconds by which parts may miss a whole of `seconds`: less for rows of our own than for rounded imports."""
    if view.imported:
        return IMPORTED_STAGE_SLACK_S.value + IMPORTED_STAGE_SLACK_RELATIVE.value * abs(seconds)
    return STAGE_SLACK_S.value + STAGE_SLACK_RELATIVE.value * abs(seconds)


def _block_times(view: ReportView, row: Measurement, said: Speculation) -> Iterator[Fault]:
    stages = [seconds for name in TOTALS if (seconds := getattr(said, name)) is not None]
    if row.decode_s is not None and sum(stages) > row.decode_s + slack_of(view, row.decode_s):
        message = f"the stages of the blocks take {sum(stages):.6g} s, decoding {row.decode_s:.6g} s"
        yield Fault("speculation", message, f"{sum(stages):.6g}", f"at most {row.decode_s:.6g}")
    if said.rounds is None:
        return
    for number, block in enumerate(said.rounds):
        parts = (block.draft_s, block.verify_s, block.extend_s, block.rollback_s)
        if block.seconds <= 0 or min(parts) < 0 or sum(parts) > block.seconds + slack_of(view, block.seconds):
            message = f"the stages of block {number} add up to {sum(parts):.6g} s, the block took {block.seconds:.6g} s"
            yield Fault(f"rounds.{number}.seconds", message, f"{block.seconds:.6g}", f"at least {sum(parts):.6g}")
    staged, whole = sum(stages), sum(block.seconds for block in said.rounds)
    if not view.imported and 0 < staged < LEAST_STAGED.value * whole:
        message = f"the stages of the blocks account for {staged:.6g} s, the blocks took {whole:.6g} s"
        yield Fault("speculation", message, f"{staged:.6g}", f"at least {LEAST_STAGED.value * whole:.6g}")
    # The blocks of an arm in another process are timed there, its decoding here, messages included.
    spent = whole + (row.round_trip.decode_s if row.round_trip else 0.0)
    # Between two blocks the clock is read and the loop goes on: decoding takes longer than its blocks, never less.
    over = slack_of(view, row.decode_s or 0.0) if view.imported else len(said.rounds) * CLOCK_ROUNDING_S.value
    if row.decode_s is not None and not -slack_of(view, row.decode_s) <= spent - row.decode_s <= over:
        message = f"{len(said.rounds)} blocks took {spent:.6g} s, decoding {row.decode_s:.6g} s"
        yield Fault("decode_s", message, f"{row.decode_s:.6g}", f"{spent:.6g}")
    for name in TOTALS:
        stated, added = getattr(said, name), sum(getattr(block, name) for block in said.rounds)
        if stated is not None and abs(stated - added) > slack_of(view, added):
            message = f"{name} is {stated:.6g} s in total, its blocks add up to {added:.6g} s"
            yield Fault(f"speculation.{name}", message, f"{stated:.6g}", f"{added:.6g}")

"""Numbers that must add up: stages to the end-to-end time, blocks to their own times and to tokens."""

import math
from collections.abc import Iterator

from gate import thresholds
from gate.case import Case
from gate.registry import evidence_rule
from gate.rule import Finding
from reports.measurement import Arm, Measurement, Speculation

TIMES = ("prefill_s", "decode_s", "e2e_s", "restoration_s", "aux_s")
TOTALS = ("draft_s", "verify_s", "extend_s", "rollback_s")
Fault = tuple[str, str, str, str]
"""Field, message, number found, number allowed."""


@evidence_rule(
    "STAGE_ARITHMETIC",
    title="Stages that do not add up",
    catches="Stages that miss the end-to-end time, blocks that miss the decode time or their own stages, and times "
    "that are negative, zero where work was done, or not finite.",
    why="The cheapest way to a headline is to divide one time by two and leave the others as they are.",
    fix="Write down the times as they were measured; one clock, read at the same events in every arm.",
)
def stage_arithmetic(case: Case) -> Iterator[Finding]:
    """A time is impossible, or the times of a row contradict each other."""
    for arm in case.report.arms:
        for row in arm.measurements:
            for fault in (*_impossible(row), *_missing_time(case, row), *_block_times(case, row)):
                yield _at(arm, row, fault)


def _impossible(row: Measurement) -> Iterator[Fault]:
    worked = {"prefill_s": True, "e2e_s": True, "decode_s": bool(row.decode_tokens)}
    for name in TIMES:
        seconds = getattr(row, name)
        if seconds is None:
            continue
        if not math.isfinite(seconds) or seconds < 0 or (seconds == 0 and worked.get(name, False)):
            allowed = "over 0" if worked.get(name) else "0 or more"
            yield name, f"{name} is {seconds}; it must be {allowed}", str(seconds), allowed


def _missing_time(case: Case, row: Measurement) -> Iterator[Fault]:
    """The stages against the end-to-end time; where a stage is not recorded, only too long ones are faults."""
    if row.e2e_s is None:
        return
    known = [seconds for name in TIMES if name != "e2e_s" and (seconds := getattr(row, name)) is not None]
    complete = row.prefill_s is not None and row.decode_s is not None
    total, slack = sum(known), slack_of(case, row.e2e_s)
    if total > row.e2e_s + slack or (complete and total < row.e2e_s - slack):
        message = f"the stages add up to {total:.6g} s, the end-to-end time is {row.e2e_s:.6g} s"
        yield "e2e_s", message, f"{row.e2e_s:.6g}", f"{total:.6g} within {slack:.3g}"


def slack_of(case: Case, seconds: float) -> float:
    """Seconds by which parts may miss a whole of `seconds`: less for rows of our own than for rounded imports."""
    if case.imported:
        return thresholds.IMPORTED_STAGE_SLACK_S + thresholds.IMPORTED_STAGE_SLACK_RELATIVE * abs(seconds)
    return thresholds.STAGE_SLACK_S + thresholds.STAGE_SLACK_RELATIVE * abs(seconds)


def _block_times(case: Case, row: Measurement) -> Iterator[Fault]:
    said = row.speculation
    if said is None:
        return
    stages = [seconds for name in TOTALS if (seconds := getattr(said, name)) is not None]
    if row.decode_s is not None and sum(stages) > row.decode_s + slack_of(case, row.decode_s):
        message = f"the stages of the blocks take {sum(stages):.6g} s, decoding {row.decode_s:.6g} s"
        yield "speculation", message, f"{sum(stages):.6g}", f"at most {row.decode_s:.6g}"
    if said.rounds is None:
        return
    for number, block in enumerate(said.rounds):
        parts = (block.draft_s, block.verify_s, block.extend_s, block.rollback_s)
        if block.seconds <= 0 or min(parts) < 0 or sum(parts) > block.seconds + slack_of(case, block.seconds):
            message = f"the stages of block {number} add up to {sum(parts):.6g} s, the block took {block.seconds:.6g} s"
            yield f"rounds.{number}.seconds", message, f"{block.seconds:.6g}", f"at least {sum(parts):.6g}"
    spent = sum(block.seconds for block in said.rounds)
    if row.decode_s is not None and abs(spent - row.decode_s) > slack_of(case, row.decode_s):
        message = f"{len(said.rounds)} blocks took {spent:.6g} s, decoding {row.decode_s:.6g} s"
        yield "decode_s", message, f"{row.decode_s:.6g}", f"{spent:.6g}"
    for name in TOTALS:
        stated, added = getattr(said, name), sum(getattr(block, name) for block in said.rounds)
        if stated is not None and abs(stated - added) > slack_of(case, added):
            message = f"{name} is {stated:.6g} s in total, its blocks add up to {added:.6g} s"
            yield f"speculation.{name}", message, f"{stated:.6g}", f"{added:.6g}"


@evidence_rule(
    "BLOCK_ARITHMETIC",
    title="Blocks that do not add up to the stream",
    catches="Blocks, drafted, accepted and committed tokens, mean accept length and emitted tokens that contradict "
    "each other; a block commits what it accepted plus one.",
    why="Accept lengths are quoted as speed-ups; blocks that counted loop turns made a dead drafter look alive.",
    fix="Count drafts, accepted and committed tokens in the verify step, and keep the counts of every block.",
)
def block_arithmetic(case: Case) -> Iterator[Finding]:
    """The counts of a row's speculative decoding cannot all be true."""
    for arm in case.report.arms:
        size = arm.drafter.block_size if arm.drafter is not None else None
        for row in arm.measurements:
            if row.speculation is not None:
                faults = (*_rounds(row.speculation, size), *_totals(case, row, row.speculation))
                for fault in (*faults, *_accept_length(case, row, row.speculation)):
                    yield _at(arm, row, fault)


def _rounds(said: Speculation, size: int | None) -> Iterator[Fault]:
    if said.rounds is None:
        return
    last = len(said.rounds) - 1
    for number, block in enumerate(said.rounds):
        where, most = f"rounds.{number}", block.accepted + 1
        if block.accepted > block.drafted or (size is not None and block.drafted > size):
            message = f"block {number} accepted {block.accepted} of {block.drafted} drafts, of block size {size}"
            yield f"{where}.drafted", message, str(block.drafted), f"{block.accepted} to {size}"
        least = max(1, block.accepted) if number == last else most
        if not least <= block.committed <= most:
            message = f"block {number} accepted {block.accepted} drafts and committed {block.committed} tokens"
            yield f"{where}.committed", message, str(block.committed), str(most)
    for name, added in (
        ("blocks", len(said.rounds)),
        ("drafted", sum(block.drafted for block in said.rounds)),
        ("accepted", sum(block.accepted for block in said.rounds)),
        ("committed", sum(block.committed for block in said.rounds)),
    ):
        stated = getattr(said, name)
        if stated is not None and stated != added:
            yield f"speculation.{name}", f"{name} is {stated}, its blocks add up to {added}", str(stated), str(added)


def _totals(case: Case, row: Measurement, said: Speculation) -> Iterator[Fault]:
    blocks, accepted, committed = said.blocks, said.accepted, said.committed
    if accepted is not None and said.drafted is not None and accepted > said.drafted:
        message = f"{accepted} drafts accepted of {said.drafted} made"
        yield "speculation.accepted", message, str(accepted), f"at most {said.drafted}"
    if blocks is not None and accepted is not None and committed is not None:
        least, most = accepted + (blocks > 1) * (blocks - 1), accepted + blocks
        if not least <= committed <= most:
            message = f"{blocks} blocks with {accepted} accepted drafts committed {committed} tokens"
            yield "speculation.committed", message, str(committed), f"{least} to {most}"
    # Imports may count the first token, which came out of prefill, with the decode tokens.
    missing = row.decode_tokens - committed if committed is not None and row.decode_tokens is not None else 0
    if missing not in ((0, 1) if case.imported else (0,)):
        message = f"{committed} tokens committed by blocks, {row.decode_tokens} decoded"
        yield "speculation.committed", message, str(committed), str(row.decode_tokens)
    if blocks and row.decode_tokens is not None and blocks > row.decode_tokens:
        message = f"{blocks} blocks for {row.decode_tokens} tokens; each commits at least one"
        yield "speculation.blocks", message, str(blocks), f"at most {row.decode_tokens}"


def _accept_length(case: Case, row: Measurement, said: Speculation) -> Iterator[Fault]:
    """The stated mean against the counts it is a mean of; printed to 2 or 3 decimals in imports."""
    mean, blocks = said.mean_accept_len, said.blocks
    if mean is None or blocks is None:
        return
    if blocks == 0:
        if mean != 0:
            yield "speculation.mean_accept_len", f"mean accept length {mean} of 0 blocks", str(mean), "0"
        return
    counts = said.accept_len_counts or (None if case.imported else "committed")
    tokens = said.committed if said.committed is not None else row.decode_tokens
    rounding = blocks * (0.005 if case.imported else thresholds.FIGURE_TOLERANCE * max(1.0, abs(mean)))
    low = high = tokens
    if counts == "accepted":
        low = high = said.accepted
        if low is None and tokens is not None:
            low, high = max(0, tokens - blocks - 1), tokens
    elif counts == "bonus_and_accepted" and tokens is not None:
        low, high = tokens - blocks, tokens
    elif counts is None:
        return
    if low is None or high is None or low - rounding <= blocks * mean <= high + rounding:
        return
    allowed = f"{low / blocks:.4g} to {high / blocks:.4g}" if low != high else f"{low / blocks:.6g}"
    message = f"mean accept length {mean:.6g} over {blocks} blocks, whose counts give {allowed}"
    yield "speculation.mean_accept_len", message, f"{mean:.6g}", allowed


def _at(arm: Arm, row: Measurement, fault: Fault) -> Finding:
    field, message, found, allowed = fault
    where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
    return Finding(f"{where}: {message}", arm.name, row.sample, field, found, allowed)

"""Counts of speculative decoding that must add up: drafts, accepted and committed tokens of blocks, and the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, chooses, told_to_be_sure
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import FIGURE_TOLERANCE, Threshold
from reports.drafters import rest_after

if TYPE_CHECKING:
    from reports.records.measurement import BlockRecord, Measurement, Speculation

ACCEPT_LEN_ROUNDING = Threshold(
    "ACCEPT_LEN_ROUNDING",
    0.005,
    "tokens a block",
    meaning="By which a mean accept length that another tool prints may miss its counts.",
    source="it is printed to two decimals",
)


@evidence_rule(
    "BLOCK_ARITHMETIC",
    title="Blocks that do not add up to the stream",
    catches="Blocks, drafted, accepted and committed tokens, mean accept length and emitted tokens that contradict "
    "each other; a block commits what it accepted plus one, and a drafter that is told to be sure rests for 1, 2, 4, "
    "8, then 16 blocks after a second proposal in a row that was empty or wrong from the first draft on.",
    why="Accept lengths are quoted as speed-ups; blocks that counted loop turns made a dead drafter look alive.",
    fix="Count drafts, accepted and committed tokens in the verify step, and keep the counts of every block.",
    example=Example(
        bad="12 blocks that commit 40 tokens, 47 tokens after the first",
        good="12 blocks that commit 47, accepted + 1 in each",
    ),
    thresholds=(FIGURE_TOLERANCE, ACCEPT_LEN_ROUNDING),
)
def block_arithmetic(view: ReportView) -> Iterator[Finding]:
    """The counts of a row's speculative decoding cannot all be true."""
    for arm in view.report.arms:
        size = arm.drafter.block_size if arm.drafter is not None else None
        for row in arm.measurements:
            if row.speculation is not None:
                faults = (*_rounds(row.speculation, size), *_totals(view, row, row.speculation))
                if told_to_be_sure(arm):
                    faults += tuple(_rests(row.speculation))
                for fault in (*faults, *_accept_length(view, row, row.speculation)):
                    yield row_finding(arm, row, fault)


def _rounds(said: Speculation, size: int | None) -> Iterator[Fault]:
    if said.rounds is None:
        return
    last = len(said.rounds) - 1
    for number, block in enumerate(said.rounds):
        where, most = f"rounds.{number}", block.accepted + 1
        if block.accepted > block.drafted or (size is not None and block.drafted > size):
            message = f"block {number} accepted {block.accepted} of {block.drafted} drafts, of block size {size}"
            yield Fault(f"{where}.drafted", message, str(block.drafted), f"{block.accepted} to {size}")
        least = max(1, block.accepted) if number == last else most
        if not least <= block.committed <= most:
            message = f"block {number} accepted {block.accepted} drafts and committed {block.committed} tokens"
            yield Fault(f"{where}.committed", message, str(block.committed), str(most))
    for name, added in (
        ("blocks", len(said.rounds)),
        ("drafted", sum(block.drafted for block in said.rounds)),
        ("accepted", sum(block.accepted for block in said.rounds)),
        ("committed", sum(block.committed for block in said.rounds)),
    ):
        stated = getattr(said, name)
        if stated is not None and stated != added:
            yield Fault(
                f"speculation.{name}", f"{name} is {stated}, its blocks add up to {added}", str(stated), str(added)
            )


def _rests(said: Speculation) -> Iterator[Fault]:
    """The first draft of a row in a block that had to have none."""
    failures = rest = 0
    for number, block in enumerate(said.rounds or ()):
        if rest and block.drafted:
            message = f"block {number} drafted {block.drafted} tokens while the drafter rested for {rest} more"
            yield Fault(f"rounds.{number}.drafted", message, str(block.drafted), "0")
            return
        if rest:
            rest -= 1
            continue
        failures = 0 if block.accepted else failures + 1
        rest = rest_after(failures)


def _totals(view: ReportView, row: Measurement, said: Speculation) -> Iterator[Fault]:
    blocks, accepted, committed = said.blocks, said.accepted, said.committed
    if accepted is not None and said.drafted is not None and accepted > said.drafted:
        message = f"{accepted} drafts accepted of {said.drafted} made"
        yield Fault("speculation.accepted", message, str(accepted), f"at most {said.drafted}")
    if blocks is not None and accepted is not None and committed is not None:
        least, most = accepted + (blocks > 1) * (blocks - 1), accepted + blocks
        if not least <= committed <= most:
            message = f"{blocks} blocks with {accepted} accepted drafts committed {committed} tokens"
            yield Fault("speculation.committed", message, str(committed), f"{least} to {most}")
    # Imports may count the first token, which came out of prefill, with the decode tokens.
    missing = row.decode_tokens - committed if committed is not None and row.decode_tokens is not None else 0
    if missing not in ((0, 1) if view.imported else (0,)):
        message = f"{committed} tokens committed by blocks, {row.decode_tokens} decoded"
        yield Fault("speculation.committed", message, str(committed), str(row.decode_tokens))
    if blocks and row.decode_tokens is not None and blocks > row.decode_tokens:
        message = f"{blocks} blocks for {row.decode_tokens} tokens; each commits at least one"
        yield Fault("speculation.blocks", message, str(blocks), f"at most {row.decode_tokens}")


def _accept_length(view: ReportView, row: Measurement, said: Speculation) -> Iterator[Fault]:
    """The stated mean against the counts it is a mean of; printed to 2 or 3 decimals in imports."""
    mean, blocks = said.mean_accept_len, said.blocks
    if mean is None or blocks is None:
        return
    if blocks == 0:
        if mean != 0:
            yield Fault("speculation.mean_accept_len", f"mean accept length {mean} of 0 blocks", str(mean), "0")
        return
    counts = said.accept_len_counts or (None if view.imported else "committed")
    tokens = said.committed if said.committed is not None else row.decode_tokens
    rounding = blocks * (ACCEPT_LEN_ROUNDING.value if view.imported else FIGURE_TOLERANCE.value * max(1.0, abs(mean)))
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
    yield Fault("speculation.mean_accept_len", message, f"{mean:.6g}", allowed)


@evidence_rule(
    "DRAFTS_VARY",
    title="A model drafter that proposed fewer tokens when it was wrong",
    catches="Blocks of a drafter with weights that hold different numbers of drafts, or fewer than its block size "
    "gives, while there was room for more.",
    why="A block-diffusion drafter fills its block in one forward; drafts left out of the count raise the acceptance.",
    fix="Count every proposed token, also those behind the first wrong one.",
    severity="withheld",
    blocks=("acceptance",),
    example=Example(bad="blocks of 7 drafts, and of 2 where 2 were accepted", good="7 drafts in every block"),
)
def drafts_vary(view: ReportView) -> Iterator[Finding]:
    """Drafts a block are not the same throughout a stream."""
    budget = view.report.plan.max_new_tokens if view.report.plan is not None else None
    for arm in view.report.arms:
        if arm.drafter is None or arm.drafter.weights is None or chooses(arm):
            continue
        size = (arm.drafter.block_size or 1) if not view.imported else 1
        widest = max((b.drafted for row in arm.measurements for b in _blocks(row)), default=0)
        widest = max(widest, size - 1)
        for row in arm.measurements:
            emitted = 1
            for number, block in enumerate(_blocks(row)):
                room = (budget or 0) - emitted
                if block.drafted < min(widest, room - 1):
                    message = f"block {number} drafted {block.drafted} tokens of {widest}, with room for {room}"
                    fault = Fault(f"rounds.{number}.drafted", message, str(block.drafted), str(widest))
                    yield row_finding(arm, row, fault)
                    break
                emitted += block.committed


def _blocks(row: Measurement) -> tuple[BlockRecord, ...]:
    return (row.speculation.rounds or ()) if row.speculation is not None else ()

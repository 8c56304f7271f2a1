"""Blocks of speculative decoding: counts and accept lengths."""

import random
from collections.abc import Callable

from reports.records.measurement import BlockRecord, Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import drafting
from tests.gate.doctoring.reshape import arm_of, summed, us, with_rounds
from tests.gate.edits import edit_rows


def _on_rounds(report: Report, rng: random.Random, edit: Callable[[BlockRecord], BlockRecord]) -> Report | None:
    """`report` with every block of a drafting arm edited, and the totals to match."""
    name = drafting(report, rng)
    if name is None:
        return None

    def of_row(row: Measurement) -> Measurement:
        assert row.speculation is not None
        return row.replace(speculation=summed(row.speculation, [edit(block) for block in row.speculation.rounds or ()]))

    return edit_rows(report, name, of_row)


def _on_totals(report: Report, rng: random.Random, **changes: object) -> Report | None:
    name = drafting(report, rng)
    if name is None:
        return None

    def of_row(row: Measurement) -> Measurement:
        assert row.speculation is not None
        return row.replace(speculation=row.speculation.replace(**changes))

    return edit_rows(report, name, of_row)


@doctoring()
def zero_the_blocks(report: Report, rng: random.Random) -> Report | None:
    """A drafting arm says that it ran no block."""
    return _on_totals(report, rng, blocks=0, drafted=0, accepted=0, committed=None, mean_accept_len=0.0, rounds=())


@doctoring()
def remove_rounds(report: Report, rng: random.Random) -> Report | None:
    """The blocks of a drafting arm go, the totals stay."""
    return _on_totals(report, rng, rounds=None)


@doctoring()
def remove_rounds_and_inflate(report: Report, rng: random.Random) -> Report | None:
    """The blocks of a drafting arm go, and the totals say that half as many were run."""
    name = drafting(report, rng)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        said = row.speculation
        assert said is not None
        blocks = max(1, (said.blocks or 2) // 2)
        committed = said.committed or 0
        changes = {"rounds": None, "blocks": blocks, "accepted": committed - blocks, "drafted": 7 * blocks}
        return row.replace(speculation=said.replace(**changes, mean_accept_len=committed / blocks))

    return edit_rows(report, name, edit)


@doctoring()
def remove_speculation(report: Report, rng: random.Random) -> Report | None:
    """A drafting arm records nothing about its blocks."""
    name = drafting(report, rng)
    return edit_rows(report, name, lambda row: row.replace(speculation=None)) if name is not None else None


@doctoring()
def inflate_mean_accept_length(report: Report, rng: random.Random) -> Report | None:
    """The stated mean accept length is made larger."""
    return _on_totals(report, rng, mean_accept_len=rng.uniform(6.0, 9.0))


@doctoring()
def inflate_totals(report: Report, rng: random.Random) -> Report | None:
    """Accepted and committed totals are made larger, the blocks stay."""
    name, more = drafting(report, rng), rng.randint(1, 9)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        said = row.speculation
        assert said is not None
        committed = (said.committed or 0) + more
        changes = {"accepted": (said.accepted or 0) + more, "committed": committed}
        return row.replace(speculation=said.replace(**changes, mean_accept_len=committed / (said.blocks or 1)))

    return edit_rows(report, name, edit)


@doctoring()
def inflate_accepted(report: Report, rng: random.Random) -> Report | None:
    """Every block accepted one draft more, and committed one token more; totals match, the stream does not."""
    return _on_rounds(
        report,
        rng,
        lambda b: b.replace(accepted=b.accepted + 1, committed=b.committed + 1) if b.accepted < b.drafted else b,
    )


@doctoring()
def inflate_accepted_alone(report: Report, rng: random.Random) -> Report | None:
    """Every block accepted all its drafts; what it committed stays."""
    return _on_rounds(report, rng, lambda b: b.replace(accepted=b.drafted))


@doctoring()
def merge_blocks(report: Report, rng: random.Random) -> Report | None:
    """Two neighbouring blocks become one wherever a block has room for both; streams and times still match."""
    name = drafting(report, rng)
    drafter = arm_of(report, name).drafter if name is not None else None
    if name is None or drafter is None or drafter.block_size is None:
        return None
    depth = drafter.block_size - 1

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds: list[BlockRecord] = []
        for block in row.speculation.rounds or ():
            last = rounds[-1] if rounds else None
            if last is not None and last.committed + block.committed - 1 <= depth and last.accepted < depth:
                rounds[-1] = _merged(last, block, depth)
            else:
                rounds.append(block)
        return with_rounds(row, rounds)

    return edit_rows(report, name, edit)


def _merged(first: BlockRecord, second: BlockRecord, depth: int) -> BlockRecord:
    committed = first.committed + second.committed
    names = ("verify_s", "extend_s", "rollback_s", "draft_s", "seconds")
    sums = {name: us(getattr(first, name) + getattr(second, name)) for name in names}
    return BlockRecord(drafted=depth, accepted=committed - 1, committed=committed, **sums)


@doctoring()
def forget_rejected_drafts(report: Report, rng: random.Random) -> Report | None:
    """Every block drafted only what was accepted: an acceptance of 100 %."""
    return _on_rounds(report, rng, lambda b: b.replace(drafted=b.accepted))


@doctoring()
def forget_some_rejected_drafts(report: Report, rng: random.Random) -> Report | None:
    """Every block drafted at most one token more than was accepted."""
    return _on_rounds(report, rng, lambda b: b.replace(drafted=min(b.drafted, b.accepted + 1)))


@doctoring()
def drop_blocks_without_drafts(report: Report, rng: random.Random) -> Report | None:
    """Blocks of which nothing was accepted go, with their seconds."""
    name = drafting(report, rng)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds = [block for block in row.speculation.rounds or () if block.accepted]
        return with_rounds(row, rounds) if rounds else row

    return edit_rows(report, name, edit)

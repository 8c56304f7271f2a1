"""Drafts that were never made, and blocks that never were."""

import random
from collections.abc import Callable

from reports.records.measurement import BlockRecord, Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import drafting, under_test
from tests.gate.doctoring.reshape import arm_of, set_arm, summed, timed, us, with_rounds
from tests.gate.edits import edit_rows


def _plain_blocks(row: Measurement) -> Measurement:
    """One plain step a block, in the time that the row took."""
    said, steps = row.speculation, row.decode_tokens or 1
    assert said is not None
    each = us((row.decode_s or 0.0) / steps)
    block = BlockRecord(
        drafted=0, accepted=0, committed=1, draft_s=0.0, verify_s=us(each * 0.99), extend_s=0.0, rollback_s=0.0,
        seconds=each,
    )  # fmt: skip
    row = row.replace(speculation=summed(said, [block] * steps))
    return timed(row, decode_s=(row.decode_s or 0.0) + row.repeat * 1e-5)


def undrafted(report: Report) -> Report | None:
    """The truth: a drafting arm proposed nothing; its blocks are plain steps."""
    names = [arm.name for arm in report.arms if arm.drafter is not None and arm.name == "fused_ngram"]
    if not names:
        return None
    return edit_rows(set_arm(report, names[0]), names[0], _plain_blocks)


@doctoring(truth=undrafted)
def pretend_to_draft(report: Report, rng: random.Random) -> Report | None:
    """Plain steps are said to have been blocks of drafts, none of them accepted."""
    return _pretended(report, lambda block: block.replace(drafted=7))


@doctoring(truth=undrafted)
def pretend_to_draft_well(report: Report, rng: random.Random) -> Report | None:
    """Plain steps are said to have been blocks of drafts, each with one accepted."""
    return _pretended(report, lambda block: block.replace(drafted=7, accepted=1, committed=2))


def _pretended(report: Report, edit: Callable[[BlockRecord], BlockRecord]) -> Report | None:
    def of_row(row: Measurement) -> Measurement:
        assert row.speculation is not None
        return row.replace(speculation=summed(row.speculation, [edit(block) for block in row.speculation.rounds or ()]))

    return edit_rows(report, "fused_ngram", of_row)


@doctoring(truth=undrafted)
def pretend_blocks_throughout(report: Report, rng: random.Random) -> Report | None:
    """Plain steps are merged into blocks of accepted drafts; streams and times match."""

    def of_row(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds, steps = [], list(row.speculation.rounds or ())
        while steps:
            taken, steps = steps[:3], steps[3:]
            seconds = us(sum(step.seconds for step in taken))
            accepted = len(taken) - 1
            rounds.append(
                BlockRecord(
                    drafted=7 if accepted else 0, accepted=accepted, committed=len(taken), draft_s=us(seconds * 0.1),
                    verify_s=us(seconds * 0.8), extend_s=0.0, rollback_s=0.0, seconds=seconds,
                )
            )  # fmt: skip
        return with_rounds(row, rounds)

    return edit_rows(report, "fused_ngram", of_row)


@doctoring()
def empty_blocks_in_plain_arm(report: Report, rng: random.Random) -> Report | None:
    """A plain arm is given the blocks of a drafting one."""
    donor, name = drafting(report, rng), under_test(report, rng)
    if donor is None or name is None or name == donor:
        return None
    rows = {(row.sample, row.repeat): row for row in arm_of(report, donor).measurements}
    return edit_rows(report, name, lambda row: row.replace(speculation=rows[row.sample, row.repeat].speculation))


@doctoring()
def free_drafts(report: Report, rng: random.Random) -> Report | None:
    """Drafting takes no time any more, in the blocks and in the decode time."""
    name = drafting(report, rng)
    if name is None:
        return None

    def edit(row: Measurement) -> Measurement:
        assert row.speculation is not None
        rounds = [
            block.replace(draft_s=0.0, seconds=us(block.seconds - block.draft_s))
            for block in row.speculation.rounds or ()
        ]
        return with_rounds(row, rounds)

    return edit_rows(report, name, edit)

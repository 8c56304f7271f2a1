"""How sure a drafter should be told to be, learnt on the sequences it was not trained on.

A rejected draft costs the verifier a position and the drafter a forward. Where a drafter is blind, it is cheaper to
propose nothing. Which threshold pays depends on what both cost, in plain steps, on the machine that decodes.
"""

from collections.abc import Sequence

from pydantic import Field, FiniteFloat

from harness.training.drafter.held_out.walk import Foreseen, HeldOutResult, Walk, walk
from reports.records.record import Record

THRESHOLDS = (None, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""None: a whole block at every step."""

FLOOR = 0.95
"""Tokens a plain step that no sequence may fall below, if there is a threshold that keeps it."""


class BlockCosts(Record):
    """In plain steps of the verifier: what a draft adds to the step that reads it, and a proposal, whatever its length.

    The defaults are those of SmolLM2-135M and its drafter on two x86 cores (`docs/drafter-trial.md`).
    """

    draft: FiniteFloat = Field(0.1, ge=0, le=10)
    proposal: FiniteFloat = Field(0.05, ge=0, le=10)


class Caution(Record):
    """The held-out sequences walked with a drafter that is told to be `sure` (none: to draft at every step).

    It was asked in `asked` of the blocks. `gain` and, of the worst sequence, `worst` are in tokens a plain step, by the
    costs: below 1, the plain model is faster.
    """

    sure: FiniteFloat | None
    held_out: HeldOutResult
    asked: int
    gain: FiniteFloat
    worst: FiniteFloat


def cautions(sequences: Sequence[Foreseen], costs: BlockCosts) -> tuple[Caution, ...]:
    """One of each threshold."""
    return tuple(_caution(sequences, sure, costs) for sure in THRESHOLDS)


def chosen(found: Sequence[Caution]) -> Caution:
    """The one that commits most a plain step, of those that keep every sequence above the floor; if none does, the one
    whose worst sequence is best."""
    safe = [caution for caution in found if caution.worst >= FLOOR]
    return max(safe, key=lambda caution: caution.gain) if safe else max(found, key=lambda caution: caution.worst)


def _caution(sequences: Sequence[Foreseen], sure: float | None, costs: BlockCosts) -> Caution:
    walked = walk(sequences, sure)
    return Caution(
        sure=sure,
        held_out=walked.held_out,
        asked=walked.asked,
        gain=_gain(walked, costs),
        worst=min(_gain(walk([sequence], sure), costs) for sequence in sequences),
    )


def _gain(walked: Walk, costs: BlockCosts) -> float:
    counted = walked.held_out
    return counted.tokens / (counted.blocks + walked.asked * costs.proposal + sum(counted.drafted) * costs.draft)

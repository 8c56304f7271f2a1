"""What a parity report's blocks say, in counts: how much agrees, and how the rest differs."""

from dataclasses import dataclass

from gate.figures.drafter_parity import compared, disagreements
from reports.records.drafter_parity import ParityBlock, ParityResult


@dataclass(frozen=True)
class ParitySummary:
    """Tokens and blocks of two runtimes of a drafter, counted.

    `consistent` of the `differing` blocks differ in a tail only: nothing agrees again after the first token that
    does not. The others differ here and there, as ties of a lower precision do in a block that is drafted at once.
    """

    candidate: str
    reference: str
    samples: int
    blocks: int
    tokens: int
    equal: int
    differing: int
    consistent: int


def summarise_parity(parity: ParityResult) -> ParitySummary:
    """The counts of `parity`."""
    tokens = sum(map(compared, parity.blocks))
    wrong = [block for block in parity.blocks if disagreements(block)]
    return ParitySummary(
        candidate=_side(parity.candidate_runtime, parity.candidate_dtype),
        reference=_side(parity.reference_runtime, parity.reference_dtype) + _recorded(parity),
        samples=len({block.sample for block in parity.blocks}),
        blocks=len(parity.blocks),
        tokens=tokens,
        equal=tokens - sum(map(disagreements, wrong)),
        differing=len(wrong),
        consistent=sum(map(prefix_consistent, wrong)),
    )


def prefix_consistent(block: ParityBlock) -> bool:
    """Nothing agrees again after the first token that does not."""
    agrees = [ours == theirs for ours, theirs in zip(block.reference_tokens, block.candidate_tokens, strict=False)]
    return True not in agrees[agrees.index(False) :] if False in agrees else True


def _side(runtime: str, dtype: str | None) -> str:
    return f"{runtime} {dtype or '(dtype not recorded)'}"


def _recorded(parity: ParityResult) -> str:
    return ", recorded" if parity.recording is not None else ""

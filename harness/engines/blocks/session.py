"""A stream decoded in blocks: what is held of it, what a forward said of a block, and what the drafter is told."""

from dataclasses import dataclass, field

from harness.base.clock import Stopwatch
from harness.engines.acceptance import Commit
from harness.engines.blocks.kv import VerifierKv
from harness.engines.bounded.arrays import Array
from harness.engines.drafters.base import Draft


@dataclass
class SpeculativeSession:
    """A prompt read into `kv` and into the drafter's context.

    `carry` are committed tokens that a rolled-back cache does not hold; they go into the next block's forward.
    """

    engine: str
    kv: VerifierKv
    draft: Draft
    first_token: int
    aux_s: float
    carry: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Verified:
    """The verifier's choices after the last committed token and after each draft, and the drafts themselves.

    `features` are the captured layers over everything fed, (1, carry + 1 + drafts, layers x hidden).
    """

    drafts: list[int]
    choices: list[int]
    features: Array | None


def extend(draft: Draft, last: int, verified: Verified, done: Commit, skipped: int, watch: Stopwatch) -> None:
    """Give the drafter what the verifier read and kept: `last` and the committed drafts, with their features.

    `skipped` leading positions of the forward (the carry) are in its context already.
    """
    with watch.stage("extend"):
        kept = [last, *done.tokens[:-1]]
        features = verified.features
        draft.extend(kept, None if features is None else features[:, skipped : skipped + len(kept)])

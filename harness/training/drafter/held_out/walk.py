"""How many tokens a drafter would commit on sequences it was not trained on, walked as an engine walks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import torch

from harness.engines.acceptance import leading_matches
from harness.engines.drafters.around.cautious import CautiousDraft
from harness.engines.drafters.base import Draft, DraftCounters
from harness.training.drafter.blocks import blocks_of
from harness.training.drafter.net import DrafterNet
from harness.training.drafter.surroundings import Surroundings
from harness.training.drafter.verifier import Continued
from reports.records.record import Record


class HeldOutResult(Record):
    """Counted over all held-out sequences: `accepted[k]` of `drafted[k]` drafts at position k were the verifier's own
    and so were all before them."""

    tokens: int
    blocks: int
    drafted: tuple[int, ...]
    accepted: tuple[int, ...]

    @property
    def committed(self) -> float:
        """Tokens a block, the verifier's own included."""
        return self.tokens / self.blocks


@dataclass(frozen=True)
class Foreseen:
    """What a drafter proposes at every place of a continuation, as places in the draft vocabulary.

    Of each place: its `drafts`, the `chances` by the drafter itself that all drafts up to each are right, and `labels`,
    what the verifier put there, IGNORED behind the end and for a token that no draft can be.
    """

    drafts: list[list[int]]
    chances: list[list[float]]
    labels: list[list[int]]


@torch.inference_mode()
def foresee(net: DrafterNet, sequence: Continued, around: Surroundings, size: int) -> Foreseen:
    """Blocks of `size` at every place of the continuation."""
    anchors = torch.arange(sequence.prompt, len(sequence.tokens) - 1)
    made = blocks_of([(sequence, anchors)], size, net.config.mask_token_id, around.places)
    moved = made.to(around.device)
    hidden = net(moved.sequences, around.table[moved.tokens].float())
    chances, drafts = around.logits(hidden[:, 1:]).softmax(-1).max(-1)
    return Foreseen(drafts.tolist(), chances.cumprod(1).tolist(), made.labels.tolist())


class ForeseenDraft:
    """A stream whose proposals were computed before, all at once."""

    nbytes = 0

    def __init__(self, foreseen: Foreseen) -> None:
        self.counters = DraftCounters()
        self._foreseen, self._place = foreseen, 0

    def propose(self, last: int, limit: int) -> list[int]:
        """The drafts here."""
        return self.propose_sure(last, limit, 0.0)

    def propose_sure(self, last: int, limit: int, least: float) -> list[int]:
        """The leading ones that are right together by a chance of at least `least`."""
        self.counters.proposals += 1
        sure = len(list(takewhile(lambda chance: chance >= least, self._foreseen.chances[self._place])))
        return self._foreseen.drafts[self._place][: min(limit, sure)]

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Go on behind the tokens that a block committed."""
        self._place += len(tokens)


@dataclass(frozen=True)
class Walk:
    """Sequences walked, and for how many blocks the drafter was asked."""

    held_out: HeldOutResult
    asked: int


def walk(sequences: Sequence[Foreseen], sure: float | None) -> Walk:
    """Walk every continuation with blocks as wide as foreseen, or with the drafts it is `sure` of (`DrafterSpec`)."""
    width = max((len(drafts) for sequence in sequences for drafts in sequence.drafts), default=0)
    tokens, blocks, asked, drafted, accepted = 0, 0, 0, [0] * width, [0] * width
    for sequence in sequences:
        inner = ForeseenDraft(sequence)
        draft: Draft = inner if sure is None else CautiousDraft(inner, sure)
        place, end = 0, len(sequence.labels)
        while place < end:
            proposed = draft.propose(0, min(width, end - place - 1)) if end - place > 1 else []
            right = leading_matches(proposed, sequence.labels[place])
            for position in range(len(proposed)):
                drafted[position] += 1
                accepted[position] += position < right
            blocks += 1
            tokens += right + 1
            place += right + 1
            draft.extend([0] * (right + 1), None)
        asked += inner.counters.proposals
    return Walk(HeldOutResult(tokens=tokens, blocks=blocks, drafted=tuple(drafted), accepted=tuple(accepted)), asked)

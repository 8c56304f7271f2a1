"""How many tokens a drafter would commit on sequences it was not trained on, walked as an engine walks them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from harness.training.drafter.blocks import IGNORED, blocks_of
from harness.training.drafter.net import DrafterNet
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


@torch.inference_mode()
def evaluate(
    net: DrafterNet, sequences: Sequence[Continued], table: Tensor, head: Tensor, places: Tensor, size: int
) -> HeldOutResult:
    """Walk the continuation of every sequence with blocks of `size`; `head` (draft vocabulary, hidden).

    `net`, `table` and `head` are on one device; `places` and the sequences are on the CPU.
    """
    tokens, blocks = 0, 0
    drafted, accepted = [0] * (size - 1), [0] * (size - 1)
    for sequence in sequences:
        right = _leading_right(net, sequence, table, head, places, size)
        place, end = 0, len(right)
        while place < end:
            room = min(size - 1, end - place - 1)
            matched = min(right[place], room)
            for draft in range(room):
                drafted[draft] += 1
                accepted[draft] += draft < matched
            blocks += 1
            tokens += matched + 1
            place += matched + 1
    return HeldOutResult(tokens=tokens, blocks=blocks, drafted=tuple(drafted), accepted=tuple(accepted))


def _leading_right(
    net: DrafterNet, sequence: Continued, table: Tensor, head: Tensor, places: Tensor, size: int
) -> list[int]:
    """For every position of the continuation, how many leading drafts after it would be right."""
    anchors = torch.arange(sequence.prompt, len(sequence.tokens) - 1)
    made = blocks_of([(sequence, anchors)], size, net.config.mask_token_id, places)
    moved = made.to(table.device)
    hidden = net(moved.sequences, table[moved.tokens].float())
    choices = (hidden[:, 1:] @ head.T).argmax(-1).cpu()
    right = (choices == made.labels) & (made.labels != IGNORED)
    counts: list[int] = right.long().cumprod(1).sum(1).tolist()
    return counts

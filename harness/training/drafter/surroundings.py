"""What a drafter is trained between: the verifier's embeddings below it, and the verifier's head above."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Surroundings:
    """The verifier's `table` (vocabulary, hidden), the rows `head` of its head (draft vocabulary, hidden), `places`
    from its tokens to these rows, and how it norms and caps before its logits.

    All but `places`, which is on the CPU with the sequences, is on the device of the training.
    """

    table: Tensor
    head: Tensor
    places: Tensor
    softcap: float | None
    normed: Callable[[Tensor], Tensor]

    @property
    def device(self) -> torch.device:
        """What is trained on."""
        return self.table.device

    def logits(self, hidden: Tensor) -> Tensor:
        """Over the draft vocabulary, (..., draft vocabulary)."""
        logits = hidden @ self.head.T
        return logits if self.softcap is None else torch.tanh(logits / self.softcap) * self.softcap

"""The context of one stream in PyTorch's DFlash, whichever backend the verifier's hidden states come from."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from harness.base.errors import EngineError
from harness.engines.drafters.base import DraftCounters
from harness.engines.torch.dflash import TorchContext, TorchDflash


class TorchDraft:
    """The drafter's context K/V of one stream; only committed tokens ever enter it."""

    def __init__(self, kind: str, model: TorchDflash, to_torch: Callable[[Any], Tensor]) -> None:
        """`kind` is the drafter's word in errors; `to_torch` brings the verifier's features (1, L, F) to PyTorch."""
        self.counters = DraftCounters()
        self._kind, self._model, self._to_torch, self._context = kind, model, to_torch, TorchContext()

    @property
    def nbytes(self) -> int:
        """Bytes of the context K/V."""
        return self._context.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """The drafts for the `limit` masked positions after `last`."""
        return self._counted(self._model.propose(self._context, last, limit))

    def propose_sure(self, last: int, limit: int, least: float) -> list[int]:
        """The leading ones of the same whose probabilities multiply to at least `least`."""
        return self._counted(self._model.propose(self._context, last, limit, least))

    def _counted(self, drafts: list[int]) -> list[int]:
        self.counters.proposals += 1
        self.counters.proposed += len(drafts)
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Make and keep context K/V from the verifier's hidden states at `tokens`."""
        if features is None or features.shape[1] != len(tokens):
            raise EngineError(f"{self._kind} needs the verifier's hidden states of every token of its context")
        self._model.extend(self._context, self._to_torch(features))
        self.counters.context += len(tokens)

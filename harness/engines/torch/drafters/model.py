"""The `model` drafter: a small autoregressive model of the same vocabulary, on the verifier's device."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from harness.engines.acceptance import leading_matches
from harness.engines.drafters.base import DraftCounters
from harness.engines.drafters.vocabulary import AHEAD, Rows, check_tokenizers, rows_of
from harness.engines.torch.verifier.forward import kv_bytes, logits_after, plain_cache, read, tokens_on, trim
from harness.engines.torch.verifier.load import Verifier, load_verifier
from reports.drafters import SMALL_MODEL


class ModelDraft:
    """One stream in the small model's cache, which holds every position so that any rejected draft can be trimmed.

    The cache holds the context up to `pending`, then whatever was drafted and not yet decided.
    """

    def __init__(self, model: Any, chunk: int, rows: Rows) -> None:
        self.counters = DraftCounters()
        self._model, self._chunk, self._rows = model, chunk, rows
        self._cache = plain_cache()
        self._pending: list[int] = []
        self._undecided: list[int] = []

    @property
    def nbytes(self) -> int:
        """Bytes of its cache."""
        return kv_bytes(self._cache)

    def propose(self, last: int, limit: int) -> list[int]:
        """Greedy tokens after `last`, one forward each."""
        fed, drafts = [*self._pending, last], []
        self._pending = []
        for _ in range(limit):
            tokens = tokens_on(self._model, self._rows.readable(fed))
            logits = logits_after(self._model, self._cache, tokens, last=1)
            drafts.append(int(logits[0, -1, : self._rows.shared].argmax()))
            fed = drafts[-1:]
        # The newest draft was proposed and never read.
        self._undecided = [last, *drafts[:-1]] if limit else []
        self.counters.proposals += 1
        self.counters.proposed += limit
        return drafts

    def extend(self, tokens: Sequence[int], features: Any) -> None:
        """Trim what was rejected; what the cache lacks waits, or is read now if it is more than a block leaves over."""
        kept = leading_matches(self._undecided, tokens)
        if self._undecided:
            trim(self._cache, len(self._undecided) - kept)
        self._undecided = []
        self._pending += tokens[kept:]
        self.counters.context += len(tokens)
        if len(self._pending) > AHEAD:
            for start in range(0, len(self._pending), self._chunk):
                part = self._rows.readable(self._pending[start : start + self._chunk])
                read(self._model, self._cache, tokens_on(self._model, part))
            self._pending = []


class ModelDrafter:
    """A small model loaded from a folder."""

    single_graph: ClassVar[bool] = False
    name: ClassVar[str] = SMALL_MODEL.name
    runtime: ClassVar[str] = "torch"
    layers: ClassVar[tuple[int, ...]] = ()

    def __init__(self, folder: Path, weights: str, verifier: Verifier, chunk: int) -> None:
        """Load the model in `folder`, whose weights have the digest `weights`.

        Raises:
            ModelError: it cannot be loaded. EngineError: another vocabulary, or other token ids for the same texts.
        """
        drafting = load_verifier(folder, verifier.device.name)
        check_tokenizers(drafting, verifier)
        self._rows = rows_of(drafting, verifier)
        self.weights: str | None = weights
        self.dtype: str | None = drafting.architecture.dtype
        self.model, self._chunk = drafting.model, chunk

    def begin(self) -> ModelDraft:
        """An empty cache."""
        return ModelDraft(self.model, self._chunk, self._rows)

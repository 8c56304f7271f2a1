"""The `model` drafter: a small autoregressive model of the same vocabulary, as in mlx-lm's speculative decoding."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import mlx.core as mx
from mlx import nn

from harness.base.errors import EngineError
from harness.engines.acceptance import leading_matches
from harness.engines.drafters.base import DraftCounters
from harness.engines.drafters.vocabulary import AHEAD, Rows, check_tokenizers, rows_of
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.mlx.verifier.plain_caches import plain_caches
from harness.engines.mlx.verifier.rollback import trim
from harness.engines.mlx.verifier.step_loop import token_ids
from reports.drafters import SMALL_MODEL

GROUP = 64
"""Weights that share a scale and an offset when a draft model is rounded: the default of mlx-lm's quantisation."""


class ModelDraft:
    """One stream in the small model's cache, on the all-KVCache layout so that any rejected draft can be trimmed.

    The cache holds the context up to `pending`, then whatever was drafted and not yet decided.
    """

    def __init__(self, model: Any, chunk: int, rows: Rows) -> None:
        self.counters = DraftCounters()
        self._model, self._chunk, self._rows = model, chunk, rows
        self._caches = plain_caches(model)
        self._pending: list[int] = []
        self._read: list[int] = []
        self._undecided: mx.array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its cache."""
        return kv_bytes(self._caches)

    def propose(self, last: int, limit: int) -> list[int]:
        """Greedy tokens after `last`, one forward each."""
        return token_ids(self.propose_lazily(last, limit))

    def propose_lazily(self, last: int, limit: int) -> mx.array:
        """The same, (limit,), dispatched but not waited for: each forward takes the token before from the graph."""
        fed = mx.array(self._rows.readable([*self._pending, last]), mx.int32)
        self._read = [last]
        self._pending = []
        drafts: list[mx.array] = []
        for _ in range(limit):
            logits = self._model(fed[None], cache=self._caches)
            fed = mx.argmax(logits[0, -1:, : self._rows.shared], axis=-1).astype(mx.int32)
            mx.async_eval(fed)
            drafts.append(fed)
        self._undecided = mx.concatenate(drafts)
        self.counters.proposals += 1
        self.counters.proposed += limit
        return self._undecided

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        """Trim what was rejected; what the cache lacks waits, or is read now if it is more than a block leaves over."""
        held: list[int] = []
        if self._undecided is not None:
            # The newest draft was proposed and never read.
            held = [*self._read, *token_ids(self._undecided)[:-1]]
        kept = leading_matches(held, tokens)
        trim(self._caches, len(held) - kept)
        self._undecided, self._read = None, []
        self._pending += tokens[kept:]
        self.counters.context += len(tokens)
        if len(self._pending) > AHEAD:
            self._catch_up()

    def _catch_up(self) -> None:
        """Read what is pending, in chunks, as prefill does."""
        for start in range(0, len(self._pending), self._chunk):
            read = mx.array(self._rows.readable(self._pending[start : start + self._chunk]), mx.int32)
            self._model(read[None], cache=self._caches)
            mx.eval([cache.state for cache in self._caches])
        self._pending = []


class ModelDrafter:
    """A small model loaded from a folder."""

    single_graph: ClassVar[bool] = True
    name: ClassVar[str] = SMALL_MODEL.name
    runtime: ClassVar[str] = SMALL_MODEL.runtime
    layers: ClassVar[tuple[int, ...]] = ()

    def __init__(self, drafting: Verifier, weights: str | None, verifier: Verifier, chunk: int) -> None:
        """Draft with the loaded model `drafting`, whose weights have the digest `weights`.

        Raises:
            EngineError: another vocabulary, or caches that cannot be trimmed exactly.
        """
        self._rows = rows_of(drafting, verifier)
        self.weights, self.dtype = weights, drafting.architecture.dtype
        self.model, self._chunk = drafting.model, chunk
        plain_caches(self.model)

    @classmethod
    def load(
        cls, folder: Path, weights: str, verifier: Verifier, chunk: int, bits: int | None = None
    ) -> "ModelDrafter":
        """The model in `folder`, its weights rounded to `bits` if given: a copy of the verifier then drafts and errs.

        Raises:
            ModelError: it cannot be loaded. EngineError: as the constructor, other token ids for the same texts, or
                weights that cannot be rounded.
        """
        drafting = load_verifier(folder)
        if bits is not None:
            _round(drafting, bits)
        check_tokenizers(drafting, verifier)
        return cls(drafting, weights, verifier, chunk)

    def begin(self) -> ModelDraft:
        """An empty cache."""
        return ModelDraft(self.model, self._chunk, self._rows)


def _round(drafting: Verifier, bits: int) -> None:
    """Replace every linear and embedding weight whose rows are whole groups by what `mlx.core.quantize` keeps of it.

    The weights stay dense: MLX's quantised products are an order slower than dense ones on a CPU, and what matters here
    are the drafts, which are those of the quantised model.
    """
    already = drafting.architecture.quantisation
    if already is not None:
        raise EngineError(f"drafter: bits: {drafting.folder} is quantised already ({already}); leave bits out")
    fit = [
        module
        for module in drafting.model.modules()
        if isinstance(module, nn.Linear | nn.Embedding) and module.weight.shape[-1] % GROUP == 0
    ]
    if not fit:
        raise EngineError(f"drafter: bits: no weights of {drafting.folder} have rows of whole groups of {GROUP}")
    for module in fit:
        kept = mx.dequantize(*mx.quantize(module.weight, GROUP, bits), GROUP, bits)
        module.weight = kept.astype(module.weight.dtype)
        mx.eval(module.weight)

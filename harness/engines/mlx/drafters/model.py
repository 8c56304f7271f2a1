"""The `model` drafter: a small autoregressive model of the same vocabulary, as in mlx-lm's speculative decoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import mlx.core as mx
from mlx import nn

from harness.base.errors import EngineError
from harness.engines.acceptance import leading_matches
from harness.engines.mlx.drafters.base import DraftCounters, token_ids
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier, load_verifier
from harness.engines.mlx.verifier.plain_caches import plain_caches
from harness.engines.mlx.verifier.rollback import trim
from reports.drafters import SMALL_MODEL

GROUP = 64
"""Weights that share a scale and an offset when a draft model is rounded: the default of mlx-lm's quantisation."""
AHEAD = 2
"""Committed tokens that wait for the next proposal instead of a forward of their own: the last draft of a block that
was accepted whole, and the verifier's token that a block without drafts committed."""


@dataclass(frozen=True)
class Rows:
    """Rows for tokens of a draft model and of its verifier. Models of one tokenizer are padded to different counts; no
    text has the tokens of the padding."""

    draft: int
    verifier: int

    @property
    def shared(self) -> int:
        """Rows that both have: what may be drafted."""
        return min(self.draft, self.verifier)

    def readable(self, tokens: Sequence[int]) -> mx.array:
        """Tokens as the draft model reads them, (n,); one that it has no row for is read as its last."""
        return mx.array([min(token, self.draft - 1) for token in tokens], mx.int32)


class ModelDraft:
    """One stream in the small model's cache, on the all-KVCache layout so that any rejected draft can be trimmed.

    The cache holds the context up to `pending`, then whatever was drafted and not yet decided.
    """

    def __init__(self, model: Any, chunk: int, rows: "Rows") -> None:
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
        fed = self._rows.readable([*self._pending, last])
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
            read = self._rows.readable(self._pending[start : start + self._chunk])
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
        self._rows = Rows(drafting.architecture.vocab, verifier.architecture.vocab)
        if self._rows.draft != self._rows.verifier and not _one_vocabulary(drafting, verifier, self._rows.shared):
            raise EngineError(
                f"drafter: a vocabulary of {self._rows.draft} tokens, the verifier's has {self._rows.verifier}, "
                "and that is no padding: their tokenizers differ"
            )
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
        probe = "def main():\n    return 1  # Ωmega, 2 %\n"
        if verifier.tokenizer is not None and drafting.tokenizer.encode(probe) != verifier.tokenizer.encode(probe):
            raise EngineError("drafter: its tokenizer gives other token ids than the verifier's; drafts mean nothing")
        return cls(drafting, weights, verifier, chunk)

    def begin(self) -> ModelDraft:
        """An empty cache."""
        return ModelDraft(self.model, self._chunk, self._rows)


def _one_vocabulary(drafting: Verifier, verifier: Verifier, rows: int) -> bool:
    """Both have the same tokenizer, whose every token has one of `rows`."""
    if drafting.tokenizer is None or verifier.tokenizer is None:
        return False
    ours: dict[str, int] = drafting.tokenizer.get_vocab()
    return ours == verifier.tokenizer.get_vocab() and max(ours.values(), default=0) < rows


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

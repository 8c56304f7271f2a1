"""What a DFlash drafter borrows from its verifier: the embedding table, as a plain look-up, and the head."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx

from harness.base.errors import EngineError

UNITS = 64


@dataclass(frozen=True)
class Shared:
    """`embed` maps ids (1, L) to (1, L, hidden), without Gemma's factor sqrt(hidden), which its model applies itself;
    `project` maps (1, L, hidden) to logits before `softcap`; they stand for the tokens `ids`, None for all."""

    embed: Callable[[mx.array], mx.array]
    project: Callable[[mx.array], mx.array]
    softcap: float | None
    hidden_size: int
    dtype: mx.Dtype
    ids: mx.array | None = None

    def head(self, hidden: mx.array) -> mx.array:
        """Logits as the verifier's own, soft-capped where it does so; in float32 for a drafter that computes in it."""
        logits = self.project(hidden if hidden.dtype == mx.float32 else hidden.astype(self.dtype))
        return logits if self.softcap is None else mx.tanh(logits / self.softcap) * self.softcap

    def choose(self, hidden: mx.array) -> mx.array:
        """The token with the highest logit at every position, (L,) int32, not evaluated."""
        return self._best(self.head(hidden)[0])

    def choose_with_chances(self, hidden: mx.array) -> tuple[mx.array, mx.array]:
        """The same beside the probability of each by its logits, (L,) each, not evaluated."""
        logits = self.head(hidden)[0].astype(mx.float32)
        return self._best(logits), mx.exp(mx.max(logits, axis=-1) - mx.logsumexp(logits, axis=-1))

    def _best(self, logits: mx.array) -> mx.array:
        best = mx.argmax(logits, axis=-1).astype(mx.int32)
        return best if self.ids is None else self.ids[best]

    def restricted(self, ids: mx.array) -> "Shared":
        """The same with only the head's rows of `ids` (N,) int32.

        They are read by projecting unit vectors, so that any quantisation is undone, a few at a time.
        """
        parts = []
        for start in range(0, self.hidden_size, UNITS):
            units = mx.eye(self.hidden_size, dtype=self.dtype)[start : start + UNITS]
            parts.append(self.project(units[None])[0][:, ids])
            mx.eval(parts[-1])
        rows = mx.contiguous(mx.concatenate(parts).T)
        return replace(self, project=lambda hidden: hidden @ rows.T, ids=ids)


def share(model: Any) -> Shared:
    """The verifier's table and head, whatever their quantisation.

    Raises:
        EngineError: the model keeps them where no known family does.
    """
    text = getattr(model, "language_model", model)
    table = getattr(getattr(text, "model", None), "embed_tokens", None)
    if table is None:
        raise EngineError(f"{type(model).__module__} has no model.embed_tokens that a drafter could share")
    head = getattr(text, "lm_head", None)
    probe = table(mx.array([[0]]))
    return Shared(
        embed=table,
        project=table.as_linear if head is None else head,
        softcap=getattr(text, "final_logit_softcapping", None),
        hidden_size=probe.shape[-1],
        dtype=probe.dtype,
    )

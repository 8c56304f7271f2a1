"""What a DFlash drafter borrows from its verifier: the embedding table, as a plain look-up, and the head."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from harness.errors import EngineError


@dataclass(frozen=True)
class Shared:
    """`embed` maps ids (1, L) to (1, L, hidden), without Gemma's factor sqrt(hidden), which its model applies itself;
    `project` maps (1, L, hidden) to logits before `softcap`."""

    embed: Callable[[mx.array], mx.array]
    project: Callable[[mx.array], mx.array]
    softcap: float | None
    hidden_size: int
    dtype: mx.Dtype

    def head(self, hidden: mx.array) -> mx.array:
        """Logits as the verifier's own, soft-capped where it does so."""
        logits = self.project(hidden.astype(self.dtype))
        return logits if self.softcap is None else mx.tanh(logits / self.softcap) * self.softcap


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

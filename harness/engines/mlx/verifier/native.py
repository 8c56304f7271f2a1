"""Prefill through mlx-lm's own forward and caches, as its `generate_step` does it."""

from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx

from harness.base.errors import EngineError


def chunks(tokens: Sequence[int], size: int) -> Iterator[mx.array]:
    """All tokens but the last in chunks of at most `size`, each of shape (1, L); the last is read by a step.

    Raises:
        EngineError: there are no tokens.
    """
    if not tokens:
        raise EngineError("the prompt is empty; there is nothing to read")
    for start in range(0, len(tokens) - 1, size):
        yield mx.array([list(tokens[start : min(start + size, len(tokens) - 1)])])


def native_prefill(model: Any, caches: Sequence[Any], tokens: Sequence[int], chunk: int) -> mx.array:
    """Read the prompt into `caches` and return the first token, evaluated, shape (1,).

    Only K/V are evaluated for the chunks, so no logits but the last position's are ever computed.
    """
    for part in chunks(tokens, chunk):
        model(part, cache=caches)
        mx.eval([cache.state for cache in caches])
        mx.clear_cache()
    first = native_step(model, caches, mx.array([tokens[-1]]))
    mx.eval(first)
    return first


def positions_read(caches: Sequence[Any]) -> int:
    """Positions that the caches have read, dropped ones included.

    Raises:
        EngineError: not the same number in every layer.
    """
    counts = {int(cache.offset) for cache in caches}
    if len(counts) != 1:
        raise EngineError(f"layers have read {sorted(counts)} positions; the caches are broken")
    return counts.pop()


def native_step(model: Any, caches: Sequence[Any], token: mx.array) -> mx.array:
    """The greedy token after `token` (1,), shape (1,), not evaluated."""
    return mx.argmax(model(token[None], cache=caches)[:, -1], axis=-1)

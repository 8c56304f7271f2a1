"""Reading on from caches, one arm a row of the batch: greedy answers, and logits compared with the exact ones."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from harness.engines.codec_scores import StreamLimit
from reports.records.codec_rows import HeldOut


def greedy(
    model: Any, caches: list[Any], tokens: Sequence[int], batch: int, limit: StreamLimit
) -> list[tuple[int, ...]]:
    """What each row says after `tokens`, which all rows read, cut as an answer is."""
    asked = mx.array([list(tokens)] * batch)
    if len(tokens) > 1:
        model(asked[:, :-1], cache=caches)
        mx.eval([cache.state for cache in caches])
    logits = model(asked[:, -1:], cache=caches)
    streams: list[list[int]] = [[] for _ in range(batch)]
    while True:
        chosen = mx.argmax(logits[:, -1], axis=-1)
        for stream, token in zip(streams, np.array(chosen), strict=True):
            stream.append(int(token))
        if all(limit.ended(stream) for stream in streams):
            mx.clear_cache()
            return [limit.cut(stream) for stream in streams]
        logits = model(chosen[:, None], cache=caches)


def log_probabilities(model: Any, caches: list[Any], tokens: Sequence[int], batch: int) -> mx.array:
    """Of the token after each of `tokens`, (batch, tokens, vocabulary), float32."""
    logits = model(mx.array([list(tokens)] * batch), cache=caches).astype(mx.float32)
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


def compare_held_out(exact: mx.array, lossy: mx.array) -> HeldOut:
    """One row of log probabilities (tokens, vocabulary) against the exact ones. Rounding below 0 counts as 0."""
    divergence = (mx.exp(exact) * (exact - lossy)).sum(axis=-1).mean()
    flips = (mx.argmax(exact, axis=-1) != mx.argmax(lossy, axis=-1)).sum()
    mean, count = float(np.array(divergence)), int(np.array(flips))
    return HeldOut(tokens=exact.shape[0], kl_divergence=max(0.0, mean), top1_flips=count)

"""The stream audit in MLX."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import make_prompt_cache

from harness.checks.stream_audit import OUTPUT_CHUNK, PROMPT_CHUNK, audit_stream
from harness.engines.mlx.verifier.load import Verifier
from reports.records.measurement import AuditedStream


def audit(
    verifier: Verifier, prompt: Sequence[int], token_ids: Sequence[int], *, sample: int = 0, repeat: int = 0
) -> AuditedStream:
    """Read prompt and output once, teacher-forced, with the model's own unbounded caches, and compare. Untimed.

    Raises: as `audit_stream`.
    """
    choices = partial(_choices, verifier.model)
    return audit_stream(verifier.architecture.vocab, prompt, token_ids, choices, sample=sample, repeat=repeat)


def _choices(model: Any, prompt: Sequence[int], output: Sequence[int]) -> Iterator[tuple[int, float]]:
    """As `Choices` says."""
    caches = make_prompt_cache(model)
    for start in range(0, len(prompt) - 1, PROMPT_CHUNK):
        stop = min(start + PROMPT_CHUNK, len(prompt) - 1)
        model(mx.array([list(prompt[start:stop])]), cache=caches)
        mx.eval([cache.state for cache in caches])
        mx.clear_cache()
    predicting = [prompt[-1], *output[:-1]]
    for start in range(0, len(output), OUTPUT_CHUNK):
        stop = start + OUTPUT_CHUNK
        yield from _compared(model(mx.array([predicting[start:stop]]), cache=caches)[0], output[start:stop])


def _compared(logits: mx.array, emitted: Sequence[int]) -> Iterator[tuple[int, float]]:
    """The argmax of every row of `logits` (tokens, vocabulary), and how far the emitted token is below it."""
    tokens = mx.array(list(emitted))
    best = mx.argmax(logits, axis=-1)
    of_best = mx.take_along_axis(logits, best[:, None], axis=-1)[:, 0]
    of_emitted = mx.take_along_axis(logits, tokens[:, None], axis=-1)[:, 0]
    gaps = of_best.astype(mx.float32) - of_emitted.astype(mx.float32)
    return ((int(argmax), float(gap)) for argmax, gap in zip(np.array(best), np.array(gaps), strict=True))

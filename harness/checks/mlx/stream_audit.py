"""The stream audit: is every emitted token the verifier's own greedy choice given its prefix?"""

from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.mlx.verifier.load import Verifier
from reports.records.measurement import AuditedStream, Mismatch

PROMPT_CHUNK = 512
OUTPUT_CHUNK = 32


def audit(
    verifier: Verifier, prompt: Sequence[int], token_ids: Sequence[int], *, sample: int = 0, repeat: int = 0
) -> AuditedStream:
    """Read prompt and output once, teacher-forced, with the model's own unbounded caches, and compare.

    Logits exist only for positions that predict an output token, `OUTPUT_CHUNK` at a time, so that memory stays
    bounded with large vocabularies. Untimed; `sample` and `repeat` only label the result.

    Raises:
        EngineError: there is no prompt, or a token id the model does not have.
    """
    if not prompt:
        raise EngineError("the prompt is empty; its stream cannot be audited")
    beyond = [token for token in token_ids if not 0 <= token < verifier.architecture.vocab]
    if beyond:
        raise EngineError(f"token id {beyond[0]} is none of the verifier's {verifier.architecture.vocab}")
    mismatches = [
        mismatch
        for start, logits in _predictions(verifier.model, prompt, token_ids)
        for mismatch in _compare(logits, token_ids[start : start + logits.shape[0]], start)
    ]
    return AuditedStream(sample=sample, repeat=repeat, tokens_checked=len(token_ids), mismatches=tuple(mismatches))


def _predictions(model: Any, prompt: Sequence[int], output: Sequence[int]) -> Iterator[tuple[int, mx.array]]:
    """(index of the first output token predicted, logits (tokens, vocabulary)), in order."""
    caches = make_prompt_cache(model)
    for start in range(0, len(prompt) - 1, PROMPT_CHUNK):
        stop = min(start + PROMPT_CHUNK, len(prompt) - 1)
        model(mx.array([list(prompt[start:stop])]), cache=caches)
        mx.eval([cache.state for cache in caches])
        mx.clear_cache()
    predicting = [prompt[-1], *output[:-1]]
    for start in range(0, len(output), OUTPUT_CHUNK):
        yield start, model(mx.array([predicting[start : start + OUTPUT_CHUNK]]), cache=caches)[0]


def _compare(logits: mx.array, emitted: Sequence[int], start: int) -> list[Mismatch]:
    """The tokens of one chunk that are not the argmax, with the logits they miss it by."""
    tokens = mx.array(list(emitted))
    best = mx.argmax(logits, axis=-1)
    of_best = mx.take_along_axis(logits, best[:, None], axis=-1)[:, 0]
    of_emitted = mx.take_along_axis(logits, tokens[:, None], axis=-1)[:, 0]
    gaps = of_best.astype(mx.float32) - of_emitted.astype(mx.float32)
    rows = zip(emitted, np.array(best), np.array(gaps), strict=True)
    return [
        Mismatch(position=start + index, emitted=token, argmax=int(argmax), gap=float(gap))
        for index, (token, argmax, gap) in enumerate(rows)
        if token != argmax
    ]

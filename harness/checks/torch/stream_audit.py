"""The stream audit in PyTorch."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from torch import Tensor

from harness.checks.stream_audit import OUTPUT_CHUNK, PROMPT_CHUNK, audit_stream
from harness.engines.torch.verifier.forward import logits_after, native_cache, read, tokens_on
from harness.engines.torch.verifier.load import Verifier
from reports.records.measurement import AuditedStream


def audit(
    verifier: Verifier, prompt: Sequence[int], token_ids: Sequence[int], *, sample: int = 0, repeat: int = 0
) -> AuditedStream:
    """Read prompt and output once, teacher-forced, with the model's own unbounded cache, and compare. Untimed.

    Raises: as `audit_stream`.
    """
    choices = partial(_choices, verifier.model)
    return audit_stream(verifier.architecture.vocab, prompt, token_ids, choices, sample=sample, repeat=repeat)


def _choices(model: Any, prompt: Sequence[int], output: Sequence[int]) -> Iterator[tuple[int, float]]:
    """As `Choices` says."""
    cache = native_cache(model)
    for start in range(0, len(prompt) - 1, PROMPT_CHUNK):
        read(model, cache, tokens_on(model, prompt[start : min(start + PROMPT_CHUNK, len(prompt) - 1)]))
    predicting = [prompt[-1], *output[:-1]]
    for start in range(0, len(output), OUTPUT_CHUNK):
        stop = start + OUTPUT_CHUNK
        yield from _compared(
            logits_after(model, cache, tokens_on(model, predicting[start:stop]))[0], output[start:stop]
        )


def _compared(logits: Tensor, emitted: Sequence[int]) -> Iterator[tuple[int, float]]:
    """The argmax of every row of `logits` (tokens, vocabulary), and how far the emitted token is below it."""
    best = logits.argmax(dim=-1)
    wanted = best.new_tensor(list(emitted))
    gaps = logits.gather(1, best[:, None]).float() - logits.gather(1, wanted[:, None]).float()
    return zip(best.tolist(), gaps[:, 0].tolist(), strict=True)

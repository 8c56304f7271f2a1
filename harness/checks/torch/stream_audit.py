"""The stream audit on PyTorch: is every emitted token the verifier's own greedy choice given its prefix?"""

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor

from harness.base.errors import EngineError
from harness.engines.torch.verifier.forward import logits_after, native_cache, read, tokens_on
from harness.engines.torch.verifier.load import Verifier
from reports.records.measurement import AuditedStream, Mismatch

PROMPT_CHUNK = 512
OUTPUT_CHUNK = 32


def audit(
    verifier: Verifier, prompt: Sequence[int], token_ids: Sequence[int], *, sample: int = 0, repeat: int = 0
) -> AuditedStream:
    """Read prompt and output once, teacher-forced, with the model's own unbounded cache, and compare.

    Logits exist only for positions that predict an output token, `OUTPUT_CHUNK` at a time. Untimed; `sample` and
    `repeat` only label the result.

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


def _predictions(model: Any, prompt: Sequence[int], output: Sequence[int]) -> Iterator[tuple[int, Tensor]]:
    """(index of the first output token predicted, logits (tokens, vocabulary)), in order."""
    cache = native_cache(model)
    for start in range(0, len(prompt) - 1, PROMPT_CHUNK):
        read(model, cache, tokens_on(model, prompt[start : min(start + PROMPT_CHUNK, len(prompt) - 1)]))
    predicting = [prompt[-1], *output[:-1]]
    for start in range(0, len(output), OUTPUT_CHUNK):
        yield start, logits_after(model, cache, tokens_on(model, predicting[start : start + OUTPUT_CHUNK]))[0]


def _compare(logits: Tensor, emitted: Sequence[int], start: int) -> list[Mismatch]:
    """The tokens of one chunk that are not the argmax, with the logits they miss it by."""
    best = logits.argmax(dim=-1)
    wanted = best.new_tensor(list(emitted))
    gaps = logits.gather(1, best[:, None]).float() - logits.gather(1, wanted[:, None]).float()
    rows = zip(emitted, best.tolist(), gaps[:, 0].tolist(), strict=True)
    return [
        Mismatch(position=start + index, emitted=token, argmax=argmax, gap=gap)
        for index, (token, argmax, gap) in enumerate(rows)
        if token != argmax
    ]

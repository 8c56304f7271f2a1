"""The stream audit: is every emitted token the verifier's own greedy choice given its prefix? Free of tensors."""

from collections.abc import Callable, Iterator, Sequence

from harness.base.errors import EngineError
from reports.records.measurement import AuditedStream, Mismatch

PROMPT_CHUNK = 512
OUTPUT_CHUNK = 32
"""Logits exist for so many positions at a time, so that memory stays bounded with large vocabularies."""

Choices = Callable[[Sequence[int], Sequence[int]], Iterator[tuple[int, float]]]
"""Prompt and output to the argmax at every position that predicts an output token, and to the logits that the emitted
token misses it by."""


def audit_stream(
    vocab: int, prompt: Sequence[int], token_ids: Sequence[int], choices: Choices, *, sample: int, repeat: int
) -> AuditedStream:
    """Compare a stream with what a verifier of `vocab` tokens chooses; `sample` and `repeat` only label the result.

    Raises:
        EngineError: there is no prompt, or a token id the model does not have.
    """
    if not prompt:
        raise EngineError("the prompt is empty; its stream cannot be audited")
    beyond = [token for token in token_ids if not 0 <= token < vocab]
    if beyond:
        raise EngineError(f"token id {beyond[0]} is none of the verifier's {vocab}")
    mismatches = tuple(
        Mismatch(position=position, emitted=token, argmax=argmax, gap=gap)
        for position, (token, (argmax, gap)) in enumerate(zip(token_ids, choices(prompt, token_ids), strict=True))
        if token != argmax
    )
    return AuditedStream(sample=sample, repeat=repeat, tokens_checked=len(token_ids), mismatches=mismatches)

"""Reference logits recorded once with transformers and shipped, so that a machine without torch can compare with them.

A recording belongs to the digest of the weights and the fixed text it was made from; for other weights there is none.
It holds the highest few logits a position, enough to tell the argmax and to see a misread model (a wrong RoPE base
moves them by more than ten).
"""

from importlib import resources

import numpy as np

from harness.base.errors import ModelError
from harness.models.gguf.gguf_file import FloatArray
from reports.records.provenance import Faithfulness
from reports.records.record import Digest, Name, Record, TokenId

KEPT = 4
"""Highest logits kept a position."""


class TopLogits(Record):
    """The highest logits of one position, highest first, in the reference."""

    tokens: tuple[TokenId, ...]
    logits: tuple[float, ...]


class RecordedReference(Record):
    """What the reference implementation computed for these weights on this text."""

    weights: Digest
    text: Digest
    reference: Name
    token_ids: tuple[TokenId, ...]
    positions: tuple[TopLogits, ...]


def recorded_reference(weights: str, text: str) -> RecordedReference | None:
    """The shipped recording for weights and text with these digests, if there is one."""
    file = resources.files("harness.models").joinpath("references").joinpath(f"{file_stem(weights)}.json")
    if not file.is_file():
        return None
    found = RecordedReference.model_validate_json(file.read_bytes())
    return found if (found.weights, found.text) == (weights, text) else None


def file_stem(weights: str) -> str:
    """The name a recording has, without its suffix: the first 16 digits of the weights' digest."""
    return weights.removeprefix("sha256:")[:16]


def record(weights: str, text: str, name: str, token_ids: list[int], logits: FloatArray) -> RecordedReference:
    """Keep the highest `KEPT` of `logits` (tokens, vocabulary) at every position."""
    best = np.argsort(-logits, axis=1, kind="stable")[:, :KEPT]
    kept = np.take_along_axis(logits, best, axis=1)
    positions = tuple(
        TopLogits(tokens=tuple(map(int, tokens)), logits=tuple(round(float(value), 5) for value in values))
        for tokens, values in zip(best, kept, strict=True)
    )
    return RecordedReference(
        weights=weights, text=text, reference=name, token_ids=tuple(token_ids), positions=positions
    )


def compare_recorded(loaded_ids: list[int], loaded: FloatArray, recorded: RecordedReference) -> Faithfulness:
    """Argmax agreement and the largest gap over the recorded logits; `loaded` is (tokens, vocabulary).

    Raises:
        ModelError: the tokenizer reads the text otherwise than the reference did, or a logit is not finite.
    """
    if tuple(loaded_ids) != recorded.token_ids:
        raise ModelError("the tokenizer splits the fixed text otherwise than the recorded reference did")
    tokens = np.array([position.tokens for position in recorded.positions])
    theirs = np.array([position.logits for position in recorded.positions])
    ours = np.take_along_axis(loaded, tokens, axis=1)
    if not np.isfinite(loaded).all():
        raise ModelError("logits that are not finite: the weights are damaged, or of a type this machine cannot run")
    return Faithfulness(
        reference=f"{recorded.reference}, recorded, highest {tokens.shape[1]} logits a token",
        tokens=len(loaded_ids),
        argmax_agreement=float(np.mean(loaded.argmax(axis=1) == tokens[:, 0])),
        largest_logit_gap=float(f"{np.abs(ours - theirs).max():.4g}"),
    )

"""Drafter parity: the same blocks proposed by two runtimes of one drafter."""

from pydantic import Field

from reports.record import Count, Digest, Fraction, Name, Record, TokenId


class ParityBlock(Record):
    """One block proposed twice from the same context."""

    sample: Count
    block: Count
    context_tokens: Count
    reference_tokens: tuple[TokenId, ...]
    candidate_tokens: tuple[TokenId, ...]


class ParityResult(Record):
    """Two runtimes of the drafter with these weights."""

    drafter_weights: Digest | None = None
    reference_runtime: Name
    reference_dtype: Name | None = None
    candidate_runtime: Name
    candidate_dtype: Name | None = None
    blocks: tuple[ParityBlock, ...]
    stated_agreement: Fraction | None = Field(None, description="As printed by the tool; the gate counts again")

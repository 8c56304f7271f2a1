"""Drafter parity: the same blocks proposed by two runtimes of one drafter."""

from pydantic import Field

from reports.records.record import Count, Digest, Fraction, Name, Record, TokenId


class ParityBlock(Record):
    """One block proposed twice from the same context."""

    sample: Count
    block: Count
    context_tokens: Count
    reference_tokens: tuple[TokenId, ...]
    candidate_tokens: tuple[TokenId, ...]


class Recording(Record):
    """Where the reference's proposals come from, if it did not compute beside the candidate."""

    digest: Digest = Field(description="Of the bytes of the recording that ships with K3")
    made_with: Name = Field(description="The packages that computed it, with their versions")


class ParityResult(Record):
    """Two runtimes of the drafter with these weights."""

    drafter_weights: Digest | None = None
    reference_runtime: Name
    reference_dtype: Name | None = None
    recording: Recording | None = Field(None, description="Of the reference; none if it computed in this run")
    candidate_runtime: Name
    candidate_dtype: Name | None = None
    blocks: tuple[ParityBlock, ...]
    stated_agreement: Fraction | None = Field(None, description="As printed by the tool; the gate counts again")

    @property
    def agreed(self) -> bool:
        """Both runtimes proposed the same tokens in every block, and there are blocks."""
        return bool(self.blocks) and all(one.reference_tokens == one.candidate_tokens for one in self.blocks)

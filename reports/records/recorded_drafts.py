"""What a drafter's PyTorch reference proposed, recorded once and shipped: a reference for machines without PyTorch.

The reference's proposal is a function of the weights, the block and the tokens before it. Blocks are lossless, so these
tokens are always the verifier's own greedy stream, whatever is drafted: a recording of every place in that stream holds
what the reference says in each context that a candidate can come to, right or wrong.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources

from pydantic import Field

from reports.records.plan import tokens_digest
from reports.records.record import Count, Digest, Name, Record, TokenId, digest_of


class RecordedStream(Record):
    """The verifier's greedy stream after one prompt, with the reference's proposal after each of its tokens."""

    prompt: Digest = Field(description="As `PromptRecord.digest`")
    prompt_tokens: Count
    tokens: tuple[TokenId, ...]
    proposals: tuple[tuple[TokenId, ...], ...] = Field(
        description="The i-th was made after the i-th token, with the prompt and the tokens before it as context"
    )

    def proposal(self, context: Sequence[int], last: int) -> tuple[int, ...]:
        """What was proposed after `last` in this context; nothing if the stream does not lead there."""
        answer = (*context[self.prompt_tokens :], last)
        place = len(answer) - 1
        if len(context) < self.prompt_tokens or place >= len(self.proposals) or self.tokens[: place + 1] != answer:
            return ()
        read = tokens_digest(context[: self.prompt_tokens]) == self.prompt
        return self.proposals[place] if read else ()


class RecordedDrafts(Record):
    """The reference of one drafter for one verifier, after the prompts of one code workload."""

    verifier: Digest
    drafter: Digest
    runtime: Name
    dtype: Name
    block_size: Count
    made_with: Name = Field(description="The packages that computed it, with their versions")
    seed: Count
    items: Count
    streams: tuple[RecordedStream, ...]

    def stream_of(self, prompt: str | None) -> RecordedStream | None:
        """The stream after the prompt with this digest, if it was recorded."""
        return next((stream for stream in self.streams if stream.prompt == prompt), None)

    def proposal(self, context: Sequence[int], last: int) -> tuple[int, ...]:
        """What was proposed after `last` in this context; nothing if no recorded stream leads there."""
        return next((found for stream in self.streams if (found := stream.proposal(context, last))), ())


@cache
def shipped_recordings() -> dict[str, RecordedDrafts]:
    """The recordings that ship with K3, by the digests of their files."""
    folder = resources.files("reports").joinpath("recordings")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    found = (file.read_bytes() for file in files)
    return {digest_of(data): RecordedDrafts.model_validate_json(data) for data in found}

"""A smoke of the session protocol: ten calls in order, what each must end with, and what was seen."""

from typing import Literal

from pydantic import Field

from reports.records.measurement import DrafterInfo, Restoration
from reports.records.record import Count, Digest, Name, Record, TokenId


class SmokeFrame(Record):
    """One frame of a generation, as the client got it."""

    frame: Literal["truncated", "block", "done"]
    token_ids: tuple[TokenId, ...] | None = Field(None, description="Of a block")
    dropped: Count | None = Field(None, description="Of truncated: positions whose own K/V were dropped")
    stop: Literal["MAX_TOKENS", "EOS", "CANCELLED", "TRUNCATED"] | None = Field(None, description="Of done")
    tokens: Count | None = Field(None, description="Of done: as the server counted them")


class SmokeStep(Record):
    """One step. What is said of the history is of that before the step."""

    step: Name
    expected: Name
    observed: Name
    elapsed_ms: float
    history_length: Count | None = None
    appends: Count | None = Field(None, description="Calls of AppendTokens that the history was built up with")
    history_digest: Digest | None = Field(None, description="Of the history, as the server tells it")
    max_tokens: Count | None = None
    stop_token: TokenId | None = None
    frames: tuple[SmokeFrame, ...] = ()
    said: str | None = Field(None, max_length=600, description="What the server said of a refusal")


class RuntimeSmoke(Record):
    """What a server did in the ten steps, and what it told of itself."""

    server: Literal["started", "address"] = Field(description="By the smoke itself, or found at an address")
    engine: Name | None = None
    decode_loop: Name | None = None
    restoration: Restoration | None = None
    drafter: DrafterInfo | None = None
    steps: tuple[SmokeStep, ...]
    stated_passed: Count | None = Field(None, description="Imports: steps that passed, as the tool counted")

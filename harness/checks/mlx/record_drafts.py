"""Record what a drafter proposes at every place of the verifier's greedy streams."""

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

import mlx.core as mx

from harness.engines.base import DecodeLimit
from harness.engines.drafters.base import Draft, DraftCounters, Drafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.records.plan import tokens_digest
from reports.records.recorded_drafts import RecordedStream


class HeardDraft:
    """Asks the drafter and keeps its answer to itself, so that the verifier goes on by one token."""

    def __init__(self, asked: Draft) -> None:
        self._asked = asked
        self.proposals: list[tuple[int, ...]] = []

    @property
    def counters(self) -> DraftCounters:
        """The drafter's."""
        return self._asked.counters

    @property
    def nbytes(self) -> int:
        """The drafter's."""
        return self._asked.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """Nothing."""
        self.proposals.append(tuple(self._asked.propose(last, limit)))
        return []

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        """Hand on what the verifier has read."""
        self._asked.extend(tokens, features)


class HeardDrafter:
    """A drafter whose proposals are written down instead of verified; `drafts` are its streams."""

    single_graph: ClassVar[bool] = False

    def __init__(self, asked: Drafter) -> None:
        self._asked = asked
        self.drafts: list[HeardDraft] = []
        self.name, self.runtime, self.dtype = asked.name, asked.runtime, asked.dtype
        self.layers, self.weights = asked.layers, asked.weights

    def begin(self) -> HeardDraft:
        """A stream of the drafter; kept, so that its proposals can be read afterwards."""
        self.drafts.append(HeardDraft(self._asked.begin()))
        return self.drafts[-1]


def record(
    verifier: Verifier,
    drafter: Drafter,
    prompts: Sequence[Sequence[int]],
    spec: DrafterSpec,
    *,
    blocks: int,
    prefill_chunk: int = 512,
) -> tuple[RecordedStream, ...]:
    """What `drafter` proposes at each place where one of `blocks` blocks can begin, after every prompt.

    `spec` is what `drafter` was loaded by.

    Raises:
        EngineError: as `FusedEngine`.
    """
    heard = HeardDrafter(drafter)
    engine = FusedEngine(verifier, EngineSettings(prefill_chunk=prefill_chunk, drafter=spec), heard)
    places = (blocks - 1) * spec.block_size + 1
    streams = []
    for prompt in prompts:
        session = engine.prefill(prompt)
        steps = islice(engine.decode(session, DecodeLimit(blocks * spec.block_size + 1, {})), places)
        tokens = (session.first_token, *(token for step in steps for token in step.tokens))
        streams.append(
            RecordedStream(
                prompt=tokens_digest(prompt),
                prompt_tokens=len(prompt),
                tokens=tokens[:places],
                proposals=tuple(heard.drafts[-1].proposals),
            )
        )
    return tuple(streams)

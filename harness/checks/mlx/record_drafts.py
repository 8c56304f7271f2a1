"""Record what a drafter proposes at every place of the verifier's greedy streams."""

from collections.abc import Sequence
from itertools import islice

from harness.engines.base import DecodeLimit
from harness.engines.drafters.around.wrapped import WrappedDraft, WrappedDrafter
from harness.engines.drafters.base import Draft, Drafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.records.plan import tokens_digest
from reports.records.recorded_drafts import RecordedStream


class HeardDraft(WrappedDraft[Draft]):
    """Asks the drafter and keeps its answer to itself, so that the verifier goes on by one token."""

    def __init__(self, inner: Draft) -> None:
        super().__init__(inner)
        self.proposals: list[tuple[int, ...]] = []

    def propose(self, last: int, limit: int) -> list[int]:
        """Nothing."""
        self.proposals.append(tuple(self._inner.propose(last, limit)))
        return []


class HeardDrafter(WrappedDrafter[Drafter]):
    """A drafter whose proposals are written down instead of verified; `drafts` are its streams."""

    def __init__(self, inner: Drafter) -> None:
        super().__init__(inner)
        self.drafts: list[HeardDraft] = []

    def begin(self) -> HeardDraft:
        """A stream of the drafter; kept, so that its proposals can be read afterwards."""
        self.drafts.append(HeardDraft(self._inner.begin()))
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

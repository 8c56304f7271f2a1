"""Two runtimes of one drafter on the same real contexts: what does each propose?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mlx.core as mx

from harness.base.errors import EngineError
from harness.engines.base import DecodeLimit
from harness.engines.drafters.around.wrapped import WrappedDrafter
from harness.engines.drafters.base import Draft, DraftCounters, Drafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.records.drafter_parity import ParityBlock, ParityResult


@dataclass
class PairedDraft:
    """Proposes with the candidate and writes down what the reference proposes from the same context."""

    reference: Draft
    candidate: Draft
    proposals: list[tuple[int, list[int], list[int]]] = field(default_factory=list)
    context: int = 0

    @property
    def counters(self) -> DraftCounters:
        """The candidate's."""
        return self.candidate.counters

    @property
    def nbytes(self) -> int:
        """Both contexts'."""
        return self.reference.nbytes + self.candidate.nbytes

    def propose(self, last: int, limit: int) -> list[int]:
        """The candidate's drafts."""
        theirs, ours = self.reference.propose(last, limit), self.candidate.propose(last, limit)
        self.proposals.append((self.context, theirs, ours))
        return ours

    def extend(self, tokens: Sequence[int], features: mx.array | None) -> None:
        """The same tokens and hidden states for both."""
        self.reference.extend(tokens, features)
        self.candidate.extend(tokens, features)
        self.context += len(tokens)


class PairedDrafter(WrappedDrafter[Drafter]):
    """A reference beside a candidate, which read the same layers of the verifier; it goes by the candidate."""

    def __init__(self, reference: Drafter, candidate: Drafter) -> None:
        """Raises: EngineError: they are not the same weights, or read different layers."""
        if reference.layers != candidate.layers or reference.weights != candidate.weights:
            raise EngineError("parity compares two runtimes of one drafter; these have other weights or other layers")
        super().__init__(candidate)
        self._reference = reference
        self.drafts: list[PairedDraft] = []

    def begin(self) -> PairedDraft:
        """A stream of both; kept, so that its proposals can be read afterwards."""
        self.drafts.append(PairedDraft(self._reference.begin(), self._inner.begin()))
        return self.drafts[-1]


def compare_drafters(
    verifier: Verifier,
    reference: Drafter,
    candidate: Drafter,
    prompts: Sequence[Sequence[int]],
    spec: DrafterSpec,
    *,
    blocks: int,
    prefill_chunk: int = 512,
    compared: Callable[[int], None] = lambda done: None,
) -> ParityResult:
    """Decode up to `blocks` blocks of every prompt with `candidate` and record both proposals of each.

    `spec` is what the candidate was loaded by. The contexts are the verifier's own: prompt, then the tokens it
    commits. `compared` is told how many prompts are done, after each.

    Raises:
        EngineError: as `PairedDrafter` and `FusedEngine`.
    """
    paired = PairedDrafter(reference, candidate)
    engine = FusedEngine(verifier, EngineSettings(prefill_chunk=prefill_chunk, drafter=spec), paired)
    for done, prompt in enumerate(prompts, start=1):
        session = engine.prefill(prompt)
        limit = DecodeLimit(blocks * spec.block_size + 1, {})
        for _ in zip(range(blocks), engine.decode(session, limit), strict=False):
            pass
        compared(done)
    return ParityResult(
        drafter_weights=candidate.weights,
        reference_runtime=reference.runtime,
        reference_dtype=reference.dtype,
        candidate_runtime=candidate.runtime,
        candidate_dtype=candidate.dtype,
        blocks=tuple(_blocks(paired.drafts)),
    )


def _blocks(drafts: Sequence[PairedDraft]) -> list[ParityBlock]:
    return [
        ParityBlock(
            sample=sample,
            block=block,
            context_tokens=context,
            reference_tokens=tuple(reference),
            candidate_tokens=tuple(candidate),
        )
        for sample, draft in enumerate(drafts)
        for block, (context, reference, candidate) in enumerate(draft.proposals)
    ]

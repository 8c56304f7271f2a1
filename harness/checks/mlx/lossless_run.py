"""Decoding the cells of the losslessness matrix on a loaded verifier: one prompt, read once, decoded many times."""

from collections.abc import Sequence

from harness.checks.lossless_matrix import NO_DRAFTS, Cell, Stream
from harness.checks.losslessness import compare_streams
from harness.checks.mlx.fork import fork
from harness.checks.mlx.stream_audit import audit
from harness.engines.base import Block, DecodeLimit, Engine, Session
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.replay import ReplayDrafter, spoils
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.engines.fused import FusedEngine
from harness.engines.mlx.engines.fused_carry import FusedCarryEngine
from harness.engines.mlx.engines.speculative import SpeculativeSession
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.drafters import NGRAM
from reports.engines import ORACLE

TIE = 1e-3
"""Logits; f32 forwards of different length differ by up to 5e-5."""
ENGINES: dict[str, type[FusedEngine] | type[FusedCarryEngine]] = {
    engine.kind.name: engine for engine in (FusedEngine, FusedCarryEngine)
}
DRAFTS = (NGRAM.name, "shuffled", *spoils(1))
"""Prompt lookup, prompt lookup through a permuted vocabulary, and the known stream, spoilt."""


class OraclePrompt:
    """A prompt with the oracle's stream after it; each block engine reads it once, when first asked."""

    def __init__(self, verifier: Verifier, model: str, digest: str, tokens: Sequence[int], length: int) -> None:
        self.digest = digest
        self._verifier, self._model, self._tokens, self._length = verifier, model, list(tokens), length
        engine = build(ORACLE.name, verifier, EngineSettings())
        self._oracle, _ = decode(engine, engine.prefill(tokens), length)
        self._audit = audit(verifier, tokens, self._oracle)
        self._sessions: dict[str, SpeculativeSession] = {}

    def stream(self, cell: Cell) -> Stream:
        """Decode it by the engine of `cell`, and compare."""
        settings = EngineSettings(drafter=DrafterSpec(kind=NGRAM.kind, block_size=cell.block_size))
        drafter = self._drafter(cell)
        engine = ENGINES[cell.engine](self._verifier, settings, drafter)
        if cell.engine not in self._sessions:
            reader = ENGINES[cell.engine](self._verifier, settings, NgramDrafter())
            self._sessions[cell.engine] = reader.prefill(self._tokens)
        found, blocks = decode(engine, fork(self._sessions[cell.engine], drafter, self._tokens), self._length)
        audited = self._audit if found == self._oracle else audit(self._verifier, self._tokens, found)
        compared = compare_streams(self._oracle, found, [self._audit, audited], TIE)
        return Stream(
            model=self._model,
            engine=cell.engine,
            drafts=cell.drafts,
            block_size=cell.block_size,
            prompt=self.digest,
            prompt_tokens=len(self._tokens),
            tokens=len(found),
            blocks=len(blocks),
            drafted=sum(block.drafted for block in blocks),
            accepted=sum(block.accepted for block in blocks),
            outcome=compared.outcome,
            position=compared.position,
            gap=compared.gap,
        )

    def _drafter(self, cell: Cell) -> Drafter:
        vocab = self._verifier.architecture.vocab
        if cell.drafts in (NGRAM.name, NO_DRAFTS):
            return NgramDrafter()
        if cell.drafts == "shuffled":
            return ShuffledDrafter(NgramDrafter(), vocab, seed=1)
        return ReplayDrafter([*self._tokens, *self._oracle], spoils(vocab, seed=cell.block_size)[cell.drafts])


def decode(engine: Engine, session: Session, tokens: int) -> tuple[list[int], list[Block]]:
    """The stream of `tokens` tokens, and its blocks."""
    blocks = list(engine.decode(session, DecodeLimit(tokens, {})))
    return [session.first_token, *(token for block in blocks for token in block.tokens)], blocks

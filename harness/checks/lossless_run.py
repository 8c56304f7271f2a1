"""Decoding the cells of the losslessness matrix on a loaded verifier: one prompt, read once, decoded many times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.base.errors import EngineError
from harness.checks.lossless_matrix import NO_DRAFTS, Cell, Stream
from harness.checks.losslessness import compare_streams
from harness.engines.base import Block, DecodeLimit, Engine, LoadedVerifier, Session
from harness.engines.blocks.kv import VerifierKv
from harness.engines.blocks.session import SpeculativeSession
from harness.engines.drafters.around.shuffled import ShuffledDrafter
from harness.engines.drafters.base import Drafter
from harness.engines.drafters.ngram import NgramDrafter
from harness.engines.drafters.replay import ReplayDrafter, spoils
from harness.engines.registry import build
from harness.engines.spec import DrafterSpec, EngineSettings
from reports.drafters import NGRAM
from reports.engines import ORACLE
from reports.records.measurement import AuditedStream

TIE = 1e-3
"""Logits; f32 forwards of different length differ by up to 5e-5."""
DRAFTS = (NGRAM.name, "shuffled", *spoils(1))
"""Prompt lookup, prompt lookup through a permuted vocabulary, and the known stream, spoilt."""


@dataclass(frozen=True)
class MatrixBackend:
    """What a backend brings: its block engines by name, each called with verifier, settings and drafter; a copy of a
    stream's K/V; and the audit of a stream, called with verifier, prompt and stream."""

    engines: Mapping[str, Callable[..., Any]]
    copy_kv: Callable[[VerifierKv], VerifierKv]
    audit: Callable[..., AuditedStream]


class OraclePrompt:
    """A prompt with the oracle's stream after it; each block engine reads it once, when first asked."""

    def __init__(
        self,
        backend: MatrixBackend,
        verifier: LoadedVerifier,
        model: str,
        digest: str,
        tokens: Sequence[int],
        length: int,
    ) -> None:
        self.digest, self._backend = digest, backend
        self._verifier, self._model, self._tokens, self._length = verifier, model, list(tokens), length
        engine = build(ORACLE.name, verifier, EngineSettings())
        self._oracle, _ = decode(engine, engine.prefill(tokens), length)
        self._audit = backend.audit(verifier, tokens, self._oracle)
        self._sessions: dict[str, SpeculativeSession] = {}

    def stream(self, cell: Cell) -> Stream:
        """Decode it by the engine of `cell`, and compare."""
        settings = EngineSettings(drafter=DrafterSpec(kind=NGRAM.kind, block_size=cell.block_size))
        drafter = self._drafter(cell)
        engine = self._backend.engines[cell.engine](self._verifier, settings, drafter)
        if cell.engine not in self._sessions:
            reader = self._backend.engines[cell.engine](self._verifier, settings, NgramDrafter())
            self._sessions[cell.engine] = reader.prefill(self._tokens)
        found, blocks = decode(
            engine, fork(self._sessions[cell.engine], drafter, self._tokens, self._backend), self._length
        )
        audited = self._audit if found == self._oracle else self._backend.audit(self._verifier, self._tokens, found)
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


def fork(
    session: SpeculativeSession, drafter: Drafter, prompt: Sequence[int], backend: MatrixBackend
) -> SpeculativeSession:
    """A session as `prefill(prompt)` of an engine of the same name would have left it with `drafter`.

    `session` is a prefilled one that nothing was decoded from yet; it stays so.

    Raises:
        EngineError: the drafter reads hidden states, which no cache keeps, or the cache is a bounded one.
    """
    kv = backend.copy_kv(session.kv)
    if drafter.layers:
        raise EngineError(f"drafter {drafter.name} reads hidden states; its prompt must be read again")
    draft = drafter.begin()
    draft.extend(list(prompt), None)
    return SpeculativeSession(session.engine, kv, draft, session.first_token, 0.0, list(session.carry))

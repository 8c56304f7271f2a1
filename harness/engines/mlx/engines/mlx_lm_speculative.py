"""The peer: mlx-lm's own speculative decoding (`mlx_lm.generate.speculative_generate_step`) behind our protocol.

It is measured as its users get it, not repaired. Its loop trims the native caches after each block and does not look
whether they can be trimmed: past the wrap of a `RotatingKVCache` nothing is trimmed and the stream goes astray without
a word. The audit of the stream shows it.

Left to itself the function yields its first token with the whole first block, so that a first token, and with it the
end of prefill, cannot be told from the first round of drafting. Here the prompt is read first, as its `_prefill` reads
it, into the native caches of both models; the verifier's step over the last prompt token gives the first token, as in
every arm; and the function goes on from there, handed that token and the caches.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.clock import Stopwatch, now
from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.drafters.base import told_of
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.drafters.model import ModelDrafter
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import native_prefill
from harness.engines.mlx.verifier.step_loop import token_of
from harness.engines.spec import EngineSettings
from reports.drafters import SMALL_MODEL
from reports.engines import MLX_LM_SPECULATIVE, EngineKind
from reports.records.measurement import DrafterInfo, Restoration

mlx_generate = import_module("mlx_lm.generate")
Step = tuple[int, mx.array, bool]
"""What the function yields: a token, its log-probabilities, and whether the draft model proposed it."""


@dataclass
class PeerSession:
    """A prompt read into the native caches of both models; `aux_s` is what the draft model took to read it."""

    caches: list[Any]
    draft_caches: list[Any]
    first_token: int
    aux_s: float


class Observed:
    """A model as the function calls it: the same forward, counted, and the time of the latest call kept."""

    def __init__(self, model: Any, before: Callable[[], None]) -> None:
        self.layers = model.layers
        self.calls, self.called_at = 0, 0.0
        self._model, self._before = model, before

    def __call__(self, tokens: mx.array, cache: Any) -> mx.array:
        """The model's logits."""
        self._before()
        self.calls += 1
        self.called_at = now()
        logits: mx.array = self._model(tokens, cache=cache)
        return logits


class MlxLmSpeculativeEngine:
    """A small model drafts, the verifier reads its drafts in one forward; drafts never wait for the host."""

    kind: ClassVar[EngineKind] = MLX_LM_SPECULATIVE

    def __init__(self, verifier: Verifier, settings: EngineSettings, drafter: ModelDrafter | None = None) -> None:
        """Load the draft model, unless a loaded one is given.

        Raises:
            EngineError: another kind of drafter than `model` is asked for, or another graph than the function has.
            ModelError: the draft model is missing or of no kind that can be run.
        """
        name, spec = self.kind.name, settings.drafter
        if spec is None or spec.kind != SMALL_MODEL.kind or spec.shuffle_seed is not None:
            raise EngineError(f"{name} drafts with a small model as it is; set the drafter's kind to model")
        if spec.graph != "single":
            raise EngineError(f"{name} evaluates drafts and verification together; set the drafter's graph single")
        loaded = drafter or load_drafter(spec, verifier)
        if not isinstance(loaded, ModelDrafter):
            raise EngineError(f"{name} cannot draft with {loaded.name}; set the drafter's kind to model")
        self._model, self._drafter, self._spec = verifier.model, loaded, spec
        self._chunk = settings.prefill_chunk

    @property
    def restoration(self) -> Restoration:
        """None."""
        return Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo:
        """The draft model as loaded."""
        return told_of(self._drafter, self._spec, "trim_prompt_cache", "single")

    def prefill(self, tokens: Sequence[int]) -> PeerSession:
        """Read the prompt with both models, in chunks; what the draft model takes is `aux_s`."""
        caches, draft_caches = make_prompt_cache(self._model), make_prompt_cache(self._drafter.model)
        watch = Stopwatch()
        with watch.stage("aux"):
            native_prefill(self._drafter.model, draft_caches, tokens, self._chunk)
        first = token_of(native_prefill(self._model, caches, tokens, self._chunk))
        return PeerSession(caches, draft_caches, first, watch.total("aux"))

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """The function's blocks: drafts it accepted (`from_draft`), then the verifier's own token."""
        limit.check()
        own = _own(session)
        emitted, last = 1, own.first_token
        if limit.max_new_tokens == 1 or last in limit.stop_tokens:
            return
        began = now()
        verifying, drafting, steps = self._loop(own, limit.max_new_tokens - 1)
        while emitted < limit.max_new_tokens and last not in limit.stop_tokens:
            start, drafted = now(), drafting.calls
            tokens, accepted = _block(steps, limit.max_new_tokens - emitted, limit)
            end = now()
            yield Block(
                tokens,
                drafted=drafting.calls - drafted,
                accepted=accepted,
                draft_s=verifying.called_at - start,
                verify_s=end - verifying.called_at,
                seconds=end - began,
            )
            emitted, last, began = emitted + len(tokens), tokens[-1], end
        steps.close()

    def stats(self, session: Session) -> SessionStats:
        """Bytes of both models' caches, those of the draft model told apart; nothing is ever evicted by us."""
        own = _own(session)
        context = kv_bytes(own.draft_caches)
        return SessionStats(0, 0, 0.0, own.aux_s, kv_bytes(own.caches) + context, (), drafter_bytes=context)

    def _loop(self, own: PeerSession, max_tokens: int) -> tuple[Observed, Observed, Any]:
        """Verifier and draft model as the function sees them, and the function over them, not begun.

        Before its first forward the function refuses a ring that has wrapped; where it reads the prompt itself the
        ring is empty then and wraps later, which it does not notice. So the caches show the offset 0 until that
        forward, and the state they were read into from then on: what `speculative_generate_step(prompt, ...)` does.
        """
        held = [*own.caches, *own.draft_caches]
        offsets = [cache.offset for cache in held]

        def put_back() -> None:
            for cache, offset in zip(held, offsets, strict=False):
                cache.offset = offset
            offsets.clear()

        verifying, drafting = Observed(self._model, put_back), Observed(self._drafter.model, put_back)
        for cache in held:
            cache.offset = 0
        steps = mlx_generate.speculative_generate_step(
            mx.array([own.first_token], mx.uint32),
            verifying,
            drafting,
            num_draft_tokens=self._spec.block_size - 1,
            max_tokens=max_tokens,
            prompt_cache=held,
        )
        return verifying, drafting, steps


def _block(steps: Iterator[Step], room: int, limit: DecodeLimit) -> tuple[tuple[int, ...], int]:
    """The tokens of the next block, at most `room`, to a stop token at most, and how many of them were drafted."""
    tokens: list[int] = []
    accepted = 0
    for token, _, from_draft in steps:
        tokens.append(int(token))
        accepted += from_draft
        if not from_draft or len(tokens) == room or tokens[-1] in limit.stop_tokens:
            break
    return tuple(tokens), accepted


def _own(session: Session) -> PeerSession:
    if not isinstance(session, PeerSession):
        raise EngineError(f"{MlxLmSpeculativeEngine.kind.name} was given a session of another engine")
    return session

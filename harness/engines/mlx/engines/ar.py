"""The AR oracle: the verifier alone, its own cache, decoded by `mlx_lm.generate.generate_step`.

Left to itself `generate_step` dispatches the second step before it hands out the first token, and one step beyond the
last token. On a CPU MLX waits for most of a step while it dispatches it, so whoever reads a clock between prefill and
decode would find the second step paid for by prefill. So the prompt is read by a `generate_step` that is to hand out no
token at all, a second one goes on from its token and caches, and neither dispatches a step that is not asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Held, Session, SessionStats
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.native import positions_read
from harness.engines.mlx.verifier.step_loop import token_of
from harness.engines.spec import EngineSettings
from reports.engines import ORACLE, EngineKind
from reports.records.measurement import DrafterInfo, Restoration

# `mlx_lm.generate` names a function of the package, too; the module is meant.
mlx_generate = import_module("mlx_lm.generate")


@dataclass
class ArSession:
    """A prompt read into the model's own caches; `latest` is what decode sampled last, (1,), read or not."""

    caches: list[Any]
    first_token: int
    latest: list[mx.array] = field(default_factory=list)


class ArEngine:
    """Greedy decoding with nothing of ours in the way; run a second time it is the null arm."""

    kind: ClassVar[EngineKind] = ORACLE

    def __init__(self, verifier: Verifier, settings: EngineSettings) -> None:
        self._model = verifier.model
        self._chunk = settings.prefill_chunk

    @property
    def restoration(self) -> Restoration:
        """None."""
        return Restoration(mode="none")

    @property
    def drafter(self) -> DrafterInfo | None:
        """None."""
        return None

    def prefill(self, tokens: Sequence[int]) -> ArSession:
        """Read the prompt in chunks; nothing is dispatched beyond the first token."""
        if not tokens:
            raise EngineError("the prompt is empty; there is nothing to read")
        caches = make_prompt_cache(self._model)
        (first,) = self._tokens(tokens, caches, 1, [])
        return ArSession(caches, first)

    def append(self, session: Session, tokens: Sequence[int]) -> None:
        """Read them as a prompt is read, into the same caches."""
        own = _own(session)
        if tokens:
            (own.first_token,) = self._tokens(tokens, own.caches, 1, [])
        elif own.latest:
            own.first_token = token_of(own.latest[0])
        own.latest.clear()

    def held(self, session: Session) -> Held:
        """Nothing is dropped but what the model's own windows drop."""
        return Held(positions_read(_own(session).caches), 0)

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block. A stop token leaves one step that nobody reads, as in every loop that runs ahead."""
        limit.check()
        own = _own(session)
        if limit.max_new_tokens == 1 or own.first_token in limit.stop_tokens:
            return
        for token in self._tokens([own.first_token], own.caches, limit.max_new_tokens - 1, own.latest):
            yield Block((token,))
            if token in limit.stop_tokens:
                return

    def stats(self, session: Session) -> SessionStats:
        """Bytes of the caches; nothing is ever evicted by us."""
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(_own(session).caches), ())

    def _tokens(self, tokens: Sequence[int], caches: list[Any], count: int, latest: list[mx.array]) -> Iterator[int]:
        """The `count` greedy tokens after `tokens`; `latest` is what was sampled last.

        `generate_step` hands out a token once it has dispatched the step after it. Asked for one token less, it has
        dispatched all that are wanted when it ends, and the last token is what its sampler chose there.
        """

        def greedy(logprobs: mx.array) -> mx.array:
            latest[:] = [mx.argmax(logprobs, axis=-1)]
            return latest[0]

        for token, _ in mlx_generate.generate_step(
            mx.array(list(tokens)),
            self._model,
            max_tokens=count - 1,
            sampler=greedy,
            prompt_cache=caches,
            prefill_step_size=self._chunk,
        ):
            yield int(token)
        yield token_of(latest[0])


def _own(session: Session) -> ArSession:
    if not isinstance(session, ArSession):
        raise EngineError(f"{ArEngine.kind.name} was given a session of another engine")
    return session

"""The AR oracle: the verifier alone, its own cache, decoded by `mlx_lm.generate.generate_step`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache

from harness.base.errors import EngineError
from harness.engines.base import Block, DecodeLimit, Session, SessionStats
from harness.engines.mlx.memory import kv_bytes
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.step_loop import check_limit
from harness.engines.spec import EngineSettings
from reports.engines import ORACLE, EngineKind
from reports.records.measurement import DrafterInfo, Restoration

# `mlx_lm.generate` names a function of the package, too; the module is meant.
mlx_generate = import_module("mlx_lm.generate")


@dataclass
class ArSession:
    """A running `generate_step` and the caches it fills."""

    steps: Iterator[tuple[int, mx.array]]
    caches: list[Any]
    first_token: int


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
        """Read the prompt in chunks; `generate_step` has dispatched its second step when it hands out the first."""
        if not tokens:
            raise EngineError("the prompt is empty; there is nothing to read")
        caches = make_prompt_cache(self._model)
        steps = mlx_generate.generate_step(
            mx.array(list(tokens)), self._model, max_tokens=-1, prompt_cache=caches, prefill_step_size=self._chunk
        )
        first, _ = next(steps)
        return ArSession(steps, caches, int(first))

    def decode(self, session: Session, limit: DecodeLimit) -> Iterator[Block]:
        """One token a block. `generate_step` runs one step ahead, also at the end; `stats` waits for that one."""
        check_limit(limit)
        own = _own(session)
        emitted, token = 1, own.first_token
        while emitted < limit.max_new_tokens and token not in limit.stop_tokens:
            token = int(next(own.steps)[0])
            emitted += 1
            yield Block((token,))

    def stats(self, session: Session) -> SessionStats:
        """Bytes of the caches, once the step dispatched ahead has ended; nothing is ever evicted by us."""
        mx.synchronize(mlx_generate.generation_stream)
        return SessionStats(0, 0, 0.0, 0.0, kv_bytes(_own(session).caches), ())


def _own(session: Session) -> ArSession:
    if not isinstance(session, ArSession):
        raise EngineError(f"{ArEngine.kind.name} was given a session of another engine")
    return session

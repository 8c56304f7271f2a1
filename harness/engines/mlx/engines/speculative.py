"""Reading and verifying blocks in MLX."""

from collections.abc import Sequence

import mlx.core as mx

from harness.base.clock import Stopwatch, now
from harness.engines.blocks.engine import BlockEngine, drafter_asked
from harness.engines.blocks.kv import VerifierKv
from harness.engines.blocks.session import SpeculativeSession, Verified
from harness.engines.drafters.base import Drafter, GraphDraft
from harness.engines.mlx.bounded.bound import bound
from harness.engines.mlx.drafters.load import load_drafter
from harness.engines.mlx.verifier.hidden_states import LayerOutputs
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.mlx.verifier.step_loop import token_ids, token_of
from harness.engines.spec import EngineSettings


class SpeculativeEngine(BlockEngine):
    """A block engine over a verifier of mlx-lm."""

    def __init__(self, verifier: Verifier, settings: EngineSettings, drafter: Drafter | None = None) -> None:
        """Load the drafter, unless a loaded one is given; check what can be checked before a prompt is read.

        Raises:
            UsageError: bounds that the model does not have or that mean nothing.
            EngineError: as `BlockEngine`; a restoration that this engine or model has not, or a drafter that does not
                fit this verifier.
            ModelError: the weights of drafter or f_theta are missing or of no kind that can be run.
        """
        spec = drafter_asked(self.kind, settings)
        self._model = verifier.model
        bounded = bound(verifier, settings)
        loaded = drafter or load_drafter(spec, verifier)
        super().__init__(settings, spec, loaded, bounded, now)
        self._outputs = LayerOutputs(self._model, loaded.layers)

    def read(self, kv: VerifierKv, part: Sequence[int]) -> tuple[mx.array, mx.array | None]:
        """Through MLX's graph; logits are not evaluated unless they are asked for."""
        with self._outputs.capture() as captured:
            logits = kv.read(mx.array([list(part)]))
            features = captured.features()
        mx.eval(features)
        mx.clear_cache()
        return logits, features

    def token_after(self, logits: mx.array) -> int:
        """Evaluates the last position alone."""
        return token_of(mx.argmax(logits[0, -1]))

    def verify(self, session: SpeculativeSession, last: int, limit: int, watch: Stopwatch) -> Verified:
        """In a single graph the drafts never leave MLX before the verifier has read them: one evaluation, one wait."""
        draft, known = session.draft, [*session.carry, last]
        lazy: mx.array | None = None
        drafts: list[int] = []
        with watch.stage("draft"):
            if limit and self._spec.graph == "single" and isinstance(draft, GraphDraft):
                lazy = draft.propose_lazily(last, limit)
            elif limit:
                drafts = draft.propose(last, limit)
        with watch.stage("verify"):
            fed = mx.array([*known, *drafts], mx.int32)
            if lazy is not None:
                fed = mx.concatenate([fed, lazy.astype(mx.int32)])
            with self._outputs.capture() as captured:
                logits = session.kv.verify(fed[None])
                features = captured.features()
            choices = mx.argmax(logits[0, len(known) - 1 :], axis=-1)
            mx.eval(choices, fed, features, session.kv.pending())
            if lazy is not None:
                drafts = token_ids(fed[len(known) :])
            return Verified(drafts, token_ids(choices), features)

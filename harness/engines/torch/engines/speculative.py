"""Reading and verifying blocks in PyTorch."""

from collections.abc import Sequence

from torch import Tensor

from harness.base.clock import Stopwatch
from harness.engines.blocks.engine import BlockEngine, drafter_asked
from harness.engines.blocks.kv import VerifierKv
from harness.engines.blocks.session import SpeculativeSession, Verified
from harness.engines.drafters.base import Drafter
from harness.engines.spec import EngineSettings
from harness.engines.torch.bounded.bound import bound
from harness.engines.torch.drafters.load import load_drafter
from harness.engines.torch.verifier.forward import tokens_on
from harness.engines.torch.verifier.layer_outputs import LayerOutputs
from harness.engines.torch.verifier.load import Verifier


class SpeculativeEngine(BlockEngine):
    """A block engine over a verifier of transformers."""

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
        super().__init__(settings, spec, loaded, bounded, verifier.device.now)
        self._outputs = LayerOutputs(self._model, loaded.layers)

    def read(self, kv: VerifierKv, part: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Through the model, layer by layer where K/V are bounded."""
        with self._outputs.capture() as captured:
            logits = kv.read(tokens_on(self._model, part))
            return logits, captured.features()

    def token_after(self, logits: Tensor) -> int:
        """Brought to the host."""
        return int(logits[0, -1].argmax())

    def verify(self, session: SpeculativeSession, last: int, limit: int, watch: Stopwatch) -> Verified:
        """Drafts come to the host before the verifier reads them: two phases."""
        known = [*session.carry, last]
        with watch.stage("draft"):
            drafts = session.draft.propose(last, limit) if limit else []
        with watch.stage("verify"), self._outputs.capture() as captured:
            logits = session.kv.verify(tokens_on(self._model, [*known, *drafts]))
            choices: list[int] = logits[0, len(known) - 1 :].argmax(dim=-1).tolist()
            return Verified(drafts, choices, captured.features())

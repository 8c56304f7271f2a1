"""From what an arm asks of a drafter to a drafter loaded with PyTorch."""

from collections.abc import Callable

from harness.base.errors import EngineError
from harness.engines.drafters.base import Drafter
from harness.engines.drafters.combined import CombinedDrafter
from harness.engines.drafters.loading import drafter_of
from harness.engines.drafters.manifest import check_manifest
from harness.engines.spec import DrafterSpec
from harness.engines.torch.drafters.dflash import DflashDrafter
from harness.engines.torch.drafters.model import ModelDrafter
from harness.engines.torch.verifier.load import Verifier
from harness.models.resolve import ResolvedModel
from reports.drafters import COMBINED, DFLASH, DFLASH_TORCH, SMALL_MODEL

PREFILL_CHUNK = 512


def load_drafter(spec: DrafterSpec, verifier: Verifier) -> Drafter:
    """The drafter of `spec`, ready for `verifier`; nothing is fetched, and no weights are loaded twice.

    Raises:
        UsageError: blocks longer than it was trained for.
        ModelError: the model is missing, damaged or of no kind that can draft.
        EngineError: it does not fit this verifier, or is of a kind that PyTorch has not.
    """
    return drafter_of(spec, verifier, verifier.drafters, LOADERS)


def _model(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    if spec.bits is not None:
        raise EngineError("drafter: bits: MLX rounds weights, PyTorch does not; leave bits out")
    return ModelDrafter(resolved.folder, resolved.weights, verifier, PREFILL_CHUNK)


def _dflash(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> DflashDrafter:
    check_manifest(resolved.folder, resolved.weights, verifier)
    return DflashDrafter(resolved.folder, resolved.weights, verifier, spec.dtype)


def _combined(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    return CombinedDrafter(_dflash(spec, resolved, verifier))


LOADERS: dict[str, Callable[[DrafterSpec, ResolvedModel, Verifier], Drafter]] = {
    SMALL_MODEL.kind: _model,
    DFLASH.kind: _dflash,
    DFLASH_TORCH.kind: _dflash,
    COMBINED.kind: _combined,
}
"""How each kind of `reports.drafters` that has weights is loaded."""

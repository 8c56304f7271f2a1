"""From what an arm asks of a drafter to a loaded drafter."""

from collections.abc import Callable

from harness.base.errors import EngineError, UsageError
from harness.engines.mlx.drafters.base import Drafter
from harness.engines.mlx.drafters.combined import CombinedDrafter
from harness.engines.mlx.drafters.dflash.drafter import DflashDrafter
from harness.engines.mlx.drafters.dflash.torch_runtime import TorchDflashDrafter
from harness.engines.mlx.drafters.manifest import check_manifest
from harness.engines.mlx.drafters.model import ModelDrafter
from harness.engines.mlx.drafters.ngram import NgramDrafter
from harness.engines.mlx.drafters.shuffled import ShuffledDrafter
from harness.engines.mlx.verifier.load import Verifier
from harness.engines.spec import DrafterSpec
from harness.models.resolve import ResolvedModel, resolve
from reports.drafters import COMBINED, DFLASH, DFLASH_TORCH, SMALL_MODEL, loaded_by
from reports.plugins.entry_points import PluginError, attribute_at

PREFILL_CHUNK = 512


def load_drafter(spec: DrafterSpec, verifier: Verifier) -> Drafter:
    """The drafter of `spec`, ready for `verifier`; nothing is fetched, and no weights are loaded twice.

    Raises:
        UsageError: blocks longer than it was trained for.
        ModelError: the model is missing, damaged or of no kind that can draft.
        EngineError: it does not fit this verifier, or another package's cannot be imported.
    """
    drafter = _shared(spec, resolve(spec.model), verifier) if spec.model is not None else _weightless(spec, verifier)
    if spec.shuffle_seed is None:
        return drafter
    return ShuffledDrafter(drafter, verifier.architecture.vocab, spec.shuffle_seed)


def _weightless(spec: DrafterSpec, verifier: Verifier) -> Drafter:
    loader = _loader_elsewhere(spec.kind)
    return NgramDrafter() if loader is None else loader(spec, None, verifier)


def _loader_elsewhere(kind: str) -> Callable[[DrafterSpec, ResolvedModel | None, Verifier], Drafter] | None:
    """What loads a kind of another package; none for one of ours."""
    path = loaded_by(kind)
    try:
        return None if path is None else attribute_at(path)
    except PluginError as error:
        raise EngineError(f"drafter {kind}: {error}") from error


def _shared(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    """The drafter as loaded for another arm of this verifier, else loaded now: between streams it has no state."""
    key = (spec.kind, str(resolved.folder), resolved.weights, spec.dtype, spec.bits)
    if key not in verifier.drafters:
        loader = _loader_elsewhere(spec.kind) or LOADERS[spec.kind]
        verifier.drafters[key] = loader(spec, resolved, verifier)
    drafter: Drafter = verifier.drafters[key]
    trained = getattr(drafter, "trained_block_size", None)
    if trained is not None and spec.block_size > trained:
        raise UsageError(
            f"drafter: block_size: {spec.block_size} is more than the {trained} positions {resolved.id} was trained for"
        )
    return drafter


def _model(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    return ModelDrafter.load(resolved.folder, resolved.weights, verifier, PREFILL_CHUNK, spec.bits)


def _dflash(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> DflashDrafter:
    check_manifest(resolved.folder, resolved.weights, verifier)
    return DflashDrafter(resolved.folder, resolved.weights, verifier, spec.dtype)


def _dflash_torch(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    check_manifest(resolved.folder, resolved.weights, verifier)
    return TorchDflashDrafter(resolved.folder, resolved.weights, verifier, spec.dtype)


def _combined(spec: DrafterSpec, resolved: ResolvedModel, verifier: Verifier) -> Drafter:
    return CombinedDrafter(_dflash(spec, resolved, verifier))


LOADERS: dict[str, Callable[[DrafterSpec, ResolvedModel, Verifier], Drafter]] = {
    SMALL_MODEL.kind: _model,
    DFLASH.kind: _dflash,
    DFLASH_TORCH.kind: _dflash_torch,
    COMBINED.kind: _combined,
}
"""How each kind of `reports.drafters` that has weights is loaded."""

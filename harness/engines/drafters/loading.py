"""From what an arm asks of a drafter to a drafter, whatever loads its weights."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from harness.base.errors import EngineError, UsageError
from harness.engines.base import LoadedVerifier
from harness.engines.drafters.around.cautious import CautiousDrafter
from harness.engines.drafters.around.shuffled import ShuffledDrafter
from harness.engines.drafters.base import Drafter, TrainedDrafter
from harness.engines.drafters.ngram import NgramDrafter
from harness.engines.spec import DrafterSpec
from harness.models.resolve import ResolvedModel, resolve
from reports.drafters import loaded_by
from reports.plugins.entry_points import PluginError, attribute_at

SomeVerifier = TypeVar("SomeVerifier", bound=LoadedVerifier)
Loaders = Mapping[str, Callable[[DrafterSpec, ResolvedModel, SomeVerifier], Drafter]]
"""How a backend loads each kind that has weights."""


def drafter_of(
    spec: DrafterSpec, verifier: SomeVerifier, loaded: dict[tuple[str | int | None, ...], Any], loaders: Loaders[Any]
) -> Drafter:
    """The drafter of `spec`, ready for `verifier`; `loaded` keeps those with weights, so that none is loaded twice.

    Raises:
        UsageError: blocks longer than it was trained for.
        ModelError: the model is missing, damaged or of no kind that can draft.
        EngineError: it does not fit this verifier, or another package's cannot be imported.
    """
    if spec.model is None:
        elsewhere = _loader_elsewhere(spec.kind)
        drafter: Drafter = NgramDrafter() if elsewhere is None else elsewhere(spec, None, verifier)
    else:
        drafter = _with_weights(spec, resolve(spec.model), verifier, loaded, loaders)
    if spec.sure is not None:
        drafter = CautiousDrafter(cast(TrainedDrafter, drafter), spec.sure)  # a kind that doubts is one
    if spec.shuffle_seed is None:
        return drafter
    return ShuffledDrafter(drafter, verifier.architecture.vocab, spec.shuffle_seed)


def _loader_elsewhere(kind: str) -> Callable[[DrafterSpec, ResolvedModel | None, Any], Drafter] | None:
    """What loads a kind of another package; none for one of ours."""
    path = loaded_by(kind)
    try:
        return None if path is None else attribute_at(path)
    except PluginError as error:
        raise EngineError(f"drafter {kind}: {error}") from error


def _with_weights(
    spec: DrafterSpec,
    resolved: ResolvedModel,
    verifier: SomeVerifier,
    loaded: dict[tuple[str | int | None, ...], Any],
    loaders: Loaders[Any],
) -> Drafter:
    """The drafter as loaded for another arm of this verifier, else loaded now: between streams it has no state."""
    key = (spec.kind, str(resolved.folder), resolved.weights, spec.dtype, spec.bits)
    if key not in loaded:
        loader = _loader_elsewhere(spec.kind) or loaders[spec.kind]
        loaded[key] = loader(spec, resolved, verifier)
    drafter: Drafter = loaded[key]
    trained = getattr(drafter, "trained_block_size", None)
    if trained is not None and spec.block_size > trained:
        raise UsageError(
            f"drafter: block_size: {spec.block_size} is more than the {trained} positions {resolved.id} was trained for"
        )
    return drafter

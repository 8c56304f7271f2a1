"""The models of a report on this machine: found by the digests that the report tells, never by a name it gives."""

from collections.abc import Sequence
from typing import TypeVar

from harness.base.errors import CannotRunError, ModelError
from harness.models.registry import registry
from harness.models.resolve import ResolvedModel, resolve
from harness.plans.preset import BasePreset, NamedModel, ParityPreset, TimedPreset
from reports.known_models import KNOWN_WEIGHTS
from reports.records.provenance import ModelInfo

P = TypeVar("P", bound=BasePreset)


def with_found_models(preset: P, told: Sequence[ModelInfo], given: Sequence[str]) -> P:
    """The preset with every model under the name or folder in which its weights were found here.

    `told` are the models of the report, in the order in which a run lists them; `given` are names or folders of the
    reviewer's.

    Raises:
        CannotRunError: the report lists other models than its preset loads, or tells no digest of one.
        ModelError: no model here has these weights, or it has another config or tokenizer.
    """
    named = preset.models()
    if [one.role for one in named] != [one.role for one in told[: len(named)]]:
        raise CannotRunError(f"the report lists {len(told)} models, and its preset loads {len(named)} of other roles")
    found = {one: _find(model, given) for one, model in zip(named, told, strict=False)}
    return _renamed(preset, found)


def _find(told: ModelInfo, given: Sequence[str]) -> str:
    if told.weights is None:
        raise CannotRunError(f"the report tells no digest of its {told.role}, so that it cannot be found here")
    for name in given:
        model = resolve(name)
        if model.weights == told.weights:
            return _checked(name, model, told)
    known = KNOWN_WEIGHTS.get(told.weights)
    if known is not None:
        return _checked(known, resolve(known), told)
    for name in registry().models.keys() - set(KNOWN_WEIGHTS.values()):
        if (other := _here(name)) is not None and other.weights == told.weights:
            return _checked(name, other, told)
    raise ModelError(
        f"no model here has the weights of the {told.role}, {told.weights[:19]}: name it with --model PATH"
    )


def _here(name: str) -> ResolvedModel | None:
    """The registered model, if it is on this machine."""
    try:
        return resolve(name)
    except ModelError:
        return None


def _checked(name: str, model: ResolvedModel, told: ModelInfo) -> str:
    for what, ours, theirs in (
        ("config", model.identity.config, told.config),
        ("tokenizer", model.identity.tokenizer, told.tokenizer),
    ):
        if theirs is not None and ours != theirs:
            raise ModelError(f"{name}: has the weights of the {told.role}, and another {what} than the report tells")
    return name


def _renamed(preset: P, found: dict[NamedModel, str]) -> P:
    changes: dict[str, object] = {"model": found[NamedModel("verifier", preset.model)]}
    if isinstance(preset, ParityPreset):
        changes["drafter"] = found[NamedModel("drafter", preset.drafter)]
    if isinstance(preset, TimedPreset):
        arms = []
        for arm in preset.arms:
            drafter, maps = arm.drafter, arm.f_theta
            if drafter is not None and drafter.model is not None:
                drafter = drafter.replace(model=found[NamedModel("drafter", drafter.model)])
            maps = found[NamedModel("f_theta", maps)] if maps is not None else None
            arms.append(arm.replace(drafter=drafter, f_theta=maps))
        changes["arms"] = tuple(arms)
    return preset.replace(**changes)

"""What a run needs of this machine, looked up without loading anything: platform, packages, models."""

import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from harness.base.errors import CannotRunError, ModelError
from harness.base.remedies import RUN_REMEDY, TORCH_REMEDY
from harness.plans.preset import BasePreset, CodePreset, NamedModel

TORCH = "torch"
REMEDIES = {"mlx": RUN_REMEDY, TORCH: TORCH_REMEDY}


@dataclass(frozen=True)
class Need:
    """Something a run needs. `problem` says what is wrong and what to do, and is empty when it is there; `fetched`
    says that the run would get it by itself."""

    what: str
    problem: str = ""
    fetched: bool = False


def needs_of(preset: BasePreset) -> tuple[Need, ...]:
    """Everything that a run of `preset` needs, there or not."""
    packages = ("mlx", *((TORCH,) if preset.needs_torch() else ()))
    return (
        *((_apple(),) if preset.platform == "apple" else ()),
        *(_package(name) for name in packages),
        *(_model(name, roles) for name, roles in _by_name(preset.models()).items()),
        *_own_prompts(preset),
    )


def check_needs(preset: BasePreset) -> None:
    """Refuse a run before its first expensive step.

    Raises:
        CannotRunError: something is missing that the run does not get by itself.
    """
    for need in needs_of(preset):
        if need.problem and not need.fetched:
            raise CannotRunError(need.problem)


def _apple() -> Need:
    here = f"{platform.system()} {platform.machine()}"
    problem = "" if here == "Darwin arm64" else f"platform: made for macOS on Apple Silicon, this is {here}"
    remedy = "; run it there, or with --set platform=any" if problem else ""
    return Need("platform macOS on Apple Silicon", problem + remedy)


def _package(name: str) -> Need:
    problem = "" if find_spec(name) is not None else f"{name} is not installed: {REMEDIES[name]}"
    return Need(f"package {name}", problem)


def _own_prompts(preset: BasePreset) -> Iterator[Need]:
    """The file of prompts, every line of it, where the preset asks prompts of the user's."""
    if not isinstance(preset, CodePreset) or preset.workload.prompts is None:
        return
    from harness.plans.workload import own_prompts

    what = f"prompts {preset.workload.prompts}"
    try:
        own_prompts(preset, preset.workload.prompts).check()
    except ValueError as error:
        yield Need(what, f"workload.prompts: {error}")
    else:
        yield Need(what)


def _by_name(models: Iterable[NamedModel]) -> dict[str, str]:
    """What every model is there for, once a model."""
    roles: dict[str, str] = {}
    for model in models:
        roles[model.name] = f"{roles[model.name]} and {model.role}" if model.name in roles else model.role
    return roles


def _model(name: str, roles: str) -> Need:
    from harness.models.registry import PackageSource, registry
    from harness.models.resolve import locate

    what = f"{roles} {name}"
    try:
        locate(name)
    except ModelError as error:
        known = registry().models.get(name)
        return Need(what, str(error), fetched=known is not None and isinstance(known.source, PackageSource))
    return Need(what)

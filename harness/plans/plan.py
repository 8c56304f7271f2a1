"""Plan: a preset that was checked as a whole; RunPlan: the arms that a timed one comes to. Made before any work."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.base.provenance import anonymous_setting
from harness.engines.spec import DrafterSpec, RestorationSpec, foreign_to, misfit
from harness.plans.preset import ArmSpec, BasePreset, CodePreset, LoadedPreset, TimedPreset
from reports.engines import ENGINES, HTTP, NATIVE_BASELINE, ORACLE, REMOTE
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.records.measurement import PromptSet, Role
from reports.records.plan import PresetInfo, Run
from reports.records.record import digest_of
from reports.restorations import RESTORATIONS
from reports.schedule import ScheduledArm, schedule
from workloads.own_prompts import OwnPrompts

RUN_AGAIN = dict.fromkeys(
    (
        "name", "title", "beside", "platform", "memory_gb", "minutes", "seed", "samples", "repeats", "processes",
        "until_width", "most_processes", "budget_s",
    ),
    True,
)  # fmt: skip
"""What another run of the same may have otherwise: prompts, how many and how often, and what measures nothing."""

MODEL_NAMES = {"model": True, "drafter": True}
"""What a preset calls its models: a copy in another folder is the same model."""

ACCESS: dict[str, Any] = {
    "remote": {"token_file", "tls_ca", "tls_key", "tls_certificate", "timeout_s"},
    "http": {"key_env", "timeout_s"},
}
"""Of an arm that runs in a server: by what we are let in, and how long we wait. It decides nothing of what is run."""


@dataclass(frozen=True)
class ArmPlan:
    """One arm as it will be run; `spec` holds the engine's settings."""

    name: str
    role: Role
    prompt_set: PromptSet
    repeats: int
    spec: ArmSpec


@dataclass(frozen=True)
class PlannedArm:
    """One arm as it would be run; `runs` is how often in all. `settings` are its drafter and restoration, if any."""

    name: str
    role: str
    engine: str
    prompts: str
    repeats: int
    runs: int
    settings: str


@dataclass(frozen=True)
class Plan:
    """A preset that was checked as a whole."""

    loaded: LoadedPreset

    @property
    def preset(self) -> BasePreset:
        """The preset after overrides."""
        return self.loaded.preset

    @property
    def title(self) -> str:
        """The preset's title, and what was changed of what it tells."""
        changed = ", ".join(self.loaded.overrides)
        return f"{self.preset.title} (with {changed})" if changed else self.preset.title

    def planned(self) -> tuple[PlannedArm, ...]:
        """What would be run, an arm a line; nothing where the settings say it all."""
        return ()

    def rounds(self) -> "tuple[Plan, ...]":
        """The plan as far as each look at what was measured; the plan itself where nobody looks before its end."""
        return (self,)

    def settings(self) -> dict[str, Any]:
        """Everything the preset says besides its name and its arms."""
        return self.preset.model_dump(mode="json", exclude={"name", "title", "kind", "arms", "memory_gb", "minutes"})

    def preset_info(self) -> PresetInfo:
        """The preset as a report names it; no folder of the user's is named."""
        overrides = tuple(anonymous_setting(override) for override in self.loaded.overrides)
        loaded = self.loaded
        return PresetInfo(name=self.preset.name, digest=loaded.digest, overrides=overrides, part_of=loaded.part_of)

    @cached_property
    def _told(self) -> BasePreset:
        """The preset, with prompts of one's own named by what they are: a copy of the file asks the same."""
        preset = self.preset
        if not isinstance(preset, CodePreset) or preset.workload.prompts is None:
            return preset
        own = OwnPrompts(Path(preset.workload.prompts).expanduser(), preset.samples, preset.seed)
        try:
            return preset.replace(workload=preset.workload.replace(prompts=own.identity))
        except ValueError as error:
            raise UsageError(f"preset {preset.name}: workload.prompts: {error}") from error

    def digest(self, *identities: str) -> str:
        """Digest of everything that decides what is run; `identities` adds what is known later (weights, prompts).

        Raises:
            UsageError: prompts of one's own cannot be read.
        """
        left_out: dict[str, Any] = {"memory_gb": True, "minutes": True, "arms": {"__all__": ACCESS}}
        parts = [self._told.model_dump_json(exclude=left_out), *identities]
        return digest_of("\n".join(parts).encode())

    def family(self, *identities: str) -> str:
        """Digest of what stays the same where the same is run again with other prompts, more of them, or more often.

        `identities` are the weights of all models; where all are known, they stand for the names of the models.

        Raises:
            UsageError: as `digest`.
        """
        of_arms: dict[str, Any] = {"name": True, "label": True} | ACCESS
        again: dict[str, Any] = dict(RUN_AGAIN)
        if identities and all(identities):
            again |= MODEL_NAMES
            of_arms |= {"drafter": {"model"}, "f_theta": True}
        parts = [self._told.model_dump_json(exclude={**again, "arms": {"__all__": of_arms}}), *identities]
        return digest_of("\n".join(parts).encode())


@dataclass(frozen=True)
class RunPlan(Plan):
    """A timed preset with all its arms: the oracle, the oracle again (A/A), the preset's own, and for needle runs the
    needle-free control. It is measured in so many `processes`; of a preset with `until_width` others may come to them.
    """

    arms: tuple[ArmPlan, ...]
    processes: int

    @property
    def preset(self) -> TimedPreset:
        """The preset after overrides."""
        assert isinstance(self.loaded.preset, TimedPreset)
        return self.loaded.preset

    def planned(self) -> tuple[PlannedArm, ...]:
        """Every arm with its runs."""
        samples = self.preset.samples
        return tuple(
            PlannedArm(
                name=arm.name,
                role=arm.role,
                engine=arm.spec.engine,
                prompts=f"{samples} {arm.prompt_set}",
                repeats=arm.repeats,
                runs=samples * arm.repeats * self.processes,
                settings=settings_text(arm.spec, arm.spec.drafter),
            )
            for arm in self.arms
        )

    def runs(self) -> tuple[Run, ...]:
        """All timed runs in order, those of one process after those of another."""
        return tuple(one for process in range(self.processes) for one in self.runs_of(process))

    def rounds(self) -> tuple["RunPlan", ...]:
        """As the base; with `until_width` each has more processes than the one before."""
        stopping = self.preset.stopping
        return tuple(replace(self, processes=one) for one in stopping.planned) if stopping is not None else (self,)

    def settings(self) -> dict[str, Any]:
        """Without what is of a run with looks, where this is none."""
        looked = ("until_width", "most_processes", "budget_s")
        left_out = looked if self.preset.until_width is None else ()
        return {name: value for name, value in super().settings().items() if name not in left_out}

    def runs_of(self, process: int) -> tuple[Run, ...]:
        """The timed runs of one process, in the order that the preset's seed gives it."""
        arms = [ScheduledArm(arm.name, arm.repeats) for arm in self.arms]
        preset = self.preset
        return schedule(arms, samples=preset.samples, repeats=preset.repeats, process=process, seed=preset.seed)

    @property
    def needle_sink(self) -> int:
        """Leading positions the needle stays out of: the widest sink of any arm that evicts."""
        return max((arm.spec.sink for arm in self.arms if evicts(arm.spec)), default=0)

    @property
    def needle_window(self) -> int:
        """Positions before the question the needle stays out of: the widest window of any arm that evicts."""
        return max((arm.spec.window for arm in self.arms if evicts(arm.spec)), default=0)


def evicts(spec: ArmSpec) -> bool:
    """The arm drops K/V outside sink + window."""
    return RESTORATIONS[spec.restoration].evicts


def make_plan(loaded: LoadedPreset) -> RunPlan:
    """Check a timed preset as a whole and add the arms that every run has.

    Raises:
        UsageError: arms that contradict themselves or each other.
    """
    preset = loaded.preset
    assert isinstance(preset, TimedPreset)
    for spec in preset.arms:
        _check(spec, preset)
    oracle = ArmSpec(name="oracle", role="peer", engine=ORACLE.name)
    arms = [
        ArmPlan("oracle", "oracle", "main", preset.repeats, oracle),
        ArmPlan("oracle_again", "null", "main", preset.repeats, oracle),
        *(ArmPlan(spec.name, spec.role, "main", preset.repeats, spec) for spec in preset.arms),
    ]
    if preset.kind == "niah":
        arms.append(ArmPlan("needle_free", "control", "needle_free", 1, oracle))
    return RunPlan(loaded, tuple(arms), preset.processes)


def _check(spec: ArmSpec, preset: TimedPreset) -> None:
    where = f"preset {preset.name}: arms.{spec.name}"
    fault = _remote_fault(spec) or _http_fault(spec)
    if fault is None and spec.engine != REMOTE:
        fault = misfit(ENGINES[spec.engine], spec, spec.drafter) or foreign_to(ENGINES[spec.engine], preset.backend)
    if fault is not None:
        raise UsageError(f"{where}: {fault}")
    if spec.engine == NATIVE_BASELINE.name and spec.label != NATIVE_BASELINE_LABEL:
        raise UsageError(f"{where}: a native baseline is labelled {NATIVE_BASELINE_LABEL}; set label so")


def settings_text(restoration: RestorationSpec, drafter: DrafterSpec | None) -> str:
    """Drafter and restoration of an arm in one line; empty for an arm without either."""
    parts = [drafter_text(drafter)] if drafter is not None else []
    if restoration.restoration != "none":
        parts.append(restoration_text(restoration))
    return "; ".join(parts)


def drafter_text(drafter: DrafterSpec) -> str:
    """`dflash mac-26b-dflash in float32, blocks of 8, two_phase`."""
    model = f" {drafter.model}" if drafter.model is not None else ""
    dtype = f" in {drafter.dtype}" if drafter.dtype is not None else ""
    bits = f" rounded to {drafter.bits} bits" if drafter.bits is not None else ""
    sure = f", sure of {drafter.sure:g}" if drafter.sure is not None else ""
    shuffled = ", through a permuted vocabulary" if drafter.shuffle_seed is not None else ""
    return f"{drafter.kind}{model}{dtype}{bits}, blocks of {drafter.block_size}{sure}, {drafter.graph}{shuffled}"


def restoration_text(spec: RestorationSpec) -> str:
    """`f_theta smollm2-135m-ftheta (transient), exact layers none, sink 4, window 64, strict`."""
    exact = spec.exact_layers if isinstance(spec.exact_layers, str) else ",".join(map(str, spec.exact_layers))
    maps = f" {spec.f_theta}" if spec.f_theta is not None else ""
    residency = f" ({spec.residency})" if spec.residency is not None else ""
    bounds = f"exact layers {exact}, sink {spec.sink}, window {spec.window}, {spec.eviction}"
    return f"{spec.restoration}{maps}{residency}, {bounds}"


def _http_fault(spec: ArmSpec) -> str | None:
    """Why an arm cannot be a peer behind an endpoint, or asks for one that it does not use."""
    if spec.engine != HTTP.name:
        return f"http is of engine {HTTP.name} alone; leave it out" if spec.http is not None else None
    if spec.http is None:
        return f"engine {HTTP.name} needs a server and its model; set http.address and http.model"
    return None if spec.role == "peer" else f"engine {HTTP.name} is another project's; its role is peer"


def _remote_fault(spec: ArmSpec) -> str | None:
    """Why an arm cannot be run by a server, or asks for one that it does not use."""
    if spec.engine != REMOTE:
        return f"remote is of engine {REMOTE} alone; leave it out" if spec.remote is not None else None
    if spec.remote is None:
        return f"engine {REMOTE} needs a server; set remote.address"
    if spec.restoration != "none" or spec.drafter is not None:
        return "the server decides who drafts and what is restored; leave out drafter and restoration"
    return None

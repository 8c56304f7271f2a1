"""Presets as records, one class a kind: what every run needs, what a timed run needs, and what each kind asks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from harness.engines.spec import DrafterSpec, Dtype, EngineName, HttpSpec, ModelName, RemoteSpec, RestorationSpec
from reports.drafters import DFLASH, DFLASH_TORCH, DRAFTERS, PYTHON, RECORDED, loaded_by
from reports.engines import HTTP, TORCH, Backend, built_by
from reports.plugins.entry_points import Group, Plugin, PluginError, find, of_group
from reports.records.plan import MOST_PROCESSES, Stopping
from reports.records.record import Record
from reports.untrusted.nearest import unknown
from workloads.documents import Part
from workloads.niah_prose import Asked

ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]

Device = Literal["cpu", "cuda", "mps"]
"""What PyTorch computes on."""

CODE_FORMS = ("synthetic", "stdlib")
"""What code prompts are made of where no plug-in makes them."""

RESERVED_ARMS = ("oracle", "oracle_again", "needle_free")
"""Arms every run of their kind has; the plan adds them, a preset cannot leave them out."""


@dataclass(frozen=True)
class NamedModel:
    """A model that a run loads, by the name its preset gives it."""

    role: Literal["verifier", "drafter", "f_theta"]
    name: str


class NotesSpec(Record):
    """A haystack of numbered notes."""

    lines: int = Field(70, ge=5, le=2000, description="Mean haystack size in lines")
    prompt_style: Literal["auto", "chat", "completion"] = Field(
        "auto", description="How the model is asked: by its chat template, or to complete; auto: chat where it has one"
    )


class NiahSpec(NotesSpec):
    """The haystack, of synthetic notes or of the standard library's docstrings; all but `lines` is of prose."""

    form: Literal["synthetic", "prose"] = Field("synthetic", description="Numbered notes, or real prose")
    words: int = Field(500, ge=50, le=10_000, description="Largest haystack in words; the smallest has four fifths")
    needles: int = Field(1, ge=1, le=8, description="In every haystack")
    asked: Asked = Field("one", description="Of the needles")
    needle_forms: tuple[Literal["place", "number", "name", "code"], ...] = Field(
        ("place", "number", "name", "code"), min_length=1, max_length=8, description="What they tell, in turns"
    )
    part: Part = Field("held_out", description="Modules: those no weights of K3's own are trained on, or others")


class FilesSpec(Record):
    """Synthetic files to complete."""

    items: int = Field(12, ge=2, le=56, description="Mean number of items a file shows before the cut")


def _form(form: str) -> str:
    """One that ships, or a plug-in's."""
    if form not in CODE_FORMS:
        try:
            if find("workloads", form) is None:
                raise ValueError(unknown("form", form, (*CODE_FORMS, *(one.name for one in of_group("workloads")))))
        except PluginError as error:
            raise ValueError(str(error)) from error
    return form


class CodeSpec(FilesSpec):
    """What is to be continued: synthetic files, standard library modules, prompts of one's own or a plug-in's."""

    form: Annotated[str, AfterValidator(_form)] = Field("synthetic", description="synthetic, stdlib, or a plug-in's")
    lines: int = Field(40, ge=8, le=2000, description="Of form stdlib: mean number of lines before the cut")
    part: Part = Field("held_out", description="Modules: those no weights of K3's own are trained on, or others")
    prompts: str | None = Field(
        None, min_length=1, max_length=4096, description="A JSON Lines file of one's own, in place of all other forms"
    )


class ArmSpec(RestorationSpec):
    """One arm beside the oracle: an engine, what it restores, who drafts."""

    name: ArmName = Field(description="What the arm is called: small letters, digits, - and _")
    role: Literal["sut", "control", "peer"] = Field(
        description="sut: under test; control: must fail; peer: somebody else's code"
    )
    engine: EngineName = Field(description="What runs the model, or a plug-in's name")
    label: str | None = Field(None, max_length=100, description="What the arm is presented as")
    drafter: DrafterSpec | None = Field(None, description="Who proposes tokens, for an engine that drafts")
    remote: RemoteSpec | None = Field(None, description="Of engine remote: the server that runs the arm")
    http: HttpSpec | None = Field(None, description="Of engine http: the server of another project that runs the arm")


class BasePreset(Record):
    """Everything a run needs to be told, whatever is asked."""

    name: ArmName = Field(description="What the preset is called: small letters, digits, - and _")
    title: str = Field(max_length=200, description="What it shows, in a line")
    kind: Literal["niah", "code", "parity", "kv_quant"] = Field(description="What is asked, and so which keys follow")
    model: ModelName = Field(description="A name of `k3 models list`, a folder, `${ENV:VARIABLE}` or a hub id")
    samples: int = Field(5, ge=1, le=1000, description="Distinct prompts")
    seed: int = Field(42, ge=0, le=2**31, description="What the prompts are drawn by: the same seed, the same prompts")
    prefill_chunk: int = Field(512, ge=1, le=8192, description="Tokens of a prompt that are read in one step")
    platform: Literal["any", "apple"] = Field("any", description="apple: sized for Apple Silicon, refused elsewhere")
    memory_gb: float | None = Field(None, gt=0, le=10_000, description="What a machine needs to have, 1e9 bytes")
    minutes: float | None = Field(None, gt=0, le=100_000, description="About how long, on the machine it is sized for")
    beside: tuple[ArmName, ...] = Field(
        (), max_length=4, description="Presets run before it, their reports beside its own and judged with it"
    )

    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins that take part, once each."""
        found = (find(group, name) for group, name in dict.fromkeys(self._elsewhere()))
        return tuple(plugin for plugin in found if plugin is not None)

    def _elsewhere(self) -> Iterator[tuple[Group, str]]:
        """The engines, drafters and forms of workload that it asks for and that do not ship."""
        yield from ()

    def packages(self) -> frozenset[str]:
        """What must be installed for it."""
        return frozenset({"mlx"})

    def models(self) -> tuple[NamedModel, ...]:
        """The models it loads, the verifier first."""
        return (NamedModel("verifier", self.model),)


class TimedPreset(BasePreset):
    """A run that times arms beside the oracle."""

    processes: int = Field(
        3, ge=1, le=MOST_PROCESSES, description="Each loads the models anew and runs the whole plan once"
    )
    until_width: float | None = Field(
        None, gt=0, le=10, description="Add processes until every arm's interval, over its ratio, is so narrow"
    )
    most_processes: int = Field(12, ge=1, le=MOST_PROCESSES, description="With until_width: in all")
    budget_s: float | None = Field(None, gt=0, le=10**7, description="With until_width: seconds of all runs together")
    repeats: int = Field(1, ge=1, le=50, description="Of every sample, in each process")
    max_new_tokens: int = Field(16, ge=2, le=4096, description="Tokens of an answer, at most")
    backend: Backend = Field("mlx", description="What computes: MLX, or PyTorch with transformers")
    device: Device | None = Field(None, description="Of backend torch; none: cpu")
    dtype: Dtype | None = Field(None, description="Of the verifier on backend torch; none: as its weights are stored")
    ignore_turn_stop: bool = Field(False, description="Decode all max_new_tokens, wherever the model would end")
    arms: tuple[ArmSpec, ...] = Field(
        min_length=1, max_length=20, description="What is measured beside the plain model"
    )

    @field_validator("arms")
    @classmethod
    def _own_names(cls, arms: tuple[ArmSpec, ...]) -> tuple[ArmSpec, ...]:
        names = [arm.name for arm in arms]
        for name in names:
            if name in RESERVED_ARMS or names.count(name) > 1:
                raise ValueError(f"the name {name!r} is taken; give every arm a name of its own")
        return arms

    @model_validator(mode="after")
    def _room_for_looks(self) -> Self:
        if self.until_width is not None and self.most_processes < self.processes:
            raise ValueError(
                f"most_processes {self.most_processes}: fewer than the {self.processes} processes before the first look"
            )
        return self

    @property
    def largest(self) -> int:
        """Processes that it may come to."""
        return self.most_processes if self.until_width is not None else self.processes

    @property
    def stopping(self) -> Stopping | None:
        """When processes are no longer added; none where their number is planned."""
        if self.until_width is None:
            return None
        return Stopping(width=self.until_width, first=self.processes, most=self.most_processes, budget_s=self.budget_s)

    @model_validator(mode="after")
    def _fits_backend(self) -> Self:
        if self.backend != TORCH and (self.device is not None or self.dtype is not None):
            raise ValueError("device and dtype are of backend torch; set backend=torch, or leave them out")
        return self

    def _elsewhere(self) -> Iterator[tuple[Group, str]]:
        for arm in self.arms:
            if built_by(arm.engine) is not None:
                yield "engines", arm.engine
            if arm.drafter is not None and loaded_by(arm.drafter.kind) is not None:
                yield "drafters", arm.drafter.kind

    def packages(self) -> frozenset[str]:
        """Those of the drafters' runtimes, too."""
        served = {"httpx"} if any(arm.engine == HTTP.name for arm in self.arms) else set()
        if self.backend == TORCH:
            return frozenset({"torch", "transformers"} | served)
        drafters = [arm.drafter.is_a for arm in self.arms if arm.drafter is not None]
        return super().packages() | served | {drafter.runtime for drafter in drafters} - {PYTHON}

    def models(self) -> tuple[NamedModel, ...]:
        """The verifier, then every drafter and every f_theta with weights, once."""
        drafters = (arm.drafter.model for arm in self.arms if arm.drafter is not None and arm.drafter.model)
        projections = (arm.f_theta for arm in self.arms if arm.f_theta)
        return (
            *super().models(),
            *(NamedModel("drafter", name) for name in dict.fromkeys(drafters)),
            *(NamedModel("f_theta", name) for name in dict.fromkeys(projections)),
        )


class NiahPreset(TimedPreset):
    """A needle run."""

    kind: Literal["niah"]
    workload: NiahSpec = Field(NiahSpec(), description="What is asked")


class CodePreset(TimedPreset):
    """A code-completion run."""

    kind: Literal["code"]
    workload: CodeSpec = Field(CodeSpec(), description="What is asked")

    def _elsewhere(self) -> Iterator[tuple[Group, str]]:
        yield from super()._elsewhere()
        if self.workload.form not in CODE_FORMS:
            yield "workloads", self.workload.form


def _runtime(kind: str) -> str:
    """A drafter with a reference, or a recording of one."""
    if kind != RECORDED and not (kind in DRAFTERS and DRAFTERS[kind].port):
        ported = [name for name, known in DRAFTERS.items() if known.port and not known.chooses]
        raise ValueError(DRAFTERS.problem(kind) or unknown("runtime", kind, (*ported, RECORDED)))
    return kind


class RuntimeSpec(Record):
    """A runtime of a drafter, and the type it computes in; `recorded`: what ships of PyTorch's proposals."""

    kind: Annotated[str, AfterValidator(_runtime)] = Field(description="The drafter's runtime, or recorded")
    dtype: Dtype = Field("float32", description="What it computes in")


class ParityPreset(BasePreset):
    """Two runtimes of one drafter, proposing from the same contexts. The candidate decides which contexts come next."""

    kind: Literal["parity"]
    drafter: ModelName = Field(description="The drafter's checkpoint, named as `model` is")
    candidate: RuntimeSpec = Field(RuntimeSpec(kind=DFLASH.kind), description="The runtime that is to be shown right")
    reference: RuntimeSpec = Field(RuntimeSpec(kind=DFLASH_TORCH.kind), description="The one that is taken to be right")
    block_size: int = Field(8, ge=2, le=64, description="The last committed token and the drafts after it")
    blocks: int = Field(8, ge=1, le=256, description="Blocks compared after every prompt")
    workload: FilesSpec = Field(FilesSpec(), description="What is asked")

    def _elsewhere(self) -> Iterator[tuple[Group, str]]:
        for kind in (self.candidate.kind, self.reference.kind):
            if loaded_by(kind) is not None:
                yield "drafters", kind

    def drafter_as(self, side: RuntimeSpec) -> DrafterSpec:
        """The drafter as one side computes it."""
        return DrafterSpec(kind=side.kind, model=self.drafter, block_size=self.block_size, dtype=side.dtype)

    def packages(self) -> frozenset[str]:
        """Those of both runtimes, too."""
        sides = {self.candidate.kind, self.reference.kind} - {RECORDED}
        return super().packages() | {DRAFTERS[kind].runtime for kind in sides}

    def models(self) -> tuple[NamedModel, ...]:
        """The verifier and the drafter."""
        return (*super().models(), NamedModel("drafter", self.drafter))


@dataclass(frozen=True)
class LoadedPreset:
    """A preset after overrides, and where it came from; `part_of` names the preset that it is run beside."""

    preset: BasePreset
    digest: str
    overrides: tuple[str, ...]
    part_of: str | None = None

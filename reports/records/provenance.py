"""Where a report comes from: enough to run it again, nothing that names a person or a folder of theirs."""

from typing import Literal

from pydantic import AwareDatetime, Field

from reports.records.recipe import Recipe
from reports.records.record import Bytes, Count, Digest, Fraction, Name, Record


class SourceCode(Record):
    """The code that ran: a git checkout, or the digest of the installed files when it ran from a wheel."""

    git_commit: str | None = Field(None, pattern=r"^[0-9a-f]{40}$")
    dirty: bool | None = None
    version: Name | None = None
    files: Digest | None = None


class Host(Record):
    """The machine, without its name or its user's."""

    label: Name | None = Field(None, description="What its owner calls it for others (K3_MACHINE); none: nothing")
    os: Name
    machine: Name
    chip: Name | None = None
    cores: Count | None = None
    memory: Bytes | None = None
    python: Name | None = None


class Package(Record):
    """An installed distribution that took part."""

    name: Name
    version: Name


class AsRun(Record):
    """A loaded verifier in the type that engines run it in, against the reference in float32."""

    dtype: Name
    tokens: Count
    argmax_agreement: Fraction


class Faithfulness(Record):
    """A loaded verifier against a reference implementation, both computed in float32, on a fixed text."""

    reference: Name = Field(description="For example transformers 5.24.0, float32")
    tokens: Count
    argmax_agreement: Fraction
    largest_logit_gap: float
    as_run: AsRun | None = Field(None, description="On the start of the text, where engines run it in another type")


class PluginInfo(Record):
    """A plug-in that took part: an entry point of another package, and which code stood behind it."""

    group: Literal["engines", "drafters", "workloads", "importers", "rules"]
    name: Name
    distribution: Name
    version: Name
    code: Digest | None = Field(None, description="Of every file of its package, data and weights included")


ModelRole = Literal["verifier", "drafter", "f_theta", "proposer"]


class ModelInfo(Record):
    """A model as it was loaded."""

    role: ModelRole
    id: Name
    revision: Name | None = None
    weights: Digest | None = None
    config: Digest | None = Field(None, description="Of the files that say what its weights make")
    tokenizer: Digest | None = Field(None, description="Of the tokenizer's files, chat template included")
    code: tuple[Name, ...] | None = Field(
        None, description="What of its folder may run code, by file and field; allowed by --trust-code alone"
    )
    architecture: Name | None = None
    layer_types: tuple[Name, ...] | None = None
    quantisation: Name | None = None
    dtype: Name | None = None
    recipe: Recipe | None = Field(None, description="What it was trained on, as its manifest says")
    faithfulness: Faithfulness | None = None


class Runtime(Record):
    """What computed, where it was not MLX."""

    backend: Literal["torch"]
    device: Name = Field(description="As PyTorch calls it: cpu, cuda, mps")
    dtype: Name = Field(description="The type that the verifier ran in")
    attention: Name = Field(description="The implementation of attention, as transformers calls it")
    threads: Count = Field(description="That PyTorch computes with on the CPU")


class Provenance(Record):
    """Everything a stranger needs to repeat the run."""

    source: SourceCode | None = None
    argv: tuple[str, ...] | None = Field(None, description="Arguments, home paths replaced by ~")
    host: Host | None = None
    packages: tuple[Package, ...] | None = None
    models: tuple[ModelInfo, ...] = ()
    plugins: tuple[PluginInfo, ...] | None = Field(
        None, description="Of other packages: engines, drafters and workloads; none where all of them ship"
    )
    device: Name | None = None
    blas: Name | None = None
    blas_threads: Count | None = Field(None, description="Threads the BLAS was set to; none where it cannot be asked")
    runtime: Runtime | None = Field(None, description="None: MLX")


class EarlierRun(Record):
    """A run that ended in a report before this one did, on the same machine."""

    report: Digest
    plan: Literal["same", "alike", "other_code"] = Field(
        description="alike: different in seed, samples, repeats, processes or name alone; other_code: the same or "
        "alike, by another version of K3"
    )
    ended_at: AwareDatetime
    agreed: bool | None = Field(
        None,
        description="Of a parity run: both runtimes proposed the same, so that nothing is hidden without it",
    )


class RunLedger(Record):
    """What the machine's run ledger said when the run ended: which runs of its plan came before it.

    A chain of lines, each with the digest of the one before it. The file alone cannot show that it was not begun anew;
    what it can is here: how long it is, when it was begun, and when K3 was installed.
    """

    state: Literal["recorded", "opted_out", "unwritable"]
    head: Digest | None = Field(None, description="Of its last line when the run ended")
    entries: Count | None = Field(None, description="Lines up to there")
    begun_at: AwareDatetime | None = Field(None, description="Time of its first line")
    installed_at: AwareDatetime | None = Field(None, description="When this K3 was installed, by the date of its files")
    torn: Count | None = Field(None, description="Lines that a crash cut short")
    broken: Count | None = Field(None, description="Places where lines were changed or taken out afterwards")
    earlier: tuple[EarlierRun, ...] = ()
    unfinished: Count | None = Field(None, description="Other runs of its preset that were begun and gave no report")


MOST_GPUS = 16
SLOWEST_STATE = 15


class GpuReading(Record):
    """Clocks, heat and power of an NVIDIA GPU, as far as its driver tells."""

    megahertz: float | None = Field(None, ge=0, description="Of its multiprocessors")
    memory_megahertz: float | None = Field(None, ge=0)
    celsius: float | None = None
    power_limit_watts: float | None = Field(None, ge=0, description="The limit that is enforced")
    performance_state: int | None = Field(None, ge=0, le=SLOWEST_STATE, description="From 0, the fastest, on")


class MachineReading(Record):
    """How busy, fast and hot the machine was before or after a process of the run, as far as the system tells."""

    process: Count
    moment: Literal["before", "after"]
    at: AwareDatetime
    load: float | None = Field(None, ge=0, description="Load average of the last minute: programs that want a core")
    others: Fraction | None = Field(
        None, description="Share of all cores that anything but this process kept busy since the reading before it"
    )
    megahertz: float | None = Field(None, ge=0, description="Mean over the cores")
    celsius: float | None = Field(None, description="Of the hottest sensor")
    gpus: tuple[GpuReading, ...] | None = Field(
        None, max_length=MOST_GPUS, description="In the order of the driver; none if none is there or nobody asked it"
    )

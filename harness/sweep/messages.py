"""What home and workers say to each other: JSON texts, so that a worker of another version is told as such."""

from typing import Annotated, Literal

from pydantic import Field

from reports.records.provenance import Host, SourceCode
from reports.records.record import Count, Digest, Name, Record
from reports.records.verdict import Verdict


class WantedModel(Record):
    """A model as presets name it."""

    role: Literal["verifier", "drafter", "f_theta"]
    name: Annotated[str, Field(min_length=1, max_length=4096)]


class Question(Record):
    """What a worker is asked before it gets work."""

    models: tuple[WantedModel, ...] = ()


class HeldModel(WantedModel):
    """A model as a worker has it: the digests of its files, or what is wrong."""

    weights: Digest | None = None
    config: Digest | None = None
    tokenizer: Digest | None = None
    problem: str | None = None


class Proof(Record):
    """What a worker says of itself. `machine` tells machines apart, and changes when one is started anew."""

    machine: Digest
    host: Host
    source: SourceCode
    rule_set: Count
    models: tuple[HeldModel, ...]


class Quiet(Record):
    """How busy other programs may keep a machine that is measured on."""

    others: float = Field(description="Share of all cores, where the system tells it")
    load: float = Field(description="Load average a core, where it does not")


class Asked(Record):
    """One cell, as a worker gets it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
    preset: Annotated[str, Field(min_length=1, max_length=2**20, description="A name, or the text of an own one")]
    own: bool
    overrides: tuple[str, ...]
    plan: Digest = Field(description="Of the plan, as home makes it")
    reports: tuple[Name, ...] = Field(description="The files that must come of it")
    source: SourceCode
    rule_set: Count
    quiet: Quiet | None = Field(description="none: on a busy machine, too")
    minutes: Count
    patience_s: float = Field(description="Seconds to wait for the machine's lock")


class MadeFile(Record):
    """A report that a cell made."""

    name: Name
    digest: Digest = Field(description="Of its bytes")
    verdict: Verdict = Field(description="Where it was made")


Outcome = Literal["made", "failed", "busy", "unfit", "stopped"]


class Answer(Record):
    """What became of a cell. `busy`: its machine is not quiet, or not free; `unfit`: it is not what it was proved to
    be; `stopped`: somebody ended it."""

    outcome: Outcome
    reason: str | None = None
    files: tuple[MadeFile, ...] = ()
    seconds: float = Field(0.0, description="That the run itself took")

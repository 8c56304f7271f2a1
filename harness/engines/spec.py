"""What is asked of an engine, declared once: a preset's arm is made of these records, an engine is built from them."""

from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from reports.drafters import DRAFTERS, Bits, DrafterKind
from reports.engines import ENGINES, REMOTE, Backend, EngineKind
from reports.plugins.vocabulary import Vocabulary
from reports.records.kv_memory import LayerKind
from reports.records.record import Record
from reports.restorations import RESTORATIONS, RestorationMode
from reports.untrusted.nearest import unknown

ModelName = Annotated[str, Field(min_length=1, max_length=500)]
"""A name of `k3 models list`, a folder, `${ENV:VARIABLE}` or a hub id."""
Dtype = Literal["float32", "bfloat16", "float16"]
Graph = Literal["two_phase", "single"]
"""Draft and verify evaluated one after the other, or as one graph."""
Eviction = Literal["strict", "after"]
"""strict: a query never sees evicted K/V; after: they are evicted once the whole prompt was read."""
LAYER_NAMES = ("none", *get_args(LayerKind))
"""Layers named all at once: none of them, or all of a type."""


def one_of(what: str, choices: Vocabulary[Any], *others: str) -> AfterValidator:
    """A name is one of `choices`, as they are when it is checked, or of `others`."""

    def check(name: str) -> str:
        if name not in others and name not in choices:
            raise ValueError(choices.problem(name) or unknown(what, name, (*choices, *others)))
        return name

    return AfterValidator(check)


EngineName = Annotated[str, one_of("engine", ENGINES, REMOTE)]


class RemoteSpec(Record):
    """Where a server of the session protocol is, the file (mode 600) with its token, and PEM files for (m)TLS."""

    address: str = Field(min_length=3, max_length=300, description="HOST:PORT")
    token_file: str | None = Field(None, max_length=1000, description="The file (mode 600) with its token")
    tls_ca: str | None = Field(None, max_length=1000, description="Who signs the server's certificate")
    tls_key: str | None = Field(None, max_length=1000, description="This client's key, where the server wants proof")
    tls_certificate: str | None = Field(None, max_length=1000, description="The certificate of that key")
    timeout_s: float = Field(600.0, gt=0, le=86400, description="Of a call: an append, or a whole generation")

    @field_validator("address")
    @classmethod
    def _fits(cls, address: str) -> str:
        if host_and_port(address) is None:
            raise ValueError("give HOST:PORT, for example 127.0.0.1:50051")
        return address

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.tls_key is None) != (self.tls_certificate is None) or (self.tls_key and not self.tls_ca):
            raise ValueError("tls_key and tls_certificate come together, and with tls_ca")
        return self


class HttpSpec(Record):
    """An OpenAI-compatible server of another project, and its model. The key stays in the environment."""

    address: str = Field(min_length=8, max_length=500, description="http://HOST:PORT, or with a path before /v1")
    model: str = Field(min_length=1, max_length=500, description="As the server calls it")
    prompt: Literal["text", "ids"] = Field("text", description="What the server is sent; ids where it takes them")
    key_env: str | None = Field(None, pattern=r"^[A-Z_][A-Z0-9_]{0,99}$", description="The variable with the key")
    timeout_s: float = Field(600.0, gt=0, le=86400, description="Of a whole stream")
    allow_http: bool = Field(False, description="Without TLS to another machine: prompts and key can be read")

    @field_validator("address")
    @classmethod
    def _fits(cls, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{address!r} is no address like http://127.0.0.1:8080")
        if parts.username is not None or parts.password is not None:
            raise ValueError("an address with a name or a key in it would be shown; name a variable in key_env")
        return address

    @model_validator(mode="after")
    def _is_private(self) -> Self:
        parts = urlsplit(self.address)
        if parts.scheme == "http" and not is_loopback(parts.hostname or "") and not self.allow_http:
            raise ValueError(f"{self.address}: another machine without TLS; use https, or set allow_http")
        return self


def host_and_port(address: str) -> tuple[str, int] | None:
    """Of HOST:PORT, an IPv6 host without its brackets; none where it is something else."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    fits = bool(host) and len(port) <= 5 and port.isascii() and port.isdecimal() and int(port) <= 65535
    return (host, int(port)) if fits else None


def is_loopback(host: str) -> bool:
    """The host is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class RestorationSpec(Record):
    """What leaves the K/V cache and what is put back, before the model is known.

    `exact_layers` are layer numbers, or a layer type that stands for all layers of it; their own K/V are all kept.
    Bounds mean nothing with restoration `none`, which keeps everything.
    """

    restoration: RestorationMode = Field(
        "none", description="What is put back of the K/V that were dropped; none: all are kept"
    )
    f_theta: ModelName | None = Field(None, description="The maps of restoration f_theta, named as a model")
    residency: Literal["resident", "transient"] | None = Field(
        None, description="Of restored K/V: kept, or made anew in every forward (f_theta alone, and its default)"
    )
    exact_layers: Literal["none"] | LayerKind | tuple[int, ...] = Field(
        "none", description="Layers that keep all their K/V: all of a type, or by number from 0"
    )
    sink: int = Field(4, ge=0, le=4096, description="Leading positions that are kept")
    window: int = Field(64, ge=1, le=65536, description="Last positions that are kept")
    eviction: Eviction = Field(
        "strict", description="strict: while the prompt is read, too; after: once all of it was read"
    )

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        does, exact = RESTORATIONS[self.restoration], self.exact_layers
        if not does.evicts and exact not in ("none", ()):
            raise ValueError("exact_layers without eviction mean nothing; set restoration, or drop exact_layers")
        if does.learned != (self.f_theta is not None):
            raise ValueError("restoration f_theta names its weights in f_theta, and no other restoration has any")
        if self.residency is not None and not does.restores:
            raise ValueError(f"residency {self.residency} of what restoration {self.restoration} puts back: nothing")
        if self.residency == "transient" and not does.learned:
            raise ValueError("residency transient is for f_theta, which can make K/V anew")
        if isinstance(exact, tuple) and list(exact) != sorted(set(exact)):
            raise ValueError(f"exact_layers {list(exact)} must be ascending and without repeats")
        return self


class DrafterSpec(Record):
    """The proposer of a drafting engine, before it is loaded.

    `block_size` counts the last committed token and the drafts after it, so a block drafts one token less at most.
    """

    kind: Annotated[str, one_of("drafter", DRAFTERS)] = Field(description="ngram is prompt lookup, or a plug-in's name")
    model: ModelName | None = Field(None, description="Its weights, named as the verifier; none for a kind without")
    block_size: int = Field(8, ge=1, le=64, description="The last committed token and the drafts after it")
    graph: Graph = Field("two_phase", description="Draft and verify one after the other, or as one graph")
    dtype: Dtype | None = Field(None, description="What it computes in; none: as its weights are stored")
    bits: Bits | None = Field(
        None, description="Of kind model: round its weights to so many bits on load (affine, groups of 64), kept dense"
    )
    sure: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Of kind dflash: propose only the leading drafts that are right together by this chance, by the "
        "drafter itself, and rest for 1, 2, 4, 8, then 16 blocks where it is unsure or wrong again",
    )
    shuffle_seed: int | None = Field(None, ge=0, description="Makes a negative control of the drafter")

    @property
    def is_a(self) -> DrafterKind:
        """The kind, as the vocabulary describes it."""
        return DRAFTERS[self.kind]

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        if self.is_a.weights and self.model is None:
            raise ValueError(f"drafter {self.kind} needs a model; name its folder or registry entry (--drafter-model)")
        if not self.is_a.weights and self.model is not None:
            raise ValueError(f"drafter {self.kind} has no weights; leave out model (--drafter-model)")
        if self.dtype is not None and not self.is_a.port:
            raise ValueError(f"dtype: drafter {self.kind} computes in the type of its weights, if any; leave it out")
        if self.bits is not None and not self.is_a.rounds:
            raise ValueError(f"bits: drafter {self.kind} is not rounded on load; leave it out, or set kind model")
        if self.sure is not None and not self.is_a.doubts:
            raise ValueError(f"sure: drafter {self.kind} does not know how likely its drafts are; leave it out")
        if self.sure is not None and self.graph == "single":
            raise ValueError("sure: drafts are looked at before they are verified; set graph two_phase, or drop sure")
        return self


class EngineSettings(Record):
    """Everything an engine is built from besides the verifier; `prefill_chunk` is in tokens."""

    prefill_chunk: int = Field(512, ge=1)
    restoration: RestorationSpec = RestorationSpec()
    drafter: DrafterSpec | None = None
    remote: RemoteSpec | None = None
    http: HttpSpec | None = None
    max_new_tokens: int = Field(4096, ge=1, description="The longest stream that will be asked for")


def misfit(engine: EngineKind, restoration: RestorationSpec, drafter: DrafterSpec | None) -> str | None:
    """Why `engine` cannot run with these, whatever the model; None if nothing speaks against it."""
    if restoration.restoration != "none" and not engine.bounds:
        return f"engine {engine.name} restores nothing; use engine {_able('bounds')}"
    if drafter is not None and not engine.drafts:
        return f"engine {engine.name} drafts nothing; use engine {_able('drafts')}"
    if drafter is None and engine.drafts:
        return f"engine {engine.name} needs a drafter; set its kind, for example ngram"
    return None


def foreign_to(engine: EngineKind, backend: Backend) -> str | None:
    """Why `engine` cannot run on `backend`; None if it can."""
    if backend in engine.backends:
        return None
    able = ", ".join(name for name, kind in ENGINES.items() if backend in kind.backends)
    return f"engine {engine.name} does not run on backend {backend}; {backend} has {able}"


def _able(trait: Literal["bounds", "drafts"]) -> str:
    return " or ".join(name for name, kind in ENGINES.items() if getattr(kind, trait))

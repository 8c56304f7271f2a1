"""What a preset says of one arm: its engine, what it restores, who drafts."""

from typing import Annotated, Literal

from pydantic import Field

from reports.records.record import Record

ArmName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
ModelName = Annotated[str, Field(min_length=1, max_length=500)]
"""A name of `k3 models list`, a folder, `${ENV:VARIABLE}` or a hub id."""
Dtype = Literal["float32", "bfloat16", "float16"]


class DrafterSpec(Record):
    """The proposer of a fused arm. `block_size` counts the last committed token and the drafts after it."""

    kind: Literal["ngram", "model", "dflash", "dflash-torch", "combined"]
    model: ModelName | None = Field(None, description="None for ngram, which has no weights")
    block_size: int = Field(8, ge=1, le=64)
    graph: Literal["two_phase", "single"] = "two_phase"
    dtype: Dtype | None = Field(None, description="None: the checkpoint's own")
    bits: Literal[2, 3, 4, 5, 6, 8] | None = Field(
        None, description="Of kind model: round its weights to so many bits on load (affine, groups of 64), kept dense"
    )
    shuffle_seed: int | None = Field(None, ge=0, description="Makes a negative control of the drafter")


class ArmSpec(Record):
    """One arm beside the oracle. `exact_layers`: layer numbers, or a layer type, whose own K/V are all kept."""

    name: ArmName
    role: Literal["sut", "control", "peer"]
    engine: Literal["ar", "native-baseline", "incremental", "fused", "fused-carry", "mlx-lm-speculative"]
    label: str | None = Field(None, max_length=100, description="What the arm is presented as")
    restoration: Literal["none", "identity", "ablate", "f_theta"] = "none"
    f_theta: ModelName | None = Field(None, description="The maps of restoration f_theta, named as a model")
    residency: Literal["resident", "transient"] | None = Field(
        None, description="Of restored K/V: kept, or made anew in every forward (f_theta alone, and its default)"
    )
    exact_layers: Literal["none", "full_attention", "sliding_attention"] | tuple[int, ...] = "none"
    sink: int = Field(4, ge=0, le=4096)
    window: int = Field(64, ge=1, le=65536)
    eviction: Literal["strict", "after"] = "strict"
    drafter: DrafterSpec | None = None

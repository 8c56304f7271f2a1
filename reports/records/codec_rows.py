"""KV quantisation: one arm a codec, over the same captured K/V."""

from typing import Literal

from pydantic import Field

from reports.records.measurement import Pause, StopReason
from reports.records.record import Bytes, Count, Name, Record, Seconds, TokenId


class LayerEnergy(Record):
    """Sums of squares of one layer's K and V, over all positions and heads of a prompt."""

    layer: Count
    k: float
    v: float


class LayerError(Record):
    """What a codec loses in one layer: energy of the error over energy of what is lossless."""

    layer: Count
    k: float = Field(description="K after RoPE, as attention reads it")
    v: float
    k_before_rope: float | None = Field(None, description="K quantised before RoPE instead")
    attention: float | None = Field(None, description="The layer's attention output, for the prompt's last queries")


class SecondQuestion(Record):
    """The same haystack asked something else, its K/V taken from a file they were saved to."""

    text: str
    correct: bool
    token_ids: tuple[TokenId, ...]
    token_ids_equal_oracle: bool | None = None
    file_bytes: Bytes | None = Field(None, description="Of the saved K/V of the haystack; none for the oracle")


class HeldOut(Record):
    """Logits on a text after a lossy context, against those after the exact one."""

    tokens: Count = Field(description="Positions compared")
    kl_divergence: float = Field(description="Of the lossy from the exact distribution, mean over positions, in nats")
    top1_flips: Count = Field(description="Positions whose most likely token is another one")


class OracleSample(Record):
    """The verifier itself on one prompt: native cache, `generate_step`."""

    sample: Count
    token_ids: tuple[TokenId, ...] = Field(description="Up to the first stop token")
    text: str
    correct: bool
    stop_reason: StopReason
    second: SecondQuestion
    energies: tuple[LayerEnergy, ...] = Field(description="One a layer whose K/V are captured")
    positions: Count = Field(description="Positions whose K/V are captured")
    kv_bytes: Bytes = Field(description="Bytes of those K/V as the model holds them")
    decode_s: Seconds
    decode_tokens: Count = Field(description="Decoded in decode_s, beyond a stop")


class CodecSample(Record):
    """One codec on one prompt."""

    sample: Count
    correct: bool | None = None
    token_ids: tuple[TokenId, ...] | None = None
    token_ids_equal_oracle: bool | None = None
    text: str | None = None
    relative_error_k: float | None = Field(None, description="Energy-weighted, after RoPE")
    relative_error_v: float | None = None
    relative_error: float | None = Field(None, description="K and V together, where a tool gives only that")
    stored_bytes: Bytes | None = Field(None, description="Codes, scales, biases and padding, from the arrays")
    values: Count | None = Field(None, description="K/V numbers represented")
    entropy_bits: float | None = Field(None, description="Bits a value if the codes were entropy-coded")
    layers: tuple[LayerError, ...] = ()
    held_out: HeldOut | None = None
    second: SecondQuestion | None = None
    resident_bytes: Bytes | None = Field(None, description="A runtime's cache with its spare room")
    decode_s: Seconds | None = None
    decode_tokens: Count | None = Field(None, description="Decoded in decode_s, beyond a stop")


class ArmSample(Record):
    """A codec on one prompt, beside the name of its arm."""

    arm: Name
    row: CodecSample


class PausedSample(Record):
    """A sample with a pause in it, measured again as a whole."""

    oracle: OracleSample
    codecs: tuple[ArmSample, ...]
    pause: Pause


class CodecArm(Record):
    """A codec. `stated_bits` is what the tool prints; the gate divides stored bytes by values."""

    name: Name
    codec: Name
    path: Literal["injected", "runtime"] | None = Field(
        None, description="Lossy K/V put into a native cache, or a cache of the runtime that computes on codes"
    )
    codec_k: Name | None = None
    codec_v: Name | None = None
    scales: Name | None = Field(None, description="How values are scaled to the range of the codes")
    layers: tuple[Count, ...] | None = Field(None, description="Layers quantised; other captured ones are kept")
    samples: tuple[CodecSample, ...]
    stated_recall: float | None = None
    stated_bits: float | None = None
    stated_relative_error: float | None = Field(None, description="Mean over the samples, as printed")


class RefusedArm(Record):
    """An arm that could not run on this model, and why."""

    name: Name
    reason: str


class StatedCodecVerdict(Record):
    """The printed verdict on a codec: worth a native kernel or not."""

    arm: Name
    worthwhile: bool


class KvQuantResult(Record):
    """All codecs of a run, and the verdicts printed from them."""

    oracle_recall: float | None = None
    oracle: tuple[OracleSample, ...] = ()
    arms: tuple[CodecArm, ...]
    paused: tuple[PausedSample, ...] | None = Field(
        None, description="Samples that count for nothing, since a pause broke them; none if nobody watched for pauses"
    )
    refused: tuple[RefusedArm, ...] = ()
    verdicts: tuple[StatedCodecVerdict, ...] = ()


def weighted_errors(layers: tuple[LayerError, ...], energies: tuple[LayerEnergy, ...]) -> tuple[float, float] | None:
    """Errors of K and V over all layers, each weighted by its energy; None unless both speak of the same layers."""
    weights = {energy.layer: energy for energy in energies}
    if not layers or [error.layer for error in layers] != [energy.layer for energy in energies]:
        return None
    k = sum(error.k * weights[error.layer].k for error in layers)
    v = sum(error.v * weights[error.layer].v for error in layers)
    of_k, of_v = sum(energy.k for energy in energies), sum(energy.v for energy in energies)
    return (k / of_k, v / of_v) if of_k > 0 and of_v > 0 else None
